from __future__ import annotations

import pytest

from amem.errors import InputError


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


async def tell(memory):
    failed = await memory.episodes.add(
        "the nightly backup job ran out of disk space",
        ["deleted old logs", "ran the job again"],
        "failure",
        result="the disk was full again after a day",
        lesson="move the backups to the big volume first",
    )
    worked = await memory.episodes.add(
        "the backup job ran out of disk space once more", ["moved the backups to the big volume"], "success"
    )
    await memory.episodes.add("a guest asked for vegan dinner", ["called the kitchen"], "success")
    return failed, worked


async def test_an_episode_is_recalled_by_what_called_for_action(memory):
    failed, worked = await tell(memory)
    found = await memory.episodes.search("backup job: no disk space left", k=2)
    assert {episode.id for episode in found} == {failed.id, worked.id}


async def test_and_by_how_it_ended(memory):
    failed, worked = await tell(memory)
    (well,) = await memory.episodes.search("backup job: no disk space left", k=1, outcome="success")
    (badly,) = await memory.episodes.search("backup job: no disk space left", outcome="failure")
    assert (well.id, badly.id) == (worked.id, failed.id)
    assert badly.lesson == "move the backups to the big volume first"


async def test_an_episode_tells_its_lesson(memory):
    failed, _ = await tell(memory)
    assert failed.text == (
        "When: the nightly backup job ran out of disk space. Done: deleted old logs; ran the job again. "
        "Outcome: failure, the disk was full again after a day. Lesson: move the backups to the big volume first."
    )


async def test_p6_an_episode_goes_with_a_note_that_tells_of_it(memory):
    note = await memory.add("The backup failed last night.")
    await memory.episodes.add("the backup failed", sources=(note.id,))
    await memory.delete(note.id)
    assert await memory.episodes.search("the backup failed") == []


@pytest.mark.parametrize("given", [{"trigger": ""}, {"outcome": "great"}, {"mood": "bad"}])
async def test_an_episode_without_a_trigger_or_with_another_outcome_is_refused(memory, given):
    with pytest.raises(InputError, match="the episode is refused"):
        await memory.episodes.add(**{"trigger": "it rained", **given})
