"""Each system that the literature names is documented, and a test shows what comes of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "literature.md"
NAMED = (
    "A-Mem: notes", "A-Mem: links", "A-Mem: memory evolution", "Cue, tag, content", "Layered memory", "Fusion",
    "Memory router", "Semantic store", "Episodic store", "Forgetting curve", "Consolidation", "Conflict handling",
    "User control",
)  # fmt: skip
ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| [^|]+ \| \[[^\]]+\]\((?P<page>[^)]+)\) \| `(?P<test>[^`]+)` \|$", re.MULTILINE
)


def rows():
    return [pytest.param(row["page"], row["test"], id=row["what"]) for row in ROW.finditer(PAGE.read_text("utf-8"))]


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("page", "test"), rows())
def test_each_row_names_a_page_with_that_heading_and_a_test_that_exists(page, test):
    name, _, heading = page.partition("#")
    path = (PAGE.parent / name).resolve()
    assert path.is_file()
    assert not heading or heading in anchors(path)
    file, _, function = test.partition("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


@pytest.mark.parametrize("system", NAMED)
def test_no_system_is_left_out(system):
    assert any(row["what"].startswith(system) for row in ROW.finditer(PAGE.read_text("utf-8")))


def test_every_line_of_the_table_is_read():
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    assert len(lines) == len(rows()) > len(NAMED)
