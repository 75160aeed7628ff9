from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

import amem

ROOT = Path(__file__).parent.parent


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)


def test_the_public_names_are_sorted_and_all_there():
    assert sorted(amem.__all__, key=lambda name: (not name.isupper(), name)) == amem.__all__
    for name in amem.__all__:
        assert getattr(amem, name) is not None


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Nothing"):
        _ = amem.Nothing


def test_p7_importing_amem_loads_nothing_heavy_and_prints_nothing():
    heavy = ["litellm", "chromadb", "sqlalchemy", "numpy", "onnxruntime", "pydantic"]
    done = run(f"import amem, sys; print([name for name in {heavy} if name in sys.modules])")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_p7_importing_amem_takes_less_than_300_ms_of_cpu():
    code = "import time; t = time.process_time(); import amem; print(time.process_time() - t)"
    assert min(float(run(code).stdout) for _ in range(3)) < 0.3


def test_p7_opening_and_searching_a_memory_loads_neither_litellm_nor_chromadb(tmp_path):
    code = (
        "import sys; from amem import Memory; from amem.embedding import HashEmbedder\n"
        f"with Memory.open({str(tmp_path / 'm')!r}, llm='openai/gpt-4o-mini', strategy='raw',"
        " embedder=HashEmbedder()) as memory:\n"
        "    memory.add('bread'); assert memory.search('bread')\n"
        "print([name for name in ('litellm', 'chromadb', 'openai') if name in sys.modules])"
    )
    assert run(code).stdout == "[]\n"


def test_p7_nothing_is_written_outside_the_memory_s_directory(tmp_path):
    (tmp_path / "home").mkdir()
    code = (
        "from amem import Memory; from amem.embedding import HashEmbedder\n"
        "with Memory.open('m', embedder=HashEmbedder(), index_batch=1, exact_up_to=0) as memory:\n"
        "    memory.add('bread'); memory.add('oven'); print(memory.stats().index)"
    )
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path, env=env
    )
    assert done.stdout == "chroma\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "m"]
    assert list((tmp_path / "home").rglob("*")) == []


@pytest.mark.parametrize(
    ("plain", "waiting"),
    [
        ("amem.sync:Memory", "amem.memory:AsyncMemory"),
        ("amem.sync_session:Session", "amem.session.session:AsyncSession"),
        ("amem.sync_session:SyncFacts", "amem.session.facts:Facts"),
        ("amem.sync_session:SyncEpisodes", "amem.session.episodes:Episodes"),
    ],
)
def test_the_sync_verbs_are_those_of_the_async_ones(plain, waiting):
    def verbs(name):
        members = inspect.getmembers(resolve_name(name), inspect.isfunction)
        return {name: inspect.signature(member) for name, member in members if not name.startswith("_")}

    def properties(name):
        members = inspect.getmembers(resolve_name(name), lambda member: isinstance(member, property))
        return {name for name, _ in members if not name.startswith("_")}

    def arguments(name, *, but):
        said = {verb: list(sign.parameters.values()) for verb, sign in verbs(name).items() if verb != but}
        return {verb: [str(given).replace("AsyncMemory", "Memory") for given in some] for verb, some in said.items()}

    # `run` lends the loop to adapters, which are asynchronous; `add_all` is for whoever distils.
    assert arguments(plain, but="run") == arguments(waiting, but="add_all")
    assert properties(plain) == properties(waiting)


def test_the_version_is_that_of_the_package():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == amem.__version__
