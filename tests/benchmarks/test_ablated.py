"""An ablated system does without a part of what the model proposes, and pays for the same calls."""

from __future__ import annotations

import pytest
from support import builds

from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing import ScriptedLLM

WOVEN = {
    "links": [{"source": 1, "targets": [0], "relation": "goes on", "reason": "the same oven"}],
    "changes": [{"because": [1], "neighbour": 0, "context": "A bread oven again.", "keywords": [], "tags": ["old"]}],
}


@pytest.mark.parametrize("without", [[], ["evolution"], ["links"], ["links", "evolution"]])
async def test_t46_what_is_ablated_is_not_done_and_the_rest_is(open_memory, without):
    llm = ScriptedLLM({"note": builds, "link_evolve": WOVEN})
    async with open_memory(benchmarks_module("systems.ablated").Ablated(llm, without)) as memory:
        first = (await memory.add("bread oven")).note
        result = await memory.add("bread oven again")
        assert bool(result.links) == ("links" not in without)
        assert (await memory.get(first.id) == first) == ("evolution" in without)
    assert [call.prompt.name for call in llm.calls] == ["note", "note", "link_evolve"]
