"""The package a-mem of PyPI (an A-Mem that its users install), unchanged but for its embedder.

It is fed as A-Mem's authors feed theirs, turn by turn. Ids are given, so that its prompts are the same each time: a run
that goes on after a crash begins the conversation anew, and its calls are answered from what is kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.llm.protocol import PromptRef

from ...statistics.cost import folder_bytes  # noqa: TID252 - in a wheel, this package has another name
from ..lines import RANKED  # noqa: TID252 - likewise
from ..protocol import Found, State  # noqa: TID252 - likewise
from .bridge import Bridge

if TYPE_CHECKING:
    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.tokens import Tokenizer

    from ...datasets.conversation import Conversation, Turn  # noqa: TID252 - likewise
    from ..protocol import Query  # noqa: TID252 - likewise

PACKAGE = "a-mem==0.2.6"
_NEEDS = "the package a-mem needs an environment of its own"
_CHILD = Path(__file__).parent / "a_mem_child.py"
_LIMIT = 1 << 26
"""Bytes of one line between the processes: a batch of vectors is long."""
HOW = (
    "Make one, and name it in the configuration as python: python3 -m venv a-mem; "
    f"a-mem/bin/pip install --no-deps {PACKAGE}; "
    "a-mem/bin/pip install chromadb rank-bm25 nltk litellm scikit-learn openai"
)


class AMem:
    """The package in a process of its own, in a folder of its own.

    Args:
        folder: where it keeps its memories.
        python: the interpreter of its environment.
        llm: its language model.
        embedder: of its texts.
        tokenizer: counts the budget.
        k: memories looked up for a question; 10 in A-Mem's own runs.

    Raises:
        InputError: there is no such interpreter, or the package is not installed for it.
    """

    def __init__(
        self, folder: Path, python: Path, *, llm: LLM, embedder: Embedder, tokenizer: Tokenizer, k: int = 10
    ) -> None:
        _require(python)
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
        self._bridge = Bridge(self._llm, PromptRef(name="a-mem", version=PACKAGE.partition("==")[2], hash="package"))
        self._bridge.__enter__()
        self._process = await asyncio.create_subprocess_exec(
            str(self._python), str(_CHILD), "amem-bench", stdin=PIPE, stdout=PIPE, cwd=self._path, limit=_LIMIT,
            env=_environment(self._bridge.url, self._path), stderr=(self._path / "said.log").open("ab"),
        )  # fmt: skip
        await self._answer()

    async def add(self, turn: Turn) -> int:
        """Have a turn analysed, linked and evolved."""
        self._turns[turn.id] = turn
        content = f"Speaker {turn.speaker}says : {turn.text}"
        done = await self._told(do="add", id=turn.id, content=content, time=f"{turn.at:%Y%m%d%H%M}")
        self._notes = done["notes"]
        return 1

    async def finish(self) -> int:
        """Do nothing: everything is done at once."""
        return 0

    async def search(self, query: Query, budget: int) -> Found:
        """Pack the memories found, each with what the package knows of it, best first, as many as fit."""
        found = (await self._told(do="search", query=query.text, k=self._k))["found"]
        notes = {note["id"]: note for note in reversed(found) if note["id"] in self._turns}
        best = [name for name in dict.fromkeys(note["id"] for note in found) if name in notes]
        chosen: list[str] = []
        for name in best:
            if self._tokenizer.count(self._text([*chosen, name], notes)) <= budget:
                chosen.append(name)
        text = self._text(chosen, notes)
        near = [note["id"] for note in found if not note["linked"] and note["id"] in self._turns]
        return Found(
            text=text,
            tokens=self._tokenizer.count(text),
            shown=tuple(chosen),
            ranking=tuple(dict.fromkeys(near))[:RANKED],
        )

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

    def _text(self, names: list[str], notes: dict[str, dict[str, Any]]) -> str:
        """Return memories as lines of a context; each says what the package's own text of it says."""
        lines = []
        for number, name in enumerate(sorted(names, key=lambda one: self._turns[one].position), start=1):
            turn, note = self._turns[name], notes[name]
            known = "; ".join(
                f"{field}: {_words(note[field])}" for field in ("context", "keywords", "tags") if note[field]
            )
            lines.append(" ".join(f"[{number}] {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text} ({known})".split()))
        return "\n".join(lines)

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
                raise InputError(f"the package a-mem ended; {self._path / 'said.log'} has what it said last")
            said = json.loads(line)
            if "embed" not in said:
                return said
            rows = await self._embedder.embed(said["embed"])
            self._process.stdin.write(f"{json.dumps({'vectors': rows.tolist()})}\n".encode())
            await self._process.stdin.drain()


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _environment(url: str, home: Path) -> dict[str, str]:
    """Return the child's environment: its own folder, the run's model, and no word to anybody else."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "LC_ALL", "SYSTEMROOT"}}
    own = {"HOME": str(home), "TMPDIR": str(home), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    quiet = {"ANONYMIZED_TELEMETRY": "False", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
    return kept | own | quiet


def _require(python: Path) -> None:
    code = (
        "import importlib.metadata as m; print(m.version('a-mem')); import chromadb, rank_bm25, nltk, sklearn, openai"
    )
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - the user's own interpreter
    except OSError as error:
        raise InputError(
            f"the package a-mem needs an environment of its own: {python}: {error.strerror}. {HOW}"
        ) from error
    if found.returncode:
        problem = found.stderr.strip().splitlines()[-1] if found.stderr.strip() else "it does not start"
        raise InputError(f"{_NEEDS}: {python}: {problem}. {HOW}")
