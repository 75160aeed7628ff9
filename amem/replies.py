"""What a model must reply to each prompt: no defaults, and every string and list is bounded.

A grammar does not stop a small model from repeating itself, so the bounds are part of the schema.
Numbers such as `turn`, `source` and `target` are positions within the one request; the code that made the
request maps them back, and drops what does not map.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

Word = Annotated[str, Field(min_length=1, max_length=48)]
Words = Annotated[list[Word], Field(max_length=8)]
Sentence = Annotated[str, Field(max_length=400)]
_WORD = re.compile(r"\w+")
_ANCHOR_WORDS = 6
_ANCHOR = 48
"""Characters of a turn's first words: scripts without spaces have long ones."""
Position = Annotated[int, Field(ge=0, le=999)]


class Reply(BaseModel):
    """Base of all replies: keys a model adds on its own are ignored, missing ones are an error."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def counts(cls, variables: Mapping[str, JsonValue]) -> dict[str, tuple[int, int]]:  # noqa: ARG003 - for subclasses
        """Return how many items, at least and at most, lists of a reply to these variables have, where that is known.

        The schema of the request says so: a small model skips entries, or repeats one until it is cut off.
        """
        return {}

    @classmethod
    def beginnings(
        cls,
        variables: Mapping[str, JsonValue],  # noqa: ARG003 - for subclasses
    ) -> dict[str, Sequence[dict[str, JsonValue]]]:
        """Return what each item of a list begins with, in order, where that is known; so many items it has.

        The schema of the request leaves no choice there: a small model that has written whose turn it is at, and how
        the turn begins, does not lose count.
        """
        return {}


class NoteFields(Reply):
    """What one turn is known for."""

    turn: Position
    keywords: Words
    tags: Words
    context: Sentence


class NoteReply(Reply):
    """Fields for each turn of a window."""

    notes: Annotated[list[NoteFields], Field(max_length=64)]


class AnchoredNoteFields(Reply):
    """What one turn is known for, after the words it begins with: small models lose count within a window."""

    turn: Position
    words: Annotated[str, Field(max_length=60)]
    keywords: Words
    tags: Words
    context: Annotated[Sentence, Field(json_schema_extra={"minLength": 1})]
    """Servers that keep to the schema cannot leave it empty; what others leave empty is still taken."""


class AnchoredNoteReply(Reply):
    """Fields for each turn of a window, each with the words of its turn."""

    notes: Annotated[list[AnchoredNoteFields], Field(max_length=64)]

    @classmethod
    def beginnings(cls, variables: Mapping[str, JsonValue]) -> dict[str, Sequence[dict[str, JsonValue]]]:
        """One entry for each turn, which begins as the turn does."""
        return {"notes": _beginnings(variables, AnchoredNoteFields)}


class ProposedLink(Reply):
    """A connection from the new note to one neighbour."""

    neighbour: Position
    reason: Annotated[str, Field(max_length=200)]
    relation: Annotated[str, Field(max_length=60)]


class LinkReply(Reply):
    """Connections of one new note; an empty list says there are none."""

    links: Annotated[list[ProposedLink], Field(max_length=3)]


class ProposedChange(Reply):
    """What one neighbour is to be known for from now on; an empty value leaves the field as it is."""

    neighbour: Position
    context: Sentence
    keywords: Words
    tags: Words


class EvolveReply(Reply):
    """Tags the new note gains, and neighbours that the new note puts into another light."""

    tags: Annotated[list[Word], Field(max_length=3)]
    changes: Annotated[list[ProposedChange], Field(max_length=3)]


class WindowLink(Reply):
    """What one new note (`source`) is connected with: neighbours or other new notes (`targets`), mostly none or one."""

    source: Position
    targets: Annotated[list[Position], Field(max_length=2)]
    reason: Annotated[str, Field(max_length=200)]
    relation: Annotated[str, Field(max_length=60)]


class WindowChange(Reply):
    """A change to one neighbour, and the new notes it is due to; an empty value leaves the field as it is."""

    because: Annotated[list[Position], Field(max_length=4)]
    neighbour: Position
    context: Sentence
    keywords: Words
    tags: Words


class LinkEvolveReply(Reply):
    """Connections and changes for a whole window of new notes."""

    links: Annotated[list[WindowLink], Field(max_length=64)]
    changes: Annotated[list[WindowChange], Field(max_length=3)]


Thing = Annotated[str, Field(max_length=120)]
"""A plan, object, event or trouble, named with its owner."""
Then = Annotated[str, Field(max_length=80)]
"""What has become of the older thing by the new note: a few words, empty where it is another thing."""


class JudgedLink(Reply):
    """A neighbour and the new note: which thing each tells of, and whether it is the same.

    Small models judge better what they have named, so that the things stand before the judgement.
    """

    neighbour: Position
    older: Thing
    newer: Thing
    same: Literal["yes", "no"]


class JudgedLinkReply(Reply):
    """A judgement on each neighbour of one new note."""

    links: Annotated[list[JudgedLink], Field(max_length=64)]

    @classmethod
    def counts(cls, variables: Mapping[str, JsonValue]) -> dict[str, tuple[int, int]]:
        """One for each neighbour."""
        neighbours = len(_list(variables, "neighbours"))
        return {"links": (neighbours, neighbours)}


class JudgedChange(JudgedLink):
    """The same, and what has become of the older thing."""

    then: Then


class JudgedEvolveReply(Reply):
    """A judgement on each neighbour of one new note; those of which something has become are changed by code."""

    changes: Annotated[list[JudgedChange], Field(max_length=64)]

    @classmethod
    def counts(cls, variables: Mapping[str, JsonValue]) -> dict[str, tuple[int, int]]:
        """One for each neighbour."""
        neighbours = len(_list(variables, "neighbours"))
        return {"changes": (neighbours, neighbours)}


class JudgedWindowPair(Reply):
    """A new note (`source`), a note near it (`target`), and the judgement on them, as in `JudgedChange`."""

    source: Position
    target: Position
    older: Thing
    newer: Thing
    same: Literal["yes", "no"]
    then: Then


class JudgedWindowReply(Reply):
    """A judgement on every new note and every note near it."""

    links: Annotated[list[JudgedWindowPair], Field(max_length=64)]

    @classmethod
    def counts(cls, variables: Mapping[str, JsonValue]) -> dict[str, tuple[int, int]]:
        """At most one for each note that is shown as near a new one."""
        near = [_list(note, "near") for note in _list(variables, "notes") if isinstance(note, dict)]
        return {"links": (0, sum(map(len, near)))}


class DistilledNote(Reply):
    """One self-contained memory, and the turns that tell it."""

    turns: Annotated[list[Position], Field(min_length=1, max_length=8)]
    text: Annotated[str, Field(min_length=1, max_length=400)]
    keywords: Words
    tags: Annotated[list[Word], Field(max_length=3)]


class DistilledFact(Reply):
    """One statement that holds until another takes its place, and the turns that make it."""

    turns: Annotated[list[Position], Field(min_length=1, max_length=4)]
    subject: Annotated[str, Field(min_length=1, max_length=80)]
    predicate: Annotated[str, Field(min_length=1, max_length=60)]
    object: Annotated[str, Field(min_length=1, max_length=120)]
    single: bool
    """Whether the subject has one such object at a time."""


class DistilledEpisode(Reply):
    """What was done about something, how it ended, and the turns that tell it."""

    turns: Annotated[list[Position], Field(min_length=1, max_length=8)]
    trigger: Annotated[str, Field(min_length=1, max_length=200)]
    actions: Annotated[list[Annotated[str, Field(min_length=1, max_length=120)]], Field(max_length=5)]
    outcome: Literal["success", "failure", "mixed", "unknown"]
    lesson: Annotated[str, Field(max_length=200)]


class DistillReply(Reply):
    """What a window of turns comes to; empty lists where there is nothing worth remembering."""

    notes: Annotated[list[DistilledNote], Field(max_length=16)]
    facts: Annotated[list[DistilledFact], Field(max_length=12)]
    episodes: Annotated[list[DistilledEpisode], Field(max_length=3)]


class AnchoredMemory(Reply):
    """What one turn tells, after its speaker and the words it begins with."""

    turn: Position
    speaker: Annotated[str, Field(max_length=120)]
    words: Annotated[str, Field(max_length=80)]
    text: Annotated[str, Field(max_length=300, json_schema_extra={"minLength": 1})]
    """Servers that keep to the schema cannot leave it empty, as small models do turn after turn; others may."""
    keywords: Annotated[list[Word], Field(max_length=4)]
    tags: Annotated[list[Word], Field(max_length=2)]


class AnchoredDistillReply(Reply):
    """What a window comes to, turn by turn: asked for what is worth remembering, small models leave most of it out."""

    notes: Annotated[list[AnchoredMemory], Field(max_length=64)]
    facts: Annotated[list[DistilledFact], Field(max_length=4)]
    episodes: Annotated[list[DistilledEpisode], Field(max_length=1)]

    @classmethod
    def beginnings(cls, variables: Mapping[str, JsonValue]) -> dict[str, Sequence[dict[str, JsonValue]]]:
        """One note for each turn, which begins as the turn does."""
        return {"notes": _beginnings(variables, AnchoredMemory)}


Tells = Literal["event", "plan", "fact", "preference", "feeling", "advice", "question", "repeat", "small talk"]
"""What a turn tells for the first time; the last three tell nothing."""


class SortedTurn(Reply):
    """What one turn tells."""

    turn: Position
    tells: Tells


class GateReply(Reply):
    """What each turn tells that the model was asked about."""

    turns: Annotated[list[SortedTurn], Field(max_length=64)]


class QueryReply(Reply):
    """Simpler questions; an empty list says that the question needs none."""

    questions: Annotated[list[Annotated[str, Field(min_length=1, max_length=300)]], Field(max_length=3)]


class RerankReply(Reply):
    """Numbers of the notes that help, best first."""

    order: Annotated[list[Position], Field(max_length=100)]


class OpenTagsReply(Reply):
    """Numbers of the tags and words to follow."""

    open: Annotated[list[Position], Field(max_length=20)]


class AnswerReply(Reply):
    """An answer, and the numbers of the memories it rests on; none where they do not hold it."""

    memories: Annotated[list[Position], Field(max_length=5)]
    answer: Annotated[str, Field(min_length=1, max_length=300)]


class ConsolidateReply(Reply):
    """One note in the place of several: what they say, and what it is to be known for."""

    text: Annotated[str, Field(min_length=1, max_length=4000)]
    keywords: Words
    tags: Words
    context: Sentence


def _beginnings(variables: Mapping[str, JsonValue], item: type[Reply]) -> list[dict[str, JsonValue]]:
    """Return what says which turn an item is about, turn by turn, of the fields that it has."""
    known = [
        {"turn": turn.get("number"), "speaker": _words(turn.get("speaker")), "words": _words(turn.get("text"))}
        for turn in _list(variables, "turns")
        if isinstance(turn, dict)
    ]
    return [{name: value for name, value in one.items() if name in item.model_fields} for one in known]


def _words(text: JsonValue) -> str:
    """Return the first words of a text, without signs: a schema may be sent as text, where nothing fences them."""
    return " ".join(islice((found.group() for found in _WORD.finditer(str(text or ""))), _ANCHOR_WORDS))[:_ANCHOR]


def _list(values: Mapping[str, JsonValue], name: str) -> list[JsonValue]:
    found = values.get(name)
    return found if isinstance(found, list) else []
