"""What a field would be, had some of its revisions never been made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import JsonValue

SETS = ("keywords", "tags")


@dataclass(frozen=True, slots=True)
class Step:
    """One revision of a field."""

    id: int
    before: JsonValue
    after: JsonValue
    kind: str
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class Rewound:
    """A field without some of its revisions: what it is now, the revisions that stay, and those that go."""

    value: JsonValue
    kept: list[Step]
    dropped: list[int]


def without(steps: Sequence[Step], tainted: Collection[int], field: str) -> Rewound:
    """Replay the revisions of a field, oldest first, from the first tainted one on, as if those had not been.

    A set keeps what the others added and lacks what they removed. A text keeps what was written by whoever had not
    seen the tainted one.
    """
    value = steps[0].before
    kept: dict[int, Step] = {}
    dropped: list[int] = []
    for step in steps:
        new = None if step.id in tainted or step.undoes in dropped else _again(step, value, field, kept)
        if new is None or new == (value,):
            dropped.append(step.id)
            continue
        kept[step.id] = Step(step.id, value, new[0], step.kind, step.undoes)
        value = new[0]
    return Rewound(value, list(kept.values()), dropped)


def _again(step: Step, value: JsonValue, field: str, kept: dict[int, Step]) -> tuple[JsonValue] | None:
    """Return what the step makes of `value` (in a tuple, since it may be null), or None where it cannot stay."""
    undone = None if step.undoes is None else kept.get(step.undoes)
    if field in SETS:
        before, after = (step.before, step.after) if undone is None else (undone.after, undone.before)
        return (_merged(value, before, after),)
    if undone is not None:
        return (undone.before,)
    return (step.after,)


def taken_back(field: str, now: JsonValue, before: JsonValue, after: JsonValue) -> tuple[JsonValue] | None:
    """Return what a field becomes without the change from `before` to `after` (in a tuple, since it may be null).

    A set loses what the change added and regains what it removed. A text that has changed since stands on it: None.
    """
    back_to_work = field == "status" and "archived" not in (now, after)  # what it waits for is no part of its history
    if back_to_work or canonical_json(now) == canonical_json(after):
        return (before,)
    return (_merged(now, after, before),) if field in SETS and isinstance(now, list) else None


def _merged(value: JsonValue, before: JsonValue, after: JsonValue) -> JsonValue:
    if not (isinstance(value, list) and isinstance(before, list) and isinstance(after, list)):
        return after
    stays = [word for word in value if word in after or word not in before]
    return stays + [word for word in after if word not in before and word not in stays]
