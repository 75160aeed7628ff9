"""Score: what each answer, and each context, is worth. Made anew from the run's files each time."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.llm.recording_file import write_whole
from amem.values import Frozen, canonical_json

from ..datasets import disputed, locomo  # noqa: TID252 - in a wheel, this package has another name
from ..metrics import dialsim, official  # noqa: TID252 - likewise
from ..metrics.evidence import KS, reciprocal_rank, says, worth  # noqa: TID252 - likewise
from ..metrics.libraries import wordnet_version  # noqa: TID252 - likewise
from ..metrics.locomo import score as locomo_score  # noqa: TID252 - likewise
from ..metrics.overlap import Scorer  # noqa: TID252 - likewise
from ..metrics.refusal import refuses, trapped  # noqa: TID252 - likewise
from ..metrics.sbert import similarities  # noqa: TID252 - likewise
from .folder import SCORES, SCORING, existing
from .journal import Journal
from .material import file_hash, material
from .records import Scored, unit

if TYPE_CHECKING:
    from pathlib import Path

    from ..datasets.conversation import Conversation, Question  # noqa: TID252 - likewise
    from ..metrics.overlap import Overlap  # noqa: TID252 - likewise
    from .config import Config
    from .folder import Folder
    from .material import Material
    from .records import Answered, Retrieved

METRICS = 1
"""Raised when a measure changes its meaning: results of different versions are not compared."""
REFUSAL = "Not mentioned in the conversation"
_DIGITS = 6
_OVERLAP = {
    "f1": "amem_f1",
    "bleu1": "amem_bleu1",
    "rouge_l": "amem_rouge_l",
    "rouge2": "amem_rouge2",
    "meteor": "amem_meteor",
    "meteor_nowordnet": "amem_meteor_nowordnet",
}


class Scoring(Frozen):
    """With what a run was scored."""

    metrics: int
    versions: dict[str, str]
    disputed: str = ""
    """SHA-256 of the list of disputed questions, where there is one."""


async def score(path: Path, listed: Path | None = None) -> list[Scored]:
    """Score every answer of a run, and write `scores.jsonl`, and with what that was done.

    Args:
        path: the run's folder.
        listed: disputed questions, instead of those that the configuration names.

    Raises:
        InputError: there is no run in the folder, its data is not what it was, or the extra `bench` is not installed.
    """
    folder, manifest = existing(path)  # a run that is under way may be scored: its lines are only ever added to
    found = material(manifest.config)
    if found.hashes != manifest.data:
        raise InputError(f"the data of {path} is not what it was when it was run. Nothing was scored.")
    listed = listed or manifest.config.data.disputed
    doubted = disputed.load(listed) if listed is not None else frozenset()
    scores: list[Scored] = []
    for system in manifest.config.systems:
        scores += await _system(found, folder, system.label, doubted)
    lines = "".join(f"{canonical_json(one.model_dump(mode='json'))}\n" for one in scores)
    write_whole(path / SCORES, lines.encode("utf-8", "replace"))
    write_whole(path / SCORING, f"{canonical_json(_scoring(found, listed).model_dump())}\n".encode())
    return scores


def ready(config: Config) -> None:
    """See to it that what a run answers can be scored, before hours of work begin.

    Raises:
        InputError: the list of disputed questions cannot be read, or the extra `bench` is not installed.
    """
    if config.data.disputed is not None:
        disputed.load(config.data.disputed)
    Scorer().score("a", "b")


def read_scores(path: Path) -> tuple[list[Scored], Scoring]:
    """Return what was scored in a folder, and with what.

    Raises:
        InputError: nothing was.
    """
    if not (path / SCORING).is_file():
        raise InputError(f"nothing is scored in {path}. `amem bench score` does it.")
    return Journal(path / SCORES, Scored).records(), Scoring.model_validate_json((path / SCORING).read_bytes())


def _scoring(found: Material, listed: Path | None) -> Scoring:
    libraries = {name: version(name) for name in ("nltk", "rouge-score")}
    embedder = {"similarity": found.embedder.fingerprint} if found.config.similarity else {}
    return Scoring(
        metrics=METRICS,
        versions=libraries | {"WordNet": wordnet_version() or "none"} | embedder,
        disputed=file_hash(listed) if listed is not None else "",
    )


async def _system(found: Material, folder: Folder, label: str, doubted: frozenset[tuple[str, int]]) -> list[Scored]:
    scorer = Scorer()
    scores: list[Scored] = []
    pairs: list[tuple[str, str]] = []
    for conversation, question in found.questions():
        name = unit(label, question.key)
        retrieved, answered = folder.retrieval.get(name), folder.answers.get(name)
        if retrieved is None or answered is None:
            continue
        values = _answer_values(question, answered.answer, scorer, found.data.format)
        values |= _context_values(conversation, question, retrieved)
        one = _scored(label, question, retrieved, answered, values)
        scores.append(one.model_copy(update={"disputed": (question.conversation, question.index) in doubted}))
        compared = question.answerable and question.right is None
        pairs.append((answered.answer, question.gold or "" if compared else ""))
    return await _with_similarity(found, scores, pairs)


def _scored(
    label: str, question: Question, retrieved: Retrieved, answered: Answered, values: dict[str, float]
) -> Scored:
    return Scored(
        unit=unit(label, question.key),
        system=label,
        conversation=question.conversation,
        index=question.index,
        category=question.category,
        answerable=question.answerable,
        tokens=retrieved.tokens,
        failed=answered.failed is not None,
        refused=_refused(question, answered.answer),
        values={name: round(value, _DIGITS) for name, value in sorted(values.items())},
    )


def _refused(question: Question, answer: str) -> bool:
    """Say whether an answer says that nothing is known; of a choice, whether it is the option that says so."""
    if question.right is not None:
        return dialsim.chosen(answer, question.options) == dialsim.UNKNOWN
    return refuses(answer)


def _answer_values(question: Question, answer: str, scorer: Scorer, form: str) -> dict[str, float]:
    if form == "locomo":
        return _locomo_values(question, answer, scorer)
    if question.right is not None:
        return _choice_values(question, answer)  # a letter shares no words with anything
    values = {} if not question.answerable else _overlap_values(scorer.score(answer, question.gold or ""))
    if form == "dialsim":
        return values | _choice_values(question, answer)
    return values | {"right_words": _right_words(question, answer)}


def _locomo_values(question: Question, answer: str, scorer: Scorer) -> dict[str, float]:
    asked = locomo.Question.model_validate(
        {
            "index": question.index, "question": question.question, "category": int(question.category),
            "answer": question.gold, "adversarial_answer": question.trap, "evidence": (),
        }
    )  # fmt: skip
    found = locomo_score(question.conversation, asked, answer, scorer)
    always = official.score(asked.category, REFUSAL, asked.answer)
    # Each score is rounded to three places, as the official code does before it takes the mean.
    values = {"official": round(found.official, 3), "official_always_refuses": round(always, 3)}
    if found.overlap is not None:
        values |= _overlap_values(found.overlap)
    if found.amem_c5_inverted is not None:
        values["amem_c5_inverted"] = found.amem_c5_inverted
    if question.trap is not None:
        values["trapped"] = float(trapped(answer, question.trap))
    return values


def _overlap_values(found: Overlap) -> dict[str, float]:
    given = {name: getattr(found, field) for field, name in _OVERLAP.items()}
    return {name: value for name, value in given.items() if value is not None}


def _choice_values(question: Question, answer: str) -> dict[str, float]:
    """Return DialSim's accuracy; of an answer without letters, before any model is asked."""
    gold = question.gold or ""
    if question.right is None:
        return {
            "strict": float(dialsim.strict_text(answer, gold)),
            "lenient": float(dialsim.lenient_text(answer, gold)),
        }
    right = next(letter for letter in dialsim.LETTERS if letter == question.right)
    return {
        "strict": float(dialsim.strict(answer, right) == "correct"),
        "lenient": float(dialsim.lenient(answer, right, question.options)),
        "chance": 1 / len(question.options),
        "always_e": float(right == dialsim.UNKNOWN),
    }


