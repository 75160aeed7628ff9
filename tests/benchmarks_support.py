"""A small conversation in LoCoMo's form, configurations over it, and a server that plays the language model."""

from __future__ import annotations

import asyncio
import json
import re

from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import says

_TURN = re.compile(r'<turn number="(\d+)"[^>]*>\n(.*?)\n</turn>', re.DOTALL)
_MEMORY = re.compile(r"\[(\d+)\] \S+ [^:]*: (.*)")


def plays(seen):
    """Answer a request as a model would: build notes from their turns, link nothing, answer with the first memory."""
    asked = seen.body["messages"][-1]["content"]
    anchored = '"words"' in seen.body["messages"][0]["content"]  # prompts v2
    turns = _TURN.findall(asked)
    if turns and '"facts"' in seen.body["messages"][0]["content"]:
        notes = [{"turn": int(number), "speaker": "", "words": text[:40], "text": f"Told: {text[:200]}",
                  "keywords": [], "tags": []} for number, text in turns]  # fmt: skip
        return says(json.dumps({"notes": notes, "facts": [], "episodes": []}))
    if turns:
        notes = [{"turn": int(number), "keywords": text.split()[:2], "tags": ["told"], "context": f"About: {text[:80]}",
                  **({"words": " ".join(text.split()[:3])} if anchored else {})}
                 for number, text in turns]  # fmt: skip
        return says(json.dumps({"notes": notes}))
    if "<options>" in asked:
        return says("(E) I cannot tell.")
    if "<memories>" in asked:
        found = _MEMORY.search(asked)
        return says(json.dumps({"memories": [1], "answer": found[2][:80]} if found else NOT_MENTIONED))
    return says(json.dumps({"links": [], "changes": []}))


NOT_MENTIONED = {"memories": [], "answer": "not mentioned"}


BASELINES = """
[[systems]]
kind = "none"
[[systems]]
kind = "full_context"
[[systems]]
kind = "bm25"
[[systems]]
kind = "dense"
"""
RAW = """
[[systems]]
kind = "amem"
strategy = "raw"
settings = { chroma = false }
"""
EXTRACTIVE = 'kind = "extractive"'


def fused(url, label="amem_fused", **more):
    """An amem that writes with the model at `url`, two turns at a time."""
    further = "".join(f"{name} = {json.dumps(value)}\n" for name, value in more.items())
    return f"""
[[systems]]
kind = "amem"
name = "{label}"
strategy = "fused"
settings = {{ chroma = false, window = 2, similarity_floor = -1.0 }}
model = {{ name = "openai/fake", api_base = "{url}" }}
{further}"""


def model_reader(url, **more):
    """A reader that asks the model at `url`."""
    further = "\n".join(f"{name} = {json.dumps(value)}" for name, value in more.items())
    return f'kind = "llm"\nmodel = {{ name = "openai/fake", api_base = "{url}" }}\n{further}'


def write_config(folder, data, *systems, reader=EXTRACTIVE, top="", wanted="", name="config"):
    """Write a configuration beside its data, with the hashed embedding."""
    path = folder / f"{name}.toml"
    head = f'budget = 60\nembedding = "hash"\n{top}\n[data]\npath = "{data}"\n{wanted}\n'
    path.write_text(f"{head}[reader]\n{reader}\n{''.join(systems)}")
    return path


def finished(path, folder, **given):
    """Run a configuration, score it, and return the run."""
    wanted = benchmarks_module("runs.config").load(path, **given)
    asyncio.run(benchmarks_module("runs.run").run(wanted, folder))
    asyncio.run(benchmarks_module("runs.scoring").score(folder))
    return benchmarks_module("reports.gathering").read(folder)
