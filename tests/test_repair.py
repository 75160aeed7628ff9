"""Reindex and repair: all that is derived comes back from the notes, and a stop in the middle mixes nothing."""

from __future__ import annotations

import shutil
import sqlite3

import numpy as np
import pytest
from ledger_support import VECTORS, Maker

from amem.embedding import HashEmbedder
from amem.errors import EmbeddingError, EmbeddingMismatch
from amem.opening import open_rooms
from amem.repair import Reindexed, reindex, repair
from amem.settings import Settings
from amem.store.doctor import doctor
from amem.store.report import KINDS

SIZE = 16


class Failing(HashEmbedder):
    """An embedder that embeds only so many texts."""

    def __init__(self, dimension, texts):
        super().__init__(dimension)
        self.left = texts

    async def embed(self, texts):
        self.left -= len(texts)
        if self.left < 0:
            raise EmbeddingError("the embedding service is down")
        return await super().embed(texts)


@pytest.fixture
def opened(tmp_path):
    """Open the rooms of this test's memory; they are closed after it."""
    there = []

    def opening(embedder=None, *, rebind=False, **settings):
        values = Settings(**{"chroma": False, **settings})
        rooms = open_rooms(tmp_path, values, embedder=embedder or HashEmbedder(SIZE), rebind=rebind)
        there.append(rooms)
        return rooms

    yield opening
    for rooms in there:
        rooms.index.close()
        rooms.ledger.close()


async def filled(rooms, count=5):
    """Put notes into a memory; return them."""
    maker = Maker()
    notes = [maker.new(f"note {i} about bread") for i in range(count)]
    texts = [rooms.render(note) for note in notes]
    vectors = dict(zip(texts, await HashEmbedder(rooms.vectors.dimension).embed(texts), strict=True))
    return [note for note, _ in rooms.ledger.accept(notes, [None] * count, vectors)]


def look(rooms):
    return doctor(rooms.ledger, rooms.vectors, rooms.index)


def sql(rooms, *statements):
    with rooms.ledger.database.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def vectors_of(rooms, notes):
    ids, matrix = rooms.vectors.vectors_of([note.id for note in notes])
    return dict(zip(ids, matrix.tolist(), strict=True))


# -- reindex --------------------------------------------------------------------------------------------


async def test_full_text_and_chroma_come_back_from_the_ledger_without_the_embedder(opened, tmp_path):
    rooms = opened(chroma=True, exact_up_to=0, index_batch=2)
    notes = await filled(rooms)
    rooms.index.drain(force=True)
    rooms.index.close()
    sql(rooms, "DROP TABLE note_fts")
    shutil.rmtree(tmp_path / "chroma")
    rooms.ledger.close()
    again = opened(Failing(SIZE, texts=0), chroma=True, exact_up_to=0, index_batch=2)
    told = []
    done = await reindex(again, progress=lambda *about: told.append(about))
    assert done == Reindexed(notes=5, embedded=0, indexed=5)
    assert told[-1] == ("indexing", 5, 5)
    assert look(again).problems == ()
    assert [len(rids) for rids in again.ledger.postings("default", ["bread"])] == [len(notes)]
    assert again.index.how("default") == "chroma"


async def test_without_chroma_only_the_full_text_is_made_anew(opened):
    rooms = opened()
    await filled(rooms)
    assert await reindex(rooms) == Reindexed(notes=5, embedded=0, indexed=None)


async def test_an_empty_memory_can_be_reindexed(opened):
    rooms = opened()
    assert await reindex(rooms) == Reindexed(notes=0, embedded=0, indexed=None)
    assert await reindex(rooms, embed=True) == Reindexed(notes=0, embedded=0, indexed=None)


async def test_notes_that_have_no_vector_get_one(opened):
    rooms = opened()
    notes = await filled(rooms)
    before = vectors_of(rooms, notes)
    sql(rooms, f"DELETE FROM vector WHERE note_id != '{notes[0].id}'")
    assert (await reindex(rooms)).embedded == 4
    assert vectors_of(rooms, notes) == before


async def test_another_embedder_embeds_every_note_anew(opened):
    rooms = opened()
    notes = await filled(rooms)
    rooms.ledger.close()
    with pytest.raises(EmbeddingMismatch, match="amem reindex"):
        opened(HashEmbedder(8))
    again = opened(HashEmbedder(8), rebind=True)
    assert [problem.kind for problem in look(again).problems if problem.box is None] == ["embedding"]
    assert await reindex(again) == Reindexed(notes=5, embedded=5, indexed=None)
    assert look(again).problems == ()
    assert {len(vector) for vector in vectors_of(again, notes).values()} == {8}
    again.ledger.close()
    assert opened(HashEmbedder(8)).ledger.is_bound


