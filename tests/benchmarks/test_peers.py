"""Other people's packages as systems: the door they reach the run's models through, and the processes they run in.

The real packages are no dependency of the tests: some lines stand in for one, with the interface that it has.
`AMEM_PEERS` may name a folder with the environments `a-mem` and `mem0` of docs/benchmarks.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from benchmarks_support import write_config
from locomo_support import write_mini

from amem.embedding import HashEmbedder
from amem.errors import InputError, ModelRejected
from amem.interfaces.cli.shipped import benchmarks_module
from amem.llm.protocol import PromptRef
from amem.testing import ScriptedLLM
from amem.testing.fault_server import FaultServer, fails, says

bridges = benchmarks_module("systems.peers.bridge")
config = benchmarks_module("runs.config")
mem0ai = benchmarks_module("systems.peers.mem0ai")
runs = benchmarks_module("runs.run")

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PEERS = os.environ.get("AMEM_PEERS")
STAND_IN = """
import json, os, sys, urllib.request
from mem0.configs import prompts
from mem0.exceptions import LLMError


def post(path, body):
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode())
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


class Memory:
    @classmethod
    def from_config(cls, config):
        assert os.environ["MEM0_TELEMETRY"] == "False"
        assert not {"AMEM_LLM", "HTTPS_PROXY"} & os.environ.keys()
        print("what a package prints is no answer")
        found = cls()
        found.facts = []
        return found

    def add(self, messages, user_id, metadata):
        asked = f"{prompts._resolve_dates()[1]} {messages[0]['content']}"
        try:
            said = post("/chat/completions", {"messages": [{"role": "user", "content": asked}],
                                              "response_format": {"type": "json_object"}})
        except OSError as error:
            raise LLMError(str(error)) from error
        facts = json.loads(said["choices"][0]["message"]["content"])["memory"]
        made = [
            {"id": f"{len(self.facts)}-{n}", "memory": one["text"], "metadata": metadata}
            for n, one in enumerate(facts)
        ]
        self.facts += made
        return {"results": made}

    def search(self, query, top_k, filters):
        texts = [query, *(fact["memory"] for fact in self.facts)]
        rows = [row["embedding"] for row in post("/embeddings", {"input": texts})["data"]]
        worth = [sum(a * b for a, b in zip(rows[0], row)) for row in rows[1:]]
        best = sorted(range(len(worth)), key=lambda n: -worth[n])[:top_k]
        return {"results": [self.facts[n] for n in best]}
"""


@pytest.fixture
def python(tmp_path):
    """An interpreter with a stand-in for the package, whose version can be chosen."""

    def made(version=mem0ai.PACKAGE.version):
        home = tmp_path / "stand_in"
        (home / "mem0" / "configs").mkdir(parents=True)
        (home / f"mem0ai-{version}.dist-info").mkdir()
        (home / f"mem0ai-{version}.dist-info" / "METADATA").write_text(f"Name: mem0ai\nVersion: {version}\n")
        (home / "mem0" / "__init__.py").write_text(STAND_IN)
        (home / "mem0" / "exceptions.py").write_text("class LLMError(Exception): ...\n")
        (home / "mem0" / "configs" / "__init__.py").write_text("")
        (home / "mem0" / "configs" / "prompts.py").write_text("_resolve_dates = lambda: ('now', 'now')\n")
        (home / "qdrant_client.py").write_text("")
        path = tmp_path / "python"
        path.write_text(f'#!/bin/sh\nPYTHONPATH="{home}" exec "{sys.executable}" "$@"\n')
        path.chmod(0o755)
        return path

    return made


def entry(python, url, kind="mem0"):
    return (
        f'\n[[systems]]\nkind = "{kind}"\npython = "{python}"\nmodel = {{ name = "openai/fake", api_base = "{url}" }}\n'
    )


def extracts(seen):
    """Take one fact out of a turn, with what stands before it in the stand-in's prompt: the day."""
    asked = seen.body["messages"][-1]["content"].rpartition("## New Messages")[2]
    said = re.search(r"(\d{4}-\d\d-\d\d )?(Ana|Ben): [^\n\"]*", asked)
    return says(json.dumps({"memory": [{"text": f"As told on {said[0]}" if said else "nothing"}]}))


