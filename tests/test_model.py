"""The values: moments in UTC, metadata that comes back as it went in or is refused, sums of usage."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from enum import IntEnum

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ledger_support import NOON, Shelf
from pydantic import ValidationError

from amem.model import AddResult, Link, Note, Usage
from amem.values import as_utc, canonical_json

bounded = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])

plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | plain_text
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_text, inner, max_size=4), max_leaves=12
)
json_objects = st.dictionaries(plain_text, json_values, max_size=4)
zones = st.none() | st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    shelf = Shelf(tmp_path_factory.mktemp("model"))
    yield shelf
    shelf.close()


def a_note(**fields):
    return Note(**{"id": "1", "content": "text", "occurred_at": NOON, "created_at": NOON, **fields})


def typed(value):
    """A value with the type of everything in it, so that 1, 1.0 and True are three."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), repr(value)


# -- metadata -----------------------------------------------------------------------------------------


@bounded
@given(metadata=json_objects)
def test_metadata_comes_back_as_it_went_in(stocked, metadata):
    stored = stocked.get(stocked.add("text", metadata=metadata)).metadata
    assert typed(stored) == typed(metadata)


@bounded
@given(metadata=json_objects, other=json_objects)
def test_edited_metadata_comes_back_from_the_note_and_from_its_history(stocked, metadata, other):
    note = stocked.add("text", metadata=metadata)
    revisions = stocked.edit(note, metadata=other).revisions
    assert typed(stocked.get(note).metadata) == typed(other)
    assert bool(revisions) == (canonical_json(metadata) != canonical_json(other))
    for revision in stocked.history(note):
        assert (typed(revision.before), typed(revision.after)) == (typed(metadata), typed(other))


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"a": float("nan")}, "metadata.a is nan"),
        ({"a": [1, float("-inf")]}, r"metadata.a\[1\] is -inf"),
        ({"a": {"b": {1}}}, "metadata.a.b is a set"),
        ({"a": b"x"}, "metadata.a is a bytes"),
        ({"a": datetime(2024, 1, 1, tzinfo=UTC)}, "metadata.a is a datetime"),
        ({1: "a"}, "has the key 1"),
        ({"a": "\ud800"}, "metadata.a holds a lone surrogate"),
        ({"\ud800": 1}, "a key of metadata holds a lone surrogate"),
        ({"a": 10**4000}, "metadata.a is a number of more than 3,000 digits"),
        ("text", "valid dictionary"),
        ([("a", 1)], "valid dictionary"),
    ],
)
def test_metadata_that_json_cannot_hold_is_refused_with_its_place(metadata, problem):
    with pytest.raises(ValidationError, match=problem):
        a_note(metadata=metadata)


def test_metadata_without_end_is_refused():
    endless = {}
    endless["a"] = endless
    with pytest.raises(ValidationError, match="nested more than 100 levels"):
        a_note(metadata=endless)


def test_a_tuple_is_a_list_for_json_and_a_named_number_its_number():
    class Mood(IntEnum):
        GLAD = 2

    note = a_note(metadata={"a": (1, ("b",)), "mood": Mood.GLAD})
    assert json.loads(canonical_json(note.metadata)) == {"a": [1, ["b"]], "mood": 2}


# -- moments ------------------------------------------------------------------------------------------


@bounded
@given(moment=st.datetimes(timezones=zones, allow_imaginary=False))
def test_a_moment_is_kept_to_the_microsecond_and_a_naive_one_is_utc(stocked, moment):
    try:
        expected = as_utc(moment)
    except ValueError:
        assume(False)
    stored = stocked.get(stocked.add("text", occurred_at=moment, created_at=moment, valid_from=moment))
    assert stored.occurred_at == stored.created_at == stored.valid_from == expected
    assert stored.occurred_at.tzinfo is UTC
    assert stored.occurred_at.replace(tzinfo=None) == (
        moment if moment.tzinfo is None else (moment - moment.utcoffset()).replace(tzinfo=None)
    )


@pytest.mark.parametrize(
    "moment",
    [
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=2))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_moment_that_utc_has_no_year_for_is_refused(moment):
    with pytest.raises(ValidationError, match="outside the years 1 to 9999"):
        a_note(occurred_at=moment)


def test_the_machine_s_zone_plays_no_part(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        assert a_note(occurred_at=datetime(2024, 1, 1, 9)).occurred_at == datetime(2024, 1, 1, 9, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


# -- the rest -----------------------------------------------------------------------------------------


def test_values_are_frozen_and_know_no_other_fields():
    with pytest.raises(ValidationError, match="frozen"):
        a_note().content = "other"
    with pytest.raises(ValidationError, match="Extra inputs"):
        a_note(contnt="x")


def test_usage_sums_field_by_field():
    one = Usage(calls=1, failed=1, prompt_tokens=2, completion_tokens=3, seconds=0.5, cost=0.25, unpriced=1)
    assert one + Usage() == one
    assert (one + one).model_dump() == {name: 2 * value for name, value in one.model_dump().items()}


def test_a_link_knows_its_other_end_and_its_strength_is_a_share():
    link = Link(box="b", source="1", target="2", relation="r", reason="r", strength=1, created_at=NOON)
    assert (link.other("1"), link.other("2")) == ("2", "1")
    with pytest.raises(ValidationError, match="strength"):
        Link(box="b", source="1", target="2", relation="r", reason="r", strength=1.01, created_at=NOON)


def test_a_result_speaks_for_its_note():
    result = AddResult(note=a_note(status="ready"))
    assert (result.id, result.status, result.is_new) == ("1", "ready", True)


def test_canonical_json_is_one_text_for_equal_values_and_keeps_unicode():
    assert canonical_json({"b": [1, 1.0, True], "a": "é\u2028"}) == '{"a":"é\u2028","b":[1,1.0,true]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
