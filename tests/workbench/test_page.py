from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from amem.llm.metering import Meter
from amem.testing import RecordedLLM
from amem.workbench.answers import Answers
from amem.workbench.cases import Case
from amem.workbench.comparing import Pair, report
from amem.workbench.page import cost, page, shown
from amem.workbench.sides import open_sides
from amem.workbench.trials import Trial
from amem.workbench.versioning import draft

HOSTILE = (
    "</td></table><script>alert(1)</script><img src=x onerror=alert(1)> "
    "\x00\x1b[2J\u202egnp.exe\ud800 & \"quoted\" 'too'"
)
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Tags(HTMLParser):
    """Collects tags and attributes, and checks that every tag is closed where it was opened."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def a_trial(text, request=None):
    return Trial(request=request, value={"notes": [{"turn": 0, "context": text, "keywords": [text], "tags": []}]})


def a_page(old, new, names=("v1", "v2")):
    case = Case.given("note", {"turns": [{"number": 0, "text": old}]})
    pairs = [Pair(case, a_trial(old), a_trial(new)), Pair(case, a_trial(old), Trial(problem=new, missing=True))]
    return page(pairs, report(pairs, *names, HOSTILE))


@pytest.mark.parametrize("text", [HOSTILE, "שלום world", "plain"])
def test_text_of_prompts_and_replies_cannot_act_on_the_page(text):
    made = a_page(text, f"{text} and more", names=(text, "v2"))
    tags = Tags(made)
    assert tags.open == []
    assert not {"script", "img", "link", "iframe", "a"} & set(tags.seen)
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", made)
    made.encode("utf-8")


def test_it_names_no_other_file_and_forbids_scripts():
    made = a_page("old", "new")
    tags = Tags(made)
    assert not [value for name, value in tags.attributes if name in {"src", "href"}]
    assert "url(" not in made
    assert "default-src 'none'" in made


def test_it_is_made_for_light_and_dark_and_small_screens():
    made = a_page("old", "new")
    assert "prefers-color-scheme: dark" in made
    assert 'name="viewport"' in made
    assert 'lang="en"' in made


def test_words_that_differ_are_marked_and_stand_side_by_side():
    made = a_page("Ana sold the boat.", "Ana sold the van.")
    assert "<mark>boat</mark>" in made
    assert "<mark>van</mark>" in made


def test_what_was_not_answered_is_said_with_its_reason():
    text = Tags(a_page("old", "nothing is recorded for this wording")).text
    assert "no reply on one side" in text
    assert "v2: nothing is recorded for this wording" in text
    assert "1 of 2 cases have a reply on both sides" in text


async def test_a_page_of_real_recordings_shows_every_case_and_is_the_same_each_time(shop):
    draft(shop.prompts, "v2", "v1")
    first, second = open_sides("v1", "v2", shop.prompts)
    answers = Answers(RecordedLLM(shop.recordings), Meter())
    cases = shop.cases()
    trials = await answers.all([(case, side) for side in (first, second) for case in cases])
    pairs = [Pair(*three) for three in zip(cases, trials[:4], trials[4:], strict=True)]
    found = report(pairs, "v1", "v2", "openai/local")
    made = page(pairs, found)
    assert made == page(pairs, found)
    for case in cases:
        assert f'id="{case.prompt}-{case.id}"' in made
    assert made.count("Both ask the same.") == 4


def test_characters_that_html_forbids_are_written_out():
    assert shown("a\x00b\u202ec\ud800") == "a\\u0000b\\u202ec\\ud800"
    assert shown("tab\tand\nline, العربية, 世") == "tab\tand\nline, العربية, 世"


def test_a_price_that_is_not_known_is_not_nothing():
    assert cost(0.0, 3) == "unknown"
    assert cost(0.0, 0) == "$0.0000"
    assert cost(0.5, 1) == "$0.5000 and 1 calls of unknown price"
