"""What mem0 gives out comes in: memories with who and when, earlier wordings; and what cannot be taken is named."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InputError
from amem.importing import mem0
from amem.store.doctor import doctor

MEMORIES = {
    "results": [
        {
            "id": "m1", "memory": "Dev lives in Busan", "hash": "h", "user_id": "dev", "agent_id": "helper",
            "run_id": "r1", "metadata": {"type": "place"}, "categories": ["home"],
            "created_at": "2023-01-02T03:04:05+00:00", "updated_at": "2024-05-06T07:08:09-07:00",
        },
        {"id": "m2", "memory": "Dev likes tea", "user_id": "dev", "actor_id": "Devi", "created_at": "2024-01-01"},
        {"id": "m3", "memory": " "},
        {"event": "ADD"},
    ],
    "relations": [{"source": "dev", "relationship": "likes", "destination": "tea"}],
}  # fmt: skip
HISTORY = [
    {"id": "h1", "memory_id": "m1", "old_memory": None, "new_memory": "Dev lives in Seoul", "event": "ADD",
     "created_at": "2023-01-02T03:04:05+00:00", "updated_at": None, "is_deleted": False},
    {"id": "h2", "memory_id": "m1", "old_memory": "Dev lives in Seoul", "new_memory": "Dev lives in Busan",
     "event": "UPDATE", "created_at": "2023-01-02T03:04:05+00:00", "updated_at": "2024-05-06T07:08:09-07:00"},
    {"id": "h3", "memory_id": "m9", "old_memory": None, "new_memory": "Dev hates tea", "event": "ADD"},
    {"id": "h4", "memory_id": "m9", "old_memory": "Dev hates tea", "new_memory": None, "event": "DELETE",
     "is_deleted": True},
]  # fmt: skip


def saved(tmp_path, value):
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(value))
    return file


async def notes(memory, **filters):
    return {note.content: note for note in (await memory.list(**filters)).notes}


async def test_memories_come_in_with_who_when_and_what_they_are_about(open_memory, tmp_path):
    async with open_memory() as memory:
        done = await memory.import_from(saved(tmp_path, MEMORIES), format="mem0")
        assert (len(done.added), done.known) == (2, 0)
        found = await notes(memory)
        busan, tea = found["Dev lives in Busan"], found["Dev likes tea"]
        assert (busan.speaker, busan.agent_id, busan.session_id, busan.tags) == ("dev", "helper", "r1", ("home",))
        assert busan.occurred_at.isoformat() == "2023-01-02T03:04:05+00:00"
        assert busan.metadata == {
            "type": "place",
            "mem0": {"hash": "h", "user_id": "dev", "categories": ["home"]},
        }
        assert (tea.speaker, busan.sources, busan.pinned) == ("Devi", ("mem0:m1",), ())
        assert busan.made_by.model == "mem0"
        skipped = {item.what: item.why for item in done.skipped}
        assert set(skipped) == {"m3", "entry 4", "1 relations"}
        assert "empty" in skipped["m3"]
        assert doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()


async def test_an_earlier_wording_is_a_note_whose_place_the_later_one_has_taken(open_memory, tmp_path):
    file = saved(tmp_path, {**MEMORIES, "history": HISTORY})
    async with open_memory() as memory:
        done = await memory.import_from(file, format="mem0")
        shown, hidden = await notes(memory), await notes(memory, outdated=True)
        assert set(shown) == {"Dev lives in Busan", "Dev likes tea"}
        assert hidden["Dev lives in Seoul"].superseded_by == shown["Dev lives in Busan"].id
        assert [set(await notes(memory, as_of=day)) for day in ("2023-06-01", "2024-06-01")] == [
            {"Dev lives in Seoul"},
            {"Dev lives in Busan", "Dev likes tea"},
        ]
        assert {"m9": "it was deleted there"}.items() <= {item.what: item.why for item in done.skipped}.items()
        assert doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()


async def test_importing_again_adds_nothing_and_finishes_what_was_stopped(open_memory, tmp_path):
    file = saved(tmp_path, {**MEMORIES, "history": HISTORY})
    async with open_memory() as memory:
        raw = memory._worker.raw([item.note for item in mem0.read(file).items], memory.name)
        await memory._worker.accept(raw)  # as a run that was killed here leaves it
        done = await memory.import_from(file, format="mem0")
        assert (done.added, done.known) == ((), 3)
        assert set(await notes(memory)) == {"Dev lives in Busan", "Dev likes tea"}
        assert (await memory.import_from(file, format="mem0")).revisions == 0


def test_the_history_alone_tells_what_the_memories_say(tmp_path):
    found = mem0.read(saved(tmp_path, HISTORY))
    assert [(item.key, item.note.content, item.replaced_by) for item in found.items] == [
        ("m1@1", "Dev lives in Seoul", "m1"),
        ("m1", "Dev lives in Busan", None),
    ]


def test_the_database_of_an_open_source_mem0_is_read_and_not_changed(tmp_path):
    file = tmp_path / "history.db"
    columns = ("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"CREATE TABLE history ({', '.join(columns)})")
        rows = [[row.get(name) for name in columns] for row in HISTORY]
        database.executemany(f"INSERT INTO history VALUES ({', '.join('?' * len(columns))})", rows)
    before = file.read_bytes()
    found = mem0.read(file)
    assert [item.key for item in found.items] == ["m1@1", "m1"]
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["history.db"]


@pytest.mark.parametrize(
    "text", [b"", b"no", b"{}", b"7", b'{"results": 7}', b"SQLite format 3\x00rubbish", b"[" * 10**5]
)
async def test_what_mem0_never_wrote_is_refused_and_nothing_is_stored(open_memory, tmp_path, text):
    (tmp_path / "x").write_bytes(text)
    async with open_memory() as memory:
        with pytest.raises(InputError, match="Nothing was stored"):
            await memory.import_from(tmp_path / "x", format="mem0")
        with pytest.raises(InputError, match="cannot be read"):
            await memory.import_from(tmp_path / "none", format="mem0")
        assert (await memory.stats()).notes == 0


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            name: ANY | st.sampled_from(["a", "2024-01-01", "ADD", "DELETE"])
            for name in ("id", "memory", "memory_id", "new_memory", "event", "created_at", "user_id", "metadata",
                         "role", "categories", "run_id")
        },
    ),
    max_size=4,
)  # fmt: skip


@given(ENTRIES)
def test_whatever_an_entry_holds_it_is_taken_or_named(tmp_path_factory, entries):
    found = mem0.read(saved(tmp_path_factory.mktemp("m"), entries))
    assert len({item.key for item in found.items}) == len(found.items)
    assert all(item.note.content.strip() for item in found.items)
