"""Reading the ledger: boxes that do not see each other, pages, pending notes, full text, counts."""

from __future__ import annotations

import sqlite3
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_support import ANY, NOON, VECTORS, Shelf, a_link, cause
from sqlalchemy import event

from amem.errors import InputError
from amem.filters import Filter
from amem.model import Usage
from amem.store.plan import PlannedLink

bounded = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def found(shelf, question, box="default"):
    return shelf.holding(question, box)


# -- boxes --------------------------------------------------------------------------------------------


def fill(shelf, box):
    """The same things in any box."""
    one, other = shelf.accept("bread oven", "sourdough", box=box, session_id="s", agent_id="a", tags=("t",))
    shelf.add("waiting", box=box, source="m1", session_id="s")
    shelf.build(one, context="Baking.")
    shelf.build(other)
    shelf.evolve(one, other, context="It bakes.") if box == "default" else None
    shelf.commit(
        shelf.plan(
            links=[PlannedLink(link=a_link(one, other), cause=cause("link", one))],
            box=box,
            spent={"build": Usage(calls=1)},
        )
    )
    return one, other


def everything(shelf, box, note):
    """All that can be asked of a box."""
    ledger = shelf.ledger
    return (
        ledger.page(box, ANY, after=None, limit=10),
        ledger.pending(box, ["queued", "failed", "raw"]),
        ledger.revisions(box),
        ledger.revisions(box, note_id=note.id),
        ledger.revisions(box, caused_by=note.id),
        ledger.session_turns(box, [("s", 0, 9)]),
        ledger.matching_ids(box, Filter(session_id="s", tags=("t",))),
        found(shelf, "bread sourdough waiting", box),
        ledger.stats(box, index="-"),
        ledger.without_vector(box),
        shelf.vectors.box_state(box),
        shelf.vectors.vectors_since(box, 0)[0],
        shelf.vectors.outbox_sizes(box),
        [row.note_id for row in shelf.vectors.outbox(box)],
    )


def test_a_box_looks_the_same_whatever_is_in_the_others(shelf):
    one, _ = fill(shelf, "mine")
    alone = everything(shelf, "mine", one)
    theirs, _ = fill(shelf, "theirs")
    assert everything(shelf, "mine", one) == alone
    shelf.forget(theirs, box="theirs")
    assert everything(shelf, "mine", one) == alone


def test_a_note_of_another_box_is_not_found_by_its_id(shelf):
    one, _ = fill(shelf, "mine")
    assert shelf.ledger.get([one.id], boxes=["theirs"]) == {}
    assert shelf.ledger.get([one.id], boxes=["theirs", "mine"]) == {one.id: shelf.get(one)}
    assert shelf.ledger.revisions("theirs", note_id=one.id) == []
    assert shelf.ledger.page("theirs", ANY, after=None, limit=5).notes == ()


def test_boxes_are_named_in_the_order_of_their_making(shelf):
    for name in ("zoo", "alice", "default"):
        shelf.add("x", box=name)
    assert shelf.ledger.boxes() == ["zoo", "alice", "default"]


def test_a_box_whose_name_is_a_query_is_a_box_like_others(shelf):
    name = "\" OR box : b* NOT '"
    note = shelf.add("bread", box=name)
    shelf.add("bread")
    assert found(shelf, "bread", name) == [note.id]


# -- pages --------------------------------------------------------------------------------------------


def pages(shelf, limit, given=ANY):
    after, notes = None, []
    while True:
        page = shelf.ledger.page("default", given, after=after, limit=limit)
        assert len(page.notes) <= limit
        notes += page.notes
        if page.next is None:
            return notes
        after = page.next


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 1000])
def test_pages_are_complete_and_in_the_order_of_acceptance_whatever_their_size(shelf, limit):
    notes = shelf.accept(*(f"note {i}" for i in range(7)))
    shelf.add("elsewhere", box="other")
    assert pages(shelf, limit) == notes


def test_an_empty_box_is_one_empty_page(shelf):
    page = shelf.ledger.page("default", ANY, after=None, limit=5)
    assert (page.notes, page.next) == ((), None)


def test_a_last_page_that_is_full_is_the_last(shelf):
    shelf.accept("one", "two")
    assert shelf.ledger.page("default", ANY, after=None, limit=2).next is None


def test_pages_go_on_where_they_were_though_notes_come_and_go(shelf):
    notes = shelf.accept(*(f"note {i}" for i in range(6)))
    first = shelf.ledger.page("default", ANY, after=None, limit=3)
    shelf.forget(notes[2])
    late = shelf.add("late")
    rest = shelf.ledger.page("default", ANY, after=first.next, limit=9)
    assert [*first.notes, *rest.notes] == [*notes, late]


def test_a_rare_tag_is_found_through_many_notes_page_by_page(shelf):
    rare = [shelf.accept(*(f"{i}" for i in range(301)))[0] and shelf.add("rare", tags=("Rare",)) for _ in range(3)]
    assert pages(shelf, 1, Filter(tags=("rare",))) == rare
    assert pages(shelf, 2, Filter(tags=("rare",))) == rare


@pytest.mark.parametrize("after", ["", "x", "-1", "1.5", "٣", "9" * 30, "00000000-0000-7000-8000-000000000001"])
def test_what_is_no_next_of_a_page_is_refused(shelf, after):
    with pytest.raises(InputError, match="is not the `next` of a page"):
        shelf.ledger.page("default", ANY, after=after, limit=5)


# -- pending ------------------------------------------------------------------------------------------


