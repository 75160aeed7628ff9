from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

from amem.errors import IndexUnavailable
from amem.store.folder import FOLDER
from amem.store.lock import LOCK_FILE, Holder, IndexLock

HOLD = """
import sys, time
from pathlib import Path
from amem.store.lock import IndexLock
lock = IndexLock.acquire(Path(sys.argv[1]))
print("held" if isinstance(lock, IndexLock) else lock, flush=True)
time.sleep(60)
"""


@pytest.fixture
def other_process(tmp_path):
    """Another process that holds the lock of `tmp_path`."""
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "held"
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_the_first_one_gets_the_lock(tmp_path):
    lock = IndexLock.acquire(tmp_path)
    assert isinstance(lock, IndexLock)
    assert not lock.was_dirty
    lock.release()


def test_another_process_is_told_who_has_it(tmp_path, other_process):
    assert IndexLock.acquire(tmp_path) == Holder(other_process.pid)
    assert str(Holder(other_process.pid)) == f"process {other_process.pid}"


def test_a_second_memory_in_the_same_process_does_not_get_it(tmp_path):
    lock = IndexLock.acquire(tmp_path)
    assert IndexLock.acquire(tmp_path) == Holder(os.getpid())
    lock.release()


def test_asking_in_vain_leaves_the_holders_lock_alone(tmp_path):
    lock = IndexLock.acquire(tmp_path)
    for _ in range(3):
        assert isinstance(IndexLock.acquire(tmp_path), Holder)
    lock.release()
    again = IndexLock.acquire(tmp_path)
    assert isinstance(again, IndexLock)
    again.release()


def test_a_killed_process_loses_the_lock_and_leaves_the_mark(tmp_path, other_process):
    other_process.send_signal(signal.SIGKILL)
    other_process.wait()
    lock = IndexLock.acquire(tmp_path)
    assert isinstance(lock, IndexLock)
    assert lock.was_dirty
    lock.release()


def test_a_clean_release_leaves_no_mark(tmp_path):
    IndexLock.acquire(tmp_path).release()
    assert (tmp_path / LOCK_FILE).read_bytes() == b""
    lock = IndexLock.acquire(tmp_path)
    assert not lock.was_dirty
    lock.release()


def closed_chroma(directory):
    """What a process leaves that had Chroma open and closed it."""
    folder = directory / FOLDER / "segment"
    folder.mkdir(parents=True)
    lock = IndexLock.acquire(directory)
    (folder.parent / "chroma.sqlite3").write_bytes(b"rows")
    (folder / "data_level0.bin").write_bytes(b"vectors")
    lock.release()
    return folder.parent


def is_suspect(directory):
    lock = IndexLock.acquire(directory)
    lock.release()
    return lock.was_dirty


def test_what_was_closed_and_left_alone_is_not_suspect(tmp_path):
    closed_chroma(tmp_path)
    assert not is_suspect(tmp_path)
    assert not is_suspect(tmp_path)


@pytest.mark.parametrize("damage", ["removed", "lost", "cut", "rewritten", "foreign", "put back"])
def test_whatever_happened_to_a_closed_chroma_makes_the_next_open_look_first(tmp_path, damage):
    folder = closed_chroma(tmp_path)
    file = folder / "segment" / "data_level0.bin"
    if damage == "removed":
        shutil.rmtree(folder)
    elif damage == "lost":
        file.unlink()
    elif damage == "cut":
        os.truncate(file, 3)
    elif damage == "rewritten":
        file.write_bytes(b"sectorv")
    elif damage == "foreign":
        (folder / "segment" / "link_lists.bin").write_bytes(b"")
    else:
        shutil.copytree(folder, tmp_path / "backup", copy_function=shutil.copyfile)
        shutil.rmtree(folder)
        (tmp_path / "backup").rename(folder)
    assert is_suspect(tmp_path)
    assert not is_suspect(tmp_path)  # what that process closed is known again


def test_another_version_of_chroma_looks_before_it_opens(tmp_path, monkeypatch):
    closed_chroma(tmp_path)
    monkeypatch.setattr("amem.store.lock.version", lambda _: "9.9.9")
    assert is_suspect(tmp_path)


def test_a_release_after_a_failure_leaves_the_mark(tmp_path):
    IndexLock.acquire(tmp_path).release(clean=False)
    lock = IndexLock.acquire(tmp_path)
    assert lock.was_dirty
    lock.release()


def test_releasing_twice_does_not_free_the_next_holders_lock(tmp_path):
    first = IndexLock.acquire(tmp_path)
    first.release()
    second = IndexLock.acquire(tmp_path)
    first.release()
    assert isinstance(IndexLock.acquire(tmp_path), Holder)
    second.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_give_the_lock_away(tmp_path):
    lock = IndexLock.acquire(tmp_path)
    child = os.fork()
    if child == 0:
        lock.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert isinstance(IndexLock.acquire(tmp_path), Holder)
    assert (tmp_path / LOCK_FILE).read_text().strip() == str(os.getpid())
    lock.release()


def test_of_many_processes_at_once_exactly_one_gets_it(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [child.stdout.readline().strip() for child in children]
    for child in children:
        child.kill()
        child.wait()
        child.stdout.close()
    assert said.count("held") == 1


@pytest.mark.parametrize("place", ["missing", "file"])
def test_where_no_lock_can_be_made_the_index_is_unavailable(tmp_path, place):
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(IndexUnavailable, match=r"amem\.lock cannot be locked"):
        IndexLock.acquire(tmp_path / place)


def test_asking_in_vain_leaves_no_file_open(tmp_path):
    lock = IndexLock.acquire(tmp_path)
    before = lowest_free_descriptor()
    for _ in range(5):
        IndexLock.acquire(tmp_path)
    assert lowest_free_descriptor() == before
    lock.release()


def lowest_free_descriptor():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor
