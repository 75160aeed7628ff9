"""Packing: within the budget whatever the text, each line cited, nothing said twice, and what was left out is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.model import Hit, Note
from amem.recall.packing import pack
from amem.settings import Settings
from amem.tokens import open_tokenizer

TOKENIZER = open_tokenizer(Settings())
DAY = datetime(2024, 5, 1, tzinfo=UTC)
HARD = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(min_codepoint=0x3040, max_codepoint=0x9FFF), max_size=80),
    st.text("🙂👩‍👩‍👧🏳️‍🌈\u200d\ufe0f ", max_size=60),
    st.sampled_from(
        ["def f(x):\n\treturn {x: [x] * 3}  # ok", "a" * 500, "[1] 2024-05-01 Ana: not a citation", "\n\n"]
    ),
)


def hits(*contents, speaker="Ana"):
    return [
        Hit(
            note=Note(
                id=f"n{i:03}", content=text or " ", speaker=speaker, occurred_at=DAY + timedelta(days=i), created_at=DAY
            ),
            score=1.0 / (i + 1),
        )
        for i, text in enumerate(contents)
    ]


def packed(found, budget=1000, evolved=None):
    return pack(found, evolved or {}, budget=budget, tokenizer=TOKENIZER)


@given(st.lists(HARD, max_size=12), st.integers(0, 200), HARD)
def test_no_text_makes_a_context_longer_than_its_budget_and_every_hit_is_accounted_for(contents, budget, evolved):
    found = hits(*contents)
    context = packed(found, budget, {"n001": evolved})
    assert context.tokens == TOKENIZER.count(context.text) <= budget
    assert len(context.text.splitlines()) >= len(context.citations)
    cited, left = {c.note_id for c in context.citations}, {item.note_id for item in context.left_out}
    assert cited | left == {hit.note.id for hit in found}
    assert not cited & left


def test_lines_stand_in_order_of_time_and_the_best_notes_are_chosen():
    found = list(reversed(hits("The oldest.", "The middle.", "The newest one is by far too long to fit.")))
    context = packed(found[1:] + found[:1], budget=28)
    assert context.text == "[1] 2024-05-01 Ana: The oldest.\n[2] 2024-05-02 Ana: The middle."
    assert [item.why for item in context.left_out] == ["it does not fit the budget"]


def test_what_is_too_long_takes_no_room_from_what_comes_after_it():
    found = hits("The oldest.", "The one in between is by far too long to fit.", "The newest.")
    context = packed(found, budget=28)
    assert context.text == "[1] 2024-05-01 Ana: The oldest.\n[2] 2024-05-03 Ana: The newest."


@pytest.mark.parametrize("again", ["We baked bread!", "we  baked\nbread", "“We baked bread”"])
def test_what_differs_in_case_and_punctuation_alone_is_said_once(again):
    context = packed(hits("We baked bread.", again))
    assert [c.note_id for c in context.citations] == ["n000"]
    assert [item.why for item in context.left_out] == ["it says the same as a note already packed"]


def test_one_other_word_is_another_statement():
    said = ["We meet at five o'clock in the old harbour.", "We meet at six o'clock in the old harbour."]
    assert len(packed(hits(*said)).citations) == 2


def test_the_same_words_of_two_speakers_are_two_statements():
    found = [*hits("I agree."), *hits("", "I agree.", speaker="Bo")[1:]]
    assert len(packed(found).citations) == 2


def test_signs_without_words_are_compared_as_they_stand():
    assert len(packed(hits("🙂", "🙁", "🙂")).citations) == 2
