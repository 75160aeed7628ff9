"""What the window prompt of v1 shows."""

from __future__ import annotations

from amem.prompts import PromptSet


def a_note(number, *, near=None):
    note = {"date": "2024-02-03", "speaker": "Ana", "text": "Bread again.", "context": "", "keywords": [], "tags": []}
    return {"number": number, **note, **({} if near is None else {"near": near})}


def test_a_window_shows_each_number_before_and_behind_its_note():
    given = {"neighbours": [a_note(0)], "notes": [a_note(1, near=[0])]}
    content = PromptSet("v1").render("link_evolve", given).messages[1].content
    assert "<note 0 date" in content
    assert "</note 0>\n" in content
    assert "</note 1> near [0]\n" in content


def test_a_window_says_which_numbers_are_older_and_which_are_new():
    given = {"neighbours": [a_note(0), a_note(1)], "notes": [a_note(2, near=[0, 1]), a_note(3, near=[2])]}
    content = PromptSet("v1").render("link_evolve", given).messages[1].content
    assert '"neighbour": 0 to 1' in content
    assert '"because": 2 to 3' in content


def test_a_window_without_neighbours_has_nothing_to_change():
    given = {"neighbours": [], "notes": [a_note(0, near=[]), a_note(1, near=[0])]}
    content = PromptSet("v1").render("link_evolve", given).messages[1].content
    assert '"changes": an empty list' in content
    assert "</note 0>\n" in content
