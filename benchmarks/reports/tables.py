"""The tables of a report, the same in Markdown and HTML; those without a language model's judgement come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recall.options import TUNING  # noqa: TID252 - in a wheel, this package has another name
from . import words
from .costs import cost_tables
from .measures import MEASURES, measure
from .table import Table, each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..statistics.items import Summary  # noqa: TID252 - in a wheel, this package has another name
    from .measures import Family
    from .types import Report, Row


def tables(report: Report) -> Iterator[Table]:
    """Yield what there is to be shown."""
    yield _results(report)
    yield _by_category(report)
    if len(report.about.conversations) > 1:
        yield _by_conversation(report)
    yield from _untuned(report)
    yield from comparisons(report)
    yield from _family(report, "context", "What was found", "Of the evidence turns, and of the answer. ")
    yield from _family(report, "overlap", "A-Mem's scores", "Over the questions that have an answer. ")
    yield from _refusals(report)
    yield from _adversarial(report)
    yield from _disputed(report)
    yield from cost_tables(report)
    yield from _judged(report)


def _results(report: Report) -> Table:
    keys = [one.key for one in MEASURES if one.family == "answers" and any(one.key in r.measures for r in report.rows)]
    head = ["system", "n"]
    for key in keys:
        title = measure(key).title
        head += [f"{title}, all", f"{title}, answerable"]
    rows = [(row.system, _answered(row), *_answers(row, keys), _evidence(row), _tokens(row)) for row in report.rows]
    for reference in report.references:
        cells = [part for key in keys for part in _both(reference.summary if reference.measure == key else None)]
        asked = reference.summary.everything.all
        rows.append((f"({reference.name})", str(asked.questions if asked else 0), *cells, words.NONE, words.NONE))
    meanings = "; ".join(f"{measure(key).title}: {measure(key).about}" for key in keys)
    return Table(
        "Results",
        f"{meanings}. Evidence: the share of it in the context that the reader saw. In brackets, 95 % intervals,"
        f" {_drawn(report)}. What stands in brackets as a system needs no memory.",
        (*head, "evidence", "context tokens"),
        tuple(rows),
    )


def _drawn(report: Report) -> str:
    one = len(report.about.conversations) == 1
    return "drawn over the questions of the one conversation" if one else "drawn over whole conversations"


def _answered(row: Row) -> str:
    return str(row.answered) if row.answered == row.asked else f"{row.answered} of {row.asked}"


def _answers(row: Row, keys: list[str]) -> list[str]:
    return [part for key in keys for part in _both(row.measures.get(key))]


def _both(found: Summary | None) -> tuple[str, str]:
    if found is None:
        return words.NONE, words.NONE
    return words.sure(found.everything.all), words.sure(found.everything.answerable)


def _evidence(row: Row) -> str:
    found = row.measures.get("evidence_shown") or row.measures.get("sessions_shown")
    return words.sure(found.everything.all) if found else words.NONE


def _tokens(row: Row) -> str:
    return words.count(row.context_tokens.mean if row.context_tokens else None)


def asked(report: Report) -> dict[str, int]:
    """Return how many questions of each category were asked; a system that is not done yet has fewer."""
    found: dict[str, int] = {}
    for row in report.rows:
        if report.main in row.measures:
            for category, one in row.measures[report.main].everything.by_category.items():
                found[category] = max(found.get(category, 0), one.questions)
    return found


def _by_category(report: Report) -> Table:
    names = report.about.category_names
    found = asked(report)
    head = [f"{' '.join(filter(None, (key, names.get(key))))} (n = {n})" for key, n in sorted(found.items())]

    def cells(row: Row) -> list[str]:
        whole = row.measures[report.main].everything if report.main in row.measures else None
        parts = whole.by_category if whole else {}
        return [
            *(words.sure(parts.get(category)) for category in sorted(found)),
            words.share(whole.macro if whole else None),
        ]

    return Table(
        "By category",
        f"{measure(report.main).title}: {measure(report.main).about}. Last, the mean of those that have answers, each"
        " counting the same.",
        ("system", *head, "mean"),
        each(report, cells),
    )


def _by_conversation(report: Report) -> Table:
    names = report.about.conversations

    def cells(row: Row) -> list[str]:
        parts = row.measures[report.main].everything.by_conversation if report.main in row.measures else {}
        return [words.share(parts[name].mean) if name in parts else words.NONE for name in names]

    about = f"{measure(report.main).title}, over the questions of each conversation."
    return Table("By conversation", about, ("system", *names), each(report, cells))


def _untuned(report: Report) -> Iterator[Table]:
    rows = [(row.system, row.untuned) for row in report.rows if row.untuned is not None]
    if not rows:
        return
    title = measure(report.main).title
    yield Table(
        "Without the conversations that recall was tuned on",
        f"amem's recall was tuned on {', '.join(TUNING)}: of amem, these are the numbers to believe.",
        ("system", "n", f"{title}, all", f"{title}, answerable"),
        tuple(
            (name, str(one.everything.all.questions if one.everything.all else 0), *_both(one)) for name, one in rows
        ),
    )


def _family(report: Report, family: Family, title: str, about: str) -> Iterator[Table]:
    found = [one for one in MEASURES if one.family == family and any(one.key in row.measures for row in report.rows)]
    if not found:
        return

    def cells(row: Row) -> list[str]:
        parts = [row.measures.get(one.key) for one in found]
        means = [(part.everything.all or part.everything.answerable) if part else None for part in parts]
        asked = max((one.questions for one in means if one), default=0)
        return [str(asked), *(words.sure(one) for one in means)]

    meanings = "; ".join(f"{one.title}: {one.about}" for one in found)
    yield Table(title, f"{about}{meanings}.", ("system", "n", *(one.title for one in found)), each(report, cells))


def _refusals(report: Report) -> Iterator[Table]:
    rows = [(row.system, row.refusals) for row in report.rows if row.refusals is not None]
    if not rows:
        return
    yield Table(
        "Refusals",
        "Saying that nothing is known, where that is right and where it is not. Precision: refusals that were right."
        " Recall: questions without an answer that were refused.",
        ("system", "refused, rightly", "answered, wrongly", "refused, wrongly", "answered", "precision", "recall",
         "false refusals"),
        tuple(
            (name, str(one.rightly_refused), str(one.wrongly_answered), str(one.wrongly_refused), str(one.answered),
             words.share(one.precision), words.share(one.recall), words.share(one.false_refusals))
            for name, one in rows
        ),
    )  # fmt: skip


def _adversarial(report: Report) -> Iterator[Table]:
    rows = [row for row in report.rows if row.inverted is not None]
    if not rows:
        return
    yield Table(
        "Adversarial questions",
        "The right answer is that nobody said so. `amem_c5_inverted` is what A-Mem's code reports for them: the F1 with"
        " the wrong answer, so that 1 is the worst. It is in no mean.",
        ("system", "n", "official", "fell into the trap", "amem_c5_inverted"),
        tuple(
            (row.system, str(row.inverted.questions if row.inverted else 0),
             words.sure(row.measures["official"].everything.by_category.get("5")), words.sure(row.trapped),
             words.sure(row.inverted))
            for row in rows
        ),
    )  # fmt: skip


def _disputed(report: Report) -> Iterator[Table]:
    found = [(row.system, row.measures[report.main]) for row in report.rows if report.main in row.measures]
    if not any(summary.disputed for _, summary in found):
        return
    yield Table(
        "Without disputed questions",
        "An audit, made mostly by a language model, disputes some of the answer key: a second view, no truth.",
        ("system", "disputed", "with them, all", "without, all", "with them, answerable", "without, answerable"),
        tuple(
            (name, str(one.disputed), words.sure(one.everything.all), words.sure(one.undisputed.all),
             words.sure(one.everything.answerable), words.sure(one.undisputed.answerable))
            for name, one in found
        ),
    )  # fmt: skip


def comparisons(report: Report) -> Iterator[Table]:
    """Yield a table for each measure in which ours is compared with the others."""
    for key, found in report.comparisons.items():
        binary = any(one.p_mcnemar is not None for one in found)
        exact = " McNemar's test is exact, and takes questions for independent." if binary else ""
        yield Table(
            f"{report.ours} against the others: {measure(key).title}",
            f"{measure(key).about}; the difference on each question, {report.ours} less the other. p from the same"
            f" draws, corrected by Holm for the number of systems.{exact}",
            ("other", "n", "difference", "better on", "worse on", "p", "p, Holm", *(["p, McNemar"] if binary else [])),
            tuple(
                (one.other, str(one.difference.questions), words.sure(one.difference, difference=True), str(one.better),
                 str(one.worse), _p(one.p), _p(one.p_holm), *([_p(one.p_mcnemar)] if binary else []))
                for one in found
            ),
        )  # fmt: skip


def _p(value: float | None) -> str:
    if value is None:
        return words.NONE
    return "< .001" if value < 0.001 else words.share(value)


def _judged(report: Report) -> Iterator[Table]:
    if not report.judges:
        return
    yield from _family(report, "judge", "As a judge sees it", "The prompt decides this score. ")
    yield Table(
        "The judge, judged",
        "What it passes of answers whose worth is known: right ones, other questions' answers, a dodge.",
        ("manner", "model", "prompt", "right ones", "others'", "a dodge", "unreadable", "kappa with the other manner"),
        tuple(
            (one.manner, one.model, one.prompt, words.share(one.gold), words.share(one.shuffled),
             words.share(one.vague), str(one.unreadable), words.share(one.kappa))
            for one in report.judges
        ),
    )  # fmt: skip
