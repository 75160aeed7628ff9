"""A full disk and one that cannot be written: what cannot be kept is refused, and what was kept is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager, suppress

import pytest
from crash_child import TEXTS, opened
from crash_support import goes_on, made, mended, problems, state
from sqlalchemy import event

from amem.errors import LedgerUnavailable


def mounts(*command):
    """Try to mount something; tell whether that is allowed here."""
    return os.name == "posix" and subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mounts("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)):
        pytest.skip("no small file system may be mounted here; the test with a small database says the same")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def full(place):
    """Use up a file system, to the last byte."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 512):
            pass
    yield
    ballast.unlink()


@contextmanager
def no_room(memory):
    """Have SQLite say of a database of this size that it is full."""
    engine = memory._rooms.ledger.database.engine

    def limit(raw, _record):
        raw.execute("PRAGMA max_page_count = 1")  # which means: as many as there are

    event.listen(engine, "connect", limit)
    engine.dispose()
    yield
    event.remove(engine, "connect", limit)
    engine.dispose()


async def add_all(memory, texts, kept):
    for text in texts:
        await memory.add(text)
        kept.append(text)


async def refuses_and_loses_nothing(memory, filling):
    """Add until nothing more goes in; then make room, and look."""
    kept = list(TEXTS[:3])
    with filling:
        with pytest.raises(LedgerUnavailable, match=r"full.*Nothing of this change was kept"):
            await add_all(memory, (f"bread {number} {'x' * 20_000}" for number in range(200)), kept)
        assert [note.content for note in (await memory.list(limit=1000)).notes] == kept
        assert {hit.note.content for hit in await memory.search("bread", k=1000)} == set(kept)
    assert problems(memory) == set()
    await goes_on(memory, "pending")
    assert [note.content for note in (await memory.list(limit=1000)).notes][:-1] == kept


async def test_p1_a_full_disk_refuses_what_it_cannot_keep_and_loses_nothing(small_disk):
    async with opened(await made(small_disk / "m"), strategy="raw") as memory:
        await refuses_and_loses_nothing(memory, full(small_disk))


async def test_p1_a_database_that_may_not_grow_refuses_what_it_cannot_keep_and_loses_nothing(tmp_path):
    async with opened(await made(tmp_path / "m"), strategy="raw") as memory:
        await refuses_and_loses_nothing(memory, no_room(memory))


async def test_p3_chroma_on_a_full_disk_costs_no_note_and_is_mended(small_disk, tmp_path):
    place = await made(tmp_path / "m", chroma=True, index_batch=1)
    shutil.move(place / "chroma", small_disk)
    (place / "chroma").symlink_to(small_disk / "chroma")  # the ledger has room, Chroma has not
    async with opened(place, chroma=True, index_batch=1) as memory:
        with full(small_disk):
            for number in range(5):
                assert (await memory.add(f"bread {number} more")).status == "ready"
            assert len(await memory.search("bread", k=100)) == 8
        assert problems(memory) <= {"index_damaged"}
        (place / "chroma").unlink()
        assert await mended(memory) == ()
        await goes_on(memory)


# -- read-only ------------------------------------------------------------------------------------------


@contextmanager
def read_only(place):
    """Make a directory one that cannot be written."""
    if os.geteuid() == 0:  # to whom permissions mean nothing
        if not mounts("mount", "--bind", str(place), str(place)):
            pytest.skip("root can write everywhere, and no read-only file system may be mounted here")
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
        yield
        subprocess.run(["umount", "-l", str(place)], check=True)
    else:
        modes = {path: path.stat().st_mode for path in (place, *place.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        yield
        for path, mode in modes.items():
            path.chmod(mode)


async def test_p1_a_directory_that_cannot_be_written_says_so_and_is_left_alone(tmp_path):
    place = await made(tmp_path / "m")
    async with opened(place) as memory:
        before = await state(memory)
    with read_only(place), pytest.raises(LedgerUnavailable, match=r"ledger\.db could not be"):
        async with opened(place) as memory:
            await memory.add("a bread that cannot be kept")
    async with opened(place) as memory:
        assert await state(memory) == before
        assert problems(memory) == set()
        await goes_on(memory)
