from __future__ import annotations

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_source import MemorySource, free_port, units

from amem.errors import IndexUnavailable
from amem.settings import Settings
from amem.store.chroma import ChromaIndex
from amem.store.folder import FOLDER
from amem.store.lock import LOCK_FILE
from amem.store.matrix import Aligned, Matrix
from amem.store.vectors import VectorIndex

BOX = "alice"
BATCH = 8


@pytest.fixture
def source():
    return MemorySource()


@pytest.fixture
def open_index(tmp_path, source):
    """Open indexes over one source and one directory; a batch is 8 notes."""
    opened = []

    def opening(over=None, directory=tmp_path, **values):
        made = Settings(**{"index_batch": BATCH, "exact_up_to": 0, **values})
        opened.append(VectorIndex(over or source, directory, made))
        return opened[-1]

    yield opening
    for index in opened:
        index.close()


def notes(count, start=0):
    return [f"n{i:03}" for i in range(start, start + count)]


def put(source, count, start=0, box=BOX, seed=1):
    """Commit `count` notes; return their vectors."""
    vectors = units(count, seed=seed + start)
    source.put(box, notes(count, start), vectors)
    return vectors


def ids(matches):
    return [match.note_id for match in matches]


def chroma_ids(index, box=BOX):
    return set(index._access.get().ids(index._claims.known()[box]))


