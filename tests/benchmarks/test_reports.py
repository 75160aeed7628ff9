from __future__ import annotations

import re
import shutil

import pytest
from benchmarks_support import RAW, finished, write_config
from locomo_support import MINI

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

export = benchmarks_module("reports.export")
folders = benchmarks_module("runs.folder")
gathering = benchmarks_module("reports.gathering")
markdown = benchmarks_module("reports.markdown")
page = benchmarks_module("reports.page")
records = benchmarks_module("runs.records")
summing = benchmarks_module("reports.summing")
tables = benchmarks_module("reports.tables")
words = benchmarks_module("reports.words")


def row(report, system):
    return next(one for one in report.rows if one.system == system)


def table(report, title):
    return next(one for one in tables.tables(report) if one.title == title)


def test_every_system_has_a_row_over_every_question(made):
    assert [one.system for one in made.report.rows] == [
        "none", "full_context", "bm25", "dense", "oracle", "amem_raw", "amem_fused"
    ]  # fmt: skip
    assert {(one.asked, one.answered, one.failed) for one in made.report.rows} == {(7, 7, 0)}


def test_who_never_remembers_scores_as_one_who_always_refuses(made):
    official = row(made.report, "none").measures["official"].everything
    (reference,) = made.report.references
    assert reference.name == "always refuses"
    assert official.all.mean == reference.summary.everything.all.mean == pytest.approx(1 / 7)
    assert official.answerable.mean == 0


def test_an_adversarial_question_is_right_if_refused_and_the_inverted_number_stands_apart(made):
    assert row(made.report, "none").measures["official"].everything.by_category["5"].mean == 1
    assert row(made.report, "none").trapped.mean == 0
    assert row(made.report, "none").inverted.questions == 1
    assert all("amem_c5_inverted" not in one.measures for one in made.report.rows)
    assert "5" not in row(made.report, "bm25").measures["amem_f1"].everything.by_category


def test_disputed_questions_are_given_in_and_out(made):
    official = row(made.report, "bm25").measures["official"]
    assert official.disputed == 1
    assert official.undisputed.all.questions == official.everything.all.questions - 1
    assert "Without disputed questions" in markdown.markdown(made.report)


def test_the_oracle_shows_all_evidence_and_no_memory_shows_none(made):
    shown = {one.system: one.measures["evidence_shown"].everything.all.mean for one in made.report.rows}
    assert shown["oracle"] == shown["full_context"] == 1
    assert shown["none"] == 0


def test_writing_and_reading_are_paid_for_apart(made):
    cost = row(made.report, "amem_fused").cost
    assert (cost.write.units, cost.write.total.prompt_tokens) == (14, 11 * cost.write.total.calls)
    assert cost.read.units == cost.read.total.calls == 7
    assert cost.index_bytes > 10_000
    assert row(made.report, "amem_raw").cost.write.total.calls == 0
    assert row(made.report, "amem_raw").cost.write.units == 14


def test_a_turn_that_was_made_up_for_later_counts_as_one(made, tmp_path):
    again = shutil.copytree(made.folder / "run", tmp_path / "run")
    folders.Folder(again).measured.append(
        records.Measured(unit="write amem_fused conv-26/D2:5 again", seconds=9.0, turns=3)
    )
    before = row(made.report, "amem_fused").cost.write
    after = row(summing.report([gathering.read(again)]), "amem_fused").cost.write
    assert (after.units, after.calls_per_unit) == (before.units, before.calls_per_unit)
    assert after.seconds == pytest.approx(before.seconds + 9.0)


def test_refusals_are_counted_where_they_are_right_and_where_not(made):
    matrix = row(made.report, "none").refusals
    assert (matrix.rightly_refused, matrix.wrongly_refused, matrix.answered) == (1, 6, 0)


def test_ours_is_compared_with_each_other_question_by_question(made):
    assert made.report.ours == "amem_fused"
    others = {one.other: one for one in made.report.comparisons["official"]}
    assert set(others) == {"none", "full_context", "bm25", "dense", "oracle", "amem_raw"}
    assert others["amem_raw"].difference.questions == 7
    assert summing.report([made.run], ours="bm25").ours == "bm25"
    with pytest.raises(InputError, match="no system 'mem'; there are none, full_context"):
        summing.report([made.run], ours="mem")


def test_tables_without_a_judge_come_first_and_every_mean_has_n_and_interval(made):
    found = list(tables.tables(made.report))
    assert found[0].title == "Results"
    assert found[0].head[:2] == ("system", "n")
    for cells in found[0].rows[:-1]:
        assert cells[1] == "7"
        assert re.fullmatch(r"(0|1?\.\d{3}) \[.+, .+\]", cells[2])


