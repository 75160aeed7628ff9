"""Reading a typed answer out of what a model said. Pure: no model, no network."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Annotated, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from amem.errors import BadReply, EmptyReply
from amem.llm.jsontext import repeats, strip_reasoning
from amem.llm.structured import parse_reply


class Fields(BaseModel):
    model_config = ConfigDict(extra="ignore")

    keywords: list[str]
    tags: list[str]
    context: str


class Link(BaseModel):
    neighbour: int
    reason: Annotated[str, Field(max_length=40)]


class Links(BaseModel):
    links: list[Link]


class Kept(BaseModel):
    keep: list[int]


class Verdict(BaseModel):
    decision: Literal["strengthen", "none"]


GOOD = '{"keywords": ["race"], "tags": ["charity"], "context": "Melanie ran."}'
FIELDS = Fields(keywords=["race"], tags=["charity"], context="Melanie ran.")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n\n  {GOOD}  \n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"~~~JSON\n{GOOD}\n~~~",
        f"Here is the note you asked for:\n\n{GOOD}\n\nLet me know if it helps.",
        f"Sure! ```json\n{GOOD}``` Anything else {{or not}}?",
        f"Of the notes [0] and [1], only the new one counts: {GOOD}",
        f"In set notation {{a, b}}, [0, 5) and so on. {GOOD}",
        '{"keywords": ["race",], "tags": ["charity"], "context": "Melanie ran.",}',
        "{“keywords”: [“race”], “tags”: [“charity”], “context”: “Melanie ran.”}",
        "{'keywords': ['race'], 'tags': ['charity'], 'context': 'Melanie ran.'}",
        '{keywords: ["race"], tags: ["charity"], context: "Melanie ran."}',
        '{"keywords": ["race"], // her sport\n "tags": ["charity"], "context": "Melanie ran."}',
        f'<think>{{"keywords": [], "tags": [], "context": "draft"}} hmm</think>{GOOD}',
        f"<THINKING kind='deep'>a race?</THINKING>\n{GOOD}",
        f"<thought>one</thought><reasoning>two</reasoning>{GOOD}",
        f"Well, {{maybe}} a race… </think>\n\n{GOOD}",
        f'{{"keywords": [], "tags": [], "context": "draft"}}? No. </think>{GOOD}',
        f'<think>first {{"keywords": [], "tags": [], "context": "draft"}}, no: {GOOD}',
        f"{GOOD}\n{GOOD}",
    ],
)
def test_the_answer_is_found_whatever_stands_around_it(text):
    assert parse_reply(text, Fields) == FIELDS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "<think>What could it be…",
        "<think>done</think>",
        "<thought>{not json</thought>\n```json\n```",
    ],
)
def test_nothing_but_reasoning_is_an_empty_reply(text):
    with pytest.raises(EmptyReply):
        parse_reply(text, Fields)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I cannot tell from this.", "no JSON object"),
        ('{"keywords": ["race"], "tags": ["cha', "ends before it is complete"),
        (
            '{"links": [{"neighbour": 0, "reason": "same race"}, {"neighbour": 1, ',
            "ends before it is complete",
        ),
        ('```json\n{"links": [{"neighbour": 0, "reason": "same race"}]\n```', "ends before it is complete"),
        (
            '{"keywords": "race", "tags": ["charity"], "context": "x"}',
            "keywords: Input should be a valid list",
        ),
        (
            '{"keywords": ["race"], "tags": [["charity"]], "context": "x"}',
            "tags.0: Input should be a valid string",
        ),
        (
            '{"keywords": ["race"], "tags": ["charity"], "context": null}',
            "context: Input should be a valid string",
        ),
        ('{"keywords": ["race"], "tags": ["charity"]}', "context: Field required"),
        (f"{GOOD} or rather {GOOD.replace('race', 'walk')}", "several different answers"),
        ("null", "valid dictionary"),
        ("42", "valid dictionary"),
    ],
)
def test_what_is_wrong_is_said_so_that_a_model_can_act_on_it(text, problem):
    with pytest.raises(BadReply, match=problem) as caught:
        parse_reply(text, Fields)
    assert not isinstance(caught.value, EmptyReply)
    assert caught.value.text == text


def test_a_cut_answer_is_never_completed_by_guessing():
    class OneList(BaseModel):
        keywords: list[str]

    for text in (
        '{"keywords": ["race", "chari',
        '{"keywords": ["race"',
        '{"keywords": ["race"]',
        '["race", "x"',
    ):
        with pytest.raises(BadReply):
            parse_reply(text, OneList)


def test_unescaped_quotes_inside_a_string_are_kept():
    text = '{{"keywords": [], "tags": ["a"], "context": "{}"}}'
    assert parse_reply(text.format('She said "I moved", twice'), Fields).context == 'She said "I moved", twice'
    assert parse_reply(text.format('a 5" screen'), Fields).context.startswith('a 5" screen')


def test_a_comma_inside_an_item_does_not_split_it():
    text = '{"keywords": ["San Francisco, CA", "race",], "tags": [], "context": ""}'
    assert parse_reply(text, Fields).keywords == ["San Francisco, CA", "race"]


@pytest.mark.parametrize("damage", ["", ","])
@pytest.mark.parametrize(
    "kept", ["👨‍👩‍👧", "نمی‌خواهم", "क्‍ष", "東京へ", "“quoted” — it’s", "tags like <think> in text", "a\u00a0b"]
)
def test_text_keeps_its_characters_also_through_repair(kept, damage):
    text = f'Here: {{"keywords": ["{kept}"], "tags": [], "context": "{kept}"{damage}}}'
    assert parse_reply(text, Fields).context == kept


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined():
    text = r'{"keywords": ["\ud83d", "\ud83d\ude00"], "tags": [], "context": ""}'
    assert parse_reply(text, Fields).keywords == ["\ufffd", "😀"]
    assert parse_reply(text.replace('""', '"\ud83d",'), Fields).context == "\ufffd"


def test_a_raw_line_break_in_a_string_is_let_through():
    assert parse_reply('{"keywords": [], "tags": [], "context": "a\nb"}', Fields).context == "a\nb"


@pytest.mark.parametrize(
    "text", ['[{"neighbour": 1, "reason": "same race"}]', 'Links: [{"neighbour": 1, "reason": "same race"},]']
)
def test_a_list_is_taken_for_the_object_with_that_one_list(text):
    assert parse_reply(text, Links).links == [Link(neighbour=1, reason="same race")]
    assert parse_reply("```json\n[1, 2]\n```", Kept).keep == [1, 2]


def test_a_number_in_brackets_in_prose_is_no_list():
    with pytest.raises(BadReply):
        parse_reply("Only [0] fits.", Kept)
    with pytest.raises(BadReply):
        parse_reply('["race"]', Fields)  # two lists: which one is meant?


def test_where_there_is_an_object_no_list_stands_for_it():
    assert parse_reply('Of [{"neighbour": 0, "reason": "x"}] none fits: {"links": []}', Links).links == []


@pytest.mark.parametrize("text", ["[...]", "[,]", "[see above]", "{...}", "{,}"])
def test_debris_is_not_an_empty_answer(text):
    with pytest.raises(BadReply):
        parse_reply(text, Links)


def test_an_unknown_choice_is_refused_and_a_known_one_taken():
    assert parse_reply('{"decision": "strengthen"}', Verdict).decision == "strengthen"
    with pytest.raises(BadReply, match="'strengthen' or 'none'"):
        parse_reply('{"decision": "perhaps"}', Verdict)


def test_no_more_than_five_problems_are_listed():
    many = json.dumps({"links": [{"neighbour": "x"}] * 9})
    with pytest.raises(BadReply, match="and 13 more"):
        parse_reply(many, Links)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>6 times 7</think>42", "42"),
        ("42", "42"),
        ("so, 6 times 7</think>\n42", "42"),
        ("<reasoning>a <think>b</think> c</reasoning>42", "42"),
        ("<think>6 times 7 is", ""),
        ("the answer is 42 <thought>or is it", "the answer is 42"),
    ],
)
def test_reasoning_is_taken_from_plain_text(text, answer):
    assert strip_reasoning(text) == answer


def test_repetition_is_seen_and_variety_is_not():
    assert repeats("Melanie runs. " * 40)
    assert repeats('{"keywords": [' + '"race", ' * 60)
    assert repeats("\n".join(f"{n}. She ran a race for charity." for n in range(60)) + "\n60. She ran a r")
    assert not repeats("Melanie runs. " * 3)
    assert not repeats(" ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "[x " * 9_000,
        '{"a":' * 20_000,
        "<think>" * 5_000,
        '{"a": "' + '"x ' * 5_000,
        "{x}" * 5_000,
        "[{" * 9_000,
    ],
)
def test_hostile_replies_take_no_more_than_a_moment(text):
    began = time.process_time()
    with pytest.raises(BadReply):
        parse_reply(text, Fields)
    assert time.process_time() - began < 5


fragments = st.one_of(
    st.sampled_from(["{", "}", "[", "]", '"', "'", ",", ":", "“", "\\", "\ud800", "\\ud83d", "//", "#", "</", ">"]),
    st.sampled_from(["<think>", "</think>", "```json\n", "```", "null", "NaN", "1e999", '"tags": ["a"]', GOOD]),
)


@given(st.one_of(st.text(), st.lists(st.one_of(fragments, st.text(max_size=5)), max_size=30).map("".join)))
def test_any_text_is_an_answer_or_a_bad_reply(text):
    for output in (Fields, Links, Kept):
        with suppress(BadReply):
            assert isinstance(parse_reply(text, output), output)


noise = st.text(st.characters(exclude_characters="{}[]<>\"'“”", exclude_categories=["Cs"]), max_size=40)
texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.builds(Fields, keywords=st.lists(texts), tags=st.lists(texts), context=texts),
    noise,
    noise,
    st.sampled_from(["{}", "```json\n{}\n```", "<think>so {{so}}</think>{}", "<think>never closed {}", "a </think>{}"]),
    st.booleans(),
)
def test_what_was_sent_well_formed_comes_back_unchanged(value, before, after, frame, ascii_only):
    body = json.dumps(value.model_dump(), ensure_ascii=ascii_only)
    assume("</think" not in body or frame == "{}")  # an end tag within unclosed reasoning is ambiguous
    text = before + frame.replace("{{", "{").replace("}}", "}").replace("{}", body) + after
    assert parse_reply(text, Fields) == value
