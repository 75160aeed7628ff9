from __future__ import annotations

from datetime import UTC, datetime

import pytest
from dialsim_support import FIXTURE, UNKNOWN, fixture_parts, question, scene, write_json, write_pickles, write_zip

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

dialsim = benchmarks_module("datasets.dialsim")

EPISODE = "S01E01 The Red Kayak.txt"


@pytest.fixture
def folder(tmp_path):
    return write_pickles(tmp_path / "pickles", fixture_parts())


def test_the_shows_are_read_with_their_scenes_in_order(folder):
    data = dialsim.load(folder)
    assert [(show.name, show.agent, len(show.scenes)) for show in data.shows] == [
        ("bigbang", "Sheldon", 3), ("friends", "Ross", 3), ("theoffice", "Michael", 3),
    ]  # fmt: skip
    last = data.shows[1].scenes[2]
    assert (last.episode, last.number, last.ordinal) == ("S01E02 Owl Hours.txt", 1, 3)
    assert (last.date, last.at) == ("July 9, 2001", datetime(2001, 7, 9, tzinfo=UTC))
    assert [(one.speaker, one.text) for one in last.utterances][:2] == [
        ("Phoebe", "Ilse sold the bakery and moved to Lisbon."), ("Ross", "Already? She opened it in spring."),
    ]  # fmt: skip


def test_questions_have_their_options_answer_and_dates(folder):
    second = dialsim.load(folder, ["friends"]).shows[0].scenes[1]
    (past,) = second.hard["past"]
    assert (past.default, past.options[past.right], past.dates) == (
        "Where did Joey work in March 2001?", "Museum", ("May 12, 2001",),
    )  # fmt: skip
    (timed,) = second.easy["ans_w_time"]
    assert (timed.place, timed.dates) == (21, ("March 3, 2001",))
    (unknown,) = second.easy["dont_know_unans"]
    assert unknown.options[unknown.right] == UNKNOWN


def test_pickles_a_zip_and_the_mirror_in_json_are_the_same_data(folder, tmp_path):
    zipped = write_zip(tmp_path / "d.zip", {path.name: path.read_bytes() for path in folder.iterdir()})
    nested = write_pickles(tmp_path / "repository" / "data", fixture_parts(), protocol=2)
    expected = dialsim.load(folder).shows
    for path in (zipped, FIXTURE, nested.parent):
        assert dialsim.load(path).shows == expected, path


def read(tmp_path, *, script="Ana: Hello.\nRoss: Hello.\n", date="March 3, 2001", asked=(), tkg=None, **others):
    """Read a show of one scene."""
    parts = {"friends_dialsim": {"E": {1: scene(date, script, {"cur": list(asked)}, **others)}}}
    if tkg is not None:
        parts["friends_oracle_tkg"] = {"E": {1: {"cur": tkg}}}
    return dialsim.load(write_pickles(tmp_path / "one", parts)).shows[0].scenes[0]


@pytest.mark.parametrize("tkg", [[["May 1, 2000"]], {"Who?": ["May 1, 2000"]}])
def test_an_oracle_is_a_list_beside_the_questions_or_goes_by_their_wording(tmp_path, tkg):
    assert read(tmp_path, asked=[question("Who?")], tkg=tkg).hard["cur"][0].dates == ("May 1, 2000",)


@pytest.mark.parametrize("tkg", [None, [], {}])
def test_where_the_oracle_says_nothing_no_date_is_known(tmp_path, tkg):
    assert read(tmp_path, asked=[question("Who?")], tkg=tkg).hard["cur"][0].dates == ()


def test_a_line_without_a_colon_goes_on_with_the_one_before_and_credits_are_left_out(tmp_path):
    script = "Story: Somebody\n\nAna: One.\n  and two \nTeleplay: Nobody\nRoss: At 9:30.\n"
    found = read(tmp_path, script=script).utterances
    assert [(one.speaker, one.text) for one in found] == [("Ana", "One.\nand two"), ("Ross", "At 9:30.")]
    assert found[0].first_line == "Ana: One."


