from __future__ import annotations

import numpy as np
import pytest

from amem.embedding import Embedder
from amem.errors import EmbeddingMismatch
from amem.testing import HashEmbedder, RecordedEmbedder, RecordingInvalid, RecordingMiss


async def recorded(path, *texts):
    embedder = RecordedEmbedder(path, HashEmbedder(16))
    await embedder.embed(texts)
    embedder.save()
    return embedder


async def test_a_replay_gives_the_recorded_vectors_to_the_bit_in_any_order(tmp_path):
    path = tmp_path / "demo" / "vectors.npz"
    await recorded(path, "one", "two", "three\n")
    replay = RecordedEmbedder(path)
    real = HashEmbedder(16)
    asked = ["three\n", "one", "one"]
    assert np.array_equal(await replay.embed(asked), await real.embed(asked))
    assert (replay.name, replay.fingerprint, replay.dimension) == (real.name, real.fingerprint, 16)
    assert (await replay.embed([])).shape == (0, 16)
    assert len(replay.unused()) == 1


async def test_a_text_that_was_not_recorded_is_a_miss(tmp_path):
    path = tmp_path / "vectors.npz"
    await recorded(path, "one")
    with pytest.raises(RecordingMiss, match="two words") as caught:
        await RecordedEmbedder(path).embed(["one", "two words"])
    assert caught.value.reason == "new_input"
    assert "Fix:" in str(caught.value)


def test_without_a_file_and_without_a_model_nothing_can_be_embedded(tmp_path):
    with pytest.raises(RecordingMiss) as caught:
        RecordedEmbedder(tmp_path / "vectors.npz")
    assert caught.value.reason == "empty"


async def test_with_a_real_embedder_only_what_is_missing_is_embedded_and_kept_on_save(tmp_path):
    class Counting(HashEmbedder):
        seen: list[str]

        async def embed(self, texts):
            self.seen += texts
            return await super().embed(texts)

    path = tmp_path / "vectors.npz"
    await recorded(path, "one")
    real = Counting(16)
    real.seen = []
    embedder = RecordedEmbedder(path, real)
    await embedder.embed(["one", "two", "two"])
    assert real.seen == ["two"]
    with pytest.raises(RecordingMiss):
        await RecordedEmbedder(path).embed(["two"])
    embedder.save()
    assert (await RecordedEmbedder(path).embed(["one", "two"])).shape == (2, 16)


async def test_a_real_embedder_may_learn_its_dimension_late(tmp_path):
    class Remote(HashEmbedder):
        async def embed(self, texts):
            self.dimension = 16
            return await super().embed(texts)

    real = Remote(16)
    real.dimension = 0
    embedder = RecordedEmbedder(tmp_path / "vectors.npz", real)
    assert embedder.dimension == 0
    assert (await embedder.embed(["one"])).shape == (1, 16)
    assert embedder.dimension == 16


def test_it_is_an_embedder(tmp_path):
    assert isinstance(RecordedEmbedder(tmp_path / "vectors.npz", HashEmbedder()), Embedder)


async def test_equal_vectors_make_equal_files_whatever_the_order(tmp_path):
    await recorded(tmp_path / "a.npz", "one", "two")
    await recorded(tmp_path / "b.npz", "two", "one")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz"]


async def test_vectors_of_another_model_are_never_mixed_in(tmp_path):
    path = tmp_path / "vectors.npz"
    await recorded(path, "one")
    with pytest.raises(EmbeddingMismatch, match="hash-16-v1, not of hash-32-v1"):
        RecordedEmbedder(path, HashEmbedder(32))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04rest", b"text"])
def test_a_damaged_file_is_refused_by_name(tmp_path, damage):
    path = tmp_path / "vectors.npz"
    path.write_bytes(damage)
    with pytest.raises(RecordingInvalid, match=r"vectors\.npz"):
        RecordedEmbedder(path)
