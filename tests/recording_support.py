from __future__ import annotations

import datetime as dt
import json

from pydantic import BaseModel

from amem.llm.protocol import Message, PromptRef, Reply, Request, TokenUsage
from amem.testing import RecordedLLM, Recording

DAY = dt.date(2026, 11, 29)


class Fields(BaseModel):
    keywords: list[str]


class Live:
    """Stands for a real model: answers at once, remembers its calls, and knows nothing of scripts."""

    def __init__(self, model="openai/local", text=None):
        self.model = model
        self.text = text
        self.asked: list[Request] = []

    async def complete(self, request):
        self.asked.append(request)
        text = self.text or json.dumps({"keywords": [f"reply {len(self.asked)}"]})
        usage = TokenUsage(prompt_tokens=61, completion_tokens=18)
        return Reply(text=text, usage=usage, seconds=1.23456, cost=0.5, finish_reason="stop", model="qwen")


async def recorded(root, *requests, real=None, **options):
    """Record replies to some requests, and return the recorder."""
    llm = RecordedLLM(root, real=real or Live(), mode="new", today=lambda: DAY, **options)
    for request in requests:
        await llm.complete(request)
    return llm


def recording(text="{}", *, content="Alice moved to Oslo.\nShe likes the winter.", **reply):
    request = Request(
        prompt=PromptRef(name="note", version="v1", hash="1029dfc2"),
        variables={"content": content},
        messages=(
            Message(role="system", content="Reply with JSON."),
            Message(role="user", content=f"<memory>\n{content}\n</memory>"),
        ),
        reply_schema={"type": "object"},
        model="openai/local",
        params={"temperature": 0.0, "max_tokens": 400},
    )
    return Recording(request=request, reply=Reply(text=text, **reply), on=DAY, by="openai/local")
