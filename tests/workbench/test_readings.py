from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem.workbench.readings import read

TURNS = {
    "earlier": [],
    "turns": [{"number": 0, "text": "Я продала лодку в Одессе."}, {"number": 1, "text": "Why did you?"}],
}
WINDOW = {
    "neighbours": [{"number": 0, "text": "I sold the boat."}, {"number": 1, "text": "The cat is ill."}],
    "notes": [{"number": 2, "text": "I bought a van with the money."}],
}
PAIR = {"neighbours": WINDOW["neighbours"], "note": {"text": "I bought a van with the money."}}


def a_note(turn, context="Ana sold her boat in Odessa.", keywords=("boat",), tags=("sale",)):
    return {"turn": turn, "context": context, "keywords": list(keywords), "tags": list(tags)}


def a_change(neighbour, context="Ana sold the boat for a van.", because=(2,)):
    return {"because": list(because), "neighbour": neighbour, "context": context, "keywords": [], "tags": []}


def a_link(source, *targets):
    return {"source": source, "targets": list(targets), "reason": "the money", "relation": "paid for"}


def test_fields_are_named_by_turn_so_that_their_order_in_the_list_is_no_difference():
    one = read({"notes": [a_note(0), a_note(1, "Ben asks.")]}, TURNS)
    two = read({"notes": [a_note(1, "Ben asks."), a_note(0)]}, TURNS)
    assert one.fields == two.fields
    assert one.fields["turn 1 context"] == "Ben asks."


def test_keywords_and_tags_are_compared_without_case():
    found = read({"notes": [a_note(0, keywords=["Boat", "Odessa"], tags=["Sale"])]}, TURNS)
    assert found.keywords == {"turn 0": ("boat", "odessa")}
    assert found.tags == {"turn 0": ("sale",)}


def test_a_word_given_twice_is_found_whatever_its_case():
    found = read({"notes": [a_note(0, keywords=["boat", "Boat", "oar"])]}, TURNS)
    assert found.repeated == ("turn 0 keywords: boat",)


def test_a_text_in_another_script_than_its_source_is_foreign():
    found = read({"notes": [a_note(0), a_note(1, "Ben asks why she did it.")]}, TURNS)
    assert found.foreign == ("turn 0 context",)
    assert found.texts == 2


def test_a_turn_that_was_never_shown_is_invented():
    assert read({"notes": [a_note(7)]}, TURNS).invented == ("turn 7 turn: 7",)


def test_links_of_a_window_go_from_new_notes_to_those_near_them():
    found = read({"links": [a_link(2, 0, 1)], "changes": []}, WINDOW)
    assert found.links == ("2 → 0", "2 → 1")
    assert found.evolutions == ()


def test_an_entry_without_a_target_is_no_link():
    assert read({"links": [a_link(2)], "changes": []}, WINDOW).links == ()


def test_links_of_one_note_go_to_its_neighbours():
    found = read({"links": [{"neighbour": 1, "reason": "the money", "relation": "paid for"}]}, PAIR)
    assert found.links == ("new → 1",)


def test_a_change_counts_once_for_each_older_note_and_an_empty_one_not_at_all():
    empty = {**a_change(1), "context": ""}
    found = read({"links": [], "changes": [a_change(0), empty]}, WINDOW)
    assert found.evolutions == ("note 0",)


def test_numbers_are_judged_by_what_their_key_may_name():
    found = read({"links": [a_link(0, 9)], "changes": [a_change(2, because=[1])]}, WINDOW)
    assert set(found.invented) == {
        "link of 0 source: 0",
        "link of 0 targets: 9",
        "note 2 neighbour: 2",
        "note 2 because: 1",
    }


def test_the_context_of_a_change_is_held_against_the_older_note_and_a_reason_against_the_new_one():
    variables = {
        "neighbours": [{"number": 0, "text": "Я продала лодку в Одессе."}],
        "note": {"text": "She bought a van."},
    }
    reply = {"tags": [], "changes": [{"neighbour": 0, "context": "She sold the boat.", "keywords": [], "tags": []}]}
    assert read(reply, variables).foreign == ("note 0 context",)
    links = {"links": [{"neighbour": 0, "reason": "the money of the sale", "relation": "paid for it"}]}
    assert read(links, variables).foreign == ()


def test_a_plain_text_is_one_field():
    found = read("She sold it.", {"question": "What of the boat?"})
    assert found.fields == {"reply text": "She sold it."}
    assert found.length == len("She sold it.")


@pytest.mark.parametrize(
    ("reply", "variables", "invented"),
    [
        ({"order": [0, 5]}, {"notes": [{"number": 0, "text": "a"}], "question": "q"}, ("new note order: 5",)),
        ({"open": [3]}, {"tags": [{"number": 0, "text": "a"}], "question": "q"}, ("new note open: 3",)),
    ],
)
def test_numbers_of_the_reading_prompts_are_judged_too(reply, variables, invented):
    assert read(reply, variables).invented == invented


def test_a_second_entry_for_the_same_turn_does_not_hide_the_first():
    found = read({"notes": [a_note(0), a_note(0, "Другое.")]}, TURNS)
    assert found.fields["turn 0 context"] == "Ana sold her boat in Odessa."
    assert found.fields["turn 0 (2) context"] == "Другое."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["notes", "links", "changes", "turn", "neighbour", "source", "targets", "tags", "context", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON, st.dictionaries(st.sampled_from(["turns", "notes", "neighbours", "note", "question", "tags"]), JSON))
def test_no_reply_of_whatever_shape_is_a_crash(reply, variables):
    found = read(reply, variables)
    assert found.texts >= len(found.foreign)
