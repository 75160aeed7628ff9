"""Filters: what is given must match; the same in SQL and in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_support import NOON, VECTORS, Shelf, change

from amem.errors import InputError
from amem.filters import Filter, make_filter, same_json
from amem.model import Episode, Fact

names = st.none() | st.sampled_from(["a", "A", "b", "", "é", "東"])
tags = st.lists(st.sampled_from(["x", "X", "Straße", "STRASSE", "y", ""]), max_size=3).map(tuple)
moments = st.integers(-3, 3).map(lambda steps: NOON + timedelta(microseconds=steps))
scalars = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, 1.5, "", "1", "a"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)
metadata = st.dictionaries(st.sampled_from(["k", "l", "k.l"]), values, max_size=2)
filters = st.builds(
    Filter,
    agent_id=names,
    session_id=names,
    speaker=names,
    tags=tags,
    since=st.none() | moments,
    until=st.none() | moments,
    metadata=metadata,
    kinds=st.lists(st.sampled_from(["note", "fact", "episode"]), max_size=2).map(tuple),
    as_of=st.none() | moments,
    archived=st.booleans(),
    outdated=st.booleans(),
)
LATER = "00000000-0000-7000-8000-000000000000"
abouts = st.sampled_from(
    [None, Fact(subject="Ana", predicate="lives in", object="Seoul"), Episode(trigger="the oven broke")]
)
fates = st.fixed_dictionaries(
    {},
    optional={
        "valid_from": moments.map(datetime.isoformat),
        "valid_to": moments.map(datetime.isoformat),
        "superseded_by": st.just(LATER),
        "status": st.just("archived"),
    },
)


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    shelf = Shelf(tmp_path_factory.mktemp("filters"))
    yield shelf
    shelf.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    asked=filters,
    note=st.fixed_dictionaries(
        {
            "agent_id": names,
            "session_id": names,
            "speaker": names,
            "tags": tags,
            "occurred_at": moments,
            "metadata": metadata,
            "about": abouts,
        }
    ),
    fate=fates,
)
def test_what_a_filter_says_of_a_note_is_what_the_ledger_finds(stocked, asked, note, fate):
    stored = stocked.add("text", **note)
    if fate:
        stored = stocked.commit(stocked.plan(change(stored, "user", **fate))).notes[stored.id]
    found = stored.id in stocked.ids(asked)
    assert (asked.why_not(stored) is None) == found
    assert asked.restricts or found or fate
    page = stocked.ledger.page("default", asked, after=None, limit=1000)
    assert (stored in page.notes) == found or page.next is not None


OF_THE_NOTE = {"agent_id": "a", "session_id": "s", "speaker": "p", "since": NOON, "tags": "T", "metadata": {"k": 1}}
EVERYTHING = {**OF_THE_NOTE, "kinds": "note", "as_of": NOON, "archived": True}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"agent_id": "other"}, "agent_id is not 'other'"),
        ({"session_id": "other"}, "session_id is not 'other'"),
        ({"speaker": "other"}, "speaker is not 'other'"),
        ({"since": NOON + timedelta(microseconds=1)}, "it happened before 2024-05-01T12:00:00.000001"),
        ({"until": NOON}, "it did not happen before"),
        ({"tags": ["t", "u"]}, "tags or metadata"),
        ({"metadata": {"k": 2}}, "tags or metadata"),
        ({"metadata": {"other": None}}, "tags or metadata"),
        ({"kinds": ["fact", "episode"]}, "it is a note"),
        ({"as_of": NOON - timedelta(seconds=1), "archived": True}, "it did not hold yet"),
        ({}, "it is archived"),
        (EVERYTHING, None),
    ],
)
def test_the_part_that_excludes_a_note_is_named(shelf, given, why):
    note = shelf.add(
        "text", agent_id="a", session_id="s", speaker="p", tags=("t",), metadata={"k": 1}, occurred_at=NOON
    )
    note = shelf.ledger.commit(shelf.plan(change(note, "user", status="archived")), VECTORS).notes[note.id]
    said = make_filter(**given).why_not(note)
    assert said is None if why is None else why in said


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"user": "a"}, "user"),
        ({"speaker": 5}, "speaker"),
        ({"tags": 5}, "tags"),
        ({"tags": [1]}, "tags.0"),
        ({"since": "yesterday"}, "since"),
        ({"until": datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))}, "until"),
        ({"metadata": {"a": float("inf")}}, "metadata.a is inf"),
        ({"metadata": {"a": {1}}}, "metadata.a is a set"),
        ({"metadata": ["a"]}, "metadata"),
        ({"speaker": "\ud800"}, "lone surrogate"),
        ({"tags": "\udfff"}, "lone surrogate"),
        ({"archived": "perhaps"}, "archived"),
        ({"kinds": "thought"}, "kinds"),
        ({"as_of": "then"}, "as_of"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused_by_name(given, problem):
    with pytest.raises(InputError, match="filter refused") as refused:
        make_filter(**given)
    assert problem in str(refused.value)


def test_none_does_not_restrict_and_a_single_tag_is_a_tag():
    assert make_filter(speaker=None, tags=None, since=None, metadata=None) == Filter()
    assert make_filter(tags="ab").tags == ("ab",)


def test_moments_are_read_as_iso_text_and_naive_ones_as_utc():
    asked = make_filter(since="2023-05-25", until=datetime(2023, 5, 26, 9))
    assert (asked.since, asked.until) == (datetime(2023, 5, 25, tzinfo=UTC), datetime(2023, 5, 26, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1, [True]], [1.0, [True]], True),
        ([1], [True], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": None}, {"b": None, "a": 1}, True),
        ({"a": None}, {}, False),
        ("1", 1, False),
        (None, False, False),
        ([], {}, False),
        (2**70, 2**70, True),
    ],
)
def test_json_values_are_equal_as_json_has_it(one, other, same):
    assert same_json(one, other) is same_json(other, one) is same
