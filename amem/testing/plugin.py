"""The pytest plugin: recorded replies and vectors for tests of whatever uses amem, in any project.

    def test_it_remembers(amem_memory):
        amem_memory.add("Ana sold the boat")
        assert amem_memory.search("boat")

Replies come from `recordings/` beside the test file, by strict replay; `pytest --amem-record=new --amem-model=…`
records what is missing. The fixtures are the configuration: override one to change it. Whoever has amem installed loads
this module with every pytest, so it imports nothing but pytest, and the rest at the first use of a fixture.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from amem.testing.run import FAILED, MODES, RUN, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.llm.recording import RecordedLLM
    from amem.llm.redaction import Rule
    from amem.memory import AsyncMemory
    from amem.sync import Memory
    from amem.testing.embedders import RecordedEmbedder

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
_SHOWN = 10
_OUT = "amem"
"""Under this key, an xdist worker tells the main process what it found."""


# -- options --------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and settings."""
    group = parser.getgroup("amem", "amem: recorded language models")
    group.addoption(
        "--amem-record", choices=MODES, default=os.environ.get("AMEM_RECORD") or "none",
        help="none: replay only (the default, and the only one where CI is set); new: record what is missing; "
        "all: record anew what is touched; live: ask, and record nothing.",
    )  # fmt: skip
    group.addoption("--amem-model", metavar="NAME", help="The litellm model to record with, or to replay.")
    group.addoption("--amem-api-base", metavar="URL", help="Address of an OpenAI-compatible server to record with.")
    group.addoption("--amem-recordings", metavar="DIR", help="One folder of recordings for all tests.")
    group.addoption("--amem-fail-unused", action="store_true", help="Fail where recordings are unused or stale.")
    parser.addini("amem_recordings", "Folder of recordings beside each test file.", default="recordings")
    parser.addini("amem_model", "The litellm model to record with, or to replay.", default="")
    parser.addini("amem_network", "While replaying: `blocked`, but for this machine, or `open`.", default="blocked")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options."""
    config.stash[RUN] = Run(config)


# -- fixtures that configure ----------------------------------------------------------------------


@pytest.fixture
def amem_recordings_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of recordings; default: `recordings` beside the test file."""
    chosen: str | None = request.config.getoption("--amem-recordings")
    if chosen:
        return request.config.invocation_params.dir / chosen
    return request.path.parent / str(request.config.getini("amem_recordings"))


@pytest.fixture
def amem_model(request: pytest.FixtureRequest) -> str | None:
    """The model to record with; while replaying, which one to replay where recordings know several."""
    return request.config.getoption("--amem-model") or request.config.getini("amem_model") or None


@pytest.fixture
def amem_redact() -> Iterable[Rule]:
    """Pairs of pattern and placeholder: what must not stand in a recording; default: keys and tokens."""
    from amem.llm.redaction import SECRETS

    return SECRETS


@pytest.fixture
def amem_now() -> Callable[[], datetime]:
    """The clock of the fixtures' memories; dates stand in prompts, so it stands still."""
    return lambda: NOON


@pytest.fixture
def amem_settings() -> dict[str, Any]:
    """Settings of the fixtures' memories, such as `strategy` or `window`."""
    return {}


@pytest.fixture
def amem_real_llm(request: pytest.FixtureRequest, amem_model: str | None) -> Callable[[], LLM]:
    """Make the model that is asked while recording; default: litellm's `--amem-model`, with the AMEM_* settings."""

    def made() -> LLM:
        if amem_model is None:
            raise pytest.UsageError("recording needs a model: --amem-model=NAME, or amem_model in the settings")
        from amem.opening import live_model
        from amem.settings import Settings

        base = request.config.getoption("--amem-api-base")
        model = live_model(Settings.load(llm=amem_model, **({"api_base": base} if base else {})))
        assert model is not None
        return model

    return made


@pytest.fixture
def amem_real_embedder() -> Callable[[], Embedder]:
    """Make the embedder that is asked while recording; default: the embedded one."""

    def made() -> Embedder:
        from amem.embedding import open_embedder
        from amem.settings import Settings

        return open_embedder(Settings())

    return made


# -- fixtures to test with ------------------------------------------------------------------------


@pytest.fixture
def amem_llm(
    request: pytest.FixtureRequest,
    amem_recordings_dir: Path,
    amem_model: str | None,
    amem_redact: Iterable[Rule],
    amem_real_llm: Callable[[], LLM],
    _amem_network: None,
) -> Iterator[RecordedLLM]:
    """A language model that says what was recorded; a request that was not is an error that shows the difference."""
    llm = request.config.stash[RUN].books.llm(amem_recordings_dir, amem_model, amem_redact, amem_real_llm)
    before = len(llm.misses)
    yield llm
    missed = llm.misses[before:]
    if missed and not request.node.stash.get(FAILED, False):
        pytest.fail(f"the code under test went on without a reply that is not recorded.\n\n{missed[0]}", pytrace=False)


