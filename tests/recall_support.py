from __future__ import annotations

from datetime import UTC, datetime

from support import builds

from amem.model import Cause, Link
from amem.store.plan import Change, Plan, PlannedLink
from amem.testing import ScriptedLLM

AT = datetime(2024, 5, 1, tzinfo=UTC)
HIKE = [
    "Ana hikes in the Tatra mountains every autumn.",
    "Ben bakes rye bread on Sundays.",
    "Ana bought new boots for the autumn hike.",
    "The ferry to Gdansk leaves at noon.",
    "Ben sold his old piano to a school.",
]


async def fill(memory, texts=HIKE, **common):
    """Add texts; return their ids in order."""
    return [result.id for result in await memory.add_many(texts, **common)]


def link(memory, source, target, *, strength=0.5, relation="led to", reason="The boots were for the hike."):
    """Link two notes of a memory's box, as a user would."""
    made = Link(
        box=memory.name, source=source, target=target, relation=relation, reason=reason, strength=strength,
        created_at=AT,
    )  # fmt: skip
    plan = Plan(box=memory.name, at=AT, links=(PlannedLink(link=made, cause=Cause(kind="user")),))
    memory._rooms.ledger.commit(plan, {})


def change(memory, note_id, **fields):
    """Set fields of a note that no verb sets yet."""
    cause = Cause(kind="user")
    changes = (Change(note_id=note_id, expected_version=None, fields=fields, cause=cause),)
    memory._rooms.ledger.commit(Plan(box=memory.name, at=AT, changes=changes), {})


def scripted(**answers):
    """A model that builds notes plainly, links nothing, and answers the other prompts as told."""
    return ScriptedLLM({"note": builds, "link_evolve": {"links": [], "changes": []}, **answers})
