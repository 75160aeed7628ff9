from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from amem.workbench.diffing import side_by_side, unified

TEXT = st.lists(st.text(alphabet="ab é\u2028\r\t世", max_size=6), max_size=8).map("\n".join)


def rebuilt(rows, side):
    lines = [getattr(row, side) for row in rows]
    return "\n".join("".join(piece.text for piece in line) for line in lines if line is not None)


@settings(deadline=None)
@given(TEXT, TEXT)
def test_rows_hold_both_texts_whole(old, new):
    rows = side_by_side(old, new, context=None)
    assert rebuilt(rows, "old") == old
    assert rebuilt(rows, "new") == new


@settings(deadline=None)
@given(TEXT, TEXT)
def test_a_diff_is_empty_exactly_where_the_texts_are_equal(old, new):
    assert (unified(old, new, ("a", "b")) == []) == (old == new)
    assert all(row.kind in {"same", "gap"} for row in side_by_side(old, new)) == (old == new)


def test_the_words_that_differ_are_marked():
    (row,) = side_by_side("Give several keywords.", "Give 3-7 keywords.")
    assert [piece.text for piece in row.old if piece.changed] == ["several"]
    assert "".join(piece.text for piece in row.new if piece.changed) == "3-7"


def test_equal_stretches_are_folded_to_their_number_of_lines():
    old = "\n".join(map(str, range(20)))
    rows = side_by_side(old, old.replace("10", "ten"))
    assert [row.hidden for row in rows if row.kind == "gap"] == [7, 6]
    assert len([row for row in rows if row.kind == "same"]) == 6


def test_very_long_lines_are_not_searched_word_by_word():
    (row,) = side_by_side("a " * 5000, "b " * 5000)
    assert row.kind == "changed"
    assert not any(piece.changed for piece in row.old)
