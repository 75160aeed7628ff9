from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from amem.interfaces.cli.shipped import benchmarks_module

dialsim = benchmarks_module("datasets.dialsim")
draw = benchmarks_module("datasets.dialsim_draw")
files = benchmarks_module("datasets.dialsim_files")
from_dialsim = benchmarks_module("datasets.from_dialsim")
portraits = benchmarks_module("synthetic.portraits")
synthetic = benchmarks_module("synthetic.dialsim")
writing = benchmarks_module("synthetic.writing")
Shape = benchmarks_module("synthetic.size").Shape

RELATIVES = "cousin|neighbour|uncle|aunt|niece|nephew|colleague|flatmate"
SHAPE = Shape(size=0.8, conversations=2, seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic") / "shows"
    writing.write_dialsim(SHAPE, folder)
    return folder


@pytest.fixture(scope="module")
def shows(folder):
    return dialsim.load(folder)


@pytest.fixture(scope="module")
def asked(shows):
    """Every question of several draws, with all that had been said by then, and the turns of its evidence."""
    found = []
    for seed in range(4):
        for conversation in from_dialsim.dataset(shows, draw.draw(shows, seed)).conversations:
            turns = {turn.id: turn for turn in conversation.turns}
            for question in conversation.questions:
                evidence = [turns[turn] for turn in question.evidence]
                found.append((question, conversation.history(question), evidence))
    return found


def of(asked, *kinds):
    some = [one for one in asked if one[0].category in kinds]
    assert some
    return some


@cache
def words(text):
    return frozenset(re.findall(r"\w+", text))


def said_of(history, name):
    """The turns that have a name, or all words of one."""
    return [turn for turn in history if words(name) <= words(turn.text)]


def person(question):
    """The relative that a question names first."""
    return re.search(r"\b\w+'s \w+ ([A-Z]\w+)", question.question)[1]


def jobs(history, name):
    """Where a relative has worked, as far as it was told, each with its turn."""
    told = [(re.search(r"\bat (the [a-z ]+ [A-Z]\w+)", turn.text), turn) for turn in said_of(history, name)]
    return [(found[1], turn) for found, turn in told if found]


def test_the_files_are_in_the_official_form_and_say_that_they_are_synthetic(folder, shows):
    assert sorted(path.name for path in folder.iterdir())[:4] == [
        "synthetic1_about.json", "synthetic1_dialsim.pickle", "synthetic1_oracle_fan.pickle",
        "synthetic1_oracle_tkg.pickle",
    ]  # fmt: skip
    about = json.loads((folder / "synthetic1_about.json").read_text())
    assert about["note"].startswith("synthetic: generated in the format of DialSim, no part of it is DialSim's data")
    assert about["agent"] == shows.shows[0].agent
    assert all("synthetic" in scene.episode for show in shows.shows for scene in show.scenes)
    assert shows.warnings == ("shows is synthetic: generated texts in DialSim's format",)
    data = from_dialsim.dataset(shows, draw.draw(shows, 0))
    assert (data.name, data.restricted) == ("synthetic-dialsim", False)


def test_nearly_every_scene_asks_a_question_and_all_kinds_are_asked(shows, asked):
    scenes = sum(len(show.scenes) for show in shows.shows)
    assert len(asked) >= 4 * scenes * 0.95
    assert {question.category for question, _, _ in asked} == {*dialsim.HARD, *dialsim.EASY}
    letters = Counter(question.right for question, _, _ in asked)
    assert all(0.1 < letters[letter] / len(asked) < 0.35 for letter in "ABCDE")


def test_the_official_simulator_finds_a_harder_question_wherever_there_is_an_easy_one():
    """Else it stops with an error where it draws the other kind."""
    bare = 0
    for show in synthetic.generate(Shape(size=0.06, conversations=40, seed=1)):
        for scene in (scene for episode in show.dialsim.values() for scene in episode.values()):
            assert any(scene["hard_q"].values()) or not any(scene["easy_q"].values())
            bare += not any(scene["hard_q"].values())
    assert bare


def test_a_pickles_bytes_do_not_depend_on_which_texts_are_one_object():
    one, other = (b"some text".decode() for _ in range(2))
    assert one is not other
    assert writing.pickled([one, one]) == writing.pickled([one, other])


def test_options_differ_and_the_last_is_right_only_where_nobody_knows(asked):
    for question, _, _ in asked:
        assert len(set(question.options)) == 5
        unknown = "fu" in question.category or "unans" in question.category
        assert (question.right == "E") == unknown != question.answerable


def test_an_answer_stands_in_its_evidence_and_was_said_before_the_question(asked):
    for question, history, evidence in asked:
        if question.answerable:
            texts = " | ".join(f"{turn.speaker} {turn.text}" for turn in evidence)
            assert question.gold in texts, question
            assert all(turn.position < len(history) for turn in evidence)


def test_nothing_is_asked_that_its_own_scene_tells(asked):
    for _, history, evidence in asked:
        assert history[-1].session not in {turn.session for turn in evidence}


def test_what_holds_now_is_what_was_told_last(asked):
    for question, history, evidence in of(asked, "cur"):
        assert jobs(history, person(question))[-1] == (question.gold, evidence[-1])
    changed = [len(jobs(history, person(question))) > 1 for question, history, _ in of(asked, "cur")]
    assert sum(changed) / len(changed) > 0.15


def test_what_held_in_a_month_is_what_was_told_in_it_and_no_more(asked):
    for question, history, _ in of(asked, "past"):
        month, year = re.search(r"told in (\w+) (\d+)", question.question).groups()
        told = [
            job for job, turn in jobs(history, person(question)) if re.fullmatch(rf"{month} \d+, {year}", turn.stated)
        ]
        assert told == [question.gold]
        assert jobs(history, person(question))[-1][0] != question.gold


def test_a_place_leads_to_the_person_and_on_to_the_place_before_or_after(asked):
    for question, history, _ in of(asked, "past_cur", "cur_past"):
        place = re.search(r"at (the [a-z ]+ [A-Z]\w+)", question.question)[1]
        told = next(
            turn.text for turn in said_of(history, place) if f"{place} " in turn.text or f"{place}." in turn.text
        )
        who = re.search(rf"({RELATIVES}) ([A-Z]\w+)|([A-Z]\w+), my", told)
        places = [job for job, _ in jobs(history, who[2] or who[3])]
        if question.category == "past_cur":
            assert place in places[:-1]
            assert places[-1] == question.gold
        else:
            assert places[-2:] == [question.gold, place]


def test_two_things_of_the_past_meet_at_the_moment_of_the_second(asked):
    for question, history, (_, move) in of(asked, "past_past"):
        town = re.search(r"moved to (\w+)", question.question)[1]
        assert town in move.text
        before = [place for place, turn in jobs(history, person(question)) if turn.position < move.position]
        assert before[-1] == question.gold


def test_a_street_is_that_of_the_place_of_now(asked):
    for question, history, (job, street) in of(asked, "cur_cur"):
        place, turn = jobs(history, person(question))[-1]
        assert turn == job
        assert f"{place.removeprefix('the ')} is in {question.gold}" in street.text


def test_what_is_still_to_come_has_not_been_said(asked):
    for question, history, _ in of(asked, "fu", "fu_past", "fu_fu"):
        assert jobs(history, person(question)) == []
    for question, history, _ in of(asked, "past_fu"):
        place = question.question.rstrip("?").rpartition("after ")[2]
        assert jobs(history, person(question))[-1][0] == place
    for question, history, _ in of(asked, "fu_cur"):
        place = re.search(r"is the [a-z ]+ ([A-Z]\w+) now", question.question)[1]
        assert said_of(history, place) == []
    for question, history, _ in of(asked, "before_event_unans"):
        assert said_of(history, re.search(r"called (\w+)", question.question)[1]) == []


def test_a_single_fact_is_the_owners_and_of_its_day(asked):
    for question, history, (turn,) in of(asked, "ans_w_time"):
        date, owner, name = re.search(
            r"On (\w+ \d+, \d+), (\w+) spoke of the [a-z]+ called (\w+)", question.question
        ).groups()
        assert said_of(history, name) == [turn]
        assert (turn.stated, turn.speaker) == (date, owner)
    kinds = Counter()
    for question, history, (turn,) in of(asked, "ans_wo_time"):
        if found := re.search(r"Whose is .* called (\w+)\?", question.question):
            assert said_of(history, found[1]) == [turn]
            assert turn.speaker == question.gold
        elif found := re.search(r"does the [a-z ]+ (\w+) meet, according to (\w+)\?", question.question):
            both = said_of(history, found[1])
            assert [one for one in both if one.speaker == found[2]] == [turn]
            assert len(both) == 2
        else:
            assert any(one.asked.format(who=turn.speaker) in question.question for one in portraits.PORTRAIT)
        kinds[question.question.split(": ", 1)[1].split()[0]] += 1
    assert {"Whose", "On"} < set(kinds)


def test_what_was_never_said_of_somebody_is_not_known(asked):
    for question, history, _ in of(asked, "dont_know_unans", "dont_know_unans_time"):
        if found := re.search(r"called (\w+)", question.question):
            told = said_of(history, found[1])
            assert len(told) == 1
            if " pay " in question.question:
                assert "crowns" not in told[0].text
            else:
                assert told[0].speaker not in question.question.split(": ", 1)[1]
        else:
            who = next(one for one in {turn.speaker for turn in history} if one in question.question.split(": ", 1)[1])
            feature = next(one for one in portraits.PORTRAIT if one.asked.format(who=who) in question.question)
            start = feature.told.partition("{value}")[0]
            assert all(turn.speaker != who for turn in history if start in turn.text)


def test_evidence_of_the_oracles_lies_in_the_sessions_of_their_dates(shows):
    for show in shows.shows:
        dates = {scene.ordinal: scene.date for scene in show.scenes}
        for scene in show.scenes:
            for kind, candidates in (*scene.hard.items(), *scene.easy.items()):
                for one in candidates:
                    told = [dates[int(turn.partition(":")[0])] for turn in one.evidence]
                    if kind in dialsim.HARD or kind in dialsim.DATED:
                        assert list(one.dates)[: len(told)] == told[: len(one.dates)]


def test_a_show_is_as_many_context_windows_long_as_was_asked_for(tmp_path):
    lengths = []
    for size in (0.25, 2.5):
        writing.write_dialsim(Shape(size=size, conversations=1, questions=5, seed=1), tmp_path / str(size))
        data = dialsim.load(tmp_path / str(size))
        lengths.append(sum(len(one.text.split()) for scene in data.shows[0].scenes for one in scene.utterances))
        assert len(draw.draw(data, 0).questions) <= 5
    assert lengths == [pytest.approx(6_000, rel=0.25), pytest.approx(60_000, rel=0.25)]


def test_all_bytes_are_the_same_whatever_the_hash_seed(tmp_path):
    code = (
        "import sys, pathlib, hashlib\n"
        "from benchmarks.datasets import dialsim, dialsim_draw, dialsim_plan\n"
        "from benchmarks.synthetic import writing\n"
        "from benchmarks.synthetic.size import Shape\n"
        "out, shape = pathlib.Path(sys.argv[1]), Shape(size=0.1, conversations=1, seed=4)\n"
        "writing.write_locomo(shape, out / 'locomo.json')\n"
        "writing.write_dialsim(shape, out / 'shows')\n"
        "dialsim_plan.write(dialsim_draw.draw(dialsim.load(out / 'shows'), 3), out / 'plan.jsonl')\n"
    )
    found = defaultdict(set)
    for seed in ("0", "1"):
        out = tmp_path / seed
        subprocess.run([sys.executable, "-c", code, str(out)], cwd=Path(__file__).parents[2], check=True, timeout=300,
                       env=os.environ | {"PYTHONHASHSEED": seed})  # fmt: skip
        for path in filter(Path.is_file, out.rglob("*")):
            found[path.name].add(path.read_bytes())
    assert len(found) == 6
    assert all(len(versions) == 1 for versions in found.values())


def test_the_mirror_in_json_is_the_same_data(folder, shows, tmp_path):
    text = ",".join(files.as_json(parts(), show) for show, parts in files.source(folder).parts.items())
    (tmp_path / "mirror.json").write_text(f"{{{text}}}")
    assert dialsim.load(tmp_path / "mirror.json").shows == shows.shows
