"""Facts of one question in time: each holds until the next begins, in whatever order they are learned."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.ingest.timeline import begins, said_of, settle
from amem.model import Fact, Note
from amem.store.plan import apply_change

_NUMBERS = count(1)


def fact(city, year, *, trust="user", single=True, predicate="lives in"):
    moment = datetime(year, 1, 1, tzinfo=UTC)
    return Note(
        id=f"n{next(_NUMBERS)}", content=f"Ana {predicate} {city}", occurred_at=moment, created_at=moment,
        status="ready", trust=trust, valid_from=moment,
        about=Fact(subject="Ana", predicate=predicate, object=city, single=single),
    )  # fmt: skip


def learned(notes, policy="newest"):
    """Learn facts one after another; return them as they stand, by object."""
    known = {}
    for new in notes:
        settled = settle(new, list(known.values()), policy)
        if settled.repeats is not None:
            continue
        known[new.id] = new
        for change in settled.ends:
            known[change.note_id] = apply_change(known[change.note_id], change)
    return {said_of(note).object: note for note in known.values()}


def spans(known):
    return {city: (begins(note).year, note.valid_to and note.valid_to.year) for city, note in known.items()}


MOVES = [("Daegu", 2010), ("Seoul", 2015), ("Busan", 2023)]


@pytest.mark.parametrize("order", list(permutations(MOVES)))
def test_the_order_in_which_facts_are_learned_makes_no_difference(order):
    known = learned([fact(*move) for move in order])
    assert spans(known) == {"Daegu": (2010, 2015), "Seoul": (2015, 2023), "Busan": (2023, None)}


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.integers(2000, 2010)), min_size=1, max_size=7))
def test_facts_of_different_moments_never_overlap(moves):
    seen = set()
    distinct = [move for move in moves if move[1] not in seen and not seen.add(move[1])]
    known = {}
    for city, year in distinct:
        new = fact(city, year)
        settled = settle(new, list(known.values()), "newest")
        if settled.repeats is None:
            known[new.id] = new
            for change in settled.ends:
                known[change.note_id] = apply_change(known[change.note_id], change)
        assert settled.contested == ()
    ordered = sorted(known.values(), key=begins)
    for one, other in pairwise(ordered):
        assert one.valid_to is not None
        assert one.valid_to <= begins(other)
    assert ordered[-1].valid_to is None


def test_what_is_known_is_not_stored_again_whatever_the_case():
    first = fact("Seoul", 2015)
    assert settle(fact("  seoul ", 2018), [first], "newest").repeats == first.id


def test_a_return_is_news():
    known = learned([fact("Seoul", 2015), fact("Busan", 2020)])
    again = fact("Seoul", 2023)
    assert settle(again, list(known.values()), "newest").repeats is None


def test_facts_of_the_same_moment_contradict_each_other():
    one, other = fact("Seoul", 2015), fact("Busan", 2015)
    settled = settle(other, [one], "newest")
    assert (settled.ends, settled.contested) == ((), (one.id,))


def test_one_may_like_many_dishes():
    likes = {"predicate": "likes", "single": False}
    known = learned([fact("kimchi", 2015, **likes), fact("pasta", 2016, **likes)])
    assert spans(known) == {"kimchi": (2015, None), "pasta": (2016, None)}


def test_what_is_trusted_less_ends_nothing():
    home = fact("Seoul", 2015)
    settled = settle(fact("Busan", 2023, trust="tool"), [home], "newest")
    assert (settled.ends, settled.contested) == ((), (home.id,))


def test_keep_both_ends_nothing():
    home = fact("Seoul", 2015)
    settled = settle(fact("Busan", 2023), [home], "keep_both")
    assert (settled.ends, settled.contested) == ((), (home.id,))


def test_other_questions_are_left_alone():
    job = fact("a bakery", 2015, predicate="works at")
    assert settle(fact("Busan", 2023), [job], "newest").ends == ()
