"""Chroma as it really is: each trap found in chromadb 1.5.9 has a test that names it."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import chromadb
import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vector_source import free_port, units

from amem.errors import IndexUnavailable
from amem.store import chroma, folder, probe
from amem.store.chroma import ChromaIndex, collection_name
from amem.store.codec import FILTER_FIELDS, encoded
from amem.store.folder import FOLDER
from amem.store.guard import ChromaClosed
from amem.store.server import SECONDS

READY = {"status": "ready"}


@pytest.fixture
def index(tmp_path):
    index = ChromaIndex.embedded(tmp_path)
    yield index
    index.close()


@pytest.fixture
def name(index):
    name = collection_name("alice")
    index.create(name)
    return name


def fill(index, name, count, dimension=8):
    vectors = units(count, dimension)
    index.upsert(name, [f"n{i}" for i in range(count)], vectors, [READY] * count)
    return vectors


def stored(index, name, note_id):
    found = index._client.get_collection(name, embedding_function=None).get(ids=[note_id], include=["metadatas"])
    return found["metadatas"][0]


# -- what it is for ------------------------------------------------------------------------------


def test_the_nearest_come_first_with_their_cosines(index, name):
    vectors = fill(index, name, 50)
    (found,) = index.query(name, vectors[7:8], 5)
    cosines = vectors @ vectors[7]
    best = np.argsort(-cosines)[:5]
    assert [match.note_id for match in found] == [f"n{i}" for i in best]
    np.testing.assert_allclose([match.similarity for match in found], cosines[best], atol=1e-5)


def test_several_queries_go_in_one_call(index, name):
    vectors = fill(index, name, 20)
    found = index.query(name, vectors[:3], 1)
    assert [some[0].note_id for some in found] == ["n0", "n1", "n2"]


def test_a_filter_must_match_in_every_field(index, name):
    vectors = units(4)
    who = [{"speaker": s, "session_id": t} for s in ("ann", "bob") for t in ("s1", "s2")]
    index.upsert(name, ["a1", "a2", "b1", "b2"], vectors, who)
    (found,) = index.query(name, vectors[:1], 4, {"speaker": "ann", "session_id": "s2"})
    assert [match.note_id for match in found] == ["a2"]
    (found,) = index.query(name, vectors[:1], 4, {"speaker": "bob"})
    assert {match.note_id for match in found} == {"b1", "b2"}


def test_no_text_is_stored(index, name):
    fill(index, name, 1)
    row = index._client.get_collection(name, embedding_function=None).get(include=["documents"])
    assert row["documents"] == [None]


def test_what_was_stored_is_there_after_reopening(tmp_path):
    index = ChromaIndex.embedded(tmp_path)
    index.create("box-a")
    vectors = fill(index, "box-a", 30)
    index.close()
    again = ChromaIndex.embedded(tmp_path)
    assert again.count("box-a") == 30
    assert again.query("box-a", vectors[3:4], 1)[0][0].note_id == "n3"
    again.close()


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_box_gets_a_name_that_chroma_takes_and_never_the_same_twice(box):
    one, other = collection_name(box), collection_name(box)
    assert one != other
    assert one[:29] == other[:29] == f"box-{one[4:28]}-"
    assert one.isascii()
    assert 3 <= len(one) <= 63


# -- traps ---------------------------------------------------------------------------------------


def test_trap_a_missing_id_in_a_query_would_fail_so_ids_are_never_sent(index, name):
    vectors = fill(index, name, 3)
    collection = index._client.get_collection(name, embedding_function=None)
    with pytest.raises(chromadb.errors.InternalError):
        collection.query(query_embeddings=vectors[:1], ids=["n0", "never stored"], n_results=2)
    index.delete(name, ["n0"])
    assert {match.note_id for match in index.query(name, vectors[:1], 5)[0]} == {"n1", "n2"}


def test_trap_get_or_create_keeps_the_old_space_so_it_is_looked_at(index):
    index._client.create_collection("old", embedding_function=None)  # l2 is the default
    with pytest.raises(IndexUnavailable, match=r"l2.*amem reindex"):
        index.create("old")
    with pytest.raises(IndexUnavailable, match="l2"):
        index.query("old", units(1), 1)


def test_trap_upsert_merges_metadata_so_stale_fields_are_cleared(index, name):
    index.upsert(name, ["n"], units(1), [{"speaker": "ann", "session_id": "s1", "occurred_at": 1.5}])
    index.upsert(name, ["n"], units(1), [{"session_id": "s2"}])
    assert stored(index, name, "n") == {"session_id": "s2"}


def test_trap_a_row_without_any_field_is_taken(index, name):
    index.upsert(name, ["n"], units(1), [{}])
    assert stored(index, name, "n") is None


def test_trap_values_that_chroma_would_alter_or_refuse_are_left_out(index, name):
    damaging = {"speaker": "lone \ud800", "session_id": "", "occurred_at": float("nan"), "agent_id": 2**63}
    index.upsert(name, ["n"], units(1), [{**damaging, **READY, "unknown": "x"}])
    assert stored(index, name, "n") == READY


@pytest.mark.parametrize("value", ["nul\0byte", "👩‍👩‍👧", "x" * 10_000, 2**63 - 1, -(2**63), 0.1, True, False, 0])
def test_values_come_back_as_they_went_in(index, name, value):
    index.upsert(name, ["n"], units(1), [{"speaker": value}])
    assert stored(index, name, "n") == {"speaker": value}
    assert type(stored(index, name, "n")["speaker"]) is type(value)


values = st.none() | st.text() | st.integers() | st.floats() | st.booleans()


@given(st.dictionaries(st.sampled_from([*FILTER_FIELDS, "other"]), values))
def test_the_codec_keeps_a_value_or_leaves_it_out(fields):
    for field, value in encoded(fields).items():
        assert value is None or value is fields[field] or value == fields[field]


def test_trap_more_rows_than_one_call_takes(index, name):
    count = index._batch + 10
    fill(index, name, count, dimension=2)
    assert index.count(name) == count
    index.delete(name, [f"n{i}" for i in range(count)])
    assert index.count(name) == 0


@pytest.mark.slow
def test_trap_more_rows_than_one_answer_holds(index, name):
    fill(index, name, 33_000, dimension=2)
    with pytest.raises(chromadb.errors.InternalError, match="too many SQL variables"):
        index._client.get_collection(name, embedding_function=None).get()
    assert len(set(index.ids(name))) == 33_000


def test_pages_join_without_gap_or_overlap(index, name, monkeypatch):
    fill(index, name, 25)
    monkeypatch.setattr(chroma, "PAGE", 10)
    assert sorted(index.ids(name)) == sorted(f"n{i}" for i in range(25))


def test_trap_a_search_would_fail_while_the_first_vectors_are_on_their_way(tmp_path, index, name):
    raw = sqlite3.connect(tmp_path / FOLDER / "chroma.sqlite3")
    with raw:
        raw.execute("UPDATE collections SET dimension = 8")  # as Chroma does before it makes the graph
    raw.close()
    bare = index._client.get_collection(name, embedding_function=None)
    with pytest.raises(chromadb.errors.InternalError, match="Nothing found on disk"):
        bare.query(query_embeddings=units(1), n_results=1)
    with ThreadPoolExecutor(2) as others:
        with index._changing:
            searching = others.submit(index.query, name, units(3)[:1], 1)
            reading = others.submit(lambda: list(index.ids(name)))
            assert not wait([searching], timeout=0.5).done
            fill(index, name, 3)
        assert searching.result(60)[0][0].note_id == "n0"
        assert set(reading.result(60)) <= {"n0", "n1", "n2"}


def test_trap_a_read_would_fail_while_what_it_reads_is_deleted(index, name):
    vectors = fill(index, name, 3)
    collection, left = index._collections[name], ["Error finding id"]

    class Changing:
        """A collection from which another thread deletes something just when it is asked for the first time."""

        def __getattr__(self, verb):
            def ask(**given):
                if left:
                    raise chromadb.errors.InternalError(left.pop())
                return getattr(collection, verb)(**given)

            return ask

    for verb in (lambda: index.query(name, vectors[:1], 1)[0][0].note_id, lambda: next(index.rows(name))[0][0]):
        left[:] = ["Error finding id"]
        index._collections[name] = Changing()
        index.count = lambda _: 3
        assert verb() == "n0"
        assert left == []
    left[:] = ["damaged"] * 2
    with pytest.raises(IndexUnavailable, match="damaged"):
        index.query(name, vectors[:1], 1)


def test_a_collection_that_was_closed_empty_is_empty_to_whoever_opens_it(tmp_path):
    index = ChromaIndex.embedded(tmp_path)
    index.create("box-a")
    index.close()
    again = ChromaIndex.embedded(tmp_path)
    assert again.query("box-a", units(1), 1) == [[]]
    vectors = fill(again, "box-a", 3)
    assert again.query("box-a", vectors[:1], 1)[0][0].note_id == "n0"
    again.close()


def test_a_collection_that_is_dropped_while_it_is_searched_is_no_failure_of_chroma(index, name):
    vectors = fill(index, name, 3)
    in_hand = index._collections[name]
    index.drop(name)
    index._collections[name] = in_hand
    with pytest.raises(ChromaClosed):
        index.query(name, vectors[:1], 1)


def told_of_nothing(directory):
    """Whether the graphs that Chroma has never saved hold nothing but zeros."""
    files = [file for file in (directory / FOLDER).rglob("*.bin") if file.name != "header.bin"]
    assert files
    return not any(any(file.read_bytes()) for file in files)


def test_p6_trap_a_graph_that_was_never_saved_would_be_a_file_of_scraps_of_memory(tmp_path):
    index = ChromaIndex.embedded(tmp_path)
    index.create("box-a")
    fill(index, "box-a", 3)
    assert told_of_nothing(tmp_path)
    index.close()
    assert told_of_nothing(tmp_path)
    bare = chroma._chromadb().PersistentClient(str(tmp_path / FOLDER), settings=chroma._settings())
    bare.get_collection("box-a", embedding_function=None).count()
    assert not told_of_nothing(tmp_path)  # it makes the files anew
    bare.close()
    index = ChromaIndex.embedded(tmp_path)
    assert index.count("box-a") == 3
    assert told_of_nothing(tmp_path)
    index.close()


def test_a_graph_that_was_saved_is_left_alone(persisted, tmp_path):
    shutil.copytree(persisted / FOLDER, tmp_path / FOLDER)
    before = {file: file.read_bytes() for file in (tmp_path / FOLDER).rglob("*.bin")}
    folder.Graphs(tmp_path / FOLDER).blank()
    assert {file: file.read_bytes() for file in before} == before


def test_trap_zero_results_would_be_a_type_error(index, name):
    vectors = fill(index, name, 3)
    assert index.query(name, vectors[:2], 0) == [[], []]
    assert index.query(name, np.zeros((0, 8), np.float32), 5) == []
    assert len(index.query(name, vectors[:1], 99)[0]) == 3


def test_trap_deleting_what_was_never_there(index, name):
    fill(index, name, 2)
    index.delete(name, ["never", "n1"])
    assert list(index.ids(name)) == ["n0"]


def test_dropping_a_collection_twice_is_no_error(index, name):
    index.drop(name)
    index.drop(name)
    assert index.names() == set()


@pytest.mark.parametrize(
    "use", [lambda i: i.count("no"), lambda i: i.query("no", units(1), 1), lambda i: list(i.ids("no"))]
)
def test_a_missing_collection_is_an_unavailable_index(index, use):
    with pytest.raises(IndexUnavailable, match="NotFoundError"):
        use(index)


def test_vectors_of_another_length_are_refused(index, name):
    fill(index, name, 3)
    with pytest.raises(IndexUnavailable, match="dimension"):
        index.query(name, units(1, 5), 1)


def test_trap_small_collections_fall_out_of_the_cache_so_there_is_a_limit(index):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        assert index.capacity == 49  # chroma keeps 256 // 5 open
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_trap_telemetry_is_off(index):
    assert index._client.get_settings().anonymized_telemetry is False


def test_opening_and_using_chroma_connects_to_nothing_and_prints_nothing(tmp_path):
    code = """
