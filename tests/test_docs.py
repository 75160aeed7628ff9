"""The examples of the documentation run, and print what they say they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FRAMEWORKS = {"amem.adapters.langgraph": "langgraph", "amem.adapters.openai_agents": "agents"}
CODE = re.compile(r"<!-- test: (?P<name>[^>]*) -->\n```python\n(?P<code>.*?)```", re.DOTALL)


def examples():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [
        pytest.param(found["code"], id=f"{page.name}: {found['name']}")
        for page in pages
        for found in CODE.finditer(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("code", examples())
def test_an_example_runs_and_prints_what_its_comments_say(code, tmp_path, monkeypatch, capsys):
    for adapter in filter(code.__contains__, FRAMEWORKS):
        pytest.importorskip(FRAMEWORKS[adapter], reason=f"what {adapter} adapts to is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    said = [line.split("#", 1)[1].strip() for line in code.splitlines() if "print(" in line and "  # " in line]
    assert said
    for comment, line in zip(said, printed[: len(said)], strict=True):
        wanted = comment.split(": ")[0].strip('"')
        assert line == wanted, comment


def test_every_page_the_readme_links_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)h][^)]*)\)", text):
        page, _, heading = target.partition("#")
        assert (ROOT / page).exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", name).lower().replace(" ", "-") for name in headings}, target
