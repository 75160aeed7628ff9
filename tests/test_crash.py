"""P3: the process is killed at every step of every verb, and nothing is lost, doubled, half done or made up."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import textwrap

import pytest
from crash_child import TEXTS, VERBS, WITH_CHROMA, do_import, do_upgrade, do_verb, opened
from crash_support import copies, goes_on, lead, lives, made, mended, problems, state
from ledger_support import Shelf

from amem.opening import LEDGER_FILE
from amem.store import schema
from amem.store.doctor import doctor
from amem.store.migrations.upgrade import SCRIPTS

BEFORE_THE_FIRST = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory):
    """The directory of a memory of three notes, of which each changed the first."""
    return asyncio.run(made(tmp_path_factory.mktemp("lived") / "in"))


@pytest.fixture(scope="module")
def lived_in_with_chroma(tmp_path_factory):
    """The same, with all three in Chroma."""
    return asyncio.run(made(tmp_path_factory.mktemp("lived") / "in", **WITH_CHROMA))


async def before_and_after(copy, verb, **settings):
    """What a memory says before a verb that nobody disturbs, and after it."""
    async with opened(copy(), **settings) as memory:
        before = await state(memory)
        await again(memory, verb)
        return before, await state(memory)


async def again(memory, verb):
    await VERBS[verb](memory, [note.id for note in (await memory.list()).notes])


@pytest.mark.parametrize(
    "verb", ["evolve", "evolve_dry", "update", "pin", "fact", "undo", "undo_one", "reindex", "reindex_embed"]
)
async def test_p3_a_verb_killed_at_any_step_is_done_whole_or_not_at_all(lived_in, tmp_path, verb):
    copy = copies(lived_in, tmp_path)
    before, after = await before_and_after(copy, verb)
    waits_for_vectors = {"vector_missing"} if verb == "reindex_embed" else set()
    for step, (place, *_) in lives(do_verb, place=lambda: (copy(), verb, {})):
        async with opened(place) as memory:
            now = await state(memory)
            assert now in (before, after), step
            assert problems(memory) <= waits_for_vectors, step
            assert await mended(memory) == (), step
            if now != after:
                await again(memory, verb)
            assert await state(memory) == after, step
            await goes_on(memory)


async def test_p6_a_forgetting_killed_at_any_step_is_done_whole_or_not_at_all(lived_in, tmp_path):
    copy = copies(lived_in, tmp_path)
    before, after = await before_and_after(copy, "delete")
    assert TEXTS[2] in str(before)
    assert TEXTS[2] not in str(after)
    for step, (place, *_) in lives(do_verb, place=lambda: (copy(), "delete", {})):
        async with opened(place) as memory:
            now = await state(memory)
            assert now in (before, after), step
            # What is left to do is said, and done by the next opening or process.
            assert problems(memory) <= {"vector_missing", "unfinished"}, step
            await memory.process()
            assert await mended(memory) == (), step
            assert await state(memory) in (before, after), step
            await goes_on(memory)


async def test_p1_a_killed_add_leaves_every_note_once_and_whole(lived_in, tmp_path):
    copy = copies(lived_in, tmp_path)
    before, after = await before_and_after(copy, "add")
    reached = []
    for step, (place, *_) in lives(do_verb, place=lambda: (copy(), "add", {})):
        reached.append(step)
        accepted = "committed 1" in reached
        async with opened(place) as memory:
            now = await state(memory)
            assert [note[0] for note in now[0]] == TEXTS[: 4 if accepted else 3], step
            # What a model made of the new note came with what it changed in the old ones, or neither did.
            assert now == after or (now[0][:3], now[1]) == (before[0], before[1]), step
            assert problems(memory) == set(), step
            await memory.process()
            await again(memory, "add")
            assert await state(memory) == after, step
            await goes_on(memory)
    assert {"embed 1", "ask note 1", "ask link_evolve 1", "commit 2"} < set(reached)


async def test_p1_a_killed_correction_stands_in_the_place_of_the_wrong_note_or_not_at_all(lived_in, tmp_path):
    copy = copies(lived_in, tmp_path)
    _, after = await before_and_after(copy, "correct")
    for step, (place, *_) in lives(do_verb, place=lambda: (copy(), "correct", {})):
        async with opened(place) as memory:
            there = await contents(memory)
            assert there in (TEXTS[:3], [*TEXTS[:2], TEXTS[3]]), step
            assert problems(memory) == set(), step
            if there == TEXTS[:3]:
                await again(memory, "correct")
            await memory.process()
            assert await state(memory) == after, step
            await goes_on(memory)


async def test_p1_a_killed_import_is_resumed_and_neither_doubles_nor_loses_anything(tmp_path):
    messages = [{"text": f"bread number {number}", "id": f"m{number}"} for number in range(10)]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(json.dumps(message) for message in messages))
    whole = tmp_path / "whole"
    assert lead(do_import, str(whole), str(file)).exitcode == 0
    async with opened(whole) as memory:
        after = await state(memory)
    counted = iter(range(1000))
    for step, (place, _) in lives(do_import, place=lambda: (str(tmp_path / str(next(counted))), str(file))):
        async with opened(place) as memory:
            assert len(await contents(memory)) in (0, len(messages)), step
            assert problems(memory) == set(), step
        assert lead(do_import, place, str(file)).exitcode == 0, step
        async with opened(place) as memory:
            assert await state(memory) == after, step
            await goes_on(memory)


async def contents(memory):
    return [note.content for note in (await memory.list()).notes]


async def test_p1_what_was_stored_raw_is_finished_by_whatever_process_comes_next(tmp_path):
    async with opened(tmp_path / "raw", strategy="raw") as memory:
        await memory.add_many([{"content": f"bread number {i}", "session_id": "s"} for i in range(10)])
    copy = copies(tmp_path / "raw", tmp_path)
    before, after = await before_and_after(copy, "process")
    for step, (place, *_) in lives(do_verb, place=lambda: (copy(), "process", {})):
        async with opened(place) as memory:
            assert await contents(memory) == [note[0] for note in before[0]], step
            assert problems(memory) == set(), step
            await again(memory, "process")
            assert await state(memory) == after, step


# -- Chroma ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["add", "delete", "reindex"])
async def test_p3_killed_while_chroma_is_told_everything_is_found_and_in_step(lived_in_with_chroma, tmp_path, verb):
    copy = copies(lived_in_with_chroma, tmp_path)
    _, after = await before_and_after(copy, verb, **WITH_CHROMA)

    def place():
        return copy(), verb, WITH_CHROMA

    async for step, memory in killed_at_chroma(place):
        assert problems(memory) <= {"vector_missing", "unfinished"}, step
        if await state(memory) != after:
            await again(memory, verb)
        assert await mended(memory) == (), step
        assert await state(memory) == after, step
        await goes_on(memory)
        assert memory._rooms.index.how("default") == "chroma", step


@pytest.mark.slow
async def test_p3_killed_while_a_box_gets_its_collection_it_gets_it_at_the_next_open(lived_in, tmp_path):
    copy = copies(lived_in, tmp_path)
    async for step, memory in killed_at_chroma(lambda: (copy(), "add", WITH_CHROMA)):
        assert problems(memory) == set(), step
        await goes_on(memory)
        assert memory._rooms.index.how("default") == "chroma", step
        assert problems(memory) == set(), step


async def killed_at_chroma(place):
    """Yield (step, the memory that a process left) for every step at which Chroma is, or is about to be, at work."""

    def lasting(steps):  # what is in Chroma, and what the ledger knows of that, differ between these only
        first = next(i for i, step in enumerate(steps) if step.startswith("chroma"))
        return [step for step in steps[first:] if step.startswith(("chroma", "commit "))]

    for step, (directory, *_) in lives(do_verb, place=place, at=lasting):
        async with opened(directory, **WITH_CHROMA) as memory:
            yield step, memory


# -- migration ------------------------------------------------------------------------------------------


def dump(path):
    """All that a database holds; the constraints of a table stand in any order."""
    raw = sqlite3.connect(path)
    found = sorted(sorted(line.strip(", ") for line in statement.splitlines()) for statement in raw.iterdump())
    raw.close()
    return found


def old_ledger(directory):
    """A ledger of before the first migration."""
    directory.mkdir()
    raw = sqlite3.connect(directory / LEDGER_FILE)
    raw.execute(BEFORE_THE_FIRST)
    raw.close()
    return directory / LEDGER_FILE


def test_p3_a_ledger_whose_migration_is_killed_is_as_it_was_and_is_migrated_by_the_next_open(tmp_path):
    before = dump(old_ledger(tmp_path / "old"))
    after = dump(migrated(old_ledger(tmp_path / "new"), None))
    counted = iter(range(1000))
    for step, (path, _) in lives(do_upgrade, place=lambda: (old_ledger(tmp_path / str(next(counted))), None)):
        assert dump(path) in (before, after), step
        works(path.parent)


def test_p3_a_migration_that_makes_tables_anew_is_whole_or_not_at_all(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.link(shelf.ready("bread"), shelf.ready("oven"))
    shelf.close()
    before = dump(tmp_path / LEDGER_FILE)
    scripts = next_scripts(tmp_path)
    counted = iter(range(1000))

    def place():
        there = tmp_path / str(next(counted)) / LEDGER_FILE
        there.parent.mkdir()
        return shutil.copy(tmp_path / LEDGER_FILE, there), str(scripts)

    after = dump(migrated(*place()))
    assert after != before
    for step, (path, _) in lives(do_upgrade, place=place):
        if dump(path) == after:
            assert lead(do_upgrade, path, None).exitcode != 0  # a newer one's ledger is refused, see test_migrations
        else:
            assert dump(path) == before, step
            works(path.parent)


def migrated(path, scripts):
    assert lead(do_upgrade, path, scripts).exitcode == 0
    return path


def next_scripts(directory):
    """Our migrations, and one more that copies the notes into a new table."""
    scripts = shutil.copytree(SCRIPTS, directory / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    body = f"""
        import sqlalchemy as sa
        from alembic import op
        revision, down_revision, branch_labels, depends_on = "9998", "{schema.HEAD}", None, None
        def upgrade():
            with op.batch_alter_table("note", recreate="always") as batch:
                batch.add_column(sa.Column("mood", sa.Text()))
            op.execute("UPDATE note SET mood = 'glad'")
    """
    (scripts / "versions" / "9998_next.py").write_text(textwrap.dedent(body))
    return scripts


def works(directory):
    shelf = Shelf(directory)
    shelf.ready("a note that comes after", id="00000000-0000-7000-8000-00000000ffff")
    assert doctor(shelf.ledger, shelf.vectors).problems == ()
    shelf.close()
