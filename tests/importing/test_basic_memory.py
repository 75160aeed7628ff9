"""A vault of basic-memory comes in: a note for each file, tags, observations, and relations as links."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.embedding import HashEmbedder
from amem.errors import InputError
from amem.importing import basic_memory
from amem.memory import AsyncMemory
from amem.store.doctor import doctor

COFFEE = """---
title: Coffee Brewing
type: note
tags: [coffee, brewing]
permalink: drinks/coffee
created: 2024-05-03
rating: 4.5
---

# Coffee Brewing

As told in [[Tea]] and [[Nowhere|somewhere]].

- [method] Pour over is clearer than a press #taste (own trials)
- [ ] buy beans
- [x] sell the press
- [00:12] a timecode
- [a link](http://example.com)
- relates_to [[beans/Beans]] (they come first)
- "is better than" [[tea]]
- a sentence with [[Beans]] in it

```
- relates_to [[Tea]]
```
"""


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    for name, text in {
        "Coffee.md": COFFEE, "beans/Beans.md": "---\ntags: 'a, b'\n---\nBeans are seeds.\n", "Tea.md": "\ufeffTea.\r\n",
        ".obsidian/x.md": "hidden", "notes.txt": "no", "empty.md": "", "bad.md": "---\na: [\n---\ntext",
        "bomb.md": "---\na: &a [x]\nb: *a\n---\ntext",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "latin.md").write_bytes(b"caf\xe9")
    os.utime(folder / "Tea.md", (0, 1_700_000_000))
    return folder


async def test_each_file_is_a_note_with_its_links(open_memory, vault):
    async with open_memory() as memory:
        done = await memory.import_from(vault, format="basic-memory")
        assert len(done.added) == 3
        found = {note.sources[0]: note for note in (await memory.list()).notes}
        coffee, beans, tea = (found[f"basic-memory:{key}"] for key in ("Coffee.md", "beans/Beans.md", "Tea.md"))
        assert coffee.content == COFFEE.split("---\n", 2)[2]
        assert (tea.content, beans.content) == ("Tea.\r\n", "Beans are seeds.\n")
        assert (coffee.tags, beans.tags) == (("coffee", "brewing", "taste"), ("a", "b"))
        assert coffee.occurred_at == datetime(2024, 5, 3, tzinfo=UTC)
        assert tea.occurred_at == datetime.fromtimestamp(1_700_000_000, UTC)
        about = coffee.metadata["basic-memory"]
        assert (about["title"], about["rating"], about["created"]) == ("Coffee Brewing", 4.5, "2024-05-03")
        assert about["observations"] == [
            {"category": "method", "text": "Pour over is clearer than a press #taste", "context": "own trials",
             "tags": ["taste"]}
        ]  # fmt: skip
        links = {(link.target, link.relation, link.reason) for link in await memory.links(coffee.id)}
        assert links == {(beans.id, "relates_to", "they come first"), (tea.id, "is better than", "")}
        assert (coffee.status, coffee.pending_reason, coffee.pinned) == ("pending", "raw", ())
        skipped = {item.what: item.why for item in done.skipped}
        assert "not UTF-8" in skipped["latin.md"]
        assert "front matter" in skipped["bad.md"]
        assert "aliases" in skipped["bomb.md"]
        assert "empty" in skipped["empty.md"]
        assert skipped["link from Coffee.md to Nowhere|somewhere"] == "that is not there"
        assert doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()


async def test_importing_again_brings_what_is_new_and_nothing_twice(open_memory, vault):
    async with open_memory() as memory:
        await memory.import_from(vault, format="basic-memory")
        (vault / "Milk.md").write_text("- goes_with [[Coffee Brewing]]")
        done = await memory.import_from(vault, format="basic-memory")
        assert (len(done.added), done.known, done.links) == (1, 3, 1)


class Breaks(HashEmbedder):
    """An embedder that breaks off whatever is going on, the second time it is asked."""

    asked = 0

    async def embed(self, texts):
        self.asked += 1
        if self.asked == 2:
            raise ZeroDivisionError
        return await super().embed(texts)


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """Ten pages, each of which leads to the next, and three of them in one transaction."""
    monkeypatch.setattr("amem.importing.bringing.BATCH", 3)
    (tmp_path / "chain").mkdir()
    for n in range(10):
        text = f"---\ntags: [t{n}]\n---\nPage {n}.\n- leads_to [[{(n + 1) % 10}]]\n"
        (tmp_path / "chain" / f"{n}.md").write_text(text)
    return tmp_path / "chain"


async def test_p1_an_import_that_was_stopped_keeps_what_it_had_and_is_finished_by_another(chain, tmp_path):
    async with AsyncMemory.open(tmp_path / "memory", embedder=Breaks(), chroma=False) as memory:
        with pytest.raises(ZeroDivisionError):
            await memory.import_from(chain, format="basic-memory")
    async with AsyncMemory.open(tmp_path / "memory", embedder=HashEmbedder(), chroma=False) as memory:
        assert len((await memory.list()).notes) == 10  # all texts, and of three what they are known for
        done = await memory.import_from(chain, format="basic-memory")
        assert (len(done.added), done.known, done.links, done.skipped) == (0, 10, 10, ())
        notes = {note.content.splitlines()[0]: note for note in (await memory.list()).notes}
        assert [notes[f"Page {n}."].tags for n in range(10)] == [(f"t{n}",) for n in range(10)]
        beside = await memory.neighbours(notes["Page 4."].id)
        assert {note.content.splitlines()[0] for note in beside} == {"Page 3.", "Page 5."}
        again = await memory.import_from(chain, format="basic-memory")
        assert (again.added, again.known, again.links, again.skipped) == ((), 10, 0, ())


class Counts(HashEmbedder):
    """An embedder that remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.texts = []

    async def embed(self, texts):
        self.texts += texts
        return await super().embed(texts)


async def test_each_memory_is_embedded_once_as_it_is_in_the_end(chain, tmp_path):
    (chain / "plain.md").write_text("No tags here.")
    counts = Counts()
    async with AsyncMemory.open(tmp_path / "memory", embedder=counts, chroma=False) as memory:
        await memory.import_from(chain, format="basic-memory")
        notes = (await memory.list()).notes
        assert sorted(counts.texts) == sorted(memory._rooms.render(note) for note in notes)
        assert len(counts.texts) == 11
        await memory.import_from(chain, format="basic-memory")
        await memory.process()
        assert len(counts.texts) == 11
        assert min(link.strength for link in await memory.links(notes[3].id)) > 0


async def test_a_vault_without_pages_is_refused(open_memory, tmp_path):
    (tmp_path / "v").mkdir()
    async with open_memory() as memory:
        for place in ("v", "nowhere"):
            with pytest.raises(InputError, match="Nothing was stored"):
                await memory.import_from(tmp_path / place, format="basic-memory")


@given(st.text(alphabet="-[]()#ab :\n`'\"|*x{}&!\t", max_size=60), st.booleans())
def test_whatever_a_file_says_it_is_taken_or_named(tmp_path_factory, text, front):
    folder = tmp_path_factory.mktemp("v")
    (folder / "a.md").write_text(f"---\n{text}\n---\nbody [[b]]" if front else text, encoding="utf-8")
    (folder / "b.md").write_text("b", encoding="utf-8")
    found = basic_memory.read(folder)
    named = {item.what for item in found.skipped}
    assert {item.key for item in found.items} | named >= {"a.md", "b.md"}


@pytest.mark.parametrize(
    "line", ["- " + " " * 300_000 + "x", "- a" + " " * 300_000, "- [[" * 100_000, "- [" * 100_000, "`" * 300_000]
)
def test_a_line_made_to_be_slow_is_not(tmp_path, line):
    (tmp_path / "a.md").write_text(line)
    assert len(basic_memory.read(tmp_path).items) == 1
