"""What `Ledger.accept` promises: durable, never twice, each turn in its place."""

from __future__ import annotations

import pytest
from ledger_support import VECTORS, Shelf, render, vector

from amem.errors import InputError


def test_an_accepted_note_is_there_after_reopening(shelf, tmp_path):
    note = shelf.add("Mira moved to Porto.", speaker="Mira", metadata={"mood": "glad"}, session_id="s")
    shelf.close()
    again = Shelf(tmp_path)
    assert again.get(note) == note
    again.close()


def test_what_accept_returns_is_what_get_returns(shelf):
    note = shelf.add(
        "Mira moved to Porto.", agent_id="a", session_id="s", sources=("m1",), pinned=("tags",), tags=("x",)
    )
    assert shelf.get(note) == note
    assert (note.status, note.pending_reason, note.version, note.position) == ("pending", "queued", 1, 0)


@pytest.mark.parametrize(
    "content", ["\x00 and \x1f", " \n\tspaces kept \n", "e\u0301 is not \u00e9", "👩‍👩‍👧 و می‌خواهم 東京", "a" * 300_000]
)
def test_content_is_kept_byte_for_byte(shelf, content):
    assert shelf.get(shelf.add(content)).content.encode() == content.encode()


def test_a_source_seen_before_returns_the_note_that_is_there(shelf):
    first = shelf.add("Mira moved to Porto.", source="m1")
    ((again, is_new),) = shelf.ledger.accept([shelf.new("Mira moved, to Porto!")], ["m1"], VECTORS)
    assert (again, is_new) == (first, False)
    assert shelf.ids() == {first.id}


def test_a_source_that_comes_twice_at_once_is_stored_once(shelf):
    twice = [shelf.new("one"), shelf.new("two")]
    (first, first_is_new), (second, second_is_new) = shelf.ledger.accept(twice, ["m1", "m1"], VECTORS)
    assert (first_is_new, second_is_new, second) == (True, False, first)
    assert shelf.ids() == {first.id}


def test_the_same_source_in_another_box_is_another_note(shelf):
    one, other = shelf.add("one", source="m1"), shelf.add("one", source="m1", box="other")
    assert one.id != other.id
    assert (shelf.ids(), shelf.ids(box="other")) == ({one.id}, {other.id})


def test_equal_text_without_a_source_is_a_new_note(shelf):
    assert len({shelf.add("again").id, shelf.add("again").id}) == 2


def test_turns_of_a_session_are_numbered_from_0_each_session_for_itself(shelf):
    shelf.accept("a0", "a1", session_id="a")
    shelf.add("b0", session_id="b")
    shelf.add("a in another box", session_id="a", box="other")
    assert shelf.add("a2", session_id="a").position == 2
    assert shelf.add("b1", session_id="b").position == 1
    assert shelf.add("no session").position is None


def test_a_turn_after_one_with_a_given_position_comes_behind_it(shelf):
    notes = [shelf.new("seven", session_id="s", position=7), shelf.new("next", session_id="s")]
    assert [note.position for note, _ in shelf.ledger.accept(notes, [None, None], VECTORS)] == [7, 8]
    assert shelf.add("and then", session_id="s").position == 9


def test_a_position_that_is_taken_is_refused_and_nothing_of_the_batch_is_stored(shelf):
    shelf.add("first", session_id="s")
    batch = [shelf.new("good", session_id="s"), shelf.new("bad", session_id="s", position=0)]
    with pytest.raises(InputError, match=r"position 0 of session 's' is taken.*nothing was stored"):
        shelf.ledger.accept(batch, [None, None], VECTORS)
    assert len(shelf.ids()) == 1
    with pytest.raises(InputError, match="position 5"):
        shelf.ledger.accept([shelf.new("a", session_id="s", position=5) for _ in range(2)], [None, None], VECTORS)


def test_a_known_source_may_bring_its_position_again(shelf):
    first = shelf.add("first", session_id="s", position=0, source="m1")
    ((again, _),) = shelf.ledger.accept([shelf.new("first", session_id="s", position=0)], ["m1"], VECTORS)
    assert again == first


def test_a_note_is_found_by_words_and_by_vector_at_once(shelf):
    note = shelf.add("The lighthouse keeper sleeps.")
    assert shelf.holding("lighthouses") == [note.id]
    ids, matrix = shelf.vectors.vectors_of([note.id])
    assert ids == [note.id]
    assert matrix[0].tolist() == vector(render(note)).tolist()
    assert [(row.note_id, row.vector.tolist()) for row in shelf.vectors.outbox()] == [(note.id, matrix[0].tolist())]


def test_a_note_whose_text_could_not_be_embedded_is_found_by_words_and_waits_for_its_vector(shelf):
    note = shelf.new("The lighthouse keeper sleeps.")
    shelf.ledger.accept([note], [None], {})
    assert shelf.holding("lighthouse") == [note.id]
    assert [waiting.id for waiting in shelf.ledger.without_vector()] == [note.id]
    shelf.ledger.put_vectors([note], VECTORS)
    assert shelf.ledger.without_vector() == []
    assert shelf.vectors.vectors_of([note.id])[0] == [note.id]


def test_a_vector_of_a_text_that_a_note_no_longer_has_is_not_stored(shelf):
    note = shelf.new("The lighthouse keeper sleeps.")
    shelf.ledger.accept([note], [None], {})
    stale = {render(note): vector("stale")}
    shelf.edit(note, context="He is on watch.")
    before = shelf.vectors.vectors_of([note.id])[1].tolist()
    shelf.ledger.put_vectors([note], stale)
    assert shelf.vectors.vectors_of([note.id])[1].tolist() == before


def test_many_notes_at_once_are_all_stored_in_order(shelf):
    notes = [shelf.new(f"turn {i}", session_id="s") for i in range(1_300)]
    accepted = shelf.ledger.accept(notes, [f"m{i}" for i in range(1_300)], VECTORS)
    assert [note.position for note, _ in accepted] == list(range(1_300))
    assert shelf.ledger.stats("default", index="-").notes == 1_300
    again = shelf.ledger.accept([shelf.new("x") for _ in notes], [f"m{i}" for i in range(1_300)], VECTORS)
    assert [note.id for note, is_new in again if not is_new] == [note.id for note in notes]
