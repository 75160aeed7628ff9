from __future__ import annotations

from collections import Counter

import pytest
from dialsim_support import FIXTURE, UNKNOWN, fixture_parts, long_show, question, scene, write_json, write_pickles

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

dialsim = benchmarks_module("datasets.dialsim")
draw = benchmarks_module("datasets.dialsim_draw")
from_dialsim = benchmarks_module("datasets.from_dialsim")
names = benchmarks_module("datasets.dialsim_names")
plans = benchmarks_module("datasets.dialsim_plan")

# What the selection code of jiho283/Simulator 624b3b0 asks of `long_show`, with random.seed(seed) and its sets sorted:
# episode, scene, utterance, asker, kind, place.
OFFICIAL = {
    0: [(1, 1, 3, "Ben", "ans_wo_time", 1), (1, 2, 5, "Cleo", "past_past", 0), (1, 3, 4, "Dora", "past", 1),
        (2, 2, 6, "Cleo", "cur", 2), (2, 3, 3, "Ben", "past", 1), (3, 1, 6, "Cleo", "dont_know_unans", 81),
        (3, 2, 5, "Dora", "ans_wo_time", 90), (3, 3, 4, "Cleo", "past_cur", 0), (3, 4, 3, "Dora", "past", 1)],
    1: [(1, 1, 3, "Cleo", "cur_past", 0), (1, 3, 4, "Dora", "cur_past", 2), (2, 1, 7, "Ana", "cur_fu", 0),
        (2, 2, 9, "Cleo", "past_past", 1), (2, 3, 3, "Dora", "dont_know_unans", 60), (3, 1, 6, "Cleo", "fu_cur", 2),
        (3, 2, 2, "Ben", "cur_cur", 0), (3, 3, 4, "Dora", "ans_wo_time", 100), (3, 4, 3, "Cleo", "fu_fu", 2)],
    2: [(1, 1, 3, "Ben", "dont_know_unans_time", 0), (1, 2, 2, "Cleo", "ans_wo_time", 10), (1, 3, 4, "Ana", "past", 1),
        (2, 1, 7, "Ana", "ans_wo_time", 40), (2, 2, 4, "Ana", "past", 1), (2, 3, 3, "Ana", "past_cur", 0),
        (3, 1, 6, "Cleo", "cur_past", 2), (3, 2, 5, "Dora", "past_fu", 0), (3, 3, 4, "Cleo", "past_cur", 0)],
}  # fmt: skip


@pytest.fixture
def fixture():
    return dialsim.load(FIXTURE)


@pytest.fixture
def long(tmp_path):
    return dialsim.load(write_pickles(tmp_path / "long", long_show()))


def shown(questions):
    return [(int(one.episode[5]), one.scene, one.utterance, one.asker, one.bucket, one.place) for one in questions]


@pytest.mark.parametrize("seed", OFFICIAL)
def test_a_seed_asks_what_the_official_simulator_asks_with_it(long, seed):
    assert shown(draw.draw(long, seed).questions) == OFFICIAL[seed]


def test_the_first_episodes_are_asked_the_same_whether_more_follow_or_not(long):
    some, every = draw.draw(long, 2, episodes=2), draw.draw(long, 2)
    assert some.questions == every.questions[: len(some.questions)]
    assert {one.episode for one in some.questions} == {"S01E01 Made Up.txt", "S01E02 Made Up.txt"}


def many(tmp_path, **given):
    """Draw from one scene with many seeds."""
    script = "Ross: First.\nAna: One.\nRoss: Second.\nBen: Two.\nAna: Three.\nCleo: Four.\nDora: Five.\nRoss: Last.\n"
    parts = {"friends_dialsim": {"E1 .txt": {1: scene("March 3, 2001", given.pop("script", script), **given)}}}
    data = dialsim.load(write_pickles(tmp_path / "many", parts))
    return [one for seed in range(300) for one in draw.draw(data, seed).questions]


def test_questions_are_asked_near_the_agents_later_lines_by_somebody_near(tmp_path):
    asked = Counter((one.utterance, one.asker) for one in many(tmp_path, hard={"cur": [question("Who?")]}))
    assert set(asked) == {(2, "Ana"), (2, "Ben"), (7, "Ana"), (7, "Cleo"), (7, "Dora")}


