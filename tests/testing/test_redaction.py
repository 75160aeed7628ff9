from __future__ import annotations

import json

import pytest
from recording_support import Live, recorded

from amem.llm.redaction import EMAIL, PHONE, SECRETS, Redactor, secrets_in
from amem.testing import RecordedLLM

KEY = "sk-proj-abcdEFGH1234567890"


@pytest.mark.parametrize(
    ("text", "redacted", "kind"),
    [
        (f"my key is {KEY}.", "my key is [redacted api key].", "api key"),
        ("Authorization: Bearer abc.DEF-123456789012345", "Authorization: [redacted bearer token]", "bearer token"),
        ("AKIAIOSFODNN7EXAMPLE ok", "[redacted aws key id] ok", "aws key id"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted private key]\nb",
            "private key",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "[redacted private key]", "private key"),
    ],
)
def test_secrets_are_redacted_and_found(text, redacted, kind):
    assert Redactor().text(text) == redacted
    assert secrets_in(text) == (kind,)
    assert secrets_in(redacted) == ()


@pytest.mark.parametrize(
    "text",
    [
        "task-oriented-conversations",
        "sk-learn-is-a-long-name",
        "the bearer of this letter",
        "ann@example.org",
        "2023-05-08",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert Redactor().text(text) == text


def test_addresses_and_telephone_numbers_are_redacted_on_request():
    text = "ann.b@mail.example.org, +49 (30) 1234-5678, on 2023-05-08 10:30"
    assert Redactor([EMAIL, PHONE]).text(text) == "[redacted e-mail], [redacted phone], on 2023-05-08 10:30"


async def test_a_secret_reaches_neither_the_model_nor_the_file_nor_the_reply(root, request_of):
    live = Live(text=json.dumps({"keywords": [KEY]}))
    request = request_of(f"Remember {KEY}")
    recorder = RecordedLLM(root, real=live, mode="new")
    reply = await recorder.complete(request)
    assert KEY not in live.asked[0].model_dump_json()
    assert KEY not in recorder.new[0].read_text()
    assert KEY not in reply.text
    assert await RecordedLLM(root).complete(request) == reply


async def test_other_rules_can_be_given(root, request_of):
    rules = [*SECRETS, ("Oslo", "[a city]")]
    await recorded(root, request_of("Alice moved to Oslo."), redact=rules)
    llm = RecordedLLM(root, redact=rules)
    await llm.complete(request_of("Alice moved to Oslo."))
    assert "[a city]" in next(iter(llm.used)).read_text()
