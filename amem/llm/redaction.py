"""Redaction: what looks like a secret never reaches a recording.

The same patterns are applied when recording and when replaying, so that both see the same request.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import JsonValue

    from amem.llm.protocol import Reply, Request

    Rule = tuple[str | re.Pattern[str], str]

SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bsk-(?=[\w-]*\d)[\w-]{16,}"), "[redacted api key]"),
    (re.compile(r"\bBearer\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}", re.IGNORECASE), "[redacted bearer token]"),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), "[redacted aws key id]"),
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        "[redacted private key]",
    ),
)
"""What is redacted unless another list is given."""

EMAIL = (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[redacted e-mail]")
"""Opt-in: e-mail addresses."""
PHONE = (re.compile(r"(?<![\w+-])(?!\d{4}-\d\d-\d\d)\+?\d(?:[\s().-]{0,2}\d){7,14}(?!\w)"), "[redacted phone]")
"""Opt-in: telephone numbers, and other numbers that look like one."""


class Redactor:
    """Replaces what matches any of its rules."""

    def __init__(self, rules: Iterable[Rule] = SECRETS) -> None:
        self._rules: Sequence[tuple[re.Pattern[str], str]] = [
            (re.compile(pattern), text.replace("\\", r"\\")) for pattern, text in rules
        ]

    def text(self, text: str) -> str:
        """Redact one text."""
        for pattern, placeholder in self._rules:
            text = pattern.sub(placeholder, text)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """Redact every text in a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def request(self, request: Request) -> Request:
        """Redact variables and messages alike, as if the variables had been redacted before rendering."""
        return request.model_copy(
            update={
                "variables": {key: self.value(item) for key, item in request.variables.items()},
                "messages": tuple(
                    message.model_copy(update={"content": self.text(message.content)}) for message in request.messages
                ),
            }
        )

    def reply(self, reply: Reply) -> Reply:
        """Redact what the model said."""
        return reply.model_copy(update={"text": self.text(reply.text)})


def secrets_in(text: str) -> tuple[str, ...]:
    """Name the kinds of secret that `text` still shows."""
    return tuple(placeholder.strip("[]").removeprefix("redacted ") for p, placeholder in SECRETS if p.search(text))