def test_nobody_asks_where_the_agent_is_silent_or_alone(tmp_path):
    assert many(tmp_path, hard={"cur": [question("Who?")]}, script="Ana: One.\nBen: Two.\n") == []
    assert many(tmp_path, hard={"cur": [question("Who?")]}, script="Ross: One.\nAll: Two.\nYoung Ross: Three.\n") == []


def test_what_is_not_known_yet_is_asked_about_in_a_fifth_of_the_cases(tmp_path):
    hard = {name: [question(name, 4 if "fu" in name else 0)] for name in ("past", "fu", "past_fu", "cur_fu", "fu_fu")}
    asked = many(tmp_path, hard=hard)
    assert 0.12 < sum("fu" in one.bucket for one in asked) / len(asked) < 0.3


def test_quizzes_are_asked_in_three_of_ten_cases_where_both_kinds_are_there(tmp_path):
    asked = many(tmp_path, hard={"cur": [question("Who?")]}, easy={"ans_wo_time": {4: question("Whose?")}})
    assert 0.22 < sum(one.bucket == "ans_wo_time" for one in asked) / len(asked) < 0.38
    alone = many(tmp_path, easy={"ans_wo_time": {4: question("Whose?")}})
    assert {(one.bucket, one.place) for one in alone} == {("ans_wo_time", 4)}


@pytest.mark.parametrize("text", ["Who came in 2001?", "Who left in March 2001?"])
def test_questions_that_name_the_present_are_not_asked(tmp_path, text):
    assert many(tmp_path, hard={"cur": [question(text)]}) == []


def test_nothing_is_asked_whose_answer_is_no_option(tmp_path):
    assert many(tmp_path, hard={"cur": [question("Who?") | {"answer": "nobody"}]}) == []


def test_nobody_asks_what_is_worded_for_others_only(tmp_path):
    only_ben = question("Who?") | {"questions": {"Ben": "Who, then?"}}
    assert {one.asker for one in many(tmp_path, hard={"cur": [only_ben]})} == {"Ben"}


def test_a_plan_is_written_and_read_without_any_text_of_the_data(fixture, tmp_path):
    plan = draw.draw(fixture, 7)
    plans.write(plan, tmp_path / "plan.jsonl")
    assert plans.read(tmp_path / "plan.jsonl") == plan
    text = (tmp_path / "plan.jsonl").read_text()
    assert len(text.splitlines()) == 1 + 9
    assert "kayak" not in text.replace("The Red Kayak.txt", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "", "line 1"),
        (lambda text: text.replace('"version":1', '"version":2'), "line 1 is none of a DialSim plan: version"),
        (lambda text: text.replace('"scene":2', '"scene":"x"', 1), "line 3 is none of a DialSim plan: scene"),
        (lambda text: text + "more\n", "line 11"),
    ],
)
def test_a_damaged_plan_is_named_with_its_line(fixture, tmp_path, change, message):
    path = tmp_path / "plan.jsonl"
    plans.write(draw.draw(fixture, 7), path)
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        plans.read(path)


def friends(fixture, seed=7, **given):
    data = from_dialsim.dataset(fixture, draw.draw(fixture, seed), **given)
    return data.conversation("friends")


def test_a_show_is_a_conversation_whose_questions_come_in_its_middle(fixture):
    conversation = friends(fixture)
    assert (conversation.agent, conversation.speakers) == ("Ross", ("Monica", "Ross", "Joey", "Phoebe"))
    assert [len(turns) for turns in conversation.sessions.values()] == [6, 6, 5]
    first, second, third = conversation.questions
    assert conversation.history(first)[-1].text == "I still have the lesson voucher for you."
    assert [first.after, second.after, third.after] == [4, 11, 16]
    assert second.question == "Joey: What does Monica do on Mondays now?"
    assert second.at == conversation.history(second)[-1].at
    assert second.evidence_sessions == (conversation.turns[0].session,)


