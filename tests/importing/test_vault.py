"""The pages that amem exports come back: notes, links, tags, dates and ids; only the history stays behind."""

from __future__ import annotations

import json
import re
import string
from datetime import UTC, datetime

import pytest
from crash_support import problems
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import NOTHING, builds

from amem.embedding import HashEmbedder
from amem.errors import InputError
from amem.importing import vault
from amem.importing.foreign import NotTaken
from amem.importing.restoring import PLACE_TAKEN
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

SCRIPTS = ["[[Tea]] and ]] [x](y)", "line\n\n> quoted\n# heading", "\"it's\"", "한국어 노트 [[메모]]", "שלום ← עולם",
           "日本語の\n---\nメモ", "नमस्ते #tag", "tab\tand \\[ \\\\ ", " ends in spaces  \n", "Ελλάδα\r\nnew", "a\rb",
           "\x00\x1b[31m", "🛶 *b* _i_ `c` <i> | !", "## Links\n\n- x [[y]]", "---\nid: x\n---",
           "\u2028\ufeff\x85"]  # fmt: skip
TEXTS = st.sampled_from(SCRIPTS) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    str.strip
)
WORDS = st.lists(
    st.sampled_from(["tea", "big trade", "2024", "차", "a/b", "x#y", "[[z]]"]) | TEXTS, max_size=3, unique=True
)
METADATA = st.dictionaries(
    st.sampled_from(["note", "a: b", "[[x]]", "2024-01-01"]) | TEXTS,
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS | WORDS,
    max_size=3,
)
MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))
NEW = st.fixed_dictionaries(
    {"content": TEXTS},
    optional={
        "speaker": TEXTS, "occurred_at": MOMENTS, "session_id": st.sampled_from(["s", "[[t]]"]), "tags": WORDS,
        "keywords": WORDS, "context": TEXTS, "metadata": METADATA, "agent_id": TEXTS,
        "trust": st.sampled_from(["user", "tool"]),
    },
)  # fmt: skip


def opened(path, llm=None, **more):
    return AsyncMemory.open(path, llm=llm, embedder=HashEmbedder(), chroma=False, similarity_floor=-1.0, **more)


def links(request):
    older, newer = request.variables["neighbours"], request.variables["notes"]
    said = {"relation": "← paid [for]", "reason": "the boat | [[paid]]: it\nall"}
    some = [{"source": note["number"], "targets": [older[0]["number"]], **said} for note in newer if older]
    return {**NOTHING, "links": some}


def model():
    return ScriptedLLM({"note": builds, "link_evolve": links})


async def everything(memory):
    """All that a vault carries of notes and links, as far as a page shows it."""
    notes = (await memory.list(archived=True, outdated=True, kinds=("note", "fact", "episode"))).notes
    found = {}
    for note in notes:
        values = note.model_dump(exclude={"version", "made_by", "box"})
        found[note.id] = values | {"by": note.made_by and (note.made_by.model, note.made_by.prompt)}
    made = {link.id: link for note in notes for link in await memory.links(note.id)}
    told = {(k.source, k.target, " ".join(k.relation.split()), " ".join(k.reason.split())) for k in made.values()}
    return found, told


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NEW, min_size=1, max_size=6))
async def test_notes_of_any_text_come_back_as_they_were(tmp_path_factory, items):
    place = tmp_path_factory.mktemp("vault")
    async with opened(place / "one", model()) as memory:
        await memory.add_many(items)
        wanted = await everything(memory)
        await memory.export(place / "pages", format="markdown")
    async with opened(place / "two") as memory:
        done = await memory.import_from(place / "pages", format="markdown")
        assert done.skipped == ()
        assert await everything(memory) == wanted
        assert problems(memory) == set()


@pytest.fixture
async def exported(open_memory, tmp_path):
    """A memory with all that a note can be, and its pages."""
    distilled = {
        "notes": [{"turns": [0], "text": "Ana sold the boat.", "keywords": ["boat"], "tags": ["big trade"]}],
        "facts": [{"turns": [0], "subject": "Ana", "predicate": "owns", "object": "the boat", "single": True}],
        "episodes": [],
    }
    nothing = {"notes": [], "facts": [], "episodes": []}
    async with open_memory({"distill": [distilled, nothing]}, strategy="atomic") as memory:
        (told,) = await memory.add_many(
            [{"content": "I sold the boat.", "speaker": "Ana", "session_id": "s", "source": "chat/1"}]
        )
        await memory.facts.add("Ana", "owns", "a van", since="2024-06-01")
        (wrong,) = [note for note in (await memory.list()).notes if note.content == "Ana sold the boat."]
        await memory.correct(wrong.id, "Ana sold the red boat.", occurred_at="2024-05-02")
        await memory.episodes.add("a leak", ["glued it"], "failure", lesson="weld it")
        await memory.pin(told.id, ["tags"])
        await memory.export(tmp_path / "pages", format="markdown")
        yield memory, tmp_path / "pages"


