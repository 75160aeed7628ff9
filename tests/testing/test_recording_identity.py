from __future__ import annotations

import pytest
from recording_support import recording

from amem.llm.protocol import Message, PromptRef, Request
from amem.llm.recording_file import IN_KEY, NOT_IN_KEY, key_of, slug_of

# Identity


def test_every_field_of_a_request_is_in_the_key_or_excluded_with_a_reason():
    assert set(Request.model_fields) == IN_KEY | NOT_IN_KEY
    assert not IN_KEY & NOT_IN_KEY


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("messages", (Message(role="user", content="x"),)),
        ("model", "openai/other"),
        ("params", {"temperature": 0.0, "max_tokens": 800}),
        ("reply_schema", None),
    ],
)
def test_the_key_changes_with_what_the_model_sees(field, other):
    request = recording().request
    assert key_of(request.model_copy(update={field: other})) != key_of(request)


@pytest.mark.parametrize(
    ("field", "other"), [("prompt", PromptRef(name="n", version="v", hash="h")), ("variables", {"a": 1})]
)
def test_the_key_does_not_change_with_where_the_messages_came_from(field, other):
    request = recording().request
    assert key_of(request.model_copy(update={field: other})) == key_of(request)


def test_the_case_is_the_question_whatever_the_wording():
    made = recording()
    reworded = made.request.model_copy(
        update={"messages": (), "prompt": PromptRef(name="note", version="v2", hash="ffffffff"), "model": None}
    )
    assert made.model_copy(update={"request": reworded}).case == made.case
    assert len(made.case) == 12
    elsewhere = made.request.model_copy(update={"prompt": PromptRef(name="link", version="v1", hash="1029dfc2")})
    assert made.model_copy(update={"request": elsewhere}).case != made.case
    assert recording(content="Bob").case != made.case


# Names


@pytest.mark.parametrize(
    ("variables", "slug"),
    [
        ({"content": "Alice moved to Oslo, and she likes it."}, "alice-moved-to-oslo-and"),
        ({"turns": [{"number": 0, "date": "2023-05-08", "text": "Été à Genève!"}]}, "ete-a-geneve"),
        ({"note": {"speaker": "Bob", "text": "He ran"}}, "he-ran"),
        ({"query": "Oslo"}, "oslo"),
        ({"content": "我搬到了奥斯陆"}, "case"),
        ({"content": "../../etc/passwd now"}, "etc-passwd-now"),
        ({"content": "x" * 500 + " y"}, "x" * 40),
        ({"content": ""}, "case"),
        ({"n": 1}, "case"),
    ],
)
def test_a_file_is_named_after_the_first_words(variables, slug):
    assert slug_of(recording().request.model_copy(update={"variables": variables})) == slug
