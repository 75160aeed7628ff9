"""What may be seen and done through one door to a memory: which box, in whose name, and whether anything may change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from amem.errors import InputError, ReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from amem.intake import NewNote
    from amem.store.plan import Plan


@dataclass(frozen=True)
class View:
    """One box, as it is handed out."""

    box: str
    agent_id: str | None = None
    """Who writes through it; None lets each text name its own."""
    read_only: bool = False

    def narrowed(self, box: str, agent_id: str | None, *, read_only: bool) -> View:
        """Return a view of the same box that may do no more than this one.

        Raises:
            InputError: it would see another box, or write in another agent's name.
        """
        if box != self.box:
            raise InputError(f"a view of the box {self.box!r} cannot see {box!r}; ask the memory itself")
        return replace(self, agent_id=self.writer(agent_id), read_only=self.read_only or read_only)

    def writer(self, agent_id: str | None) -> str | None:
        """Return who writes, where `agent_id` is who is said to.

        Raises:
            InputError: the view writes in another agent's name.
        """
        if self.agent_id is None or agent_id in (None, self.agent_id):
            return self.agent_id or agent_id
        raise InputError(
            f"this view writes as the agent {self.agent_id!r}, not as {agent_id!r}. Nothing was stored; leave the"
            " agent_id out, or ask the memory for another view."
        )

    def by(self, plan: Plan) -> Plan:
        """Return a plan with the name of whose it is."""
        return plan if self.agent_id is None else plan.model_copy(update={"agent_id": self.agent_id})

    def signed(self, new: NewNote) -> NewNote:
        """Return a text with the name of who writes it."""
        return new.model_copy(update={"agent_id": self.writer(new.agent_id)})


V = TypeVar("V", bound="Callable[..., Coroutine[Any, Any, Any]]")


def writes(verb: V) -> V:
    """Let a verb that changes something refuse where its `_view` may only read, before it does anything."""

    @wraps(verb)
    async def guarded(self: Any, *args: Any, **given: Any) -> Any:
        view: View = self._view
        if view.read_only:
            raise ReadOnly(
                f"{verb.__name__} is refused: this view of the box {view.box!r} may only read. Nothing was changed;"
                " who opened the memory can hand out a view that may write."
            )
        return await verb(self, *args, **given)

    return cast("V", guarded)
