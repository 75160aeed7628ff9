from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

bootstrap = benchmarks_module("statistics.bootstrap")
comparison = benchmarks_module("statistics.comparison")
items = benchmarks_module("statistics.items")


def item(conversation, index, value, category="4", *, answerable=True):
    return items.Item(conversation, index, category, value, answerable)


def test_the_interval_draws_whole_conversations():
    # Two conversations of 0 and 1: a draw of two of them has the mean 0, ½ or 1, each end a quarter of the time.
    assert bootstrap.interval([0, 0, 1, 1], ["a", "a", "b", "b"]) == (0.0, 1.0)
    assert bootstrap.interval([0.5] * 4, ["a", "a", "b", "b"]) == (0.5, 0.5)
    assert bootstrap.interval([0, 1], ["a", "a"]) is None


def test_the_interval_is_the_same_every_time():
    values, of = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2], list("abcdef")
    assert bootstrap.interval(values, of) == bootstrap.interval(values, of)
    assert bootstrap.resampled(values, of).tolist() == bootstrap.resampled(values, of).tolist()


def test_an_estimate_of_one_conversation_draws_its_questions_and_says_so():
    found = bootstrap.estimate([0.0, 1.0] * 20, ["a"] * 40)
    assert (found.mean, found.drawn, found.conversations, found.questions) == (0.5, "questions", 1, 40)
    assert 0.3 < found.low < 0.4
    assert 0.6 < found.high < 0.7


def test_an_estimate_of_several_conversations_draws_them_whole():
    found = bootstrap.estimate([0.0] * 20 + [1.0] * 20, ["a"] * 20 + ["b"] * 20)
    assert (found.low, found.high, found.drawn) == (0.0, 1.0, "conversations")


def test_one_question_has_a_mean_and_no_interval_and_none_has_nothing():
    found = bootstrap.estimate([0.25], ["a"])
    assert (found.mean, found.low, found.high) == (0.25, None, None)
    assert bootstrap.estimate([], []) is None


def test_a_report_draws_the_questions_of_one_conversation_once_and_not_for_every_mean():
    values, of = [place % 7 / 7 for place in range(1237)], ["a"] * 1237
    bootstrap.estimate(values, of)
    before = bootstrap._kept.cache_info().misses
    bootstrap.estimate(values[::-1], of)
    assert bootstrap._kept.cache_info().misses == before
    found = items.summarise([item("a", 0, 1.0), item("a", 1, 0.0)])
    assert found.undisputed is found.everything  # no question is disputed: nothing is drawn a second time


def test_many_conversations_are_drawn_without_keeping_what_was_drawn():
    values = [place % 2 for place in range(4000)]
    found = bootstrap.estimate(values, ["a"] * 4000)
    assert (found.mean, round(found.low, 2), round(found.high, 2)) == (0.5, 0.48, 0.52)


def test_no_difference_is_none_in_whatever_order_it_is_summed_up():
    differences = [0.1, 0.2, -0.3] * 5
    means = bootstrap.resampled(differences, [str(place) for place in range(15)])
    assert means[abs(means) < 1e-9].tolist() == [0.0] * (abs(means) < 1e-9).sum()
    assert (means == 0).any()


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc")), min_size=2, max_size=12))
def test_an_interval_lies_within_the_values_and_around_no_other_mean(pairs):
    values, of = [value for value, _ in pairs], [name for _, name in pairs]
    found = bootstrap.estimate(values, of)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_intervals_do_not_depend_on_the_hash_seed():
    program = (
        "from amem.interfaces.cli.shipped import benchmarks_module as b;"
        "print(b('statistics.bootstrap').estimate([.1, .9, .4, .7], list('abca')).model_dump_json())"
    )
    seen = {
        subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                       capture_output=True, timeout=300).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(seen) == 1


