"""What a report does not show: said for every report by what it was made of, and never left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runs.records import unit  # noqa: TID252 - in a wheel, this package has another name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..statistics.bootstrap import Estimate  # noqa: TID252 - likewise
    from .gathering import Party
    from .types import Report, Row

_FEW = 100
"""Questions, below which intervals are so wide that it must be said."""


def limits(report: Report, found: Sequence[Party]) -> Iterator[str]:
    """Yield what readers of a report must know before they believe it."""
    yield from _sampling(report)
    yield from _reading(report)
    yield from _data(report)
    yield from _systems(report, found)


def _sampling(report: Report) -> Iterator[str]:
    about = report.about
    conversations = len(about.conversations)
    if conversations == 1:
        yield (
            f"One conversation, {about.questions} questions: the intervals are drawn over its questions and speak of"
            " this conversation only. Nothing is said about other people's."
        )
    elif conversations <= 10:
        yield f"{conversations} conversations: intervals are drawn over whole conversations, and rough with so few."
    yield "One run: differences below two points are no finding, whatever their interval; other runs were not made."
    if about.questions < _FEW:
        yield (
            f"With {about.questions} questions only large differences can be told from chance: see the intervals of the"
            " differences, which are paired, and not whether those of two systems overlap."
        )
    if any(_is_flat(one) for row in report.rows if report.main in row.measures for one in _groups(row, report.main)):
        yield (
            "An interval without width, such as 0 [0, 0], says that all questions of a group score the same, and no"
            " draw of them can differ. It does not say that further questions would too."
        )
    failed = {row.system: row.failed for row in report.rows if row.failed}
    if failed:
        shown = ", ".join(f"{name} {count}" for name, count in failed.items())
        yield f"Replies of the reader's model that could not be used count as wrong: {shown}."


def _groups(row: Row, main: str) -> Iterator[Estimate]:
    everything = row.measures[main].everything
    yield from everything.by_category.values()
    yield from filter(None, (everything.all, everything.answerable))


def _is_flat(found: Estimate) -> bool:
    return found.low is not None and found.low == found.high


def _reading(report: Report) -> Iterator[str]:
    about = report.about
    if about.reader.startswith("extractive"):
        yield (
            "The reader takes words out of the context by rule. It shows that the harness works and which context"
            " holds an answer; how good a language model's answers would be, it does not show."
        )
    else:
        yield (
            "One reader, one prompt: published results of others have other readers, prompts and budgets, and differ by"
            " ten points and more for that alone. Only the rows of this table can be compared."
        )
    if about.compat != "fair":
        yield (
            f"The reader was shown each question's category, in the way of {about.compat}: that gives part of the"
            " answer away, above all for adversarial questions. Fair runs do not."
        )


def _data(report: Report) -> Iterator[str]:
    about = report.about
    if about.data.startswith("synthetic"):
        yield (
            f"The data ({about.data}) was generated from templates in the form of {about.data_format}. It tests what"
            " was put into the templates; it is not that data set, and its scores must not be called so."
        )
    if about.data_format == "locomo":
        yield (
            "The score compares words: it is unfair to a right date in other words and to a whole sentence, and perfect"
            " answers do not reach 1 in every category. A whole conversation of LoCoMo fits into the window of most"
            " models, so full context is the bar, and cost is the memory's case."
        )
    if about.data == "locomo":
        yield (
            "Of LoCoMo's answer key 6.4 % of the questions in categories 1 to 4 are disputed by an audit (mostly by a"
            " language model): no system can be right about all."
        )
    if about.data_format == "dialsim":
        yield (
            "DialSim's accuracy depends on the reader's strength first: with weak ones all memories are near chance."
            " Its time limit was not enforced; what it would have cost stands in a table of its own."
        )


def _systems(report: Report, found: Sequence[Party]) -> Iterator[str]:
    kinds = {party.entry.kind for party in found}
    over = [row.system for row in report.rows if row.context_tokens and row.context_tokens.mean > report.about.budget]
    if over:
        yield f"Above the budget of {report.about.budget:,} tokens: {', '.join(over)}, to say what everything costs."
    yield from _cut(found)
    if kinds & {"oracle", "oracle_sessions"}:
        yield "The oracle is told where the answer lies: it bounds what search can give, and is no system."
    pending = {row.system: row.pending for row in report.rows if row.pending}
    if pending:
        shown = ", ".join(f"{name} {count}" for name, count in pending.items())
        yield f"Notes that the writer's model could not finish were found by their words alone: {shown}."
    if "a-mem" in kinds:
        yield (
            "The package a-mem was run with another embedder than its own installation pulls in: the same"
            " all-MiniLM-L6-v2, as amem ships it."
        )
    if "mem0" in kinds:
        yield (
            "The package mem0ai was run without a network: with all-MiniLM-L6-v2 as amem ships it, and without its"
            " search by words and by entities, whose data it would download. Its facts are counted as found where the"
            " turn is evidence that they were taken from, whether they say the same or not."
        )
    if any(party.entry.model is not None for party in found):
        yield "Links and evolution are as good as the model that wrote them; another model makes another memory."
    yield "Seconds are those of the machine named below, with whatever else ran on it."


def _cut(found: Sequence[Party]) -> Iterator[str]:
    """Yield where all that was said did not fit the reader's window."""
    for party in found:
        if party.entry.window is None:
            continue
        folder, most = party.run.folder, dict[str, int]()
        for one in party.scores:
            retrieved = folder.retrieval.get(one.unit)
            most[one.conversation] = max(most.get(one.conversation, 0), len(retrieved.shown) if retrieved else 0)
        held = {name: folder.ingest.get(unit(party.entry.label, name)) for name in most}
        short = [name for name, one in held.items() if one is not None and most[name] < one.turns]
        if short:
            yield (
                f"What was said does not fit the window of {party.entry.window:,} tokens in {len(short)} of"
                f" {len(most)} conversations: {party.label} has the newest part of it there."
            )
