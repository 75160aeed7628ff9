"""The doctor: a healthy ledger has no problems, and every planted one is found, named, and told how to mend."""

from __future__ import annotations

import shutil
from itertools import count

import numpy as np
import pytest
from ledger_support import DIMENSION, Shelf, change, vector
from vector_source import units

from amem.embedding import HashEmbedder
from amem.opening import open_rooms
from amem.repair import repair
from amem.settings import Settings
from amem.store.doctor import doctor
from amem.store.outbox import LedgerVectors
from amem.store.report import KINDS
from amem.store.vectors import VectorIndex


def number(last):
    return f"00000000-0000-7000-8000-{last:012d}"


ONE, TWO, THREE, FOUR, ALONE, THEIRS = (number(i) for i in range(1, 7))
NOBODY = number(99)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The file of a ledger in which everything has happened once."""
    shelf = Shelf(tmp_path_factory.mktemp("lived"))
    live_in(shelf)
    shelf.close()
    return shelf.path


@pytest.fixture
def lived_in(template, tmp_path):
    """A ledger in which everything has happened once."""
    shutil.copy(template, tmp_path)
    shelf = Shelf(tmp_path)
    shelf._numbers = count(100)
    yield shelf
    shelf.close()


def live_in(shelf):
    one, two, three, four = shelf.accept("bread oven", "sourdough", "flour", "cake tin", session_id="s")
    alone = shelf.add("a lighthouse", tags=("given",), pinned=("tags",), metadata={"a": [1]}, source="m1")
    theirs = shelf.add("theirs", box="theirs", session_id="s")
    assert [note.id for note in (one, two, three, four, alone, theirs)] == [ONE, TWO, THREE, FOUR, ALONE, THEIRS]
    shelf.build(one, two, keywords=["bread"], tags=["food"], context="Baking.")
    shelf.build(two, one, context="A dough.")
    shelf.build(three)
    shelf.evolve(one, two, context="It bakes the dough.", tags=["food", "warm"])
    shelf.undo(shelf.evolve(one, two, context="Not so.").revisions[0])
    (undoing,) = shelf.undo(shelf.evolve(three, two, tags=["white"]).revisions[0]).revisions
    shelf.undo(undoing)
    shelf.edit(one, tags=["mine", "warm"], pinned=["tags"])
    shelf.edit(alone, occurred_at="2020-02-02T02:02:02.000002Z", speaker="Mira", metadata={"a": [True]})
    shelf.link(one, two)
    (link,) = shelf.link(two, three).revisions
    shelf.undo(shelf.undo(link).revisions[0])
    shelf.undo(shelf.link(one, three).revisions[0])
    shelf.commit(shelf.plan(change(four, "supersede", three, superseded_by=THREE, valid_to="2024-06-01T00:00:00Z")))
    shelf.commit(shelf.plan(change(shelf.get(FOUR), "user", status="archived", pending_reason=None)))
    gone = shelf.ready("to be forgotten")
    shelf.evolve(two, gone, context="It has seen it.", tags=["seen"])
    shelf.link(gone, two)
    shelf.forget(gone)
    about_three = shelf.plan(change(shelf.get(THREE), "evolve", two, context="So they say."))
    shelf.commit(shelf.plan(held=about_three.model_copy(update={"why": ("it gives orders",)})))
    shelf.ledger.put_vectors(shelf.ledger.without_vector(), {text: vector(text) for text in _texts(shelf)})
    shelf.vectors.outbox_done("default", [row.seq for row in shelf.vectors.outbox()][:3])


def _texts(shelf):
    return [shelf.ledger.render(note) for note in shelf.ledger.without_vector()]


def look(shelf, dimension=DIMENSION):
    return doctor(shelf.ledger, LedgerVectors(shelf.ledger.database, dimension))


def test_a_ledger_that_has_been_lived_in_is_healthy(lived_in):
    report = look(lived_in)
    assert report.problems == ()
    assert report.healthy
    assert (report.notes, report.boxes, report.index) == (6, 2, "not looked at")
    assert set(report.checked) == set(KINDS)


def test_an_undoing_that_changes_nothing_leaves_a_healthy_ledger(lived_in):
    one, two = lived_in.get(ONE), lived_in.get(TWO)
    (warm,) = lived_in.evolve(two, one, tags=["cold", "warm"]).revisions
    lived_in.edit(two, tags=["mine"], pinned=["tags"])
    assert lived_in.undo(warm).revisions == ()
    assert lived_in.sql(f"SELECT undone FROM revision WHERE id = {warm.id}") == [(1,)]
    assert look(lived_in).problems == ()


def test_an_empty_ledger_is_healthy(shelf):
    assert (look(shelf).healthy, look(shelf).notes) == (True, 0)


def test_looking_changes_nothing(lived_in):
    before = lived_in.tables()
    look(lived_in)
    assert lived_in.tables() == before


# -- planted problems: what was done to the database, and what is to be found ----------------------------

WITHOUT_RULES = "PRAGMA foreign_keys = OFF"
LINK = "INSERT INTO link (box, source, target, relation, reason, strength, created_at) VALUES "
OF_CONTEXT = f"WHERE field = 'context' AND note_id = '{ONE}'"
SECOND_OF_TAGS = f"(SELECT id FROM revision WHERE note_id = '{ONE}' AND field = 'tags' ORDER BY id LIMIT 1 OFFSET 1)"
LAST_OF_TAGS = f"(SELECT max(id) FROM revision WHERE note_id = '{ONE}' AND field = 'tags')"
RID_OF_ONE = f"(SELECT rid FROM note WHERE id = '{ONE}')"
PLANTED = [
    # name, what is done, kind, what is named
    ("a link to nobody", [WITHOUT_RULES, f"UPDATE link SET target = '{NOBODY}' WHERE id = 1"], "link_dangling", "1"),
    ("a link from nobody", [WITHOUT_RULES, f"UPDATE link SET source = '{NOBODY}' WHERE id = 1"], "link_dangling", "1"),
    ("a link across boxes", [f"UPDATE link SET target = '{THEIRS}' WHERE id = 1"], "link_box", "1"),
    ("a link filed elsewhere", ["UPDATE link SET box = 'theirs' WHERE id = 1"], "link_box", "1"),
    ("a link with itself", [f"UPDATE link SET target = '{ONE}' WHERE id = 1"], "link_self", "1"),
    ("a link the other way round", [f"{LINK} ('default', '{TWO}', '{ONE}', '', '', 0, 0)"], "link_twice", "5"),
    ("a link nobody made", [f"{LINK} ('default', '{ONE}', '{FOUR}', '', '', 0, 0)"], "link_history", ONE),
    ("a link that was lost", ["DELETE FROM link WHERE id = 1"], "link_history", ONE),
    (
        "a context that no revision made",
        [f"UPDATE note SET context = 'x' WHERE id = '{ONE}'"],
        "history",
        f"{ONE}.context",
    ),
    (
        "keywords from nowhere",
        [f"""UPDATE note SET keywords = '["x"]' WHERE id = '{THREE}'"""],
        "history",
        f"{THREE}.keywords",
    ),
    ("a revision lost in the middle", [f"DELETE FROM revision WHERE id = {SECOND_OF_TAGS}"], "history", f"{ONE}.tags"),
    (
        "a revision that was rewritten",
        [f"""UPDATE revision SET before = '"x"' {OF_CONTEXT}"""],
        "history",
        f"{ONE}.context",
    ),
    (
        "metadata changed by hand",
        [f"UPDATE note SET metadata = '{{}}' WHERE id = '{ALONE}'"],
        "history",
        f"{ALONE}.metadata",
    ),
    (
        "1 in place of true",
        [f"""UPDATE note SET metadata = '{{"a":[1]}}' WHERE id = '{ALONE}'"""],
        "history",
        f"{ALONE}.metadata",
    ),
    (
        "a moment off by a microsecond",
        [f"UPDATE note SET occurred_at = occurred_at + 1 WHERE id = '{ALONE}'"],
        "history",
        f"{ALONE}.occurred_at",
    ),
    (
        "a revision that is no JSON",
        [f"UPDATE revision SET after = '[' WHERE note_id = '{ONE}' AND field = 'keywords'"],
        "history",
        f"{ONE}.keywords",
    ),
    ("a revision in another box", ["UPDATE revision SET box = 'theirs' WHERE id = 1"], "revision_box", "1"),
    ("undone, it says", ["UPDATE revision SET undone = 1 WHERE id = 1"], "undo", "1"),
    (
        "words undone that nobody took out",
        [f"UPDATE revision SET undone = 1 WHERE id = {LAST_OF_TAGS}"],
        "undo",
        None,
    ),
    (
        "a link undone that is there",
        ["UPDATE revision SET undone = 1 WHERE field = 'link' AND NOT undone"],
        "undo",
        None,
    ),
    ("undone, it does not say", ["UPDATE revision SET undone = 0 WHERE undone = 1"], "undo", None),
    (
        "an undoing of nothing",
        ["UPDATE revision SET undoes = 999 WHERE undoes IS NOT NULL AND undone = 0"],
        "undo",
        None,
    ),
    ("a text that is not in the index", [f"DELETE FROM note_fts WHERE rowid = {RID_OF_ONE}"], "fts_missing", ONE),
    ("an index of another text", [f"UPDATE note_fts SET body = 'x' WHERE rowid = {RID_OF_ONE}"], "fts_differs", ONE),
    ("an index of another box", [f"UPDATE note_fts SET box = 'bx' WHERE rowid = {RID_OF_ONE}"], "fts_differs", ONE),
    ("an index of no note", ["INSERT INTO note_fts (rowid, box, body) VALUES (999, 'b', 'x')"], "fts_orphan", "999"),
    ("an index between two notes", [f"DELETE FROM note WHERE id = '{THEIRS}'"], "fts_orphan", "6"),
    ("an index that lies", ["DELETE FROM note_fts_docsize WHERE id = 1"], "fts_damaged", None),
    ("no vector", [f"DELETE FROM vector WHERE note_id = '{ONE}'"], "vector_missing", ONE),
    ("half a vector", [f"UPDATE vector SET data = x'00000000' WHERE note_id = '{ONE}'"], "vector_size", ONE),
    (
        "a vector of zeros",
        [f"UPDATE vector SET data = zeroblob({4 * DIMENSION}) WHERE note_id = '{ONE}'"],
        "vector_length",
        ONE,
    ),
    (
        "a vector that is no number",
        [f"UPDATE vector SET data = CAST(x'{'0000c07f' * DIMENSION}' AS BLOB) WHERE note_id = '{ONE}'"],
        "vector_length",
        ONE,
    ),
    (
        "a vector of nobody",
        [WITHOUT_RULES, f"UPDATE vector SET note_id = '{NOBODY}' WHERE note_id = '{ONE}'"],
        "vector_orphan",
        NOBODY,
    ),
    ("a vector filed elsewhere", [f"UPDATE vector SET box = 'theirs' WHERE note_id = '{ONE}'"], "vector_box", ONE),
    ("a box behind its vectors", ["UPDATE box SET revision = 0 WHERE name = 'theirs'"], "box_revision", "theirs"),
    ("an outbox of no box", [f"INSERT INTO outbox (box, note_id) VALUES ('nowhere', '{ONE}')"], "outbox_box", None),
    ("a call that saw nobody", [f"INSERT INTO call_shown VALUES (1, '{NOBODY}', 0)"], "shown", NOBODY),
    ("a change because of nobody", [f"INSERT INTO revision_cause VALUES (1, '{NOBODY}')"], "cause", NOBODY),
    ("ready and waiting", [f"UPDATE note SET pending_reason = 'queued' WHERE id = '{ONE}'"], "status", ONE),
    ("ready with an error", [f"UPDATE note SET error = 'x' WHERE id = '{ONE}'"], "status", ONE),
    ("waiting for nothing", [f"UPDATE note SET pending_reason = NULL WHERE id = '{ALONE}'"], "status", ALONE),
    ("a status that is none", [f"UPDATE note SET status = 'lost' WHERE id = '{ONE}'"], "unreadable", ONE),
    ("a trust that is none", [f"UPDATE note SET trust = 'full' WHERE id = '{ONE}'"], "unreadable", ONE),
    ("tags that are no JSON", [f"UPDATE note SET tags = 'x, y' WHERE id = '{ONE}'"], "unreadable", ONE),
    ("tags that are no list", [f"""UPDATE note SET tags = '"x"' WHERE id = '{ONE}'"""], "unreadable", ONE),
    (
        "a moment beyond all years",
        [f"UPDATE note SET created_at = 9000000000000000000 WHERE id = '{ONE}'"],
        "unreadable",
        ONE,
    ),
    ("superseded by nobody", [f"UPDATE note SET superseded_by = '{NOBODY}' WHERE id = '{FOUR}'"], "superseded", FOUR),
    (
        "superseded from another box",
        [f"UPDATE note SET superseded_by = '{THEIRS}' WHERE id = '{FOUR}'"],
        "superseded",
        FOUR,
    ),
    (
        "two turns in one place",
        [
            WITHOUT_RULES,
            "CREATE TABLE copy AS SELECT * FROM note",
            "DROP TABLE note",
            "ALTER TABLE copy RENAME TO note",
            "UPDATE note SET position = 0 WHERE session_id = 's'",
        ],
        "position",
        "s",
    ),
    ("a newer schema", ["UPDATE alembic_version SET version_num = '9'"], "schema", "9"),
    ("a box that is not listed", [WITHOUT_RULES, "DELETE FROM box WHERE name = 'theirs'"], "box_missing", "theirs"),
    ("two boxes with one collection", ["UPDATE box SET collection = 'c'"], "collection", "theirs"),
    ("a version behind its history", [f"UPDATE note SET version = 2 WHERE id = '{ONE}'"], "version", ONE),
    ("a source of somebody else", [f"UPDATE note SET source_key = 'm9' WHERE id = '{ALONE}'"], "source", ALONE),
    ("a proposal that is no plan", ["UPDATE held SET plan = '{}'"], "held", "1"),
    ("a proposal in another box", ["UPDATE held SET box = 'theirs'"], "held", "1"),
    ("a proposal about nobody", [f"UPDATE held SET plan = replace(plan, '{THREE}', '{NOBODY}')"], "held", "1"),
    ("a proposal that nobody would find", ["DELETE FROM held_note"], "held_note", "1"),
    ("a proposal filed under somebody else", [f"INSERT INTO held_note VALUES (1, '{FOUR}')"], "held_note", "1"),
    ("somebody who read nothing", [f"INSERT INTO access VALUES ('{NOBODY}', 1, 0)"], "access", NOBODY),
    ("a link that is too strong", ["UPDATE link SET strength = 7 WHERE id = 1"], "link_value", "1"),
    ("a link beyond all years", ["UPDATE link SET created_at = 9000000000000000000 WHERE id = 1"], "link_value", "1"),
    ("a revision of no kind", ["UPDATE revision SET kind = 'magic' WHERE id = 1"], "revision_value", "1"),
    (
        "a revision before all years",
        ["UPDATE revision SET created_at = -9000000000000000000 WHERE id = 1"],
        "revision_value",
        "1",
    ),
    (
        "a row that refers to nothing",
        [WITHOUT_RULES, "UPDATE note SET call_id = 999 WHERE rid = 1"],
        "reference",
        "note:1",
    ),
]


@pytest.mark.parametrize(("done", "kind", "named"), [case[1:] for case in PLANTED], ids=[case[0] for case in PLANTED])
def test_a_planted_problem_is_found_and_named(lived_in, done, kind, named):
    plant(lived_in, done)
    report = look(lived_in)
    found = {problem.kind: problem for problem in report.problems}
    assert kind in found, report.problems
    assert found[kind].repair == KINDS[kind].repair
    assert found[kind].what.startswith(KINDS[kind].what)
    if named is not None:
        assert named in found[kind].ids
        assert named in found[kind].what


OPENED = [case for case in PLANTED if case[2] not in {"schema", "position"}]
"""All but a ledger that is not opened at all, and one whose very tables are no longer amem's."""


