"""A language model that answers at random, and often wrongly: what it says goes through the whole of amem's parsing."""

from __future__ import annotations

import asyncio

from amem.errors import BadReply, BudgetSpent, EmptyReply, ModelRefused, ModelRejected, ModelUnavailable, TruncatedReply
from amem.testing import FaultyLLM, ScriptedLLM

FAULTS = 0.12
"""Share of calls that fail outright."""
NONSENSE = 0.12
"""Share of replies that are of no use, or not wholly."""
_ERRORS = (
    ModelUnavailable("the model is down"),
    ModelRejected("no such key", status=401),
    ModelRefused("I would rather not"),
    EmptyReply("the reply was empty"),
    TruncatedReply("the reply was cut"),
    BadReply("the reply was no JSON"),
    BudgetSpent("the budget is spent"),
)
_NONSENSE = (
    "",
    "I am sorry, I cannot do that.",
    '{"notes": [{"turn": 0, "keywords"',
    "<think>hm, hm, hm",
    '{"notes": [{"turn": 99, "keywords": ["x"], "tags": [], "context": "c"}]}',
    '{"links": [{"source": 7, "targets": [0, 0, 99], "relation": "r", "reason": "r"}], "changes": []}',
    '{"links": [], "changes": [{"neighbour": 99, "because": [99], "context": "", "keywords": [], "tags": []}]}',
    '{"links": "none", "changes": {"neighbour": 0}}',
)


def model(random, told):
    """Return a model that draws its answers from `random`; `told` is called for every fault and every nonsense."""

    async def answer(request, sensible):
        await asyncio.sleep(random.uniform(0.0, 0.02))  # others do something meanwhile
        if random.random() < NONSENSE:
            told()
            return random.choice(_NONSENSE)
        return sensible(request, random)

    script = {
        "note": lambda request: answer(request, _build),
        "link_evolve": lambda request: answer(request, _weave),
    }
    faults = {call: random.choice(_ERRORS) for call in range(1, 5000) if random.random() < FAULTS}
    return _Telling(ScriptedLLM(script), faults, told)


class _Telling(FaultyLLM):
    def __init__(self, llm, faults, told):
        super().__init__(llm, faults)
        self._told = told

    async def complete(self, request):
        if len(self.calls) + 1 in self._faults:
            self._told()
        return await super().complete(request)


def _build(request, random):
    return {
        "notes": [
            {
                "turn": turn["number"],
                "keywords": turn["text"].split()[:3],
                "tags": [random.choice(("told", "heard", "seen"))],
                "context": f"About: {turn['text']}",
            }
            for turn in request.variables["turns"]
            if random.random() < 0.95  # one is left out now and then
        ]
    }


def _weave(request, random):
    """Link new notes with some that are shown, and have the older ones learn the newer ones' words."""
    older, newer = request.variables["neighbours"], request.variables["notes"]
    links, changes = [], []
    for note in newer:
        others = [other for other in (*older, *newer) if other is not note]
        links += [
            {
                "source": note["number"],
                "targets": [other["number"]],
                "relation": "goes with",
                "reason": f"{note['text']} and {other['text']}",
            }
            for other in random.sample(others, min(len(others), random.randint(0, 2)))
        ]
    for old in random.sample(older, min(len(older), random.randint(0, 2))):
        cause = random.choice(newer)
        changes.append(
            {
                "neighbour": old["number"],
                "because": [cause["number"]],
                "context": f"About: {old['text']}, and {cause['text']}",
                "keywords": [cause["text"].split()[0]],
                "tags": [f"with {cause['text'].split()[0]}"],
            }
        )
    return {"links": links, "changes": changes}
