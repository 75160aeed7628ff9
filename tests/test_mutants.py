"""The table of docs/trust.md says what mutants.toml says, and each row names a test and a line that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mutants import ROOT, cases, table


def test_the_table_in_the_docs_is_that_of_the_cases():
    assert table() in (ROOT / "docs/trust.md").read_text()


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.id} {case.what}"[:60])
def test_each_case_names_a_test_and_one_line_that_exist(case):
    path, _, name = case.test.partition("::")
    assert re.search(
        rf"^(async )?def {re.escape(name.partition('[')[0])}\(", Path(ROOT, path).read_text(), re.MULTILINE
    )
    assert Path(ROOT, case.file).read_text().count(case.old) == 1
    assert case.new != case.old