def run(code, *arguments):
    """Run Python code in a process of its own, which can import what this one can."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


# -- what a search sees --------------------------------------------------------------------------


def test_a_committed_note_is_found_before_chroma_knows_it(open_index, source):
    index = open_index()
    put(source, 20)
    index.drain()
    assert index.how(BOX) == "chroma"
    (vector,) = put(source, 1, start=20)
    assert "n020" not in chroma_ids(index)
    assert ids(index.search(BOX, vector, 1)) == ["n020"]


def test_an_evolved_note_is_never_found_by_its_old_vector(open_index, source):
    index = open_index()
    old = put(source, 20)
    index.drain(force=True)
    source.put(BOX, ["n005"], -old[5:6])
    for _ in ("waiting", "drained"):
        assert dict(index.search(BOX, old[5], 20))["n005"] == pytest.approx(-1, abs=1e-5)
        assert index.search(BOX, -old[5], 1)[0] == ("n005", 1.0)
        index.drain(force=True)


def test_a_deleted_note_is_never_found(open_index, source):
    index = open_index()
    vectors = put(source, 20)
    index.drain(force=True)
    source.remove(BOX, ["n005"])
    for _ in ("waiting", "drained"):
        assert "n005" not in ids(index.search(BOX, vectors[5], 20))
        assert len(index.search(BOX, vectors[5], 20)) == 19
        index.drain(force=True)
    assert "n005" not in chroma_ids(index)


def test_a_note_deleted_while_it_waits_is_never_found(open_index, source):
    index = open_index()
    put(source, 20)
    index.drain(force=True)
    (vector,) = put(source, 1, start=20)
    index.search(BOX, vector, 1)
    source.remove(BOX, ["n020"])
    assert "n020" not in ids(index.search(BOX, vector, 30))


def test_many_changed_neighbours_do_not_crowd_out_the_rest(open_index, source):
    index = open_index(index_batch=100)
    vectors = put(source, 100)
    index.drain()
    source.put(BOX, notes(60), np.repeat(-vectors[99:], 60, axis=0))
    assert ids(index.search(BOX, vectors[99], 40)) == ids(index.search_exact(BOX, vectors[99], 40))
    assert set(ids(index.search(BOX, vectors[99], 40))) == set(notes(40, 60))


@pytest.mark.parametrize("seed", range(3))
def test_any_history_of_writes_and_drains_is_searched_as_the_ledger_stands(open_index, source, seed):
    index, chance = open_index(), random.Random(seed)
    put(source, 30)
    for step in range(40):
        deed = chance.choice(["put", "evolve", "remove", "drain", "force"])
        some = sorted(source.stored)
        if deed == "put":
            put(source, chance.randint(1, 6), start=100 + 10 * step)
        elif deed == "evolve":
            chosen = chance.sample(some, min(4, len(some)))
            source.put(BOX, chosen, units(len(chosen), seed=step))
        elif deed == "remove" and len(some) > 4:
            source.remove(BOX, chance.sample(some, 2))
        else:
            index.drain(force=deed == "force")
        query = units(1, seed=1000 + step)[0]
        found = index.search(BOX, query, 10)
        exact = index.search_exact(BOX, query, 10)
        assert ids(found) == ids(exact)
        np.testing.assert_allclose([m.similarity for m in found], [m.similarity for m in exact], atol=1e-5)
    index.drain(force=True)
    assert chroma_ids(index) == set(source.stored)
    assert not any(index.difference(BOX))


def test_another_processs_writes_are_seen_at_the_next_search(open_index, source):
    one, other = open_index(chroma=False), open_index(chroma=False)
    vectors = put(source, 5)
    assert ids(one.search(BOX, vectors[0], 1)) == ids(other.search(BOX, vectors[0], 1)) == ["n000"]
    source.put(BOX, ["n000"], -vectors[:1])
    assert "n000" not in ids(one.search(BOX, vectors[0], 4))
    source.remove(BOX, ["n001"])
    assert "n001" not in ids(other.search(BOX, vectors[1], 5))


def test_boxes_do_not_see_each_other(open_index, source):
    index = open_index()
    mine = put(source, 10)
    source.put("bob", [f"b{i}" for i in range(10)], mine)
    for _ in ("waiting", "drained"):
        assert set(ids(index.search(BOX, mine[0], 50))) == set(notes(10))
        index.drain(force=True)
    assert index.search("nobody", mine[0], 5) == []


def test_queries_of_a_window_go_together(open_index, source):
    index = open_index()
    vectors = put(source, 20)
    for _ in ("waiting", "drained"):
        together = index.similar(BOX, vectors[:4], 3)
        assert together == [index.search(BOX, vector, 3) for vector in vectors[:4]]
        index.drain(force=True)


@pytest.mark.parametrize("few", [3, 0])
def test_allowed_ids_restrict_and_trap_unknown_ones_do_no_harm(open_index, source, few, monkeypatch):
    monkeypatch.setattr("amem.store.vectors._FEW", few)  # read one by one, or from the box in memory
    index = open_index()
    vectors = put(source, 20)
    index.drain(force=True)
    found = index.search(BOX, vectors[0], 10, {"n003", "n007", "never stored"})
    assert set(ids(found)) == {"n003", "n007"}
    assert found == sorted(found, key=lambda match: -match.similarity)
    assert index.search(BOX, vectors[0], 10, set()) == []


def test_how_many_is_what_was_asked_or_what_there_is(open_index, source):
    index = open_index()
    vectors = put(source, 10)
    for _ in ("waiting", "drained"):
        assert [len(index.search(BOX, vectors[0], k)) for k in (0, 3, 10, 99)] == [0, 3, 10, 10]
        index.drain(force=True)
    assert index.similar(BOX, np.zeros((0, 8), np.float32), 3) == []


def test_equal_vectors_come_in_the_order_of_their_ids(open_index, source):
    index = open_index(chroma=False)
    source.put(BOX, notes(50)[::-1], np.repeat(units(1), 50, axis=0))
    assert ids(index.search(BOX, units(1)[0], 7)) == notes(7)


def test_a_collection_holds_each_note_once_however_often_it_changed(open_index, source):
    index = open_index()
    put(source, 20)
    for seed in range(2, 7):
        index.drain(force=True)
        vectors = put(source, 20, seed=seed)
    index.drain(force=True)
    assert sorted(index._access.get().ids(index._claims.known()[BOX])) == notes(20)
    assert ids(index.search(BOX, vectors[7], 20)) == ids(index.search_exact(BOX, vectors[7], 20))


def test_all_cosines_of_a_box_stand_in_the_order_that_was_asked_for(open_index, source):
    index = open_index(exact_up_to=100)
    vectors = put(source, 20)
    asked = Aligned(["n003", "never stored", "n001"])
    for _ in range(2):
        found = index.all_cosines(BOX, asked, vectors[3])
        assert found[[0, 2]] == pytest.approx([1.0, float(vectors[1] @ vectors[3])], abs=1e-5)
        assert np.isnan(found[1])
    put(source, 5, start=20)
    source.put(BOX, ["n001"], vectors[3:4])
    assert index.all_cosines(BOX, asked, vectors[3])[2] == pytest.approx(1.0)
    source.remove(BOX, ["n003"])
    assert np.isnan(index.all_cosines(BOX, asked, vectors[3])[0])


def test_chroma_finds_what_the_exact_search_finds(tmp_path):
    """Recall@10 of at least .99, over vectors that lie as those of texts do: around topics, a quarter written anew."""
    source = MemorySource(dimension=384)
    index = VectorIndex(source, tmp_path, Settings(exact_up_to=0))
    topics = units(40, 384, seed=1)
    vectors = about(topics, 3000, seed=2)
    source.put(BOX, [f"n{i:04}" for i in range(3000)], vectors)
    index.drain(force=True)
    source.put(BOX, [f"n{i:04}" for i in range(750)], about(topics, 750, seed=3))
    index.drain(force=True)
    assert index.how(BOX) == "chroma"
    queries = about(topics, 100, seed=4)
    found = [{m.note_id for m in some} for some in index.similar(BOX, queries, 10)]
    exact = [{m.note_id for m in index.search_exact(BOX, query, 10)} for query in queries]
    index.close()
    assert sum(len(a & b) for a, b in zip(found, exact, strict=True)) >= 0.99 * 1000


def about(topics, count, seed):
    """Vectors of length 1, each near one of the topics."""
    rows = topics[np.arange(count) % len(topics)] + 1.2 * units(count, topics.shape[1], seed=seed)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_a_large_box_is_not_held_in_memory_for_its_cosines(open_index, source):
    index = open_index(exact_up_to=19)
    vectors = put(source, 20)
    assert index.all_cosines(BOX, Aligned(notes(20)), vectors[0]) is None
    assert index.cosines(BOX, notes(20), vectors[0])[0] == pytest.approx(1.0)


# -- when Chroma is used, and when not -----------------------------------------------------------


def test_a_box_gets_its_collection_with_its_first_whole_batch(open_index, source):
    index = open_index()
    put(source, BATCH - 1)
    assert index.drain() == 0
    assert index.how(BOX).startswith("exact: the box gets a collection when 8 notes wait")
    put(source, 1, start=BATCH)
    assert index.drain() == BATCH
    assert index.how(BOX) == "chroma"


def test_a_call_does_one_batch_and_force_does_all(open_index, source):
    index = open_index()
    put(source, 20)
    assert [index.drain(), index.drain(), index.drain(), index.drain(force=True)] == [8, 8, 0, 4]


def test_four_rows_are_done_for_each_that_is_put_and_only_in_whole_batches(open_index, source):
    index = open_index()
    put(source, 44)
    assert [index.put(BOX, 1), index.put(BOX, 1), index.put(BOX, 5), index.put(BOX, 50)] == [0, 8, 16, 16]
    assert source.outbox_sizes() == {BOX: 4}


def test_what_waits_is_counted_only_when_a_batch_may_be_waiting(open_index, source):
    index = open_index()
    counted = []
    ask = source.outbox_sizes
    source.outbox_sizes = lambda box=None: counted.append(box) or ask(box)
    for at in range(16):
        put(source, 1, start=at)
        index.put(BOX, 1)
    assert len(counted) == 8
    assert source.outbox_sizes() == {}


def test_a_collection_with_more_holes_than_vectors_is_made_anew(open_index, source, monkeypatch):
    monkeypatch.setattr("amem.store.feed._HOLES", 40)
    index = open_index()
    names = set()
    for seed in range(12):
        vectors = put(source, 20, seed=seed)
        index.drain(force=True)
        names |= {index._claims.known().get(BOX)}
        assert ids(index.search(BOX, vectors[3], 20)) == ids(index.search_exact(BOX, vectors[3], 20))
    assert len(names - {None}) > 1
    assert index._access.get().names() == set(source.collections().values())
    assert source.holes[BOX] <= 60


def test_one_box_can_be_drained_alone(open_index, source):
    index = open_index()
    put(source, 8)
    put(source, 8, start=100, box="bob")
    assert index.drain("bob") == 8
    assert source.outbox_sizes() == {BOX: 8}


def test_boxes_beyond_the_limit_are_searched_exactly_and_their_rows_do_not_pile_up(open_index, source):
    index = open_index(max_collections=1)
    put(source, 10)
    vectors = put(source, 10, start=100, box="bob")
    index.drain(force=True)
    assert source.outbox_sizes() == {}
    assert (index.how(BOX), index.how("bob")) == ("chroma", "exact: 1 other boxes have the collections there are")
    assert ids(index.search("bob", vectors[0], 1)) == ["n100"]


def test_a_box_that_gets_its_collection_late_gets_all_of_its_notes(open_index, source):
    first = open_index(chroma=False)
    put(source, 10)
    first.drain(force=True)
    assert source.outbox_sizes() == {}
    index = open_index()
    put(source, 8, start=10)
    index.drain(force=True)
    assert chroma_ids(index) == set(notes(18))


def test_without_chroma_rows_for_a_collection_wait_until_it_is_back(open_index, source):
    first = open_index()
    put(source, 10)
    first.drain(force=True)
    first.close()
    without = open_index(chroma=False)
    put(source, 9, start=10)
    assert without.drain(force=True) == 0
    assert without.how(BOX) == "exact: Chroma is switched off"
    again = open_index()
    assert again.drain() == 8


def test_chroma_is_not_loaded_before_a_batch_waits():
    code = """
