from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.recall.timefocus import time_focus

time_focus("", datetime(2024, 1, 1, tzinfo=UTC))  # compiles the patterns, which takes longer than any question
NOW = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What happened on May 7th, 2023?", "2023-05-07", "2023-05-08"),
        ("Who called on the 3rd of June?", "2024-06-03", "2024-06-04"),
        ("Who called on 3 July?", "2023-07-03", "2023-07-04"),
        ("Where was Ana on 2023-05-07?", "2023-05-07", "2023-05-08"),
        ("Where was Ana in 2023-05?", "2023-05-01", "2023-06-01"),
        ("What did Mira buy in May 2023?", "2023-05-01", "2023-06-01"),
        ("What did Mira buy in December?", "2023-12-01", "2024-01-01"),
        ("What did Mira buy in summer 2023?", "2023-06-01", "2023-09-01"),
        ("What did Mira learn last winter?", "2023-12-01", "2024-03-01"),
        ("What did Mira learn in 2022?", "2022-01-01", "2023-01-01"),
        ("What did we say yesterday?", "2024-06-11", "2024-06-12"),
        ("Whom did I meet last week?", "2024-06-03", "2024-06-10"),
        ("Whom did I meet last Friday?", "2024-06-07", "2024-06-08"),
        ("Whom did I meet this month?", "2024-06-01", "2024-07-01"),
        ("Whom did I meet last month?", "2024-05-01", "2024-06-01"),
        ("Whom did I meet last year?", "2023-01-01", "2024-01-01"),
        ("What was two days ago?", "2024-06-10", "2024-06-11"),
    ],
)
def test_a_question_names_its_time(question, start, end):
    span = time_focus(question, NOW)
    assert [f"{moment:%Y-%m-%d}" for moment in span[:2]] == [start, end]


@pytest.mark.parametrize(
    "question", ["May I ask who called?", "What did Mira say?", "Is 31 February a date?", "Who may march in front?", ""]
)
def test_a_question_without_a_time_has_no_focus(question):
    assert time_focus(question, NOW) is None


@given(st.text(), st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)).map(lambda d: d.replace(tzinfo=UTC)))
def test_any_text_can_be_asked(question, now):
    span = time_focus(question, now)
    assert span is None or span.start < span.end


def test_nearness_is_one_within_a_month_and_nothing_outside():
    span = time_focus("in May 2023", NOW)
    assert span.nearness(datetime(2023, 5, 20, tzinfo=UTC)) == 1
    assert span.nearness(datetime(2023, 4, 29, tzinfo=UTC)) == 0


def test_a_day_is_near_to_the_days_after_it_and_less_to_those_before():
    span = time_focus("on 7 May 2023", NOW)
    on, after, before, later = (
        span.nearness(datetime(2023, month, day, 9, tzinfo=UTC)) for month, day in ((5, 7), (5, 9), (5, 5), (8, 7))
    )
    assert on == 1
    assert 1 > after > before > later == 0


def test_a_month_without_a_year_is_any_year_s():
    span = time_focus("What did Mira buy in December?", NOW)
    assert [span.nearness(datetime(year, 12, 24, tzinfo=UTC)) for year in (2019, 2023, 2024)] == [1, 1, 1]
    assert span.nearness(datetime(2023, 6, 1, tzinfo=UTC)) == 0


def test_the_leap_day_is_found_in_any_year():
    span = time_focus("What was on 29 February?", datetime(2025, 3, 1, tzinfo=UTC))
    assert span is None or span.nearness(datetime(2024, 2, 28, tzinfo=UTC)) > 0
