"""Whatever a model says, the parser answers with what the schema allows, or says that it is of no use."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem.llm import jsontext
from amem.replies import EvolveReply, LinkEvolveReply, NoteReply

PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ",", ":", "\\", "```json\n", "```", "<think>", "</think>", "<reasoning>", "null",
     "NaN", '{"notes": [', '"turn": 0', '{"a": 1}', "\u201c", "\ud83d", "\\ud83d", "\\u0000", "\n", " ", "1e999"]
)  # fmt: skip
NOISE = st.lists(PIECES | st.characters(), max_size=25).map("".join)
PROSE = st.text(alphabet="abc .,\n!", max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BOUNDED = settings(max_examples=150, deadline=None)


@given(NOISE)
@BOUNDED
def test_any_text_is_searched_without_an_accident(text):
    found = jsontext.find(text)
    for piece in found.pieces:
        assert piece.text in text
        for read in (lambda piece=piece: jsontext.strict(piece.text), lambda piece=piece: jsontext.repaired(piece)):
            with suppress(ValueError):
                json.dumps(read(), ensure_ascii=False).encode()
    jsontext.is_blank(text)
    jsontext.repeats(text)


@given(value=st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), before=PROSE, after=PROSE)
@BOUNDED
def test_an_object_is_found_in_prose_fences_and_behind_reasoning(value, before, after):
    text = json.dumps(value, ensure_ascii=False)
    for said in (
        text, f"{before}{text}{after}", f"```json\n{text}\n```", f"<think>{before}</think>\n{text}",
        f"{before}</think>{text}",
    ):  # fmt: skip
        piece = jsontext.find(said).pieces[-1]
        assert jsontext.strict(piece.text) == value


@pytest.mark.parametrize("schema", [NoteReply, EvolveReply, LinkEvolveReply])
@given(value=VALUES)
@BOUNDED
def test_no_value_passes_a_schema_that_it_does_not_keep(schema, value):
    with suppress(ValueError):
        reply = schema.model_validate(value)
        assert schema.model_validate(json.loads(reply.model_dump_json())) == reply


@pytest.mark.parametrize("piece", ["{", "[", '{"a":', "<think>", "</think>", '"', "\\", "```\n", "[ "])
def test_a_megabyte_of_one_mark_takes_bounded_time(piece):
    import time

    def cost(size):
        text = piece * (size // len(piece))
        begin = time.process_time()
        jsontext.find(text)
        jsontext.is_blank(text)
        jsontext.repeats(text)
        return time.process_time() - begin

    cost(1000)
    assert cost(1_000_000) < 400 * max(cost(10_000), 0.001)
