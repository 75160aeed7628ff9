from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.workbench.dating import Mention, mentions, names_date


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("on 2024-05-08", "en"),
        ("at 2024-05-08T10:00", "en"),
        ("on 8 May 2024.", "en"),
        ("on the 8th of May", "en"),
        ("May 8th, 2024", "en"),
        ("on Wednesday, May 8", "en"),
        ("between 7 and 8 May 2024", "en"),
        ("May 8-9, 2024", "en"),
        ("2024/5/8", "en"),
        ("am 8. Mai 2024", "de"),
        ("am 08.05.2024", "de"),
        ("le 8 mai 2024", "fr"),
        ("le 08/05/2024", "fr"),
        ("el 8 de mayo de 2024", "es"),
        ("8 maja 2024 r.", "pl"),
        ("8 мая 2024 года", "ru"),
        ("في 8 مايو 2024", "ar"),
        ("في ٨ مايو ٢٠٢٤", "ar"),
        ("2024年5月8日", "ja"),
        ("五月八日", "zh"),
        ("5月8号", "zh"),
        ("2024년 5월 8일에", "ko"),
        ("８ May ２０２４", "ja"),
    ],
)
def test_a_day_is_recognised_in_the_ways_people_write_it(text, language):
    assert names_date(text, "2024-05-08", "day", language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("on 8 May 2023", "en"),
        ("on 9 May 2024", "en"),
        ("in May 2024", "en"),
        ("last Wednesday", "en"),
        ("5/8/2024", "en"),
        ("you may 8 times", "en"),
        ("18 May 2024", "en"),
        ("8 mai 2024", "en"),
        ("version 8.5 of 2024", "en"),
    ],
)
def test_another_day_or_a_number_is_not_taken_for_it(text, language):
    assert not names_date(text, "2024-05-08", "day", language)


def test_english_slashes_are_read_only_where_one_number_is_no_month():
    assert mentions("5/13/2024") == mentions("13/5/2024") == [Mention(2024, 5, 13)]
    assert mentions("5/8/2024")[:1] != [Mention(2024, 5, 8)]


@pytest.mark.parametrize("text", ["2024-W15", "the week of 8 April 2024", "8-14 April", "on 2024-04-10"])
def test_a_week_is_named_by_its_number_or_by_one_of_its_days(text):
    assert names_date(text, "2024-W15", "week")


@pytest.mark.parametrize("text", ["2024-W16", "15 April 2024", "April 2024", "8 April 2023", "two weeks ago"])
def test_another_week_or_the_month_of_it_is_not_enough(text):
    assert not names_date(text, "2024-W15", "week")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("in January 2024", "en"),
        ("in January", "en"),
        ("2024-01", "en"),
        ("im Jänner", "de"),
        ("w styczniu 2024", "pl"),
        ("в январе", "ru"),
        ("2024年1月", "ja"),
        ("في كانون الثاني 2024", "ar"),
    ],
)
def test_a_month_is_recognised(text, language):
    assert names_date(text, "2024-01", "month", language)


@pytest.mark.parametrize("text", ["in January 2023", "on 3 January 2024", "2024", "next month", "Januaryish"])
def test_a_month_with_a_day_or_of_another_year_is_another_claim(text):
    assert not names_date(text, "2024-01", "month")


def test_a_year_counts_alone_only():
    assert names_date("in 2023 and later", "2023", "year")
    assert names_date("2023年に", "2023", "year", "ja")
    assert not names_date("on 3 May 2023", "2023", "year")
    assert not names_date("in May 2023", "2023", "year")
    assert not names_date("12023 sheep", "2023", "year")


def test_each_stretch_is_read_once():
    assert mentions("on 8 May 2024 in Bergen") == [Mention(2024, 5, 8)]


@given(
    st.text(alphabet="0123456789 -./,年月日十一МайmayMay的W", max_size=40),
    st.sampled_from(["en", "de", "zh", "ru", "xx"]),
)
def test_no_text_is_too_strange_to_read(text, language):
    assert names_date(text, "2024-05-08", "day", language) in {True, False}