def _right_words(question: Question, answer: str) -> float:
    """Return 1 where the right answer's words stand in a row; where nothing is known, where that is said."""
    return float(dialsim.lenient_text(answer, question.gold or "") if question.answerable else refuses(answer))


def _context_values(conversation: Conversation, question: Question, retrieved: Retrieved) -> dict[str, float]:
    values: dict[str, float] = {}
    if question.answerable and question.gold:
        values["answer_in_context"] = float(says(retrieved.text, question.gold))
    if question.evidence_sessions:
        of = {turn.id: turn.session for turn in conversation.turns}
        seen = {of[turn] for turn in retrieved.shown}
        values["sessions_shown"] = len(seen.intersection(question.evidence_sessions)) / len(question.evidence_sessions)
    if not question.evidence:
        return values
    shown = len(set(retrieved.shown).intersection(question.evidence)) / len(question.evidence)
    values |= {"evidence_shown": shown, "evidence_all_shown": float(shown == 1)}
    if retrieved.ranking is not None:
        turns = [(turn,) for turn in retrieved.ranking]
        found = worth(turns, [], question.evidence, None).recall_at
        values |= {f"recall_at_{k}": value for k, value in zip(KS, found, strict=True)}
        values["reciprocal_rank"] = reciprocal_rank(turns, question.evidence)
    return values


async def _with_similarity(found: Material, scores: list[Scored], pairs: list[tuple[str, str]]) -> list[Scored]:
    """Add the cosine of answer and right answer; there is none where there is no right answer."""
    asked = [place for place, (_, gold) in enumerate(pairs) if gold]
    if not found.config.similarity or not asked:
        return scores
    values = (await similarities([pairs[place] for place in asked], found.embedder)).values
    near = dict(zip(asked, values, strict=True))
    return [
        one.model_copy(update={"values": one.values | {"amem_similarity": round(near[place], 4)}})
        if place in near
        else one
        for place, one in enumerate(scores)
    ]