def test_categories_are_named_and_counted(made):
    assert table(made.report, "By category").head == (
        "system", "1 multi-hop (n = 1)", "3 open-domain (n = 1)", "4 single-hop (n = 4)", "5 adversarial (n = 1)",
        "mean",
    )  # fmt: skip


def test_a_mean_over_categories_counts_each_that_has_answers_once(made):
    cells = next(cells for cells in table(made.report, "By category").rows if cells[0] == "oracle")
    means = [float(cell.split()[0]) for cell in cells[1:-2]]  # the last category is that of questions without an answer
    assert float(cells[-1]) == pytest.approx(sum(means) / 3, abs=0.002)


def test_what_recall_was_tuned_on_is_left_out_of_a_table_of_its_own(made):
    found = table(made.report, "Without the conversations that recall was tuned on")
    assert {cells[1] for cells in found.rows} == {"2"}  # of conv-1; conv-26 is one to tune on
    rest = [one for one in made.run.scores if (one.system, one.conversation) == ("bm25", "conv-1")]
    mean = sum(one.values["official"] for one in rest) / 2
    assert row(made.report, "bm25").untuned.everything.all.mean == pytest.approx(mean)


def test_one_conversation_is_said_plainly(made, tmp_path):
    path = write_config(made.folder, "mini.json", RAW, wanted='conversations = ["conv-26"]', name="one")
    report = summing.report([finished(path, tmp_path / "one")])
    assert report.limits[0].startswith("One conversation, 5 questions")
    assert row(report, "amem_raw").measures["official"].everything.all.drawn == "questions"
    for title in ("By conversation", "Without the conversations"):
        assert title not in markdown.markdown(report)


def test_t47_a_report_says_which_part_of_the_data_was_asked(made, tmp_path):
    wanted = 'conversations = ["conv-26"]\nquestions = "evidence_within"\nsessions = 1'
    path = write_config(made.folder, "mini.json", RAW, wanted=wanted, name="part")
    about = summing.report([finished(path, tmp_path / "part")]).about
    assert (made.report.about.choice, made.report.about.conversations) == ("everything", ("conv-1", "conv-26"))
    assert about.choice == "the first session; questions whose whole evidence was taken in"
    assert about.conversations == ("conv-26",)


def test_what_a_report_does_not_show_is_never_left_out(made):
    text = " ".join(made.report.limits)
    for part in ("intervals are drawn over whole conversations", "One run", "Above the budget", "The oracle is told"):
        assert part in text
    for shown in (markdown.markdown(made.report), page.page(made.report)):
        assert "What this does not show" in shown


def test_the_extractive_reader_and_generated_data_are_said(made, tmp_path):
    path = write_config(made.folder, "mini.json", RAW, name="extractive")
    report = summing.report([finished(path, tmp_path / "run")])
    assert any(line.startswith("The reader takes words out") for line in report.limits)
    about = report.about.model_copy(update={"data": "synthetic-locomo"})
    limits = benchmarks_module("reports.limits").limits(report.model_copy(update={"about": about}), [])
    assert any("generated from templates" in line for line in limits)


# -- what may be published -------------------------------------------------------------------------


def test_a_report_holds_ids_and_scores_and_no_word_of_the_data(made, tmp_path):
    paths = export.export(made.report, [made.run], tmp_path)
    assert sorted(path.name for path in paths) == ["report.html", "report.json", "report.md", "scores.jsonl"]
    said = [turn["text"] for one in MINI for key, turns in one["conversation"].items() if isinstance(turns, list)
            for turn in turns if key]  # fmt: skip
    asked = [qa["question"] for one in MINI for qa in one["qa"] if len(qa["question"]) > 5]
    known = ["sailing boat", "Oslo", "visit her", "nobody knows", "cherry"]
    for path in paths:
        text = path.read_text()
        assert not [part for part in (*said, *asked, *known) if part in text], path.name
        assert str(made.folder) not in text, path.name
        assert "conv-26" in text, path.name


def test_the_page_is_one_file_without_script(made):
    text = page.page(made.report)
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "").replace("https://arxiv", "")
    assert text.count("<svg") == 3
    assert "default-src 'none'" in text


def test_names_on_the_page_cannot_become_markup(made):
    rows = [one.model_copy(update={"system": "<b>&amp"}) for one in made.report.rows[:1]]
    text = page.page(made.report.model_copy(update={"rows": tuple(rows)}))
    assert "<b>" not in text
    assert "&lt;b&gt;" in text


# -- numbers as they are written -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.2494, ".249"), (1, "1.000"), (0, "0"), (-0.12, "\u2212.120"), (-0.0001, "0"), (None, "\u2013")],
)
def test_shares_are_short(value, text):
    assert words.share(value) == text


def test_a_difference_has_its_sign():
    assert (words.signed(0.03), words.signed(-0.03), words.signed(0)) == ("+.030", "\u2212.030", "0")