def test_notes_wait_in_session_order_however_they_came(shelf):
    shelf.add("b1", session_id="b", position=1)
    shelf.add("a0", session_id="a")
    shelf.add("alone")
    shelf.add("b0", session_id="b", position=0)
    shelf.add("a1", session_id="a")
    shelf.ready("done")
    shelf.add("raw", pending_reason="raw")
    waiting = shelf.ledger.pending("default", ["queued", "failed"])
    assert [note.content for note in waiting] == ["b0", "b1", "a0", "a1", "alone"]
    assert [note.content for note in shelf.ledger.pending("default", ["queued"], limit=3)] == ["b0", "b1", "a0"]
    assert [note.content for note in shelf.ledger.pending(None, ["raw"])] == ["raw"]


def test_turns_of_sessions_are_read_by_span(shelf):
    shelf.accept(*(f"s{i}" for i in range(5)), session_id="s")
    shelf.accept("t0", "t1", session_id="t")
    turns = shelf.ledger.session_turns("default", [("s", 1, 3), ("t", 0, 0), ("none", 0, 9)])
    assert [note.content for note in turns] == ["s1", "s2", "s3", "t0"]


# -- full text ----------------------------------------------------------------------------------------


@bounded
@given(
    question=st.text(max_size=60)
    | st.text(st.sampled_from(string.punctuation + " abNEAROT*東京👍\u200d\x00"), max_size=40)
)
@pytest.mark.parametrize("content", ["bread AND oven NOT x"])
def test_any_question_can_be_asked(shelf, content, question):
    if not shelf.ids():
        shelf.add(content)
    shelf.holding(question)


@bounded
@given(
    content=st.text(min_size=1, max_size=40).filter(
        lambda t: t.strip() and not any("\ud800" <= c <= "\udfff" for c in t)
    )
)
def test_any_text_can_be_stored_and_asked_for(shelf, content):
    note = shelf.add(content)
    shelf.holding(content)
    assert shelf.get(note).content == content


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "'",
        "NEAR(a b",
        "a AND",
        "OR",
        "NOT",
        "body:",
        "* ^ -",
        "(((",
        "a\x00b",
        "_",
        "👩‍👩‍👧",
        "''; DROP TABLE note",
        "\ud800",
        "",
    ],
)
def test_query_syntax_in_a_question_is_text(shelf, question):
    note = shelf.add("bread")
    assert found(shelf, question) == []
    assert found(shelf, f"{question} bread") == [note.id]


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("She was running.", "run"),
        ("two ovens", "Which OVEN?"),
        ("a café in Lisbon", "cafe"),
        ("ночной поезд", "ПОЕЗД"),
        ("我昨天搬到了上海浦东。", "上海"),
        ("東京タワーに登った", "タワー"),
        ("서울에서 부산으로 이사했다", "부산으로"),
        ("snake_case_name", "snake_case_name"),
        ("call +44 20 7946", "7946"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("mail a@b.example", "a@b.example"),
    ],
)
def test_words_are_found_by_their_stems_and_cjk_by_pairs_of_letters(shelf, content, question):
    note = shelf.add(content)
    shelf.add("something else altogether")
    assert found(shelf, question) == [note.id]


def test_words_are_found_alike_whether_a_box_is_alone_or_not(shelf):
    mine = [shelf.add(f"bread {word}").id for word in ("oven", "knife")]
    alone = shelf.holding("bread oven")
    theirs = shelf.add("bread oven", box="theirs").id
    assert shelf.holding("bread oven") == alone == mine
    assert shelf.holding("bread oven", "theirs") == [theirs]


def test_stats_count_what_there_is(shelf):
    _, other = fill(shelf, "default")
    shelf.vectors.outbox_done("default", [row.seq for row in shelf.vectors.outbox() if row.note_id == other.id])
    stats = shelf.ledger.stats("default", index="chroma")
    assert (stats.notes, stats.ready, stats.pending, stats.archived) == (3, 2, {"queued": 1}, 0)
    assert (stats.links, stats.revisions, stats.unindexed, stats.index) == (1, 3, 2, "chroma")
    shelf.vectors.outbox_done("default", [row.seq for row in shelf.vectors.outbox()])
    assert shelf.ledger.stats("default", index="-").unindexed == 0


def test_accesses_are_counted_without_touching_the_note(shelf):
    note = shelf.add("bread")
    shelf.ledger.touch({note.id: (1, NOON), "gone": (1, NOON)})
    shelf.ledger.touch({note.id: (1, NOON.replace(hour=13))})
    assert shelf.sql("SELECT note_id, count FROM access") == [(note.id, 2)]
    assert shelf.get(note) == note


def test_many_ids_are_read_at_once_in_the_order_they_were_asked_for(shelf):
    notes = shelf.accept(*(f"note {i}" for i in range(1_100)))
    wanted = [note.id for note in notes[::-1]]
    assert list(shelf.ledger.get([*wanted, "gone"])) == wanted
    assert len(shelf.vectors.vectors_of(wanted)[0]) == 1_100
    engine = shelf.ledger.database.engine
    event.listen(engine, "connect", lambda raw, _: raw.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999))
    engine.dispose()  # a SQLite as many systems have it
    many = [f"{i}" for i in range(40_000)]
    assert shelf.ledger.get(many) == {}
    assert shelf.ledger.links_of(many) == []


def test_a_ledger_is_the_same_after_reopening(shelf, tmp_path):
    one, _ = fill(shelf, "default")
    before = everything(shelf, "default", one), shelf.ledger.links_of([one.id])
    shelf.close()
    again = Shelf(tmp_path)
    assert (everything(again, "default", one), again.ledger.links_of([one.id])) == before
    assert again.ledger.accept([again.new("waiting")], ["m1"], VECTORS)[0][1] is False
    again.close()
