"""What is stale: what another wording of a prompt made than the one in use, or another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError

if TYPE_CHECKING:
    from amem.rooms import Rooms
    from amem.store.stale import IsStale


def staleness(rooms: Rooms, *, prompt: str | None, model: str | None) -> IsStale:
    """Return what tells whether a prompt and a model are older than those in use; equal wordings are one.

    Args:
        rooms: its prompts are those in use.
        prompt: only what this prompt made, by name, or by label for one wording of it.
        model: what any other model made is stale as well.

    Raises:
        InputError: there is no such prompt, and none such ever made anything.
    """
    prompts = rooms.prompts
    now = {name: prompts.get(name).hash for name in prompts.names()}
    if prompt is not None and prompt not in now:
        known = {name for label, _ in rooms.ledger.makers() for name in (label, _name(label))}
        if prompt not in known:
            there = ", ".join(sorted({*known, *now}))
            raise InputError(f"no prompt {prompt!r} made anything here. There are: {there}.")

    def is_stale(label: str, by: str) -> bool:
        asked = prompt is None or prompt in (label, _name(label))
        return asked and (label.rpartition("+")[2] != now.get(_name(label)) or by != (model or by))

    return is_stale


def _name(label: str) -> str:
    return label.partition("@")[0]