def lines(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_facts_are_found_dated_and_traced_to_their_turns_within_the_budget(python, tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://nowhere.invalid")
    with FaultServer(default=extracts) as server:
        path = write_config(tmp_path, write_mini(tmp_path).name, entry(python(), server.url))
        asyncio.run(runs.run(config.load(path), tmp_path / "run"))
        asked = len(server.requests)
        asyncio.run(runs.run(config.load(path), tmp_path / "run"))
        assert asked == len(server.requests) == 7  # a call for each turn; both conversations have the same ones
        assert server.bodies[0]["response_format"]
    first = lines(tmp_path / "run", "retrieval.jsonl")[0]
    assert "conv-26/D1:1" in first["shown"]
    assert "[1] 2023-05-08 Ana: As told on 2023-05-08 Ana: I bought a sailing boat." in first["text"].splitlines()
    assert 0 < first["tokens"] <= 60
    held = lines(tmp_path / "run", "ingest.jsonl")
    assert [(one["turns"], one["notes"]) for one in held] == [(7, 7), (7, 7)]


def test_a_model_that_cannot_be_had_stops_the_run(python, tmp_path):
    with FaultServer(default=fails(401, "no such key")) as server:
        path = write_config(tmp_path, write_mini(tmp_path).name, entry(python(), server.url))
        with pytest.raises(ModelRejected):
            asyncio.run(runs.run(config.load(path), tmp_path / "run"))
        assert len(server.requests) == 1


def test_another_version_than_the_report_would_name_is_refused(python, tmp_path):
    path = write_config(tmp_path, write_mini(tmp_path).name, entry(python("1.0.0"), "http://127.0.0.1:1/v1"))
    with pytest.raises(InputError, match=r"has its version 1\.0\.0\. Make one.*mem0ai==2\.2\.1"):
        asyncio.run(runs.run(config.load(path), tmp_path / "run"))


async def test_the_door_answers_chats_and_embeddings_and_refuses_what_is_neither():
    embedder = HashEmbedder()
    with bridges.Bridge(ScriptedLLM([{"a": 1}]), PromptRef(name="x", version="1", hash="0"), embedder) as door:

        def post(path, body):
            request = urllib.request.Request(door.url + path, json.dumps(body).encode())
            try:
                with DIRECT.open(request) as reply:
                    return reply.status, json.load(reply)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)

        status, said = await asyncio.to_thread(
            post, "/chat/completions", {"messages": [{"role": "user", "content": "what?"}]}
        )
        assert (status, said["choices"][0]["message"]["content"]) == (200, '{"a": 1}')
        status, rows = await asyncio.to_thread(post, "/embeddings", {"input": ["red boat", "school"]})
        assert status == 200
        wanted = await embedder.embed(["red boat", "school"])
        assert [row["embedding"] for row in rows["data"]] == wanted.tolist()
        assert (await asyncio.to_thread(post, "/chat/completions", {"prompt": "what?"}))[0] == 400


@pytest.mark.skipif(PEERS is None, reason="AMEM_PEERS names no folder with the environments of the packages")
@pytest.mark.parametrize("kind", ["a-mem", "mem0"])
def test_the_real_package_goes_through_a_conversation_without_a_network(kind, tmp_path):
    with FaultServer(default=extracts) as server:
        python = Path(PEERS) / kind / "bin" / "python"
        path = write_config(tmp_path, write_mini(tmp_path).name, entry(python, server.url, kind))
        path.write_text(path.read_text().replace('embedding = "hash"\n', ""))  # 384 dimensions, as both expect
        asyncio.run(runs.run(config.load(path), tmp_path / "run"))
    held = lines(tmp_path / "run", "ingest.jsonl")
    assert [(one["turns"], one["notes"]) for one in held] == [(7, 7), (7, 7)]
    first = lines(tmp_path / "run", "retrieval.jsonl")[0]
    assert "conv-26/D1:1" in first["shown"]
    assert "I bought a sailing boat." in first["text"]