def test_the_options_are_shown_with_letters_in_one_sentence_or_not_at_all(fixture):
    asked = "Joey: What does Monica do on Mondays now?"
    options = ("Swimming lessons", "Night show", "Baking", "Painting", UNKNOWN)
    structured = friends(fixture).questions[1]
    letters = "".join(f"\n\t({letter}) {option}" for letter, option in zip("ABCDE", options, strict=True))
    assert (structured.shown, structured.options) == (asked + letters, options)
    assert (structured.right, structured.gold) == ("A", "Swimming lessons")
    loose = friends(fixture, answers="unstructured").questions[1]
    assert loose.shown == f"{asked} Swimming lessons? or Night show? or Baking? or Painting? or you don't know?"
    assert (loose.right, loose.gold, loose.options) == (None, "Swimming lessons", options)
    free = friends(fixture, answers="open").questions[1]
    assert (free.shown, free.gold, free.options) == (asked, "Swimming lessons", ())


def test_where_no_option_is_right_the_answer_is_not_known(fixture):
    first = friends(fixture).questions[0]
    assert (first.category, first.answerable, first.right, first.gold) == ("fu", False, "E", UNKNOWN)
    assert {friends(fixture, answers=way).questions[0].gold for way in ("unstructured", "open")} == {"I don't know."}


def test_a_wording_for_the_asker_is_used_by_that_asker_only(tmp_path):
    parts = fixture_parts("friends")
    for episode in parts["friends_dialsim"].values():
        for one in episode.values():
            one["hard_q"] = {"cur": [question("Who is it?", Joey="Who, I ask, is it?")]}
            one["easy_q"] = {}
    data = dialsim.load(write_json(tmp_path / "worded.json", parts))
    asked = {one.question for seed in range(20) for one in friends(data, seed).questions}
    assert "Joey: Who, I ask, is it?" in asked
    assert {one for one in asked if "I ask" not in one} == {"Monica: Who is it?", "Phoebe: Who is it?"}


def test_evidence_of_a_later_scene_of_the_same_day_is_not_counted(tmp_path):
    parts = fixture_parts("friends")
    for episode in parts["friends_dialsim"].values():
        for one in episode.values():
            one["date"] = "March 3, 2001"
    data = dialsim.load(write_json(tmp_path / "one_day.json", parts))
    for asked in (one for seed in range(20) for one in friends(data, seed).questions):
        if asked.evidence_sessions:
            sessions = {turn.session for turn in friends(data).history(asked)}
            assert set(asked.evidence_sessions) <= sessions


def test_a_name_without_words_is_no_turn_and_moves_no_question(tmp_path):
    parts = fixture_parts("friends")
    first = parts["friends_dialsim"]["S01E01 The Red Kayak.txt"][1]
    first["script"] = "Phoebe:\n" + first["script"]
    data = dialsim.load(write_json(tmp_path / "silent.json", parts))
    conversation = friends(data)
    assert all(turn.text for turn in conversation.turns)
    assert [turn.position for turn in conversation.turns] == list(range(17))
    for asked in conversation.questions:
        assert conversation.history(asked)[-1].speaker == "Ross"


def test_names_are_swapped_or_replaced_as_the_simulator_does_it():
    text = "Ross: Hi Monica, where is Rachel?"
    assert names.renamer("friends", "shuffle")(text) == "Phoebe: Hi Joey, where is Chandler?"
    assert names.renamer("friends", "new_name")(text) == "Robert: Hi Patricia, where is Linda?"
    assert names.renamer("friends", "original")(text) == text
    with pytest.raises(InputError, match="no other names for the show 'seinfeld'"):
        names.renamer("seinfeld", "shuffle")


def test_other_names_stand_everywhere(fixture):
    conversation = friends(fixture, names="new_name")
    assert (conversation.agent, conversation.speakers) == ("Robert", ("Patricia", "Robert", "John", "Jennifer"))
    for name in ("Ross", "Monica", "Joey", "Phoebe"):
        assert name not in conversation.model_dump_json()


def test_a_plan_for_other_data_is_refused(fixture, tmp_path):
    plan = draw.draw(fixture, 7)
    parts = fixture_parts()
    parts["friends_dialsim"]["S01E01 The Red Kayak.txt"][1]["script"] += "Ross: More.\n"
    other = dialsim.load(write_json(tmp_path / "other.json", parts))
    with pytest.raises(InputError, match="the plan was drawn from another 'friends' than the data has"):
        from_dialsim.dataset(other, plan)
    moved = plan.model_copy(update={"questions": (plan.questions[0].model_copy(update={"place": 9}),)})
    with pytest.raises(InputError, match="the plan names the fu question 9"):
        from_dialsim.dataset(fixture, moved)
