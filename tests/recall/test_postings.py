from __future__ import annotations

import numpy as np
import pytest
from recall_support import fill

from amem.recall import layout
from amem.recall.layout import Postings


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


def rows_that_hold(memory, word):
    rooms = memory._rooms
    view = rooms.layouts.view(memory.name)
    (rids,) = rooms.layouts.postings(memory.name, [word])
    return [view.ids[row] for row in view.rows(rids)]


async def test_a_word_asked_for_before_is_found_in_a_note_that_came_since(memory):
    await fill(memory)
    assert rows_that_hold(memory, "ferry")

    (late,) = await fill(memory, ["The ferry was late."])

    assert rows_that_hold(memory, "ferry")[-1] == late


async def test_a_word_asked_for_before_is_found_in_a_note_that_learned_it_since(memory):
    first, *_ = await fill(memory)
    assert first not in rows_that_hold(memory, "ferry")

    await memory.update(first, context="She takes the ferry there.")

    assert first in rows_that_hold(memory, "ferry")


async def test_what_another_writer_changed_is_noticed_too(memory, open_memory):
    first, *_ = await fill(memory)
    assert first not in rows_that_hold(memory, "ferry")

    async with open_memory() as other:
        await other.update(first, context="She takes the ferry there.")

    assert first in rows_that_hold(memory, "ferry")


async def test_full_text_made_anew_is_looked_up_anew(memory):
    await fill(memory)
    ledger = memory._rooms.ledger
    with ledger.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM note_fts")
        connection.exec_driver_sql("UPDATE box SET epoch = epoch + 1")
    assert not rows_that_hold(memory, "ferry")

    ledger.reindex_words()

    assert rows_that_hold(memory, "ferry")


def test_a_word_is_read_once():
    asked = []

    def read(words):
        asked.append(list(words))
        return [np.array([len(word)]) for word in words]

    postings = Postings(read)

    assert [int(rows[0]) for rows in postings(["a", "bb", "a"])] == [1, 2, 1]
    assert [int(rows[0]) for rows in postings(["bb", "ccc"])] == [2, 3]
    assert asked == [["a", "bb"], ["ccc"]]


def test_postings_beyond_the_room_for_them_are_answered_and_let_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "_POSTINGS", 5)
    postings = Postings(lambda words: [np.arange(4) for _ in words])

    for word in ["one", "two", "three", "one"]:
        assert len(postings([word])[0]) == 4
        assert sum(map(len, postings._known.values())) <= 5
