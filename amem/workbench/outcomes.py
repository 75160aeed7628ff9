"""Outcomes: what the pipeline would make of one reply, by the parsers and rules of its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem import replies
from amem.ingest import builder, evolver, linker, weaver
from amem.ingest.evolver import Evolution
from amem.ingest.linker import LinkProposal
from amem.values import Frozen
from amem.workbench.shownotes import new_note, notes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel, JsonValue

    from amem.workbench.trials import Trial


class Outcome(Frozen):
    """What would be stored, under the numbers that notes were shown by."""

    contexts: dict[str, str] = {}
    links: tuple[LinkProposal, ...] = ()
    changes: tuple[Evolution, ...] = ()
    answer: str = ""

    @property
    def linked(self) -> tuple[str, ...]:
        """The links, as a reading names them."""
        return tuple(sorted(f"{link.source} → {link.target}" for link in self.links))

    @property
    def changed(self) -> tuple[str, ...]:
        """The notes changed, as a reading names them."""
        return tuple(sorted(f"note {change.note_id}" for change in self.changes))


def outcome(trial: Trial, variables: Mapping[str, JsonValue]) -> Outcome:
    """Return what would be stored of a trial; of an unusable reply, nothing."""
    reply = trial.reply()
    return Outcome() if reply is None else _of(reply, variables)


def _of(reply: BaseModel, variables: Mapping[str, JsonValue]) -> Outcome:
    if isinstance(reply, replies.AnswerReply):
        return Outcome(answer=reply.answer)
    turns, older, newer = (notes_of(variables, name) for name in ("turns", "neighbours", "notes"))
    note = new_note(variables)
    if isinstance(reply, builder.REPLIES) and turns is not None:
        built = builder.parse(reply, turns.notes)
        return Outcome(contexts={number: fields.context for number, fields in built.items()})
    if older is not None and note is not None:
        if isinstance(reply, linker.REPLIES):
            return Outcome(links=tuple(linker.parse(reply, note, older)[0]))
        if isinstance(reply, evolver.REPLIES):
            return Outcome(changes=tuple(evolver.parse(reply, note, older)[0]))
    if isinstance(reply, weaver.REPLIES) and older is not None and newer is not None:
        links, _ = weaver.parse_links(reply, older, newer)
        changes, _ = weaver.parse_changes(reply, older, newer)
        return Outcome(links=tuple(links), changes=tuple(changes))
    return Outcome()
