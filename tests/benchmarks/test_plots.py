from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from amem.interfaces.cli.shipped import benchmarks_module

drawing = benchmarks_module("reports.drawing")

places = st.lists(st.floats(0, 330), max_size=12)


@given(places)
def test_names_keep_their_order_do_not_touch_and_stay_on_the_plot(wanted):
    found = drawing.spread(sorted(wanted), 16, 330)
    assert found == sorted(found)
    assert all(later - earlier > 15.9 for earlier, later in pairwise(found))
    assert all(place <= 330 for place in found)


def test_names_that_have_room_stand_beside_their_marks():
    assert drawing.spread([10, 100, 200], 16, 330) == [10, 100, 200]


@given(places)
def test_marks_stand_side_by_side_where_they_would_lie_on_each_other(wanted):
    found = drawing.beside(wanted, 12)
    assert len(found) == len(wanted)
    ordered = sorted(found)
    assert all(later - earlier > 11.9 for earlier, later in pairwise(ordered))
    assert found[:1] == wanted[:1]
