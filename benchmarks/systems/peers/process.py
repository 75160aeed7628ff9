"""Somebody else's package in a process of its own and a folder of its own: what all such systems share.

Turns go in one by one. Ids are given, so that prompts are the same each time: a run that goes on after a crash begins
the conversation anew, and its calls are answered from what is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amem.errors import InputError
from amem.llm.protocol import PromptRef

from ...statistics.cost import folder_bytes  # noqa: TID252 - in a wheel, this package has another name
from ..protocol import Found, State  # noqa: TID252 - likewise
from .bridge import Bridge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.tokens import Tokenizer

    from ...datasets.conversation import Conversation, Turn  # noqa: TID252 - likewise

_LIMIT = 1 << 26
"""Bytes of one line between the processes: a batch of vectors is long."""


class Package(NamedTuple):
    """A package of PyPI, and how to make an environment for it."""

    name: str
    version: str
    install: tuple[str, ...]
    """What pip is given, command by command."""
    imports: str
    """Modules that must be there besides."""
    child: str
    """The file beside this one that runs in that environment."""

    @property
    def how(self) -> str:
        """How to make the environment."""
        steps = "; ".join(f"{self.name}/bin/pip install {what}" for what in self.install)
        return f"Make one, and name it in the configuration as python: python3 -m venv {self.name}; {steps}"


class Peer:
    """A package that takes turns in and finds what it made of them.

    Args:
        package: which.
        folder: where it keeps its memories.
        python: the interpreter of its environment.
        llm: its language model.
        embedder: of its texts.
        tokenizer: counts the budget.
        k: memories looked up for a question.

    Raises:
        InputError: there is no such interpreter, or the package is not installed for it.
    """

    def __init__(
        self, package: Package, folder: Path, python: Path, *, llm: LLM, embedder: Embedder, tokenizer: Tokenizer,
        k: int,
    ) -> None:  # fmt: skip
        _require(package, python)
        self._package = package
        self._folder = folder
        self._python = python
        self._llm = llm
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._k = k
        self._path = folder
        self._process: Process | None = None
        self._bridge: Bridge | None = None
        self._turns: dict[str, Turn] = {}
        self._notes = 0

    async def reset(self, conversation: Conversation) -> None:
        """Begin with an empty folder: what was asked before is answered from what is kept."""
        self._path = self._folder / conversation.id.replace("/", "_")
        await asyncio.to_thread(shutil.rmtree, self._path, ignore_errors=True)
        self._path.mkdir(parents=True)
        self._turns, self._notes = {}, 0
        prompt = PromptRef(name=self._package.name, version=self._package.version, hash="package")
        self._bridge = Bridge(self._llm, prompt, self._embedder)
        self._bridge.__enter__()
        try:
            await self._start(self._bridge.url)
        except InputError:
            await self.close()
            raise

    async def finish(self) -> int:
        """Do nothing: everything is done at once."""
        return 0

    async def state(self) -> State:
        """Say how many memories there are."""
        return State(turns=len(self._turns), notes=self._notes)

    def bytes(self) -> int | None:
        """Return the size of its folder."""
        return folder_bytes(self._path)

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        bridge, self._bridge = self._bridge, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()
        if bridge is not None:
            await asyncio.to_thread(bridge.__exit__)

    async def _start(self, url: str) -> None:
        child = str(Path(__file__).parent / self._package.child)
        with (self._path / "said.log").open("ab") as said:
            self._process = await asyncio.create_subprocess_exec(
                str(self._python), child, "amem-bench", stdin=PIPE, stdout=PIPE, stderr=said, cwd=self._path,
                limit=_LIMIT, env=_environment(url, self._path),
            )  # fmt: skip
        await self._answer()

    async def _taken(self, turn: Turn, **order: Any) -> int:
        """Have a turn taken in, and count the memories there are then."""
        self._turns[turn.id] = turn
        self._notes = (await self._told(do="add", id=turn.id, **order))["notes"]
        return 1

    def _packed(self, best: Sequence[str], text: Callable[[Sequence[str]], str], budget: int) -> tuple[list[str], str]:
        """Return those of the best that fit the budget together, and their text."""
        chosen: list[str] = []
        for name in best:
            if self._tokenizer.count(text([*chosen, name])) <= budget:
                chosen.append(name)
        return chosen, text(chosen)

    def _found(self, text: str, shown: Sequence[str], ranking: Sequence[str]) -> Found:
        return Found(
            text=text, tokens=self._tokenizer.count(text), shown=tuple(dict.fromkeys(shown)),
            ranking=tuple(dict.fromkeys(ranking)),
        )  # fmt: skip

    async def _told(self, **order: Any) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(order)}\n".encode())
        await self._process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> Any:
        """Wait for the child's answer, and embed for it meanwhile."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        while True:
            line = await self._process.stdout.readline()
            if not line:
                raise InputError(
                    f"the package {self._package.name} ended; {self._path / 'said.log'} has what it said last"
                )
            said = json.loads(line)
            if "embed" not in said:
                return said
            rows = await self._embedder.embed(said["embed"])
            self._process.stdin.write(f"{json.dumps({'vectors': rows.tolist()})}\n".encode())
            await self._process.stdin.drain()


def _environment(url: str, home: Path) -> dict[str, str]:
    """Return the child's environment: its own folder, the run's model, and no word to anybody else."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "LC_ALL", "SYSTEMROOT"}}
    own = {"HOME": str(home), "TMPDIR": str(home), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    quiet = {
        "ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    return kept | own | quiet


def _require(package: Package, python: Path) -> None:
    needs = f"the package {package.name} needs an environment of its own"
    code = f"import importlib.metadata as m; print(m.version('{package.name}')); import {package.imports}"
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - the user's own interpreter
    except OSError as error:
        raise InputError(f"{needs}: {python}: {error.strerror}. {package.how}") from error
    if found.returncode:
        problem = found.stderr.strip().splitlines()[-1] if found.stderr.strip() else "it does not start"
        raise InputError(f"{needs}: {python}: {problem}. {package.how}")
    if found.stdout.split()[0] != package.version:
        raise InputError(f"{needs}: {python} has its version {found.stdout.split()[0]}. {package.how}")