async def test_another_text_form_is_indexed_and_embedded_anew(opened):
    rooms = opened()
    (note, *_) = await filled(rooms)
    rooms.ledger.close()
    again = opened(rebind=True, strategy="paper")
    await reindex(again)
    assert look(again).problems == ()
    expected = (await HashEmbedder(SIZE).embed([again.render(note)]))[0]
    assert np.allclose(vectors_of(again, [note])[note.id], expected)


async def test_until_it_is_reindexed_a_memory_opened_in_spite_of_its_embedding_takes_nothing(opened):
    rooms = opened()
    await filled(rooms)
    rooms.ledger.close()
    again = opened(HashEmbedder(8), rebind=True)
    maker = Maker(first=50)
    with pytest.raises(EmbeddingMismatch, match="Nothing was stored"):
        again.ledger.accept([maker.new("new")], [None], VECTORS)


async def test_an_embedder_that_does_not_work_costs_nothing(opened):
    rooms = opened()
    notes = await filled(rooms)
    before = vectors_of(rooms, notes)
    rooms.ledger.close()
    again = opened(Failing(8, texts=0), rebind=True)
    with pytest.raises(EmbeddingError):
        await reindex(again)
    again.ledger.close()
    assert vectors_of(opened(), notes) == before


async def test_a_reindex_that_was_stopped_goes_on_and_never_mixes(opened, monkeypatch):
    monkeypatch.setattr("amem.ingest.vectors.BATCH", 2)
    rooms = opened()
    notes = await filled(rooms, 7)
    rooms.ledger.close()
    stopped = opened(Failing(8, texts=1 + 4), rebind=True)
    with pytest.raises(EmbeddingError):
        await reindex(stopped)
    stopped.ledger.close()
    with pytest.raises(EmbeddingMismatch):
        opened()  # the old way is over
    again = opened(HashEmbedder(8))
    (problem,) = look(again).problems
    assert (problem.kind, len(problem.ids)) == ("vector_missing", 3)
    assert {len(vector) for vector in vectors_of(again, notes).values()} == {8}
    told = []
    assert (await reindex(again, progress=lambda *about: told.append(about))).embedded == 3
    assert told == [("embedding", 2, 3), ("embedding", 3, 3)]
    assert look(again).healthy


async def test_a_process_that_had_it_open_before_cannot_mix_its_vectors_in(opened):
    old = opened()
    notes = await filled(old)
    await reindex(opened(HashEmbedder(8), rebind=True))
    maker = Maker(first=50)
    for write in (
        lambda: old.ledger.accept([maker.new("new")], [None], VECTORS),
        lambda: old.ledger.put_vectors(notes, VECTORS),
        lambda: old.ledger.forget("default", [notes[0].id]),
        lambda: old.ledger.commit(maker.plan(), VECTORS),
    ):
        with pytest.raises(EmbeddingMismatch, match="embedded anew with other settings"):
            write()
    assert look(opened(HashEmbedder(8))).healthy


async def test_embedding_anew_can_be_asked_for(opened):
    rooms = opened()
    notes = await filled(rooms)
    sql(rooms, f"UPDATE vector SET data = (SELECT data FROM vector WHERE note_id = '{notes[0].id}')")
    assert (await reindex(rooms, embed=True)).embedded == 5
    texts = [rooms.render(note) for note in notes]
    assert np.allclose(list(vectors_of(rooms, notes).values()), await HashEmbedder(SIZE).embed(texts))


# -- repair ---------------------------------------------------------------------------------------------

