"""How the rooms of the code stand to each other; CONTRIBUTING.md draws it."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = (
    "errors values model ids settings fences replies filters render runs tokens pooling",
    "store llm embedding onnx prompts templates",
    "rooms intake view changes ingest recall exporting importing upkeep session review repair",
    "opening verbs memory sync sync_loop sync_session sync_verbs",
    "adapters testing workbench",
    "interfaces",
)
"""From the ground up: a room knows those beside and below it."""


def modules():
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "amem").rglob("*.py")
    }


def imports(path, known):
    """Also those at the time of use, and those for types."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield from [name for name in (full, node.module) if name in known][:1]


def graph():
    known = modules()
    # `amem` itself, and `amem.testing`, only hand names on.
    return {
        name: {other for other in imports(path, known) if other not in (name, "amem", "amem.testing")}
        for name, path in known.items()
    }


def test_no_two_modules_need_each_other_not_even_for_types():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" needs ".join(reversed(error.args[1])))


def test_imports_point_downwards():
    floor = {room: height for height, rooms in enumerate(FLOORS) for room in rooms.split()}
    found = graph()
    assert {name.split(".")[1] for name in found if "." in name} - {"_data"} == set(floor)
    upwards = [
        f"{name} needs {other}"
        for name, others in found.items()
        for other in others
        if name != "amem" and floor[name.split(".")[1]] < floor[other.split(".")[1]]
    ]
    assert not upwards