@pytest.mark.parametrize(("done", "kind"), [case[1:3] for case in OPENED], ids=[case[0] for case in OPENED])
async def test_a_planted_problem_is_mended_or_it_is_said_that_it_cannot_be(lived_in, tmp_path, done, kind):
    plant(lived_in, done)
    kept = lived_in.sql("SELECT id, content, keywords, tags, context, version FROM note ORDER BY rid")
    lived_in.close()
    rooms = open_rooms(tmp_path, Settings(chroma=False), embedder=HashEmbedder(DIMENSION))
    left = (await repair(rooms, doctor(rooms.ledger, rooms.vectors))).problems
    rooms.ledger.close()
    assert (kind in {problem.kind for problem in left}) == (kind not in MENDED)
    assert not {problem.kind for problem in left} & MENDED
    assert all("Restore a backup" in problem.repair for problem in left)
    again = Shelf(tmp_path)
    assert again.sql("SELECT id, content, keywords, tags, context, version FROM note ORDER BY rid") == kept
    again.close()


MENDED = {kind for kind, about in KINDS.items() if "amem reindex` mends" in about.repair}


def plant(shelf, statements):
    """Do to the file what amem never would, as another program."""
    import sqlite3

    raw = sqlite3.connect(shelf.path, isolation_level=None)
    for statement in statements:
        raw.execute(statement)
    raw.close()


