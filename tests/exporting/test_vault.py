"""The pages of an export: an Obsidian vault in which every note has a page, and no text of a note is more than text."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support import NOTHING, builds

from amem.errors import InputError
from amem.exporting.markdown import quoted, tag_of
from amem.exporting.names import names
from amem.importing import basic_memory
from amem.model import Note
from amem.testing import ScriptedLLM

WIKILINK = re.compile(r"(?<!\\)\[\[([^\]]+)\]\]")


def a_note(number, content):
    at = datetime(2024, 5, 3, tzinfo=UTC)
    return Note(id=f"id-{number}", content=content, occurred_at=at, created_at=at)


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8))
def test_file_names_are_safe_everywhere_and_differ_in_more_than_case(contents):
    found = names([a_note(number, content) for number, content in enumerate(contents)])
    assert len({name.casefold() for name in found.values()}) == len(contents)
    for name in found.values():
        assert re.fullmatch(r"[\w -]+", name)
        assert name == name.strip()
        assert len(f"{name}.md".encode()) < 120


@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "/root", "C:\\x", "a/b", ".", "~", "con", "[[x]]", "a#b|c^d", "\x00"]
)
def test_a_text_is_no_path(text):
    (name,) = names([a_note(1, text)]).values()
    assert name.startswith("2024-05-03")
    assert not set(name) & set('/\\:*?"<>|#^[].\x00')


@given(st.text(max_size=80))
def test_a_text_stays_within_its_quotation_and_links_nowhere(text):
    page = quoted(text)
    assert all(line.startswith(">") for line in page.split("\n"))
    assert not WIKILINK.search(page)


@given(st.text(min_size=1, max_size=20))
def test_a_tag_is_one_that_obsidian_takes(tag):
    assert re.fullmatch(r"[\w/-]+", tag_of(tag)) or not tag.strip().isascii()
    assert not tag_of(tag).isdecimal()


def links(request):
    older, newer = request.variables["neighbours"], request.variables["notes"]
    if not older:
        return NOTHING
    one = {
        "source": newer[0]["number"],
        "targets": [older[0]["number"]],
        "relation": "paid [for",
        "reason": "the boat | paid",
    }
    return {"links": [one], "changes": []}


@pytest.fixture
async def vault(open_memory, tmp_path):
    llm = ScriptedLLM({"note": builds, "link_evolve": links})
    async with open_memory(llm) as memory:
        boat = await memory.add(
            "I sold the boat.\n---\n# Not a heading\n[[../secrets]] #tag", speaker="Ana", tags=["big trade", "2024"],
            occurred_at="2024-05-03", metadata={"a: b": ["---", {"x": None}]},
        )  # fmt: skip
        van = await memory.add("I bought a van.", speaker="Ben", occurred_at="2024-05-04")
        bus = await memory.correct(van.id, "I bought a bus.")
        done = await memory.export(tmp_path / "vault", format="markdown")
        assert (done.notes, done.files) == (3, 4)
        yield tmp_path / "vault", [boat.id, van.id, bus.id]


def pages(folder):
    return {path.stem: path.read_text("utf-8") for path in (folder / "notes").iterdir()}


def front(page):
    return yaml.safe_load(page.split("---\n")[1])


async def test_every_note_has_a_page_with_front_matter_that_yaml_reads(vault):
    folder, ids = vault
    found = {front(page)["id"]: front(page) for page in pages(folder).values()}
    assert set(found) == set(ids)
    boat = found[ids[0]]
    assert (boat["speaker"], boat["tags"], boat["metadata"]) == (
        "Ana",
        ["big-trade", "_2024"],
        {"a: b": ["---", {"x": None}]},
    )
    assert found[ids[1]]["superseded_by"] == ids[2]
    assert found[ids[2]]["made_by"].startswith("scripted, note@")


async def test_every_link_of_a_page_leads_to_a_page(vault):
    folder, _ = vault
    targets = set(WIKILINK.findall("".join([*pages(folder).values(), (folder / "index.md").read_text("utf-8")])))
    assert targets == set(pages(folder))


async def test_links_stand_on_both_pages_with_their_reasons(vault):
    folder, _ = vault
    boat, van = (pages(folder)[name] for name in ("2024-05-03 I sold the boat Not a", "2024-05-04 I bought a van"))
    assert "- paid \\[for [[2024-05-03 I sold the boat Not a]]: the boat \\| paid" in van
    assert "- ← paid \\[for [[2024-05-04 I bought a van]]: the boat \\| paid" in boat
    assert "## Replaced by\n\n- [[2024-05-04 I bought a bus]]" in van
    assert re.search(r"superseded_by \(supersede\), because of \[\[2024-05-04 I bought a bus\]\]: nothing → ", van)


async def test_what_was_said_is_quoted_and_no_part_of_the_page(vault):
    folder, _ = vault
    page = pages(folder)["2024-05-03 I sold the boat Not a"]
    assert "> I sold the boat.\n> ---\n> \\# Not a heading\n> \\[\\[../secrets\\]\\] \\#tag\n" in page


async def test_the_vault_is_one_that_others_read_as_well(vault):
    folder, _ = vault
    found = basic_memory.read(folder)
    relations = {
        (link.relation, link.target) for item in found.items for link in item.links if link.relation != "links_to"
    }
    assert len(found.items) == 4
    assert found.skipped == ()
    assert len({target for _, target in relations} | {"x"}) >= 1


async def test_a_folder_that_has_something_in_it_is_left_alone(vault, open_memory):
    folder, _ = vault
    async with open_memory(path="again") as memory:
        with pytest.raises(InputError, match="not an empty folder"):
            await memory.export(folder, format="markdown")
        with pytest.raises(InputError, match="own directory"):
            await memory.export(memory._rooms.directory / "vault", format="markdown")
        with pytest.raises(InputError, match="there are jsonl, with or without vectors, and markdown"):
            await memory.export(folder.parent / "v", format="markdown", vectors=True)


async def test_a_person_s_pages_are_that_person_s(open_memory, tmp_path):
    async with open_memory() as memory:
        await memory.add("mine", speaker="Ana")
        await memory.add("theirs", speaker="Ben")
        assert (await memory.export(tmp_path / "v", format="markdown", speaker="Ana")).notes == 1