async def test_facts_episodes_corrections_pins_and_sources_come_back(exported, open_memory, tmp_path):
    memory, pages = exported
    wanted = await everything(memory)
    async with open_memory(path="other", new_id=iter(map(str, range(99))).__next__) as other:
        done = await other.import_from(pages, format="markdown")
        assert done.skipped == ()
        assert len(done.added) == len(wanted[0])
        assert await everything(other) == wanted
        assert [fact.object for fact in await other.facts.list()] == ["a van"]
        assert [fact.object for fact in await other.facts.list(as_of="2024-05-20")] == ["the boat"]
        assert (await other.by_source("chat/1")).content == "I sold the boat."
        assert problems(other) == set()
        again = await other.import_from(pages, format="markdown")
        assert (again.added, again.known, again.skipped) == ((), len(wanted[0]), ())
        assert (again.links, again.revisions) == (0, 0)
        assert await everything(other) == wanted


async def test_where_it_came_from_nothing_comes_in_twice(exported):
    memory, pages = exported
    wanted = await everything(memory)
    done = await memory.import_from(pages, format="markdown")
    assert (done.added, done.links, done.revisions) == ((), 0, 0)
    assert await everything(memory) == wanted


async def test_a_note_whose_id_is_taken_gets_another_and_is_cited_by_that(exported):
    memory, pages = exported
    other = memory.box("other")
    done = await other.import_from(pages, format="markdown")
    (turn,) = [note for note in (await other.list()).notes if note.content == "I sold the boat."]
    (fact,) = [note for note in (await other.list(kinds=("fact",), outdated=True)).notes if "the boat" in note.content]
    assert fact.sources == (turn.id,)
    assert set(done.added).isdisjoint((await everything(memory))[0])
    assert problems(memory) == set()


async def test_what_came_back_can_be_undone_forgotten_and_made_anew(exported, open_memory, tmp_path):
    _, pages = exported
    async with open_memory(path="other") as other:
        await other.import_from(pages, format="markdown")
        (wrong,) = [n for n in (await other.list(outdated=True)).notes if n.content == "Ana sold the boat."]
        assert wrong.superseded_by is not None
        assert wrong.made_by.prompt.startswith("distill@")
        await other.undo(caused_by=wrong.superseded_by)
        assert (await other.get(wrong.id)).superseded_by is None
        await other.delete(wrong.sources[0])
        left = (await everything(other))[0].values()
        assert sorted(note["content"] for note in left) == [
            "Ana owns a van", "Ana sold the red boat.",
            "When: a leak. Done: glued it. Outcome: failure. Lesson: weld it.",
        ]  # fmt: skip
        assert problems(other) == set()


async def test_an_archived_note_comes_back_archived_and_out_of_it_again(open_memory, clock, tmp_path):
    async with open_memory(model()) as memory:
        await memory.add("I sold the boat.", occurred_at="2024-05-01")
        clock.advance(days=900)
        assert len((await memory.upkeep()).archived) == 1
        wanted = await everything(memory)
        await memory.export(tmp_path / "pages", format="markdown")
    async with open_memory(path="other") as other:
        await other.import_from(tmp_path / "pages", format="markdown")
        assert await everything(other) == wanted
        (note,) = (await other.list(archived=True)).notes
        await other.undo([r for r in await other.history(note.id) if r.field == "status"])
        assert (await other.get(note.id)).status == "ready"


async def test_a_place_in_a_session_that_is_taken_is_given_to_nobody_twice(exported, open_memory):
    _, pages = exported
    async with open_memory(path="other") as other:
        await other.add("I was here first.", session_id="s")
        done = await other.import_from(pages, format="markdown")
        (turn,) = [note for note in (await other.list()).notes if note.content == "I sold the boat."]
        assert turn.position == 1
        assert [item.why for item in done.skipped] == [PLACE_TAKEN]


# -- pages that people changed ------------------------------------------------------------------------


@pytest.fixture
async def pages(tmp_path):
    async with opened(tmp_path / "one", model()) as memory:
        await memory.add("I sold  the boat.\r\n", tags=["big trade"], occurred_at="2024-05-01")
        await memory.add("I bought a van.", occurred_at="2024-05-02")
        await memory.export(tmp_path / "pages", format="markdown")
    return tmp_path / "pages" / "notes"


def page_of(pages, word):
    (found,) = [path for path in pages.iterdir() if word in path.name]
    return found


async def brought_in(pages, tmp_path):
    async with opened(tmp_path / "two") as memory:
        done = await memory.import_from(pages.parent, format="markdown")
        found, made = await everything(memory)
        assert problems(memory) == set()
    return done, {note["content"]: note for note in found.values()}, made


