"""Numbers of an export and of a ledger, mapped to each other wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import JsonValue

    from amem.store.plan import Plan


class Numbers:
    """A mapping of numbers; by itself, it counts them from 1 in their order."""

    def __init__(self, numbers: Iterable[int], to: Iterable[int] | None = None) -> None:
        ordered = sorted(set(numbers))
        self._to: Mapping[int, int] = dict(zip(ordered, range(1, len(ordered) + 1) if to is None else to, strict=True))

    def of(self, number: int | None) -> int | None:
        """Return what a number became; None for none, and for one that is not there."""
        return None if number is None else self._to.get(number)

    def known(self, number: int) -> int:
        """Return what a number that is there became."""
        return self._to[number]


def renumbered_link(value: JsonValue, links: Numbers, box: str | None = None) -> JsonValue:
    """Return a link, as revisions keep it, under its new number, and in another box where one is named."""
    if not isinstance(value, dict):
        return value
    moved: dict[str, JsonValue] = {} if box is None else {"box": box}
    return {**value, "id": links.known(int(str(value["id"]))), **moved}


def renumbered_plan(plan: Plan, links: Numbers, revisions: Numbers, box: str | None = None) -> Plan:
    """Return a plan that speaks of links and revisions by their new numbers."""
    moved: dict[str, Any] = {} if box is None else {"box": box}
    planned = [
        one.model_copy(update={"link": one.link.model_copy(update={"id": links.of(one.link.id), **moved})})
        for one in plan.links
    ]
    unlink = [
        one.model_copy(update={"link_id": number}) for one in plan.unlink if (number := links.of(one.link_id))
    ]  # fmt: skip
    marks = {name: tuple(n for n in map(revisions.of, getattr(plan, name)) if n) for name in ("undone", "revived")}
    return plan.model_copy(update={"links": tuple(planned), "unlink": tuple(unlink), **marks, **moved})
