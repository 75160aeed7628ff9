from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

months = benchmarks_module("datasets.months")
opening = benchmarks_module("datasets.opening")
portraits = benchmarks_module("synthetic.portraits")
synthetic = benchmarks_module("synthetic.locomo")
writing = benchmarks_module("synthetic.writing")
Shape = benchmarks_module("synthetic.size").Shape

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NO_NAMES = {"What", "Where", "When", "From", "In", "On", "How", "Would", "Which", "Street", *WEEKDAYS, *months.MONTHS}
"""What stands with a capital in questions and is no invented name."""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("synthetic") / "synthetic-locomo.json"
    writing.write_locomo(Shape(size=1.0, conversations=2, questions=400, seed=11), path)
    return path


@pytest.fixture(scope="module")
def data(path):
    return opening.open_dataset(path)


def asked(data, *categories):
    """Every question of some categories, with the turns of its conversation and those of its evidence."""
    for conversation in data.conversations:
        turns = {turn.id: turn for turn in conversation.turns}
        for question in conversation.questions:
            if question.category in categories:
                yield conversation, question, [turns[turn] for turn in question.evidence]


def words(text):
    return set(re.findall(r"\w+", text))


def names(conversation, question):
    """The invented names in a question, but for the speakers'."""
    capitals = re.findall(r"\b[A-Z]\w+", question.question)
    return [name for name in capitals if name not in NO_NAMES and name not in conversation.speakers]


@pytest.fixture(scope="module")
def about(data):
    """Find the turns of a conversation in which one of some names is said."""
    found = {conversation.id: defaultdict(list) for conversation in data.conversations}
    for conversation in data.conversations:
        for turn in conversation.turns:
            for word in words(turn.text):
                found[conversation.id][word].append(turn)

    def turns_about(conversation, *some):
        turns = {turn.position: turn for name in some for turn in found[conversation.id][name]}
        return [turns[position] for position in sorted(turns)]

    return turns_about


def day(when):
    return f"{when.day} {months.MONTHS[when.month - 1]} {when.year}"


def month(when):
    return f"{months.MONTHS[when.month - 1]} {when.year}"


def meant(text, at):
    """What a told time means, worked out anew."""
    first = at.replace(day=1)
    if found := re.search(r"\bon (\d+ \w+ \d{4})", text):
        return found[1]
    if found := re.search(r"\blast (\w+day)\b", text):
        return f"The {found[1]} before {day(at)}"
    if found := re.search(r"\b(\w+) (days|years) ago", text):
        number = NUMBERS[found[1]]
        return day(at - timedelta(days=number)) if found[2] == "days" else str(at.year - number)
    return {
        "yesterday": day(at - timedelta(days=1)),
        "tomorrow": day(at + timedelta(days=1)),
        "last week": f"The week before {day(at)}",
        "last month": month(first - timedelta(days=1)),
        "next month": month(first + timedelta(days=31)),
    }[re.search(r"yesterday|tomorrow|last week|last month|next month", text)[0]]


TIMES = r"yesterday|tomorrow|last |next month|ago|\bon \d"


def told(turn):
    """A turn's text, with what a time in it means."""
    return f"{turn.text} {meant(turn.text, turn.at)}" if re.search(TIMES, turn.text) else turn.text


def test_the_file_is_in_the_official_form_and_says_that_it_is_synthetic(path, data):
    items = json.loads(path.read_text())
    for number, item in enumerate(items, start=1):
        assert set(item) - {"synthetic"} == {
            "sample_id", "conversation", "qa", "event_summary", "observation", "session_summary",
        }  # fmt: skip
        assert item["sample_id"] == f"synthetic-{number}"
        assert item["synthetic"].startswith(
            "synthetic: generated in the format of LoCoMo, no part of it is LoCoMo's data"
        )
        assert "seed 11" in item["synthetic"]
        speakers = [turn["speaker"] for turn in item["conversation"]["session_1"]]
        assert all(one != other for one, other in pairwise(speakers))
    assert (data.name, data.restricted) == ("synthetic-locomo", False)
    assert data.warnings == ("synthetic-locomo.json is synthetic: generated texts in LoCoMo's format",)


def test_questions_are_of_all_categories_and_each_stands_once(data):
    for conversation in data.conversations:
        counts = Counter(question.category for question in conversation.questions)
        assert set(counts) == {"1", "2", "3", "4", "5"}
        assert counts["4"] > counts["5"] > counts["2"] > counts["1"] > counts["3"]
        assert len({question.question for question in conversation.questions}) == len(conversation.questions) >= 330
        order = [question.category == "5" for question in conversation.questions]
        assert order == sorted(order)


def test_each_answer_stands_in_its_evidence(data):
    for _, question, evidence in asked(data, "1", "4"):
        texts = " | ".join(turn.text for turn in evidence)
        for part in question.gold.split(", "):
            assert words(part) <= words(texts), question


def test_each_date_is_what_the_evidence_means(data):
    found = list(asked(data, "2"))
    assert len(found) > 100
    for _, question, (turn,) in found:
        assert question.gold == meant(turn.text, turn.at), (question, turn)


