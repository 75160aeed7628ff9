"""A Chroma folder of the package `a-mem` comes in, through a copy and a child process, and is left as it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from amem.errors import InputError
from amem.store.chroma import opened
from amem.store.doctor import doctor

ONE, TWO, THREE = ("11111111-aaaa", "22222222-bbbb", "33333333-cccc")


def row(content, **more):
    """Metadata as the package writes them: texts all, lists as JSON."""
    plain = {
        "content": content, "keywords": [], "links": [], "retrieval_count": 0, "timestamp": "202405031230",
        "last_accessed": "202405041800", "context": "General", "evolution_history": [], "category": "Uncategorized",
        "tags": [], **more,
    }  # fmt: skip
    return {name: json.dumps(value) if isinstance(value, list) else str(value) for name, value in plain.items()}


ROWS = {
    ONE: row("I sold the boat", keywords=["boat"], tags=["trade"], context="Ana sold her boat.", links=[TWO, "nobody"],
             retrieval_count=3, category="Sales"),
    TWO: row("I bought a van", links=[ONE], timestamp="not a stamp"),
    THREE: {"keywords": "[]"},
}  # fmt: skip


def fingerprint(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """As the package leaves it, the embedding function that it registers included."""
    place = tmp_path_factory.mktemp("a") / "chroma_db"
    client = opened(place)
    collection = client.create_collection("memories", embedding_function=None)
    collection.add(
        ids=list(ROWS),
        embeddings=[[float(i + 1), 1.0] for i in range(len(ROWS))],
        metadatas=list(ROWS.values()),
        documents=["text"] * len(ROWS),
    )
    client.close()
    with closing(sqlite3.connect(place / "chroma.sqlite3")) as database, database:
        (text,) = database.execute("SELECT config_json_str FROM collections").fetchone()
        config = json.loads(text or "{}")
        config["embedding_function"] = {
            "type": "known", "name": "sentence_transformer",
            "config": {"model_name": "all-MiniLM-L6-v2", "device": "cpu", "normalize_embeddings": False, "kwargs": {}},
        }  # fmt: skip
        database.execute("UPDATE collections SET config_json_str = ?", (json.dumps(config),))
    return place


@pytest.mark.slow
async def test_its_notes_come_in_with_what_its_model_made_of_them(open_memory, folder):
    before = fingerprint(folder)
    async with open_memory() as memory:
        done = await memory.import_from(folder, format="a-mem")
        found = {note.content: note for note in (await memory.list()).notes}
        boat, van = found["I sold the boat"], found["I bought a van"]
        assert (boat.keywords, boat.tags, boat.context) == (("boat",), ("trade",), "Ana sold her boat.")
        assert (boat.status, boat.made_by.model, boat.pinned) == ("ready", "a-mem", ())
        assert boat.occurred_at.isoformat() == "2024-05-03T12:30:00+00:00"
        assert boat.metadata == {"a-mem": {"category": "Sales"}}
        assert (van.status, van.context, van.made_by) == ("pending", "", None)
        (link,) = await memory.links(boat.id)
        assert {link.source, link.target} == {boat.id, van.id}
        skipped = {item.what: item.why for item in done.skipped}
        assert skipped[THREE] == "it has no content"
        assert skipped[f"link from {ONE} to nobody"] == "that is not there"
        (accesses,) = (
            memory._rooms.ledger.database.engine.connect().exec_driver_sql("SELECT count FROM access").scalars()
        )
        assert accesses == 3
        assert (await memory.import_from(folder, format="a-mem")).known == 2
        assert doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()
        assert not list(memory._rooms.directory.glob("import-*"))
    assert fingerprint(folder) == before


async def test_what_is_no_folder_of_chroma_is_refused(open_memory, tmp_path):
    async with open_memory() as memory:
        with pytest.raises(InputError, match="no folder of Chroma"):
            await memory.import_from(tmp_path, format="a-mem")


@pytest.mark.slow
async def test_a_damaged_folder_is_refused_by_name_and_harms_nobody(open_memory, tmp_path):
    (tmp_path / "chroma.sqlite3").write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    async with open_memory() as memory:
        with pytest.raises(InputError, match="cannot be read: Chroma could not"):
            await memory.import_from(tmp_path, format="a-mem")
        assert (await memory.stats()).notes == 0
