from __future__ import annotations

import pytest

from amem.workbench.outcomes import Outcome, outcome
from amem.workbench.readings import read
from amem.workbench.trials import Trial

TURN = {
    "date": "2024-05-15",
    "speaker": "Ida",
    "text": "Last Friday I sold my cello.",
    "context": "Ida sold her cello.",
}
OLD = {"number": 0, "date": "2024-05-01", "speaker": "Ida", "text": "I want to sell my cello.", "context": "Ida sells."}
PAIR = {"older": "the cello is for sale", "newer": "the cello is sold", "same": "yes", "then": "sold"}


def made(model, value, **variables):
    return outcome(Trial(value=value, model=model), variables)


def test_a_context_is_what_the_pipeline_would_store_dates_included():
    fields = {"turn": 0, "keywords": [], "tags": [], "context": "Ida sold it."}
    turns = [{"number": 0, **TURN}]
    assert made("NoteReply", {"notes": [fields]}, turns=turns).contexts == {"0": "Ida sold it."}
    anchored = {"words": "Last Friday I", **fields}
    found = made("AnchoredNoteReply", {"notes": [anchored]}, turns=turns)
    assert found.contexts == {"0": "Ida sold it. (Last Friday: 2024-05-10)"}


def test_judgements_become_links_and_changes_by_the_rules_of_the_stages():
    links = made("JudgedLinkReply", {"links": [{"neighbour": 0, **PAIR}]}, neighbours=[OLD], note=TURN)
    assert links.linked == ("new → 0",)
    evolved = made("JudgedEvolveReply", {"changes": [{"neighbour": 0, **PAIR}]}, neighbours=[OLD], note=TURN)
    assert evolved.changed == ("note 0",)
    assert evolved.changes[0].context == "Ida sells. [2024-05-15: Ida sold her cello.]"
    window = {"neighbours": [OLD], "notes": [{"number": 1, "near": [0], **TURN}]}
    both = made("JudgedWindowReply", {"links": [{"source": 1, "target": 0, **PAIR}]}, **window)
    assert (both.linked, both.changed) == (("1 → 0",), ("note 0",))


def test_replies_of_the_first_kinds_are_read_as_before():
    link = {"neighbour": 0, "reason": "the cello", "relation": "sold"}
    assert made("LinkReply", {"links": [link]}, neighbours=[OLD], note=TURN).linked == ("new → 0",)
    change = {"neighbour": 0, "context": "It is sold.", "keywords": [], "tags": []}
    assert made("EvolveReply", {"tags": [], "changes": [change]}, neighbours=[OLD], note=TURN).changed == ("note 0",)


def test_an_answer_is_an_outcome():
    assert made("AnswerReply", {"memories": [1], "answer": "in May"}, context="", question="").answer == "in May"


@pytest.mark.parametrize(
    "trial",
    [
        Trial(value={"links": []}, model="LinkReply", problem="no use"),
        Trial(value={"links": []}, model="LinkReply", missing=True),
        Trial(value="words"),
        Trial(value={}, model="SomebodysOwnReply"),
    ],
)
def test_what_the_pipeline_could_not_read_comes_to_nothing(trial):
    assert outcome(trial, {"neighbours": [OLD], "note": TURN}) == Outcome()


def test_variables_of_another_shape_come_to_nothing():
    assert made("JudgedLinkReply", {"links": [{"neighbour": 0, **PAIR}]}, neighbours=["text"], note="text") == Outcome()


def test_a_memory_that_an_answer_invents_is_seen():
    given = {
        "context": "[1] 2024-05-01 Ida: I sold it.\n[2] 2024-05-02 Ben: [7] is no number.",
        "question": "Who sold it?",
    }
    found = read({"memories": [1, 7], "answer": "Ida"}, given)
    assert [item.rsplit(": ", 1)[1] for item in found.invented] == ["7"]


def test_the_pairs_of_a_window_have_names_of_their_own():
    pairs = [{"source": 1, "target": 0, **PAIR}, {"source": 2, "target": 0, **PAIR}]
    names = read({"links": pairs}, {"neighbours": [OLD], "notes": []}).fields
    assert {name.rsplit(" ", 1)[0] for name in names} == {"link 1 → 0", "link 2 → 0"}
