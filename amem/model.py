"""The values amem works with: frozen, validated, without any IO."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from amem.values import Frozen, Metadata, Moment, Term, encodable

Trust = Literal["user", "assistant", "tool", "untrusted"]
Status = Literal["pending", "ready", "archived"]
PendingReason = Literal["raw", "queued", "failed"]
Stage = Literal["build", "link", "evolve", "link_evolve", "distill", "consolidate", "gate", "embed", "index"]
Kind = Literal["note", "fact", "episode"]
Outcome = Literal["success", "failure", "mixed", "unknown"]

DEFAULT_BOX = "default"
TRUST_RANK: dict[Trust, int] = {"untrusted": 0, "tool": 1, "assistant": 2, "user": 3}
"""The higher, the further a text is believed."""


class MadeBy(Frozen):
    """Which call made something, and every note it was shown."""

    model: str
    prompt: str
    """`name@version+hash`."""
    shown: tuple[str, ...] = ()
    """Ids of all notes whose text was in the request."""


class Fact(Frozen):
    """A statement: of whom or what, in which respect, and what. When it holds is the note's validity."""

    kind: Literal["fact"] = "fact"
    subject: Term
    predicate: Term
    object: Term
    single: bool = True
    """Whether the subject has one such object at a time, so that another one ends this: one lives in one city, and may
    like many dishes."""

    @property
    def text(self) -> str:
        """It, in words."""
        return f"{self.subject} {self.predicate} {self.object}"


class Episode(Frozen):
    """What was done about something, and how it ended, to learn from."""

    kind: Literal["episode"] = "episode"
    trigger: Term
    """What called for action."""
    actions: tuple[Term, ...] = ()
    outcome: Outcome = "unknown"
    result: Annotated[str, Field(max_length=4000), AfterValidator(encodable)] = ""
    """How it ended, in words."""
    lesson: Annotated[str, Field(max_length=4000), AfterValidator(encodable)] = ""
    """What to do the next time."""

    @property
    def text(self) -> str:
        """It, in one line, what called for action first."""
        parts = [f"When: {self.trigger}"]
        if self.actions:
            parts.append(f"Done: {'; '.join(self.actions)}")
        parts.append(f"Outcome: {self.outcome}" + (f", {self.result}" if self.result else ""))
        if self.lesson:
            parts.append(f"Lesson: {self.lesson}")
        return ". ".join(part.rstrip(". ") for part in parts) + "."


About = Annotated[Fact | Episode, Field(discriminator="kind")]


class Note(Frozen):
    """One memory: its immutable content, and what an LLM or the user made of it."""

    id: str
    box: str = DEFAULT_BOX
    agent_id: str | None = None
    session_id: str | None = None
    position: int | None = None
    """Order within the session, from 0."""
    content: str
    """Byte for byte as given; never changed."""
    speaker: str | None = None
    sources: tuple[str, ...] = ()
    """Message ids, URIs, or ids of the notes this one was distilled from."""
    trust: Trust = "user"
    occurred_at: Moment
    """When it happened."""
    created_at: Moment
    """When it was learned."""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str = ""
    pinned: tuple[str, ...] = ()
    """Names of fields the caller set; no LLM may change them, and upkeep does not archive the note."""
    status: Status = "pending"
    pending_reason: PendingReason | None = None
    error: str | None = None
    """Why the note is pending, where a call failed."""
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    superseded_by: str | None = None
    made_by: MadeBy | None = None
    metadata: Metadata = {}
    about: About | None = None
    """What a fact or an episode says, in its parts; as immutable as the content, which says it in words."""
    version: int = 1

    @property
    def kind(self) -> Kind:
        """What sort of memory this is."""
        return "note" if self.about is None else self.about.kind


class Link(Frozen):
    """A connection between two notes, stored once and seen from both ends."""

    id: int | None = None
    box: str
    source: str
    target: str
    relation: str
    """The LLM's own words; there is no fixed vocabulary."""
    reason: str
    strength: float = Field(ge=0, le=1)
    made_by: MadeBy | None = None
    created_at: Moment

    def other(self, note_id: str) -> str:
        """Return the id at the other end."""
        return self.target if note_id == self.source else self.source


class Cause(Frozen):
    """Why something changed."""

    kind: Literal["build", "link", "evolve", "user", "undo", "rebuild", "supersede", "archive", "forget"]
    notes: tuple[str, ...] = ()
    """The notes that brought the change about."""
    undoes: int | None = None
    """The revision taken back, where `kind` is "undo" or "rebuild"."""
    agent_id: str | None = None
    """The agent through whose view it was done, or whose notes brought it about; None where no agent is known."""


class Revision(Frozen):
    """One change of one field of one note, with what stood before and after."""

    id: int | None = None
    box: str
    note_id: str
    field: str
    """A field of Note, or "link" (`before`/`after` are the link's values or null)."""
    before: JsonValue
    after: JsonValue
    cause: Cause
    made_by: MadeBy | None = None
    created_at: Moment
    undone: bool = False


