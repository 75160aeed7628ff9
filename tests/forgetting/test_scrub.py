"""Taking a text out of recordings and results: what holds it goes, what does not stays as it was."""

from __future__ import annotations

import json

import pytest

from amem.embedding import HashEmbedder
from amem.errors import InputError
from amem.llm.recording import RecordedLLM
from amem.llm.scrub import scrub
from amem.prompts import PromptSet
from amem.testing import RecordedEmbedder, ScriptedLLM


async def recorded(root, *texts):
    """Record what a model says of some texts."""
    llm = RecordedLLM(root, mode="all", real=ScriptedLLM({"note": {"notes": []}}))
    for text in texts:
        turn = {"number": 0, "date": "2024-05-01", "speaker": "Ann", "text": text}
        await llm.complete(PromptSet().render("note", {"turns": [turn], "earlier": []}))
    return sorted(root.glob("*/*/*.json"))


async def test_p6_recordings_that_hold_a_text_go_and_the_others_stay(tmp_path):
    files = await recorded(tmp_path, "I hid the Canary\nbehind the oven", "bread is warm")
    (kept,) = [path for path in files if "bread is warm" in path.read_text()]
    before = kept.read_bytes()
    would = scrub(tmp_path, "the canary behind", dry_run=True)
    assert (would.dry_run, all(path.exists() for path in files)) == (True, True)
    done = scrub(tmp_path, "the canary behind")
    assert len(done.removed) == 1
    assert sorted(tmp_path.glob("*/*/*.json")) == [kept]
    assert kept.read_bytes() == before
    assert scrub(tmp_path, "canary").removed == ()


async def test_recorded_vectors_go_with_them_since_nobody_can_tell_whose_they_are(tmp_path):
    await recorded(tmp_path, "the canary", "bread")
    vectors = RecordedEmbedder(tmp_path / "vectors.npz", HashEmbedder())
    await vectors.embed(["the canary"])
    vectors.save()
    assert scrub(tmp_path, "nothing of this").removed == ()
    assert "vectors.npz" in scrub(tmp_path, "canary").removed
    assert not (tmp_path / "vectors.npz").exists()


def test_p6_results_lose_the_lines_that_hold_a_text(tmp_path):
    lines = [json.dumps({"question": f"where is {who}?", "answer": "é"}) for who in ("the canary", "the oven", "Ann")]
    answers = tmp_path / "run" / "answers.jsonl"
    answers.parent.mkdir()
    answers.write_text("\n".join(lines) + "\n")
    done = scrub(tmp_path, "THE  CANARY")
    assert (done.shortened, done.removed, done.searched) == (("run/answers.jsonl",), (), 1)
    assert answers.read_text().splitlines() == lines[1:]


def test_a_text_that_is_written_with_escapes_is_found(tmp_path):
    (tmp_path / "report.json").write_text(json.dumps({"said": "der Kanarienvogel heißt Zoë"}))
    assert scrub(tmp_path, "heißt zoë").removed == ("report.json",)


@pytest.mark.parametrize(("folder", "text"), [(".", "  "), ("nowhere", "text")])
def test_a_blank_text_or_a_folder_that_is_not_there_is_refused(tmp_path, folder, text):
    with pytest.raises(InputError, match="Nothing was removed"):
        scrub(tmp_path / folder, text)
