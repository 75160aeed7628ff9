from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.ingest.relative import MOST, meant_dates
from amem.workbench.labelled import DateCase, load
from amem.workbench.scoring import date_resolved

WEDNESDAY = date(2024, 5, 15)


def meant(text, day=WEDNESDAY):
    return [found.date for found in meant_dates(text, day)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sold it yesterday.", ["2024-05-14"]),
        ("The day before yesterday we moved.", ["2024-05-13"]),
        ("Last week it rained.", ["2024-05-06 – 2024-05-12"]),
        ("We met three weeks ago.", ["2024-04-22 – 2024-04-28"]),
        ("We open next month.", ["2024-06"]),
        ("I learned it two years ago.", ["2022"]),
        ("Vor drei Tagen war ich noch in Rom.", ["2024-05-12"]),
        ("Nous partons dans deux semaines.", ["2024-05-27 – 2024-06-02"]),
        ("El año pasado me fui de casa.", ["2023"]),
        ("W zeszłym miesiącu było zimno.", ["2024-04"]),
        ("先月、引っ越しました。", ["2024-04"]),
        ("我们下周三见。", ["2024-05-22"]),
        ("지난주 금요일에 만났어요.", ["2024-05-10"]),
        ("وصلت أمس إلى البيت.", ["2024-05-14"]),
        ("Позавчера приехала тётя.", ["2024-05-13"]),
    ],
)
def test_a_relative_date_is_resolved_in_ten_languages(text, expected):
    assert meant(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On Friday I met her brother.", ["2024-05-10"]),
        ("On Friday I'm going to meet her brother.", ["2024-05-17"]),
        ("On Friday her brother.", []),
        ("At the weekend we cycled.", ["2024-05-11 – 2024-05-12"]),
        ("At the weekend we will cycle.", ["2024-05-18 – 2024-05-19"]),
    ],
)
def test_a_bare_weekday_is_read_by_the_verbs_around_it(text, expected):
    assert meant(text) == expected


@pytest.mark.parametrize("text", ["We'll talk next Friday.", "They come next weekend.", "Not a word about time."])
def test_what_can_be_read_in_two_ways_is_left_alone(text):
    assert meant(text) == []


def test_last_friday_is_read_where_both_readings_agree():
    assert meant("Last Friday I sold the shop.") == ["2024-05-10"]
    assert meant("Last Friday I sold the shop.", WEDNESDAY + timedelta(days=3)) == []


def test_how_long_something_took_is_no_date():
    assert meant("I finished the novel in two days.") == []


def test_the_longest_phrase_counts_and_not_what_stands_in_it():
    assert meant("The week before last we sailed, and last week we slept.") == [
        "2024-04-29 – 2024-05-05",
        "2024-05-06 – 2024-05-12",
    ]


def test_a_phrase_is_given_as_the_text_has_it():
    assert meant_dates("Last Friday I sold the shop.", WEDNESDAY)[0].phrase == "Last Friday"


def test_of_a_diary_only_the_first_dates_are_read():
    assert len(meant("Yesterday we sang. " * 50)) == MOST


def test_words_of_another_language_are_not_read_as_dates():
    assert meant("Wir sind hier, und das ist gut.") == []  # `hier` is yesterday in French
    assert meant("Trabajo por la mañana en el mercado.") == []


def test_most_of_the_labelled_dates_are_resolved_by_code_alone():
    cases = load(DateCase, "develop")
    right = [date_resolved("; ".join(meant(case.turn.text, case.turn.date)), case) for case in cases]
    assert sum(right) >= 0.9 * len(cases)


@given(st.text(), st.dates())
def test_any_text_on_any_day_is_read_without_an_error(text, day):
    assert len(meant_dates(text, day)) <= MOST


@pytest.mark.parametrize("day", [date.min, date.max])
def test_there_is_no_date_beyond_the_calendar(day):
    assert meant("Ten years ago, and in ten years; a week ago, and next week; yesterday and tomorrow.", day) is not None