async def test_what_somebody_edited_counts(pages, tmp_path):
    path = page_of(pages, "boat")
    text = (
        path.read_text("utf-8")
        .replace("> I sold  the boat.", "> I sold  the red boat.")
        .replace("- big-trade", "- trade\n- new")
    )
    path.write_text(text.replace("\n", "\r\n"), encoding="utf-8", newline="")
    done, notes, _ = await brought_in(pages, tmp_path)
    assert done.skipped == ()
    assert notes["I sold  the red boat.\n"]["tags"] == ("trade", "new")


async def test_a_link_that_somebody_wrote_comes_in(pages, tmp_path):
    van, boat = page_of(pages, "van"), page_of(pages, "boat")
    van.write_text(
        van.read_text("utf-8").partition("## Links")[0]
        + f"## Links\n\n* paid with [[notes/{boat.stem}|it]]: all\n- no link\n"
    )
    boat.write_text(boat.read_text("utf-8").partition("## Links")[0])
    _, notes, made = await brought_in(pages, tmp_path)
    ids = {text.split()[-1]: note["id"] for text, note in notes.items()}
    assert made == {(ids["van."], ids["boat."], "paid with", "all")}


async def test_what_is_no_page_of_amem_or_no_note_is_left_out_with_the_reason(pages, tmp_path):
    boat = page_of(pages, "boat").read_text("utf-8")
    (pages / "copy.md").write_text(boat)
    (pages / "mine.md").write_text("My own page.")
    (pages / "trust.md").write_text(re.sub(r"\nid: .*", "\ntrust: god\nid: x", boat))
    (pages / "empty.md").write_text("---\nid: y\n---\n\n>\n")
    (pages / "fact.md").write_text(
        "---\nid: z\nabout: {kind: fact, subject: a, predicate: b, object: c}\n---\n> other\n"
    )
    (pages / "bad.md").write_text("---\na: [\n---\ntext")
    van = page_of(pages, "van")
    van.write_text(van.read_text("utf-8") + "\n## My remarks\n\ngood\n")
    done, notes, _ = await brought_in(pages, tmp_path)
    assert len(notes) == 2
    why = {item.what.rpartition("/")[2]: item.why for item in done.skipped}
    assert why.pop("bad.md").startswith("its front matter cannot be read")
    assert "trust" in why.pop("trust.md")
    assert why == {
        "copy.md": "another page has its id",
        "mine.md": "amem did not write this page; a folder of your own pages can be imported as basic-memory",
        "empty.md": "it has no text",
        "fact.md": "its text and the parts of the fact do not say the same",
        van.name: "a note has no place for it",
    }


async def test_what_took_a_place_and_is_not_there_is_named(exported, open_memory):
    _, pages = exported
    (path,) = [p for p in (pages / "notes").iterdir() if "red" in p.name]
    path.unlink()
    async with open_memory(path="other") as other:
        done = await other.import_from(pages, format="markdown")
        assert (
            NotTaken(what="what took the place of notes/2024-05-01 Ana sold the boat.md", why="that is not there")
            in done.skipped
        )
        assert problems(other) == set()


async def test_a_circle_of_successors_is_refused(exported, open_memory):
    _, pages = exported
    sold = [path for path in (pages / "notes").iterdir() if "Ana sold" in path.name]
    ids = [path.read_text("utf-8").partition("\nid: ")[2].partition("\n")[0].strip("'") for path in sold]
    for path, other_id in zip(sold, reversed(ids), strict=True):
        text = path.read_text("utf-8")
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith("superseded_by")]
        path.write_text("".join([lines[0], f"superseded_by: '{other_id}'\n", *lines[1:]]), encoding="utf-8")
    async with open_memory(path="other") as other:
        done = await other.import_from(pages, format="markdown")
        assert any("circle" in item.why for item in done.skipped)
        assert problems(other) == set()


async def test_a_folder_that_amem_did_not_export_is_refused(tmp_path, open_memory):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "page.md").write_text("text")
    async with open_memory() as memory:
        with pytest.raises(InputError, match="no vault that amem exported"):
            await memory.import_from(tmp_path / "v", format="markdown")
        (tmp_path / "v" / "index.md").write_text("---\namem-vault: 9\n---\n")
        with pytest.raises(InputError, match="another amem wrote it"):
            await memory.import_from(tmp_path / "v", format="markdown")
        assert (await memory.list()).notes == ()
    assert vault.is_vault(tmp_path / "v")
    assert not vault.is_vault(tmp_path)


@settings(max_examples=60, deadline=None)
@given(st.text(string.printable + "[]←한", max_size=60))
def test_any_exact_value_is_read_or_passed_over(text):
    shown = {"content": "a", "context": "", "tags": []}
    for value in (text, json.dumps(text), [text], {"content": text}, 7):
        assert vault._exact({"exact": {"content": value, "tags": value}}, shown).keys() == shown.keys()
