"""What is not worth building, and why; when in doubt, a turn is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.ingest.gate import NOTHING_SAID, SMALL_TALK, why_skip
from amem.model import Note

AT = datetime(2024, 5, 1, tzinfo=UTC)
_NUMBERS = count(1)


def turn(content, speaker="Ana", trust="user"):
    return Note(
        id=f"n{next(_NUMBERS)}", content=content, speaker=speaker, trust=trust, occurred_at=AT, created_at=AT,
        pending_reason="queued",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Ok.",
        "Thanks so much!",
        "Haha, yes exactly",
        "Good morning everyone",
        "谢谢",
        "はい",
        "네, 감사합니다",
        "Danke!",
    ],
)
def test_small_talk_is_not_built(text):
    assert why_skip(turn(text), []) == SMALL_TALK


@pytest.mark.parametrize("text", ["...", "🎉🎉", "?!", "  \n "])
def test_nor_is_what_has_no_words(text):
    assert why_skip(turn(text), []) == NOTHING_SAID


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Busan.", "Ok, see you at the clinic", "No nuts, please: I am allergic.", "Thanks, Ben!",
        "Right now?", "Is that all?", "京都に引っ越しました", "42",
    ],
)  # fmt: skip
def test_what_says_something_is_built(text):
    assert why_skip(turn(text), []) is None


def test_an_answer_is_built_however_short():
    question = turn("Are you allergic to nuts?", speaker="Bot", trust="assistant")
    assert why_skip(turn("Yes"), [question]) is None


def test_a_repeat_names_what_it_repeats():
    first = turn("My flight leaves at noon.")
    assert (
        why_skip(turn("my flight leaves at noon"), [first, turn("Good to know.", "Ben")])
        == f"it repeats note {first.id}"
    )


def test_the_same_words_of_somebody_else_are_no_repeat():
    assert why_skip(turn("I love hiking in autumn.", "Ben"), [turn("I love hiking in autumn.", "Ana")]) is None


def test_an_assistant_that_gives_back_what_it_was_told_is_an_echo():
    said = turn("I moved from Seoul to Busan last June because of the sea.")
    echo = turn("So you moved from Seoul to Busan last June because of the sea", "Bot", "assistant")
    assert why_skip(echo, [said]) == f"it gives back what note {said.id} says"


def test_an_assistant_that_adds_something_is_no_echo():
    said = turn("I moved from Seoul to Busan last June because of the sea.")
    answer = turn("Busan's fish market opens at five, and the line 1 metro takes you there.", "Bot", "assistant")
    assert why_skip(answer, [said]) is None


@given(st.text(), st.lists(st.text(), max_size=3), st.sampled_from(["user", "assistant", "tool", "untrusted"]))
def test_any_text_is_judged(text, before, trust):
    why = why_skip(turn(text, trust=trust), [turn(other) for other in before])
    assert why is None or why
