"""How a reply's format is asked for: by JSON schema where the model takes one, else JSON mode, else words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from amem.values import canonical_json

if TYPE_CHECKING:
    from pydantic import JsonValue

    from amem.llm.protocol import Request

Format = Literal["json_schema", "json_object", "text"]

_ABOUT_FORMAT = re.compile(
    r"response.?(format|schema)|json.?(schema|object|mode)|structured.?output|\bschema|grammar|prefix.?items",
    re.IGNORECASE,
)


class Ladder:
    """The format each model is asked in; one that refuses a format is asked a step lower ever after."""

    def __init__(self) -> None:
        self._steps: dict[str, Format] = {}

    def step(self, model: str) -> Format | None:
        """Return the format `model` is known to stand on, or None before its first request."""
        return self._steps.get(model)

    def put(self, model: str, form: Format) -> None:
        """Start a model on a step."""
        self._steps[model] = form

    def down(self, model: str, refused: Format) -> bool:
        """Note that `model` refused a format; False where there is no step below it."""
        steps: tuple[Format, ...] = get_args(Format)
        below = steps.index(refused) + 1
        if below == len(steps):
            return False
        # Of requests in flight together one may be refused late, when the model stands lower already.
        if self._steps.get(model, refused) == refused:
            self._steps[model] = steps[below]
        return True


def concerns_format(message: str) -> bool:
    """Say whether a provider's refusal is about the format asked for, and not about the request itself."""
    return _ABOUT_FORMAT.search(message) is not None


def response_format(request: Request, form: Format) -> dict[str, JsonValue] | None:
    """Return the `response_format` of a request, or None where the format is asked for in words only."""
    if request.reply_schema is None or form == "text":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.prompt.name)[:64]
    # Not strict: strict modes answer 400 to keywords they do not know, and ours need maxLength and maxItems
    # to keep small models from looping. Servers that enforce a schema by grammar do so either way.
    schema: dict[str, JsonValue] = {"name": name, "strict": False, "schema": request.reply_schema}
    return {"type": "json_schema", "json_schema": schema}


def messages(request: Request, form: Format) -> list[dict[str, str]]:
    """Return the messages as sent; below `json_schema` the last one says what the JSON must look like."""
    sent = [{"role": message.role, "content": message.content} for message in request.messages]
    if request.reply_schema is not None and form != "json_schema" and sent:
        schema = canonical_json(request.reply_schema)
        sent[-1]["content"] += f"\n\nReply with one JSON object that matches this schema, and nothing else:\n{schema}"
    return sent
