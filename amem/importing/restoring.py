"""Bringing notes of another amem back as they were: under their ids where these are free, and in their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from amem.importing.foreign import NotTaken
from amem.model import Cause, Note
from amem.store.plan import Call, Change, status_of
from amem.store.selecting import of_sources
from amem.store.written import WHOLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from amem.importing.foreign import Foreign
    from amem.ingest.worker import Raw
    from amem.rooms import Rooms

_WORDS = ("keywords", "tags", "context")
"""What a note is known for: unless the user gave it, it has a history."""
PLACE_TAKEN = "another note has its place in the session; it comes last"


class Restored(NamedTuple):
    """Notes on their way back."""

    raw: list[Raw]
    """As they will be stored, in order."""
    there: dict[str, Note]
    """By key, those that the box has already."""
    skipped: list[NotTaken]


def restore(rooms: Rooms, box: str, items: Sequence[Foreign], raw: Sequence[Raw]) -> Restored:
    """Give notes that come back whole what they had; all others stay as they are."""
    wholes = {item.key: item.whole for item in items if item.whole is not None}
    if not wholes:
        return Restored(list(raw), {}, [])
    there = _there(rooms, box, items)
    taken = rooms.ledger.get([whole.id for whole in wholes.values()])
    ids: dict[str, str] = {}
    for item, one in zip(items, raw, strict=True):
        if item.whole is not None:
            free = item.whole.id if item.whole.id not in taken else one.note.id
            ids[item.whole.id] = there[item.key].id if item.key in there else free
    new = [whole for key, whole in wholes.items() if key not in there]
    lost = _without_place(rooms, box, new)
    restored = []
    for item, one in zip(items, raw, strict=True):
        if item.whole is not None:
            note = _as_stored(item.whole, ids, box, placed=item.whole.id not in lost)
            one = one._replace(note=note, text=rooms.render(note))  # noqa: PLW2901 - the same one, filled in
        restored.append(one)
    skipped = [NotTaken(what=f"the position of {key}", why=PLACE_TAKEN) for key, w in wholes.items() if w.id in lost]
    return Restored(restored, there, skipped)


def _there(rooms: Rooms, box: str, items: Sequence[Foreign]) -> dict[str, Note]:
    """Return the notes that the box has already: of the same id and text, or of the same source."""
    taken = rooms.ledger.get([item.whole.id for item in items if item.whole is not None], boxes=[box])
    keys = [item.note.source for item in items if item.note.source is not None]
    sources = of_sources(rooms.ledger.database, box, keys)
    found: dict[str, Note] = {}
    for item in items:
        same = None if item.whole is None else taken.get(item.whole.id)
        if same is None or same.content != item.note.content:
            same = None if item.note.source is None else sources.get(item.note.source)
        if same is not None:
            found[item.key] = same
    return found


def _without_place(rooms: Rooms, box: str, notes: Iterable[Note]) -> set[str]:
    """Return the notes, by id, whose places in their sessions are taken by others."""
    placed = [(n.session_id, n.position, n.id) for n in notes if n.session_id is not None and n.position is not None]
    spans = [(session, position, position) for session, position, _ in placed]
    used = {(note.session_id, note.position) for note in rooms.ledger.session_turns(box, spans)}
    lost: set[str] = set()
    for session, position, note_id in placed:
        if (session, position) in used:
            lost.add(note_id)
        used.add((session, position))
    return lost


def _as_stored(whole: Note, ids: Mapping[str, str], box: str, *, placed: bool) -> Note:
    """Return a note as it is stored at first; what can be taken back later is a change of its own."""
    back = {
        "id": ids[whole.id],
        "box": box,
        "sources": tuple(ids.get(source, source) for source in whole.sources),
        "position": whole.position if placed else None,
        "superseded_by": None,
        "valid_to": None if whole.superseded_by in ids else whole.valid_to,
        "status": status_of(whole.pending_reason) if whole.status == "archived" else whole.status,
        "made_by": None,
        "version": 1,
    }
    raw = {name: Note.model_fields[name].default for name in _WORDS if name not in whole.pinned}
    return whole.model_copy(update={**back, **raw})


def knowing(whole: Note, note: Note, call: int, there: Collection[str]) -> tuple[list[Call], list[Change]]:
    """Return what makes a note, as it was stored, known for what it was known for, and by whom.

    Args:
        whole: as it was.
        note: as it was stored; where it has changed since, nothing is done.
        call: the place of the next call in the plan.
        there: ids of all notes that came.
    """
    maker = whole.made_by if note.made_by is None else None
    words = whole.model_dump(mode="json", include=set(_WORDS).difference(whole.pinned))
    words = {name: value for name, value in words.items() if value}
    if note.version > 1 or not (words or maker):
        return [], []
    kind: Literal["user", "build"] = "user" if maker is None else "build"
    cause = Cause(kind=kind, notes=(note.id,))
    change = Change(note_id=note.id, expected_version=1, fields=words, cause=cause)
    if maker is None:
        return [], [change]
    stage = next((stage for stage in WHOLE if maker.prompt.startswith(f"{stage}@")), None)
    shown = (note.id,) if stage is None else tuple(source for source in note.sources if source in there)
    made = Call(
        stage=stage or "build", model=maker.model, prompt=maker.prompt, shown=shown, versions=(0,) * len(shown)
    )  # fmt: skip
    return [made], [change.model_copy(update={"call": call})]


def placing(whole: Note, note: Note, successor: Note | None, changed: Collection[str]) -> list[Change]:
    """Return what puts a note behind another, or into the archive, as it was; both can be taken back.

    Args:
        whole: as it was.
        note: as it stands.
        successor: the note that took its place.
        changed: fields that have a history; what somebody took back is not done again.
    """
    changes: list[Change] = []
    if successor is not None and "superseded_by" not in changed:
        until = None if whole.valid_to is None else whole.valid_to.isoformat()
        fields: dict[str, JsonValue] = {"superseded_by": successor.id, "valid_to": until}
        cause = Cause(kind="supersede", notes=(successor.id,))
        changes.append(Change(note_id=note.id, expected_version=note.version, fields=fields, cause=cause))
    if whole.status == "archived" and "status" not in changed:
        away = Cause(kind="archive", notes=(note.id,))
        changes.append(
            Change(note_id=note.id, expected_version=note.version, fields={"status": "archived"}, cause=away)
        )
    return changes