import sys
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        sys.exit(f"{event} {args}")
sys.addaudithook(watch)
import numpy as np
from pathlib import Path
from amem.store.chroma import ChromaIndex
index = ChromaIndex.embedded(Path(sys.argv[1]))
index.create("box-a")
index.upsert("box-a", ["n"], np.eye(1, 8, dtype=np.float32), [{}])
assert index.query("box-a", np.eye(1, 8, dtype=np.float32), 1)[0][0].note_id == "n"
index.close()
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_trap_a_dotenv_file_where_the_program_starts_is_not_read(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("ANONYMIZED_TELEMETRY=True\nCHROMA_SERVER_HOST=example.org\nSECRET=x\n")
    monkeypatch.chdir(tmp_path)
    assert chroma._settings().chroma_server_host is None


# -- failures ------------------------------------------------------------------------------------


def test_a_folder_removed_at_runtime_is_noticed_at_the_next_call(tmp_path, index, name):
    vectors = fill(index, name, 3)
    shutil.rmtree(tmp_path / FOLDER)
    for use in (
        lambda: index.query(name, vectors[:1], 1),
        lambda: index.upsert(name, ["x"], vectors[:1], [{}]),
        lambda: index.count(name),
    ):
        with pytest.raises(IndexUnavailable, match="removed or replaced"):
            use()


def test_a_folder_replaced_at_runtime_is_noticed(tmp_path, index, name):
    fill(index, name, 1)
    shutil.copytree(tmp_path / FOLDER, tmp_path / "copy")
    shutil.rmtree(tmp_path / FOLDER)
    (tmp_path / "copy").rename(tmp_path / FOLDER)
    with pytest.raises(IndexUnavailable, match="removed or replaced"):
        index.count(name)


def test_a_panic_in_rust_is_an_unavailable_index():
    panic = type("PanicException", (BaseException,), {})
    refused = pytest.raises(IndexUnavailable, match="could not be searched: PanicException: out of bounds")
    with refused, chroma.guarded("be searched"):
        raise panic("out of bounds")


@pytest.mark.parametrize("error", [KeyError, AttributeError, KeyboardInterrupt, ZeroDivisionError])
def test_a_programming_error_is_not_hidden(error):
    with pytest.raises(error), chroma.guarded("be searched"):
        raise error


def test_a_path_that_is_no_folder(tmp_path):
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(IndexUnavailable, match="could not be opened"):
        ChromaIndex.embedded(tmp_path)


def test_trap_what_did_not_start_would_be_given_out_again_broken(tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "chroma.sqlite3").write_bytes(b"junk" * 5000)
    with pytest.raises(IndexUnavailable, match="could not be opened"):
        ChromaIndex.embedded(tmp_path)
    folder.remove(tmp_path)
    ChromaIndex.embedded(tmp_path).close()


# -- looking at what was not closed --------------------------------------------------------------


@pytest.fixture(scope="module")
def persisted(tmp_path_factory):
    """A database whose index was written to disk (it is above the sync threshold)."""
    directory = tmp_path_factory.mktemp("persisted")
    index = ChromaIndex.embedded(directory)
    index.create("box-a")
    fill(index, "box-a", 1200)
    index.close()
    return directory


def test_a_whole_database_passes(persisted):
    probe.probe(persisted)


def test_a_directory_without_chroma_needs_no_look(tmp_path):
    probe.probe(tmp_path, seconds=0)


def truncate(data):
    return data[: len(data) // 2]


def flip(data):
    return bytes(byte ^ 0xFF if place % 97 == 0 else byte for place, byte in enumerate(data))


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("chroma.sqlite3", truncate),
        ("chroma.sqlite3", flip),
        ("header.bin", flip),
        ("data_level0.bin", flip),
        ("data_level0.bin", truncate),
        ("index_metadata.pickle", truncate),
    ],
)
def test_a_damaged_database_is_found_out_and_this_process_survives(persisted, tmp_path, file, damage):
    shutil.copytree(persisted / FOLDER, tmp_path / FOLDER)
    (path,) = (tmp_path / FOLDER).rglob(file)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(IndexUnavailable, match="Chroma is damaged"):
        probe.probe(tmp_path)