GONE = "00000000-0000-7000-8000-000000000099"
LINK = "INSERT INTO link (id, box, source, target, relation, reason, strength, created_at) VALUES "
HELD = """{{"box":"default","at":"2024-01-01T00:00:00Z",
"changes":[{{"note_id":"{0}","expected_version":1,"fields":{{}},"cause":{{"kind":"evolve"}}}}]}}"""
BROKEN = {
    "reference": ["UPDATE note SET call_id = 999"],
    "link_dangling": [f"{LINK} (7, 'default', '{{0}}', '{GONE}', '', '', 0, 0)"],
    "link_box": [f"{LINK} (7, 'other', '{{0}}', '{{1}}', '', '', 0, 0)"],
    "link_self": [f"{LINK} (7, 'default', '{{0}}', '{{0}}', '', '', 0, 0)"],
    "link_twice": [f"{LINK} (7, 'default', '{{0}}', '{{1}}', '', '', 0, 0)",
                   f"{LINK} (8, 'default', '{{1}}', '{{0}}', '', '', 0, 0)",
                   """INSERT INTO revision (box, note_id, field, before, after, kind, undone, created_at)
                   VALUES ('default', '{0}', 'link', 'null', '{{"id":7}}', 'link', 0, 0)"""],
    "shown": ["INSERT INTO call VALUES (1, 'build', 'm', 'p', 0)", f"INSERT INTO call_shown VALUES (1, '{GONE}', 0)"],
    "cause": ["""INSERT INTO revision (id, box, note_id, field, before, after, kind, undone, created_at)
              VALUES (1, 'default', '{0}', 'link', 'null', '{{"id":7}}', 'link', 0, 0),
                     (2, 'default', '{0}', 'link', '{{"id":7}}', 'null', 'user', 0, 0)""",
              f"INSERT INTO revision_cause VALUES (1, '{GONE}')"],
    "fts_damaged": ["DELETE FROM note_fts_docsize"],
    "fts_missing": ["DELETE FROM note_fts WHERE rowid = 1"],
    "fts_differs": ["UPDATE note_fts SET body = 'x'"],
    "fts_orphan": ["INSERT INTO note_fts (rowid, box, body) VALUES (999, 'b', 'x')"],
    "vector_missing": ["DELETE FROM vector"],
    "vector_orphan": [f"UPDATE vector SET note_id = '{GONE}' WHERE note_id = '{{0}}'"],
    "vector_size": ["UPDATE vector SET data = x'00000000'"],
    "vector_length": [f"UPDATE vector SET data = zeroblob({4 * SIZE})"],
    "vector_box": ["UPDATE vector SET box = 'other'"],
    "box_revision": ["UPDATE box SET revision = 0"],
    "box_missing": ["DELETE FROM box WHERE name = 'default'"],
    "collection": ["UPDATE box SET collection = 'c'"],
    "held": ["INSERT INTO held VALUES (1, 'default', '{{}}', 0)", "INSERT INTO held_note VALUES (1, '{0}')"],
    "held_note": ["INSERT INTO held VALUES (1, 'default', '" + HELD + "', 0)"],
    "access": [f"INSERT INTO access VALUES ('{GONE}', 1, 0)"],
    "link_value": [f"{LINK} (7, 'default', '{{0}}', '{{1}}', '', '', 7.5, 0)"],
    "outbox_box": ["INSERT INTO outbox (box, note_id) VALUES ('nowhere', '{0}')"],
}  # fmt: skip


async def broken(rooms, statements):
    notes = await filled(rooms)
    shelf_box = "INSERT INTO box (name, revision, epoch, created_at) VALUES ('other', 9, 0, 0)"
    raw = sqlite3.connect(rooms.ledger.database.engine.url.database)
    for statement in (shelf_box, *statements):
        raw.execute(statement.format(*(note.id for note in notes)))
    raw.commit()
    raw.close()
    return notes


@pytest.mark.parametrize("kind", BROKEN)
async def test_what_the_doctor_says_can_be_mended_is_mended_and_no_note_is_changed(opened, kind):
    rooms = opened()
    notes = await broken(rooms, BROKEN[kind])
    report = look(rooms)
    assert kind in {problem.kind for problem in report.problems}
    assert (await repair(rooms, report)).problems == ()
    assert list(rooms.ledger.get([note.id for note in notes]).values()) == notes


@pytest.mark.parametrize("kind", BROKEN)
async def test_reindex_mends_the_same(opened, kind):
    rooms = opened()
    await broken(rooms, BROKEN[kind])
    await reindex(rooms)
    assert look(rooms).problems == ()


def test_everything_that_reindex_is_said_to_mend_is_tried():
    mended = {kind for kind, about in KINDS.items() if "amem reindex` mends" in about.repair}
    assert mended == set(BROKEN) | {"index_missing", "index_ghost", "index_differs", "index_damaged"}


async def test_a_chroma_out_of_step_is_brought_back_into_step(opened):
    rooms = opened(chroma=True, exact_up_to=0, index_batch=1)
    notes = await filled(rooms)
    rooms.index.drain(force=True)
    name, chroma = rooms.vectors.collections()["default"], rooms.index._access.get()
    chroma.delete(name, [notes[0].id])
    chroma.upsert(name, [GONE, notes[1].id], np.eye(2, SIZE, dtype=np.float32), [{}, {}])
    report = look(rooms)
    assert {problem.kind for problem in report.problems} == {"index_missing", "index_ghost", "index_differs"}
    assert (await repair(rooms, report)).problems == ()


async def test_a_healthy_memory_is_left_alone(opened):
    rooms = opened()
    await filled(rooms)
    with rooms.ledger.database.reading() as connection:
        before = list(connection.connection.dbapi_connection.iterdump())
    assert (await repair(rooms, look(rooms))).healthy
    with rooms.ledger.database.reading() as connection:
        assert list(connection.connection.dbapi_connection.iterdump()) == before