class Usage(Frozen):
    """What calls to a model cost; failed calls are counted."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    """US dollars, over the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is unknown."""

    def __add__(self, other: Usage) -> Usage:
        """Sum two usages."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class Skipped(Frozen):
    """Something that was proposed or due, and was not done."""

    stage: Stage
    what: str
    why: str


class AddResult(Frozen):
    """What became of one text: built, linked, evolved, skipped and why, or pending and why."""

    note: Note
    is_new: bool = True
    """False where the source had been seen before and the stored note is returned."""
    built: bool = False
    links: tuple[Link, ...] = ()
    evolved: tuple[Revision, ...] = ()
    """Changes to other notes that this note brought about."""
    distilled: tuple[str, ...] = ()
    """Ids of the notes, facts and episodes that were made of it, as the strategy `atomic` does."""
    kept: str | None = None
    """Why it was worth building, where the gate was asked; why it was not stands in `note.error`."""
    skipped: tuple[Skipped, ...] = ()
    held: int | None = None
    """Number of the proposal under which what it would bring about waits for `review`."""
    suspicions: tuple[str, ...] = ()
    """Why its text reads like an instruction to a model, where it does."""
    usage: Usage = Usage()
    """Of the whole window this note was processed in."""

    @property
    def id(self) -> str:
        """The note's id."""
        return self.note.id

    @property
    def status(self) -> Status:
        """`ready`, or `pending` with `note.pending_reason` and `note.error`."""
        return self.note.status


class Proposal(Frozen):
    """What a suspicious note would bring about, waiting for review."""

    id: int
    box: str
    created_at: Moment
    why: tuple[str, ...]
    """What is suspicious."""
    notes: tuple[str, ...]
    """The notes that would bring it about."""
    links: tuple[Link, ...] = ()
    changes: tuple[Revision, ...] = ()
    """What would change, from what stands now."""
    outdated: tuple[str, ...] = ()
    """Notes that have moved on since: their changes would be left out."""


class Reviewed(Frozen):
    """What became of a proposal."""

    id: int
    accepted: bool
    links: tuple[Link, ...] = ()
    changes: tuple[Revision, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class PathStep(Frozen):
    """One step on the way to a note: from a direct hit over a link, or from a cue of the question."""

    source: str
    """A note's id, or `cue:` and what the question said."""
    target: str
    relation: str
    reason: str


class Explanation(Frozen):
    """Why a note stands where it stands, or why it does not."""

    note_id: str
    rank: int | None
    """From 1, also where it is too low to be returned; None where the note is no candidate."""
    score: float | None
    parts: dict[str, float] = {}
    """Each named feature's contribution to the score."""
    ranks: dict[str, int] = {}
    """Rank within each arm, from 1, where the arm had it as a candidate."""
    path: tuple[PathStep, ...] = ()
    dropped_by: str | None = None
    """The filter, limit or budget that dropped it."""
    remarks: tuple[str, ...] = ()
    """What did not go as asked: a reranking that failed, say."""


class Hit(Frozen):
    """A note found, its score (higher is better), and how it was found."""

    note: Note
    score: float
    via: str = "direct"
    """`direct`, `link`, or `reconstruction` where that arm ran alone."""
    path: tuple[PathStep, ...] = ()
    explanation: Explanation | None = None


class Citation(Frozen):
    """The note behind `[number]` in a packed context."""

    number: int
    note_id: str
    score: float
    via: str = "direct"
    suspicions: tuple[str, ...] = ()
    """Why the text reads like an instruction to a model, as the context says beside it; not of the user's own words."""
    box: str = DEFAULT_BOX
    agent_id: str | None = None
    """Who wrote it."""


class LeftOut(Frozen):
    """A note that was found but not packed."""

    note_id: str
    why: str


class Context(Frozen):
    """Notes packed for a prompt: `text` cites `[1]…[n]`, `tokens` counts exactly that text."""

    text: str
    citations: tuple[Citation, ...]
    tokens: int
    budget: int
    tokenizer: str
    left_out: tuple[LeftOut, ...] = ()


class Page(Frozen):
    """Some notes in order of creation, and where the next page starts."""

    notes: tuple[Note, ...]
    next: str | None = None
    """Pass as `after=`; None on the last page."""


class Stats(Frozen):
    """Counts of one box, and how its search works now."""

    box: str
    notes: int
    ready: int
    pending: dict[str, int]
    """By reason."""
    archived: int
    links: int
    revisions: int
    unindexed: int
    """Notes committed but not yet in Chroma; they are found all the same."""
    index: str
    """`chroma`, or `exact: <why>`."""
    usage: dict[str, Usage]
    """By stage, over the ledger's whole life."""
