"""The formats a reply is asked for in, and the one way between them: down."""

from __future__ import annotations

import pytest

from amem.llm import formats
from amem.llm.formats import Ladder


def test_a_refused_format_is_followed_by_the_next_simpler_one():
    ladder = Ladder()
    assert ladder.step("m") is None
    ladder.put("m", "json_schema")
    assert ladder.down("m", "json_schema")
    assert ladder.step("m") == "json_object"
    assert ladder.down("m", "json_object")
    assert ladder.step("m") == "text"
    assert not ladder.down("m", "text")


def test_a_late_refusal_moves_a_model_neither_up_nor_further_down():
    ladder = Ladder()
    ladder.put("m", "json_schema")
    for _ in range(3):
        assert ladder.down("m", "json_schema")
    assert ladder.step("m") == "json_object"
    ladder.down("m", "json_object")
    assert ladder.down("m", "json_schema")
    assert ladder.step("m") == "text"


def test_each_model_has_its_own_step():
    ladder = Ladder()
    ladder.put("a", "json_schema")
    ladder.put("b", "json_schema")
    ladder.down("a", "json_schema")
    assert ladder.step("b") == "json_schema"


@pytest.mark.parametrize(
    "message",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "failed to parse grammar",
        "Invalid schema for function: maxItems is not permitted",
        "This model does not support structured outputs",
        "* GenerateContentRequest.generation_config.response_schema.properties[notes].items: missing field.",
        'Unknown name "prefixItems": Cannot find field.',
    ],
)
def test_a_refusal_of_the_format_is_told_from_others(message):
    assert formats.concerns_format(message)
    assert not formats.concerns_format("maximum context length is 8192 tokens")


def test_below_a_schema_the_last_message_says_what_is_wanted_and_the_roles_stay_as_they_are(make_request):
    request = make_request(schema={"type": "object", "title": "Antwort für dich"})
    for form in ("json_object", "text"):
        first, last = formats.messages(request, form)
        assert first["content"] == "You index."
        assert last["content"].endswith('{"title":"Antwort für dich","type":"object"}')
    assert formats.messages(request, "json_schema")[-1]["content"] == request.messages[-1].content


def test_a_request_for_plain_text_is_left_alone(make_request):
    for form in ("json_schema", "json_object", "text"):
        assert formats.response_format(make_request(), form) is None
        assert formats.messages(make_request(), form)[-1]["content"] == make_request().messages[-1].content