def test_every_kind_of_problem_is_planted_somewhere():
    of_chroma = {"index_missing", "index_ghost", "index_differs", "index_damaged"}
    elsewhere = {"damaged", "embedding", "unfinished", *of_chroma}
    assert {case[2] for case in PLANTED} | elsewhere == set(KINDS)


def test_a_damaged_file_is_found_and_said_so(lived_in):
    ((root,),) = lived_in.sql("SELECT rootpage FROM sqlite_master WHERE name = 'revision'")
    lived_in.close()
    with lived_in.path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 8)
        file.write(b"\xff" * 4000)
    shelf = Shelf(lived_in.path.parent)
    report = look(shelf)
    shelf.close()
    damage = [problem for problem in report.problems if problem.kind == "damaged"]
    assert damage
    assert "Restore a backup" in damage[0].repair


def test_a_page_that_cannot_be_read_does_not_stop_the_doctor(lived_in):
    plant(lived_in, ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'note'"])
    lived_in.close()
    shelf = Shelf(lived_in.path.parent)
    kinds = {problem.kind for problem in look(shelf).problems}
    shelf.close()
    assert "damaged" in kinds


def test_vectors_of_another_embedding_are_reported(shelf):
    about = {"embedding": "a", "fingerprint": "a-1", "dimension": "8", "render": "spoken-1"}
    shelf.ledger.bind_embedding(about)
    shelf.add("bread")
    assert look(shelf).healthy
    shelf.ledger.bind_embedding({**about, "fingerprint": "b-1"}, rebind=True)
    assert [problem.kind for problem in look(shelf).problems] == ["embedding"]


def test_vectors_of_another_size_are_reported(lived_in):
    (problem, _) = look(lived_in, dimension=DIMENSION + 1).problems
    assert (problem.kind, problem.box, len(problem.ids)) == ("vector_size", "default", 5)


def test_where_the_embedder_does_not_know_its_size_yet_the_usual_one_is_expected(lived_in):
    assert look(lived_in, dimension=0).healthy
    plant(lived_in, [f"UPDATE vector SET data = x'00000000' WHERE note_id = '{ONE}'"])
    (problem,) = look(lived_in, dimension=0).problems
    assert (problem.kind, problem.ids) == ("vector_size", (ONE,))


def test_problems_of_two_boxes_are_two_and_many_of_one_are_one(shelf):
    for box in ("a", "b"):
        shelf.accept(*(f"note {i}" for i in range(9)), box=box)
    shelf.sql("DELETE FROM vector")
    first, second = look(shelf).problems
    assert ((first.kind, first.box, len(first.ids)), second.box) == (("vector_missing", "a", 9), "b")
    assert "(box 'a'): " in first.what
    assert first.what.endswith("and 4 more")


def test_many_notes_are_looked_at_piece_by_piece(shelf):
    shelf.accept(*(f"note {i}" for i in range(2_100)))
    shelf.sql("DELETE FROM note_fts WHERE rowid IN (1000, 1001, 2100)")
    shelf.sql("INSERT INTO note_fts (rowid, box, body) VALUES (2101, 'b', 'x')")
    found = {problem.kind: problem.ids for problem in look(shelf).problems}
    assert found == {"fts_missing": (number(1000), number(1001), number(2100)), "fts_orphan": ("2101",)}


def test_a_chroma_that_is_out_of_step_is_reported(lived_in, tmp_path):
    index = VectorIndex(lived_in.vectors, tmp_path, Settings(index_batch=1, exact_up_to=0))
    try:
        index.drain(force=True)
        report = doctor(lived_in.ledger, lived_in.vectors, index)
        assert (report.problems, report.index) == ((), "chroma")
        name = lived_in.vectors.collections()["default"]
        chroma = index._access.get()
        chroma.delete(name, [ONE])
        chroma.upsert(name, [NOBODY, TWO], units(2, DIMENSION), [{"status": "ready"}] * 2)
        found = {p.kind: (p.box, p.ids) for p in doctor(lived_in.ledger, lived_in.vectors, index).problems}
        assert found == {
            "index_missing": ("default", (ONE,)),
            "index_ghost": ("default", (NOBODY,)),
            "index_differs": ("default", (TWO,)),
        }
    finally:
        index.close()


def test_a_vector_that_waits_for_chroma_is_no_problem(lived_in, tmp_path):
    index = VectorIndex(lived_in.vectors, tmp_path, Settings(index_batch=1, exact_up_to=0))
    try:
        index.drain(force=True)
        lived_in.add("not in Chroma yet")
        lived_in.forget(lived_in.get(ALONE))
        assert {problem.kind for problem in doctor(lived_in.ledger, lived_in.vectors, index).problems} <= {"unfinished"}
    finally:
        index.close()


def test_unit_vectors_of_float32_pass(shelf):
    for seed in range(20):
        note = shelf.new(f"note {seed}")
        shelf.ledger.accept(
            [note], [None], {shelf.ledger.render(note): units(1, DIMENSION, seed)[0].astype(np.float32)}
        )
    assert look(shelf).healthy