def test_every_turn_about_a_thing_is_evidence_or_was_overtaken_by_it(data, about):
    for conversation, question, evidence in asked(data, "1", "2", "3", "4"):
        turns = about(conversation, *names(conversation, question))
        if not names(conversation, question):
            continue  # of a speaker: checked below
        if "according to" in question.question:
            speaker = question.question.removesuffix("?").rpartition("to ")[2]
            turns = [turn for turn in turns if turn.speaker == speaker]
        later = [turn for turn in turns if turn.position > evidence[-1].position]
        assert later == [], question
        if question.category == "2" or "colour" in question.question or "according to" in question.question:
            assert turns == evidence, question


def test_an_update_holds_and_a_correction_counts(data, about):
    kinds = Counter()
    for conversation, question, evidence in asked(data, "4"):
        turns = about(conversation, *names(conversation, question))
        if " work now?" in question.question or question.question.startswith("How many crowns"):
            kinds[question.question.startswith("How")] += len(turns) > 1
            assert evidence == turns[-1:]
            assert len(turns) == 1 or question.gold not in turns[0].text
    assert kinds[True] > 10
    assert kinds[False] > 20


def test_what_was_before_is_what_was_told_last_but_one(data, about):
    found = [one for one in asked(data, "1") if " right before " in one[1].question]
    longer = 0
    for conversation, question, evidence in found:
        turns = about(conversation, names(conversation, question)[0])
        assert evidence == turns[-2:]
        assert question.gold in turns[-2].text
        longer += len(turns) > 2
    assert longer > 3


def test_both_sides_of_a_contradiction_are_asked_for(data):
    found = [question for _, question, _ in asked(data, "4") if "according to" in question.question]
    clubs = Counter(question.question.partition(", according")[0] for question in found)
    golds = {question.question.partition(", according")[0]: set() for question in found}
    for question in found:
        golds[question.question.partition(", according")[0]].add(question.gold)
    both = [club for club, count in clubs.items() if count == 2]
    assert len(both) > 5
    assert all(len(golds[club]) == 2 for club in both)


def test_several_hops_need_several_turns_of_different_sessions(data):
    for _, question, evidence in asked(data, "1"):
        assert len({turn.session for turn in evidence}) == len(evidence) >= 2
        assert (
            all(not words(question.gold) <= words(turn.text) for turn in evidence[:-1]) or "before" in question.question
        )


def test_a_speaker_of_whom_something_is_asked_never_said_it(data, about):
    for conversation, question, evidence in asked(data, "5"):
        assert question.gold is None
        assert question.trap
        (who,) = [name for name in conversation.speakers if name in words(question.question)]
        some = names(conversation, question)
        if question.question.startswith("What did") and " pay " in question.question:
            assert all("crowns" not in turn.text for turn in about(conversation, *some))
        elif some:
            assert all(turn.speaker != who for turn in about(conversation, *some)), question
            assert words(question.trap.partition(",")[0]) <= words(" ".join(map(told, evidence))), question


def test_what_a_speaker_tells_of_themselves_is_asked_for_in_other_words_and_of_one_only(data):
    found = 0
    for conversation, question, evidence in asked(data, "4", "5"):
        if names(conversation, question):
            continue
        (who,) = [name for name in conversation.speakers if name in words(question.question)]
        feature = next(one for one in portraits.PORTRAIT if one.asked.format(who=who) == question.question)
        start, end = feature.told.split("{value}")
        saying = [turn for turn in conversation.turns if start in turn.text and end in turn.text]
        assert saying == evidence
        assert (saying[0].speaker == who) == (question.category == "4")
        assert (question.gold or question.trap) in saying[0].text
        found += 1
    assert found == 2 * 2 * len(portraits.PORTRAIT)


def test_what_can_be_concluded_is_said_with_its_ground(data):
    for _, question, (turn,) in asked(data, "3"):
        verdict, _, ground = question.gold.partition("; ")
        assert verdict in ("Likely yes", "Likely no")
        assert ground.partition(" ")[2] in turn.text


def test_a_picture_tells_what_its_turn_does_not(data):
    pictured = [(question.gold, turn.text) for _, question, (turn, *_) in asked(data, "4") if "[image:" in turn.text]
    assert len(pictured) > 5
    for gold, text in pictured:
        said, _, seen = text.partition("[image:")
        assert gold in seen
        assert gold not in said


@pytest.mark.parametrize(("size", "words_"), [(0.05, 1_200), (0.5, 12_000), (5, 120_000)])
def test_a_conversation_is_as_many_context_windows_long_as_was_asked_for(size, words_):
    (item,) = synthetic.generate(Shape(size=size, conversations=1, seed=2))
    turns = [turn for name, said in item["conversation"].items() if re.fullmatch(r"session_\d+", name) for turn in said]
    assert sum(len(turn["text"].split()) for turn in turns) == pytest.approx(words_, rel=0.25)
    assert len(item["qa"]) <= 200


def test_the_same_shape_gives_the_same_content_and_another_seed_another():
    one, same, other = (synthetic.generate(Shape(size=0.1, conversations=2, seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert one[0]["conversation"] != one[1]["conversation"]


@pytest.mark.parametrize("given", [{"size": 0}, {"size": -1}, {"size": 10**6}, {"conversations": 0}, {"questions": 0}])
def test_a_shape_that_makes_no_sense_is_an_input_error(given):
    with pytest.raises(InputError):
        synthetic.generate(Shape(**{"conversations": 1, **given}))


def test_no_name_is_given_twice_however_many_are_needed():
    supply = benchmarks_module("synthetic.names").Names(Random(1))
    given = [supply.new() for _ in range(3000)]
    assert len(set(given)) == len(given)
