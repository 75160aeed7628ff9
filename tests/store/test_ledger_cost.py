"""What a note costs does not grow with its box: no statement of accept and commit reads more than it names."""

from __future__ import annotations

import re

import pytest
from ledger_support import VECTORS, a_link, call, cause, change

from amem.model import Usage
from amem.store.plan import PlannedLink

WHOLE_BOX = re.compile(r"\(box=\?\)$")


@pytest.fixture
def statements(shelf):
    """The statements that are run from now on, as SQLite sees them."""
    seen = []
    with shelf.ledger.database.engine.connect() as connection:
        connection.connection.dbapi_connection.set_trace_callback(seen.append)
    return seen


def plans(shelf, statements):
    """How SQLite would go about each distinct statement."""
    shapes = {re.sub(r"'[^']*'|\b\d+\b|x'[^']*'", "?", text): text for text in statements if not text.startswith("--")}
    # An INSERT reads nothing; its plan tells of searches for broken references that are left out while there are none.
    wanted = [text for text in shapes.values() if text.split()[0] in {"SELECT", "UPDATE", "DELETE"}]
    return {text: [row[3] for row in shelf.sql(f"EXPLAIN QUERY PLAN {escaped(text)}")] for text in wanted}


def escaped(text):
    return text.replace(":", "\\:")


def a_whole_add(shelf, source, near):
    note = shelf.new("sourdough", session_id="s")
    ((note, _),) = shelf.ledger.accept([note], [source], VECTORS)
    neighbours = [shelf.get(old) for old in near]
    plan = shelf.plan(
        change(
            note, "build", note, call=0, context="A dough.", keywords=["dough"], status="ready", pending_reason=None
        ),
        *(change(old, "evolve", note, call=1, version=None, tags=[*old.tags, source]) for old in neighbours[:2]),
        links=[PlannedLink(link=a_link(note, old), cause=cause("link", note), call=1) for old in neighbours[:3]],
        spent={"build": Usage(calls=1), "link_evolve": Usage(calls=1)},
    )
    calls = (call(note, stage="build"), call(note, *neighbours))
    assert shelf.commit(plan.model_copy(update={"calls": calls})).skipped == ()


def test_no_statement_reads_a_whole_table_or_a_whole_box(shelf, statements):
    near = shelf.accept(*(f"note {i}" for i in range(12)), session_id="s")
    a_whole_add(shelf, "first", near)
    statements.clear()
    a_whole_add(shelf, "second", near)
    found = plans(shelf, [text for text in statements if "note_fts" not in text])
    assert len(found) > 10
    for text, steps in found.items():
        for step in steps:
            assert not step.startswith("SCAN") or step == "SCAN meta", (text, step)
            assert not WHOLE_BOX.search(step), (text, step)


def test_a_note_takes_as_many_statements_in_a_full_box_as_in_an_empty_one(shelf, statements):
    counts = []
    for number in range(3):
        near = shelf.accept(*(f"note {i}" for i in range(60)), session_id="s")[:12]
        statements.clear()
        a_whole_add(shelf, f"m{number}", near)
        counts.append(sum(not text.startswith("--") for text in statements))
    assert max(counts) - min(counts) <= 3
