"""What a summary must keep of its notes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amem.model import Note
from amem.upkeep.losing import dated, lost


def a_note(text, day=1):
    at = datetime(2024, 5, day, tzinfo=UTC)
    return Note(id="n", content=text, occurred_at=at, created_at=at)


def told(text, *said):
    return lost([a_note(one) for one in said], text)


@pytest.mark.parametrize(
    ("said", "text", "missing"),
    [
        ("Ana sold the boat for 900 euros.", "Ana sold the boat for euros.", "900"),
        ("The boat went to Tom last week.", "The boat went away last week.", "Tom"),
        ("We meet on Friday, at the harbour.", "We meet at the harbour.", "Friday"),
        ("The boat was bought in June.", "The boat was bought.", "June"),
        ("Ana does not eat any nuts.", "Ana does eat nuts.", "not"),
        ("Ana can't eat any nuts at all.", "Ana eats nuts.", "n't"),
        ("Olga isst keine Nüsse.", "Olga isst Nüsse.", "keine"),
        ("Ana vit sans voiture à Lyon.", "Ana vit à Lyon avec sa voiture.", "sans"),
        ("安娜不吃坚果。", "安娜吃坚果。", "不"),
    ],
)
def test_numbers_names_days_and_a_not_must_stay(said, text, missing):
    assert told(text, said) == f"the text leaves out {missing}; say all that the notes say"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Ana sold the red boat in Oslo.", "The red boat was sold by Ana, in Oslo."),
        ("I think I'm fine with the red boat.", "They are fine with the red boat, they think."),
        ("Das Boot liegt im Hafen neben dem Leuchtturm und dem Markt.", "Im Hafen liegt das Boot, beim Leuchtturm."),
        ("Ana never eats nuts.", "Ana does not eat nuts."),
    ],
)
def test_other_words_for_the_same_are_no_loss(said, text):
    assert told(text, said) is None


def test_a_note_that_is_hardly_told_is_named():
    said = ("Ana sold the red boat in the harbour.", "Ana sold the small cottage with its garden.")
    assert told("Ana sold the red boat in the harbour.", *said).startswith("the text tells too little of note 1")


def test_days_that_the_notes_named_from_their_own_are_told_by_code():
    notes = [a_note("I see the doctor tomorrow.", 1), a_note("I saw the doctor yesterday.", 3)]
    assert dated(notes, "Ana saw the doctor.") == "Ana saw the doctor. (tomorrow: 2024-05-02; yesterday: 2024-05-02)"
    assert dated(notes, "Ana saw the doctor on 2024-05-02.") == "Ana saw the doctor on 2024-05-02."
