from __future__ import annotations

import json

from amem.model import Explanation


def test_explain_says_that_a_note_is_found_and_what_speaks_for_it(amem, woven):
    lines = amem("explain", "who bought a van?", woven[1].id).stdout.splitlines()
    assert lines[0] == "search returns it"
    assert lines[1].startswith("   rank 1, score ")
    assert any(line.startswith("   cover +") for line in lines)
    assert any(line.startswith("   rank in the lexical arm: ") for line in lines)


def test_explain_says_what_keeps_a_note_out_and_which_link_leads_to_it(amem, woven):
    lines = amem("explain", "who bought a van?", woven[0].id, "-k", "1").stdout.splitlines()
    assert lines[0] == "search does not return it: rank 2 is beyond k = 1"
    assert f"   by way of {woven[1].id}: came after: The van was paid for with the boat." in lines
    excluded = amem("explain", "van", woven[0].id, "--speaker", "Ben").stdout.splitlines()
    assert excluded == ["search does not return it: the filter: speaker is not 'Ben'"]


def test_explain_can_be_asked_about_recall(amem, woven):
    assert amem("explain", "van", woven[1].id, "--budget", "200").stdout.startswith("recall returns it")
    assert "recall does not return it" in amem("explain", "van", woven[1].id, "--budget", "3").stdout


def test_explain_prints_json_for_programs(amem, woven):
    found = Explanation.model_validate(json.loads(amem("explain", "van", woven[1].id, "--json").stdout))
    assert (found.note_id, found.rank, found.dropped_by) == (woven[1].id, 1, None)


def test_explaining_a_note_that_is_not_there_is_a_usage_error(amem, woven):
    assert amem("explain", "van", "nobody").exit_code == 2