import sys, tempfile
from pathlib import Path
from vector_source import MemorySource, units
from amem.settings import Settings
from amem.store.vectors import VectorIndex
source = MemorySource()
index = VectorIndex(source, Path(tempfile.mkdtemp()), Settings(exact_up_to=0))
source.put("box", ["a", "b"], units(2))
assert index.search("box", units(1)[0], 1)[0].note_id == "a"
index.drain(), index.how("box"), index.close()
sys.exit("chromadb" in sys.modules)
"""
    assert run(code).returncode == 0


def test_trap_two_holders_so_the_second_searches_exactly_and_says_why(open_index, source, caplog):
    caplog.set_level(logging.WARNING)
    one, other = open_index(), open_index()
    vectors = put(source, 10)
    one.drain(force=True)
    assert ids(other.search(BOX, vectors[3], 1)) == ["n003"]
    assert other.how(BOX).startswith("exact: Chroma is open in process ")
    put(source, 8, start=10)
    assert other.drain(force=True) == 0
    assert source.outbox_sizes() == {BOX: 8}
    with pytest.raises(IndexUnavailable, match="open in process"):
        other.rebuild()
    assert one.drain(force=True) == 8
    assert caplog.records == []


def test_the_second_takes_over_when_the_first_is_gone(open_index, source, monkeypatch):
    monkeypatch.setattr("amem.store.access._PATIENCE", 0)
    one, other = open_index(), open_index()
    put(source, 10)
    one.drain(force=True)
    put(source, 8, start=10)
    assert other.drain() == 0
    one.close()
    assert other.drain() == 8
    assert other.how(BOX) == "chroma"


# -- crashes and damage --------------------------------------------------------------------------


def test_rows_leave_the_outbox_only_after_chroma_has_them(open_index, source, tmp_path):
    index = open_index()
    put(source, 8)
    index.drain()
    put(source, 8, start=8)
    shutil.rmtree(tmp_path / FOLDER)
    assert index.drain() == 0
    assert source.outbox_sizes() == {BOX: 8}


def test_a_drain_that_was_cut_short_is_simply_repeated(open_index, source):
    index = open_index()
    put(source, 8)
    forgets, source.outbox_done = source.outbox_done, power_fails
    source.claim_collection = lambda box, _limit: source.claims.setdefault(box, "box-a")
    with pytest.raises(SystemExit):
        index.drain()
    source.outbox_done = forgets
    assert index.drain() == 8
    assert index._access.get().count("box-a") == 8


def power_fails(*_, **__):
    raise SystemExit


def test_a_process_killed_in_a_drain_loses_and_doubles_nothing(open_index, source, tmp_path):
    code = """
