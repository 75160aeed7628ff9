"""Two configurations over one conversation: what each finds, and what it takes."""

from __future__ import annotations

from amem.embedding import HashEmbedder
from amem.intake import NewNote
from amem.memory import AsyncMemory
from amem.workbench import rivals


class LoadsOnce(HashEmbedder):
    """An embedder that takes a hundred seconds, by its own clock, when it is asked for the first time."""

    seconds = 0.0

    async def embed(self, texts):
        self.seconds = 100.0
        return await super().embed(texts)


async def test_what_is_loaded_at_first_use_is_nobody_s_time(tmp_path, monkeypatch):
    embedder = LoadsOnce()
    monkeypatch.setattr(rivals, "monotonic", lambda: embedder.seconds)
    side = await rivals.contend(
        "a",
        lambda: AsyncMemory.open(tmp_path / "memory", embedder=embedder, chroma=False),
        {},
        [NewNote(content="Ana moved to Busan.", source="m1")],
        [rivals.Question(question="Where did Ana move?", expects=["m1"])],
        budget=100,
    )
    assert (side.building, side.seconds, side.recall) == (0.0, 0.0, 1.0)


async def test_a_turn_that_another_one_repeats_is_not_missed_where_the_other_is_shown(tmp_path):
    turns = ["Ana moved to Busan.", "Nice!", "ana moved to Busan"]
    side = await rivals.contend(
        "a",
        lambda: AsyncMemory.open(tmp_path / "memory", embedder=HashEmbedder(), chroma=False),
        {},
        [NewNote(content=text, source=f"m{number}") for number, text in enumerate(turns)],
        [rivals.Question(question="Where did Ana move?", expects=["m0", "m2"])],
        budget=100,
    )
    assert side.found[0].missed == ()