def test_an_answer_is_found_among_the_options_whatever_its_case(tmp_path):
    asked = [question("Who?", 2) | {"answer": "WHO? C"}, question("Who?") | {"answer": "nobody"}]
    assert [one.right for one in read(tmp_path, asked=asked).hard["cur"]] == [2, None]


SHOW = "friends_dialsim"


def at(parts, *keys):
    for key in (SHOW, EPISODE, *keys):
        parts = parts[key]
    return parts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: at(p, 1).update(date="3.3.2001"), r"\.date: expected a date such as .* found text '3\.3\.2001'"),
        (lambda p: at(p, 1).update(date="February 30, 2001"), "expected a date such as"),
        (lambda p: at(p, 1).update(script=["Ana: hello"]), r"\[1\]\.script: expected text, found a list"),
        (lambda p: at(p, 1).update(script="hello"), r"script: expected a first line such as"),
        (lambda p: at(p, 2).pop("hard_q"), r"\[2\]: expected an object with the key 'hard_q'"),
        (lambda p: at(p, 2, "hard_q").update(past={}), r"\.hard_q\.past: expected a list, found an object"),
        (lambda p: at(p, 2, "hard_q", "past", 0).update(options=["a"]), r"past\[0\]\.options: expected 5 options"),
        (lambda p: at(p, 2, "hard_q", "past", 0, "options").append(3), r"past\[0\]\.options\[5\]: expected text"),
        (lambda p: at(p, 2, "hard_q", "past", 0).update(questions={}), r"past\[0\]\.questions: expected a wording"),
        (lambda p: at(p, 2, "hard_q", "past", 0).pop("answer"), r"past\[0\]: expected an object with the key 'answer'"),
        (lambda p: at(p, 2, "easy_q", "ans_w_time").update(x=1), r"ans_w_time: expected whole numbers as keys"),
        (lambda p: at(p).update(two=at(p, 2)), r"\['S01E01 The Red Kayak\.txt'\]: expected whole numbers as keys"),
        (lambda p: p["friends_oracle_tkg"][EPISODE][2].update(past=[["x", 3]]), r"past\[0\]\[1\]: expected text"),
        (lambda p: p.update(friends_dialsim=[1]), "the file: expected an object, found a list"),
        (lambda p: at(p, 1).update(date={1, 2}), "something that JSON can hold|expected text, found set"),
    ],
)  # fmt: skip
def test_a_departure_from_the_structure_is_named_with_its_place(tmp_path, change, message):
    parts = fixture_parts("friends")
    change(parts)
    with pytest.raises(InputError, match=message) as raised:
        dialsim.load(write_pickles(tmp_path / "broken", parts))
    assert "friends_" in str(raised.value)


def test_a_show_that_is_not_there_is_an_error_that_lists_the_others(folder, tmp_path):
    with pytest.raises(InputError, match="no show seinfeld; it has bigbang, friends, theoffice"):
        dialsim.load(folder, ["seinfeld"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no DialSim data"):
        dialsim.load(tmp_path / "empty")


def test_another_show_must_say_who_its_agent_is(tmp_path):
    parts = {"mine_dialsim": fixture_parts("friends")[SHOW]}
    with pytest.raises(InputError, match=r"mine_about\.json` must name its agent"):
        dialsim.load(write_json(tmp_path / "a.json", parts))
    parts["mine_about"] = {"agent": "Joey", "synthetic": True}
    (show,) = dialsim.load(write_json(tmp_path / "b.json", parts)).shows
    assert (show.agent, show.synthetic) == ("Joey", True)


def test_only_the_official_zips_are_known_to_be_the_official_data(folder, tmp_path):
    zipped = write_zip(tmp_path / "d.zip", {path.name: path.read_bytes() for path in folder.iterdir()})
    assert "its SHA-256 is" in dialsim.load(zipped).warnings[0]
    assert "only the official zips" in dialsim.load(folder).warnings[0]


def test_a_file_that_is_no_json_is_an_input_error(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        dialsim.load(tmp_path / "a.json")