@pytest.fixture
def amem_embedder(
    request: pytest.FixtureRequest,
    amem_recordings_dir: Path,
    amem_real_embedder: Callable[[], Embedder],
    _amem_network: None,
) -> Iterator[RecordedEmbedder]:
    """An embedder that says what was recorded, so that the same notes are neighbours on every machine."""
    run = request.config.stash[RUN]
    embedder = run.books.embedder(amem_recordings_dir, amem_real_embedder)
    yield embedder
    if run.mode in {"new", "all"}:
        embedder.save()


@pytest.fixture
def amem_open(
    tmp_path: Path,
    amem_llm: RecordedLLM,
    amem_embedder: Embedder,
    amem_now: Callable[[], datetime],
    amem_settings: dict[str, Any],
) -> dict[str, Any]:
    """The arguments that open the fixtures' memories: `Memory.open(**amem_open)`."""
    numbers = count(1)
    return {
        "path": tmp_path / "amem",
        "llm": amem_llm,
        "embedder": amem_embedder,
        "now": amem_now,
        "new_id": lambda: f"00000000-0000-7000-8000-{next(numbers):012d}",
        "chroma": False,
        **amem_settings,
    }


@pytest.fixture
def amem_memory(amem_open: dict[str, Any]) -> Iterator[Memory]:
    """An empty memory in the test's own directory, over recorded replies and vectors."""
    from amem import Memory

    with Memory.open(**amem_open) as memory:
        yield memory


@pytest.fixture
def amem_async_memory(amem_open: dict[str, Any]) -> Iterator[AsyncMemory]:
    """The same for async code; what `add(wait=False)` left to do must be awaited by the test."""
    import asyncio

    from amem import AsyncMemory

    memory = AsyncMemory.open(**amem_open)
    yield memory
    asyncio.run(memory.close())


@pytest.fixture
def _amem_network(request: pytest.FixtureRequest) -> Iterator[None]:
    run = request.config.stash[RUN]
    if run.mode != "none" or request.config.getini("amem_network") == "open":
        yield
        return
    with run.guard.up() as refused:
        yield
    if refused and not request.node.stash.get(FAILED, False):
        hosts = ", ".join(dict.fromkeys(refused))
        pytest.fail(f"the code under test tried to reach {hosts} while replies were replayed", pytrace=False)


# -- what is said in the end ----------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Remember which tests failed, and tell those that missed a recording how pytest makes one."""
    report = yield
    if call.excinfo is not None and report.failed:
        item.stash[FAILED] = True
        if type(call.excinfo.value).__name__ == "RecordingMiss":
            how = f"pytest --amem-record=new --amem-model=NAME '{item.nodeid}'"
            report.sections.append(("amem", f"to record what is missing: {how}"))
    return report


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note that not every test runs."""
    if items:
        items[0].config.stash[RUN].partial = True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what an xdist worker found."""
    told = getattr(node, "workeroutput", {}).get(_OUT)
    if told is not None:
        node.config.stash[RUN].told.append(told)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand on what was found, or fail for what is unused, where that was asked for."""
    config = session.config
    summary = config.stash[RUN].summary()
    if summary is None:
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput[_OUT] = summary.as_texts()
    elif config.getoption("--amem-fail-unused") and session.exitstatus == pytest.ExitCode.OK and summary.unused():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many recordings were replayed, are new, stale or unused."""
    run = config.stash[RUN]
    summary = run.summary()
    if summary is None:
        return
    stale = summary.stale()
    unused = [path for path in summary.unused() if path not in stale]
    terminalreporter.write_line(
        f"amem recordings: {len(summary.used)} replayed · {len(summary.new)} new · {len(stale)} stale · "
        f"{len(unused)} unused" + (" (not every test ran)" if run.partial else ""),
        yellow=bool(stale or unused),
    )
    for word, paths in (("stale", stale), ("unused", unused)):
        for path in paths[:_SHOWN]:
            terminalreporter.write_line(f"  {word}: {os.path.relpath(path, config.invocation_params.dir)}")
        if len(paths) > _SHOWN:
            terminalreporter.write_line(f"  … and {len(paths) - _SHOWN} more {word}")
    if config.getoption("--amem-fail-unused") and (stale or unused):
        terminalreporter.write_line("  failed, as --amem-fail-unused asks: delete them, or test what they hold")