def test_a_look_has_a_time_limit(persisted):
    with pytest.raises(IndexUnavailable, match=r"within 0\.01 s"):
        probe.probe(persisted, seconds=0.01)


# -- a server ------------------------------------------------------------------------------------


def test_a_server_does_the_same(chroma_server):
    index = ChromaIndex.server(chroma_server)
    name = collection_name("alice")
    index.create(name)
    vectors = fill(index, name, 20)
    assert index.query(name, vectors[4:5], 1)[0][0].note_id == "n4"
    assert index.shared
    index.drop(name)
    index.close()


def test_a_server_is_never_waited_for_without_limit(chroma_server):
    index = ChromaIndex.server(chroma_server)
    limit = httpx.Timeout(SECONDS)
    assert [session.timeout for session in index._sessions] == [limit, limit]
    index.close()


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "127.0.0.1:{port}", "ftp://127.0.0.1", "http://"])
def test_a_server_that_is_down_or_no_address_is_an_unavailable_index(url):
    with pytest.raises(IndexUnavailable):
        ChromaIndex.server(url.format(port=free_port()))


@pytest.mark.parametrize("answer", [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"not http\r\n\r\n", b""])
def test_a_server_of_another_kind_is_an_unavailable_index(answer):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def reply():
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(IndexUnavailable):
            ChromaIndex.server(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


def test_importing_the_module_loads_no_chromadb():
    code = "import sys, amem.store.vectors; sys.exit('chromadb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=os.environ).returncode == 0
