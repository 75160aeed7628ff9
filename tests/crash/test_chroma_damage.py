"""Chroma's folder is removed, cut, rewritten, or left by another version: search goes on, and reindex heals it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3

import pytest
from crash_child import TEXTS, WITH_CHROMA, opened
from crash_support import copies, goes_on, made, mended, problems
from vector_source import units

from amem.repair import reindex
from amem.store.chroma import ChromaIndex
from amem.store.folder import FOLDER

ROWS = "chroma.sqlite3"


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory):
    return asyncio.run(made(tmp_path_factory.mktemp("lived") / "in", **WITH_CHROMA))


def removed(folder):
    shutil.rmtree(folder)


def emptied(folder):
    (folder / ROWS).write_bytes(b"")


def cut(folder):
    data = (folder / ROWS).read_bytes()
    (folder / ROWS).write_bytes(data[: len(data) // 2])


def flipped(folder):
    data = (folder / ROWS).read_bytes()
    (folder / ROWS).write_bytes(bytes(byte ^ 0xFF if place % 97 == 0 else byte for place, byte in enumerate(data)))


def of_a_newer_version(folder):
    with sqlite3.connect(folder / ROWS) as raw:
        raw.execute("INSERT INTO migrations SELECT dir, version + 90, filename, sql, hash FROM migrations")
    raw.close()


def of_an_older_version(folder):
    with sqlite3.connect(folder / ROWS) as raw:
        raw.execute("DELETE FROM migrations WHERE version = (SELECT max(version) FROM migrations)")
        raw.execute("ALTER TABLE collections RENAME TO collections_of_old")
    raw.close()


def with_other_vectors(folder):
    index = ChromaIndex.embedded(folder.parent)
    for name in index.names():
        ids = list(index.ids(name))
        index.upsert(name, ids, units(len(ids), 256), [{}] * len(ids))
    index.close()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (removed, set()),  # a folder that is not there is filled again when it is opened
        (emptied, set()),
        (cut, {"index_damaged"}),
        (flipped, {"index_damaged"}),
        (of_a_newer_version, None),
        (of_an_older_version, {"index_damaged"}),
        (with_other_vectors, {"index_differs"}),
    ],
)
async def test_p3_whatever_happened_to_chroma_everything_is_found_and_the_doctor_mends_it(
    lived_in, tmp_path, damage, found
):
    place = copies(lived_in, tmp_path)()
    damage(place / FOLDER)
    async with opened(place, **WITH_CHROMA) as memory:
        assert {hit.note.content for hit in await memory.search("bread", k=10)} == set(TEXTS[:3])
        kinds = problems(memory)
        assert kinds == found or (found is None and kinds <= {"index_damaged"})
        await goes_on(memory)
        assert await mended(memory) == ()
        assert memory._rooms.index.how("default") == "chroma"


async def test_p3_reindex_alone_heals_a_damaged_chroma(lived_in, tmp_path):
    place = copies(lived_in, tmp_path)()
    cut(place / FOLDER)
    async with opened(place, **WITH_CHROMA) as memory:
        assert problems(memory) == {"index_damaged"}
        await reindex(memory._rooms)
        assert problems(memory) == set()
        assert memory._rooms.index.how("default") == "chroma"