import os, signal, sys
from pathlib import Path
from vector_source import MemorySource, units
from amem.settings import Settings
from amem.store.vectors import VectorIndex
source = MemorySource()
source.put("alice", [f"n{i:03}" for i in range(40)], units(40))
index = VectorIndex(source, Path(sys.argv[1]), Settings(index_batch=8, exact_up_to=0))
index.drain()
print(source.claims["alice"], flush=True)
source.outbox_done = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
index.drain()
"""
    child = run(code, str(tmp_path))
    assert child.returncode == -signal.SIGKILL
    vectors = units(40)
    source.put(BOX, notes(40), vectors)
    source.claims[BOX] = child.stdout.strip()
    source.outbox_done(BOX, list(source.waiting)[:8])
    index = open_index()
    assert ids(index.search(BOX, vectors[30], 1)) == ["n030"]
    index.drain(force=True)
    assert index.how(BOX) == "chroma"
    assert index._access.get().count(source.claims[BOX]) == 40
    assert not any(index.difference(BOX))


def damaged(open_index, source, tmp_path):
    """Leave a Chroma that was not closed and cannot be read."""
    first = open_index()
    vectors = put(source, 10)
    first.drain(force=True)
    first.close()
    (tmp_path / FOLDER / "chroma.sqlite3").write_bytes(b"junk" * 5000)
    (tmp_path / LOCK_FILE).write_text("99999\n")
    return vectors


def test_a_damaged_chroma_is_not_opened_and_search_goes_on(open_index, source, tmp_path, caplog):
    vectors = damaged(open_index, source, tmp_path)
    index = open_index()
    for i in range(3):
        assert ids(index.search(BOX, vectors[i], 1)) == [f"n{i:03}"]
    assert index.how(BOX).startswith("exact: Chroma is damaged")
    put(source, 8, start=10)
    assert index.drain() == 0
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "amem reindex" in warnings[0].getMessage()
    index.close()
    assert (tmp_path / LOCK_FILE).read_text() == f"{os.getpid()}\n"  # the next process looks first as well


def test_a_rebuild_heals_what_was_damaged(open_index, source, tmp_path):
    vectors = damaged(open_index, source, tmp_path)
    index = open_index()
    index.search(BOX, vectors[0], 1)
    told = []
    assert index.rebuild(lambda done, total: told.append((done, total))) == 10
    assert told == [(8, 10), (10, 10)]
    assert index.how(BOX) == "chroma"
    assert chroma_ids(index) == set(notes(10))
    index.close()
    assert (tmp_path / LOCK_FILE).read_text().startswith("closed ")


def test_a_rebuild_serves_the_largest_boxes(open_index, source):
    index = open_index(max_collections=1)
    put(source, 3)
    put(source, 5, start=100, box="bob")
    assert index.rebuild() == 5 + 3  # the small box's rows are done without Chroma
    assert list(source.collections()) == ["bob"]
    assert source.outbox_sizes() == {}


def test_a_rebuild_without_chroma_says_so(open_index):
    with pytest.raises(IndexUnavailable, match="switched off"):
        open_index(chroma=False).rebuild()


def test_a_folder_deleted_at_runtime_costs_a_warning_and_no_note(open_index, source, tmp_path, caplog):
    index = open_index()
    vectors = put(source, 10)
    index.drain(force=True)
    shutil.rmtree(tmp_path / FOLDER)
    for i in range(3):
        assert ids(index.search(BOX, vectors[i], 1)) == [f"n{i:03}"]
    assert index.how(BOX) == "exact: Chroma's folder was removed or replaced while it was open"
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 1


def test_a_folder_deleted_between_two_openings_is_filled_again(open_index, source, tmp_path):
    first = open_index()
    vectors = put(source, 20)
    first.drain(force=True)
    first.close()
    shutil.rmtree(tmp_path / FOLDER)
    index = open_index()
    assert ids(index.search(BOX, vectors[4], 1)) == ["n004"]
    index.drain(force=True)
    assert chroma_ids(index) == set(notes(20))


def test_collections_that_no_box_claims_are_removed(open_index, source, tmp_path):
    first = open_index()
    put(source, 10)
    first.drain(force=True)
    first.close()
    source.release_collections()
    left = open_index()
    put(source, 8, start=10)
    left.drain(force=True)
    assert left._access.get().names() == set(source.collections().values())


def test_a_difference_between_ledger_and_chroma_is_named(open_index, source):
    index = open_index()
    put(source, 10)
    index.drain(force=True)
    chroma, name = index._access.get(), source.claims[BOX]
    chroma.delete(name, ["n003"])
    chroma.upsert(name, ["ghost"], units(1), [{}])
    put(source, 1, start=50)
    assert index.difference(BOX) == (("n003",), ("ghost",), ())
    assert index.difference("bob") is None


def test_a_directory_that_cannot_be_written_is_searched_exactly(open_index, source, tmp_path):
    index = open_index(directory=tmp_path / "missing")
    vectors = put(source, 10)
    assert index.drain() == 0
    assert ids(index.search(BOX, vectors[2], 1)) == ["n002"]
    assert "cannot be locked" in index.how(BOX)


def test_threads_may_write_drain_and_search_at_once(open_index, source):
    index = open_index()
    put(source, 10)
    problems = []

    def writes():
        for i in range(20):
            put(source, 2, start=100 + 2 * i)
            index.drain()

    def searches():
        for i in range(40):
            query = units(1, seed=i)[0]
            if len(index.search(BOX, query, 5)) != 5:
                problems.append(i)

    threads = [threading.Thread(target=work) for work in (writes, searches, searches)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index.drain(force=True)
    assert problems == []
    assert index.how(BOX) == "chroma"
    assert chroma_ids(index) == set(source.stored)


# -- a server that several processes write to ----------------------------------------------------


def test_two_processes_may_use_one_server(open_index, source, chroma_server):
    one, other = (open_index(chroma_url=chroma_server) for _ in range(2))
    vectors = put(source, 16)
    assert one.drain() == other.drain() == 8
    for index in (one, other):
        assert index.how(BOX) == "chroma"
        assert ids(index.search(BOX, vectors[3], 16)) == ids(index.search_exact(BOX, vectors[3], 16))


def test_a_rebuild_on_a_server_leaves_other_collections_alone(open_index, source, chroma_server):
    theirs = ChromaIndex.server(chroma_server)
    theirs.create("box-of-another-memory")
    index = open_index(chroma_url=chroma_server)
    put(source, 10)
    index.drain(force=True)
    old = source.claims[BOX]
    assert index.rebuild() == 10
    assert "box-of-another-memory" in theirs.names()
    assert old not in theirs.names()
    theirs.drop("box-of-another-memory")
    theirs.close()


def test_while_a_server_is_down_search_is_exact_and_rows_wait(open_index, source):
    index = open_index(chroma_url=f"http://127.0.0.1:{free_port()}")
    vectors = put(source, 10)
    assert index.drain(force=True) == 0
    assert ids(index.search(BOX, vectors[1], 1)) == ["n001"]
    assert index.how(BOX).startswith("exact: Chroma could not be reached at http://127.0.0.1:")
    assert source.outbox_sizes() == {BOX: 10}


class Slow(MemorySource):
    """A ledger whose rows are overtaken: while Chroma is told, another process has told it something newer."""

    overtake = None

    def outbox(self, box=None, *, limit=None):
        rows = super().outbox(box, limit=limit)
        if self.overtake is not None:
            overtake, self.overtake = self.overtake, None
            overtake()
        return rows


def test_a_slow_process_does_not_overwrite_what_a_fast_one_told_the_server(open_index, chroma_server):
    source = Slow()
    slow = open_index(source, chroma_url=chroma_server)
    old = put(source, 8)
    slow.drain()
    source.put(BOX, notes(8), old)

    def another_process():
        source.put(BOX, ["n003"], -old[3:4])
        source.remove(BOX, ["n004"])
        source.outbox_done(BOX, list(source.waiting))

    source.overtake = another_process
    slow.drain(force=True)
    found = dict(slow._access.get().query(source.claims[BOX], old[3:4], 8)[0])
    assert found["n003"] == pytest.approx(-1, abs=1e-5)
    assert "n004" not in found


# -- the matrix ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=12), max_size=12), st.integers(1, 40))
def test_the_growing_matrix_is_what_was_put_last(writes, k):
    matrix, expected = Matrix(), {}
    for turn, numbers in enumerate(writes):
        some = [f"n{number:03}" for number in dict.fromkeys(numbers)]
        vectors = units(len(some), seed=turn)
        matrix.put(some, vectors)
        expected.update(zip(some, vectors, strict=True))
    query = units(1, seed=99)
    best = sorted(expected, key=lambda i: (-round(float(expected[i] @ query[0]), 6), i))[:k]
    (found,) = matrix.top(query, k)
    assert len(matrix) == len(expected)
    np.testing.assert_allclose([match.similarity for match in found], [expected[i] @ query[0] for i in best], atol=2e-6)


def test_a_matrix_grows_by_doubling():
    matrix, sizes = Matrix(), set()
    for i in range(200):
        matrix.put([str(i)], units(1, seed=i))
        sizes.add(matrix.nbytes)
    assert len(sizes) <= 6