def test_holm_multiplies_by_what_is_left_and_never_falls():
    assert comparison.holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert comparison.holm([0.5, 0.9]) == [1.0, 1.0]
    assert comparison.holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_makes_a_p_value_smaller_nor_changes_the_order(ps):
    corrected = comparison.holm(ps)
    assert all(after >= before for before, after in zip(ps, corrected, strict=True))
    pairs = sorted(zip(ps, corrected, strict=True))
    assert [after for _, after in pairs] == sorted(after for _, after in pairs)


def test_mcnemar_is_exact():
    assert comparison.mcnemar(5, 0) == 2 / 32
    assert comparison.mcnemar(3, 3) == 1.0
    assert comparison.mcnemar(0, 0) == 1.0
    assert comparison.mcnemar(1, 8) == pytest.approx(2 * (1 + 9) / 512)


def test_a_system_is_compared_question_by_question_whatever_their_order():
    ours = [item(f"c{n // 10}", n, 1.0 if n % 10 < 8 else 0.0) for n in range(40)]
    worse = [replace(one, value=0.0) for one in reversed(ours)]
    (found,) = comparison.compare(ours, {"bm25": worse})
    assert (found.other, found.better, found.worse) == ("bm25", 32, 0)
    assert (found.difference.mean, found.difference.low, found.difference.high) == (0.8, 0.8, 0.8)
    assert found.p == found.p_holm == pytest.approx(2 / 10_001)
    assert found.p_mcnemar == pytest.approx(2 / 2**32)


def test_several_comparisons_are_corrected_together():
    ours = [item("c", n, n % 3 / 2) for n in range(30)]
    others = {name: [replace(one, value=one.value - lead * (one.index % 2 - 0.4)) for one in ours]
              for name, lead in (("a", 0.0), ("b", 2.0), ("c", 1.0))}  # fmt: skip
    found = comparison.compare(ours, others)
    assert [one.p_holm for one in found] == comparison.holm([one.p for one in found])
    assert found[0].p == 1.0
    assert all(one.p_mcnemar is None for one in found)


@pytest.mark.parametrize(
    "other",
    [[], [item("c", 1, 1.0)], [item("c", 0, 1.0), item("c", 1, 1.0)], [item("c", 0, 1.0)] * 2, [item("d", 0, 1.0)]],
)
def test_systems_that_were_asked_other_questions_are_not_compared(other):
    with pytest.raises(InputError, match="bm25 was not asked the same questions"):
        comparison.compare([item("c", 0, 1.0)], {"bm25": other})


RUN = [
    item("c1", 0, 1.0, "1"),
    item("c1", 1, 0.0, "4"),
    item("c2", 0, 0.0, "4"),
    item("c2", 1, 0.0, "4"),
    item("c2", 2, 1.0, "5", answerable=False),
]


def test_a_summary_has_the_answerable_questions_all_of_them_and_each_category():
    found = items.summarise(RUN).everything
    assert (found.answerable.mean, found.all.mean, found.macro) == (0.25, 0.4, 0.5)
    assert {name: one.mean for name, one in found.by_category.items()} == {"1": 1.0, "4": 0.0, "5": 1.0}
    assert {name: one.questions for name, one in found.by_conversation.items()} == {"c1": 2, "c2": 3}


def test_a_measure_without_a_meaning_for_unanswerable_questions_has_no_mean_with_them():
    found = items.summarise(RUN, unanswerable=False).everything
    assert found.all is None
    assert set(found.by_category) == {"1", "4"}
    assert found.by_conversation["c2"].questions == 2


def test_disputed_questions_are_left_out_beside_the_whole():
    found = items.summarise(RUN, {("c1", 0), ("c9", 9)})
    assert found.disputed == 1
    assert (found.everything.answerable.mean, found.undisputed.answerable.mean) == (0.25, 0.0)


def test_a_summary_of_nothing_is_empty():
    found = items.summarise([])
    assert (found.everything.answerable, found.everything.macro, found.disputed) == (None, None, 0)
