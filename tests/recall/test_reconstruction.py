from __future__ import annotations

import gc
import time
from datetime import UTC, datetime, timedelta
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_support import HIKE, fill

from amem.filters import Filter, make_filter
from amem.model import Note
from amem.recall.cues import WORD, Vocabulary, held, stem
from amem.recall.features import Question
from amem.recall.graph import SALIENT, Graph
from amem.recall.layout import Columns, View
from amem.recall.reconstruction import Spread, reconstruct, remember
from amem.recall.timefocus import time_focus
from amem.store.queries import Glance

NOW = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = ("hike", "autumn", "boots", "piano", "Ben", "café", "京都", "running")
PLAIN = Spread(decay=0.0, threshold=0.4, levels=3)


def brought_back(memory, question, *, spread=PLAIN, now=NOW, **filters):
    """Run the arm alone, over what a filter lets through."""
    rooms = memory._rooms
    chosen = make_filter(**filters)
    allowed = rooms.ledger.matching_ids("default", chosen) if chosen.restricts else None
    view = rooms.layouts.view("default", allowed)
    graph = rooms.graphs.graph("default", view)
    found = reconstruct(graph, Question(question, time_focus(question, now)), now=now, spread=spread)
    return {view.ids[row]: float(found.scores[row]) for row in found.rows}, found, view


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("hike hikes hiked hiking", "hik"),
        ("run runs running", "run"),
        ("party parties partied", "parti"),
        ("race races racing raced", "rac"),
        ("guess guesses", "guess"),
    ],
)
def test_inflected_words_are_one_cue(words, one):
    assert {stem(word) for word in words.split()} == {one}


@pytest.mark.parametrize("word", ["日本", "être", "das", "was", "bus"])
def test_short_and_foreign_words_stay_as_they_are(word):
    assert stem(word) == word


async def months_apart(memory, texts, **common):
    """Add texts that share no month."""
    added = [
        await memory.add(text, occurred_at=datetime(2020 + n // 12, n % 12 + 1, 3, tzinfo=UTC), **common)
        for n, text in enumerate(texts)
    ]
    return [result.id for result in added]


async def test_a_question_brings_back_raw_notes_by_their_words(open_memory):
    async with open_memory() as memory:
        first, _, boots, *_ = await months_apart(memory, HIKE)
        scores, _, _ = brought_back(memory, "Who is hiking in autumn?", spread=PLAIN._replace(levels=1))
        assert scores.keys() == {first, boots}
        assert max(scores.values()) == 1.0


async def test_a_question_without_any_cue_brings_back_nothing(open_memory):
    async with open_memory() as memory:
        await fill(memory)
        assert brought_back(memory, "What about submarines?")[0] == {}
        assert brought_back(memory, "")[0] == {}


async def test_an_empty_box_is_no_error(open_memory):
    async with open_memory() as memory:
        assert await memory.search("anything", reconstruct=True) == []


async def test_what_shares_no_word_with_the_question_is_reached_over_another_note(open_memory):
    async with open_memory() as memory:
        texts = ["The regatta was won by Zephyr.", "Zephyr needs a new mast.", "Ben dances tango."]
        boat, weather, _ = await months_apart(memory, texts)
        near = set(brought_back(memory, "regatta?", spread=PLAIN._replace(levels=2))[0])
        far, found, view = brought_back(memory, "regatta?")
        assert near == {boat}
        assert list(far) == [boat, weather]
        one, two = found.path(view.row_of[weather])
        assert (one.source, one.target, one.relation) == ("cue:regatta", boat, "word")
        assert one.reason == "the question says 'regatta'"
        assert (two.source, two.target, two.relation) == (boat, weather, "word")
        assert "zephyr" in two.reason


async def test_activation_below_the_threshold_goes_no_further(open_memory):
    texts = ["regatta Zephyr", "regatta regatta mast and sails and oars of Mistral", "Mistral rests", "Zephyr rests"]
    async with open_memory() as memory:
        _, _, mistral, zephyr = await fill(memory, texts)
        low = brought_back(memory, "regatta?", spread=PLAIN._replace(threshold=0.0))[0]
        high = brought_back(memory, "regatta?", spread=PLAIN._replace(threshold=1.0))[0]
        assert low.keys() >= {mistral, zephyr}
        assert high.keys() < low.keys()


async def test_a_cue_on_many_notes_says_little(open_memory):
    async with open_memory() as memory:
        common = await fill(memory, [f"coffee with guest number {word}" for word in "abcdefghij"])
        [rare] = await fill(memory, ["a telescope with guest number k"])
        scores, _, _ = brought_back(memory, "coffee and a telescope", spread=PLAIN._replace(levels=1))
        assert scores[rare] == 1.0
        assert all(scores[note_id] < 0.5 for note_id in common)


async def test_notes_near_the_time_the_question_is_about_get_more(open_memory):
    async with open_memory() as memory:
        [june] = await fill(memory, ["a walk by the river"], occurred_at=NOW - timedelta(days=330))
        [april] = await fill(memory, ["a walk by the river"], occurred_at=NOW - timedelta(days=5))
        spread = Spread(decay=0.01, threshold=0.4, levels=1)
        now = brought_back(memory, "Which walk?", spread=spread)[0]
        then = brought_back(memory, "Which walk in June 2023?", spread=spread)[0]
        assert now[april] > now[june]
        assert then[june] > then[april]
        plain = brought_back(memory, "Which walk?", spread=PLAIN._replace(levels=1))[0]
        assert plain[april] == plain[june]


async def test_a_month_without_a_year_is_as_near_in_every_year(open_memory):
    async with open_memory() as memory:
        early, late, winter = [
            (await fill(memory, ["a walk by the river"], occurred_at=datetime(year, month, 9, tzinfo=UTC)))[0]
            for year, month in ((2020, 6), (2023, 6), (2022, 12))
        ]
        spread = Spread(decay=0.01, threshold=0.4, levels=1)
        scores = brought_back(memory, "Which walk in June?", spread=spread)[0]
        assert scores[early] == scores[late] > scores[winter] * 2


async def test_a_named_month_is_a_cue_of_its_own_with_and_without_a_year(open_memory):
    async with open_memory() as memory:
        [june] = await fill(memory, ["a walk"], occurred_at=datetime(2023, 6, 5, tzinfo=UTC))
        await fill(memory, ["a ride"], occurred_at=datetime(2023, 7, 5, tzinfo=UTC))
        for question in ("What happened in June 2023?", "What happened in June?"):
            scores, found, view = brought_back(memory, question, spread=PLAIN._replace(levels=1))
            assert list(scores) == [june]
            assert found.path(view.row_of[june])[0].reason == "the question is about 2023-06"


async def test_a_decade_away_is_no_reason_to_find_nothing(open_memory):
    async with open_memory() as memory:
        await fill(memory, occurred_at=datetime(1985, 1, 1, tzinfo=UTC))
        assert brought_back(memory, "hike", spread=Spread(decay=5.0, threshold=0.4, levels=3))[0]


async def test_a_named_speaker_is_a_cue(open_memory):
    async with open_memory() as memory:
        [one] = await fill(memory, ["I like plums."], speaker="Zoe")
        await fill(memory, ["I like pears."], speaker="Max")
        scores, found, view = brought_back(memory, "What does Zoe say?", spread=PLAIN._replace(levels=1))
        assert list(scores) == [one]
        assert found.path(view.row_of[one])[0].relation == "speaker"


async def test_keywords_are_the_cues_of_a_note_that_has_them_and_tags_lead_on(open_memory):
    async with open_memory() as memory:
        [one] = await months_apart(memory, ["We did it again."], keywords=["regatta"], tags=["Sport"])
        two = (await memory.add("And she won.", keywords=["tennis"], tags=["sport"])).id
        scores, found, view = brought_back(memory, "regatta")
        assert list(scores) == [one, two]
        assert [step.relation for step in found.path(view.row_of[two])] == ["word", "tag"]
        assert brought_back(memory, "won")[0] == {}  # the text is no cue where there are keywords
        assert brought_back(memory, "sport")[0] == {}  # and a tag is nothing that a question activates


async def test_words_of_scripts_without_spaces_are_cues(open_memory):
    async with open_memory() as memory:
        one, _ = await months_apart(memory, ["昨日は京都で紅葉を見た。", "犬を散歩させた。"])
        assert list(brought_back(memory, "京都の紅葉")[0]) == [one]


async def test_new_changed_and_forgotten_notes_are_seen_at_once(open_memory):
    async with open_memory() as memory:
        first = (await memory.add("We did it again.", keywords=["regatta"])).id
        assert list(brought_back(memory, "tennis")[0]) == []
        await memory.update(first, keywords=["tennis"])
        assert list(brought_back(memory, "tennis")[0]) == [first]
        assert list(brought_back(memory, "regatta")[0]) == []
        await memory.delete(first)
        assert list(brought_back(memory, "tennis")[0]) == []
        known = {handle.name for handle in memory._rooms.graphs._cues["default"].vocabulary.handles}
        assert stem("tennis") not in known


async def test_alone_the_arm_gives_hits_with_their_paths_under_the_filter(open_memory):
    async with open_memory() as memory:
        [ana] = await fill(memory, ["The autumn hike was long."], speaker="Ana")
        [ben] = await fill(memory, ["The autumn hike was short."], speaker="Ben")
        asked = Question("autumn hike", None)
        rooms = memory._rooms
        both = remember(rooms, "default", asked, k=5, given=Filter(), now=NOW)
        assert {hit.note.id for hit in both} == {ana, ben}
        assert {(hit.via, len(hit.path)) for hit in both} == {("reconstruction", 1)}
        only = remember(rooms, "default", asked, k=5, given=Filter(speaker="Ben"), now=NOW)
        assert [hit.note.id for hit in only] == [ben]


async def test_search_leaves_the_arm_out_unless_it_is_asked_for(open_memory):
    async with open_memory() as memory:
        await fill(memory)
        plain = await memory.search("autumn hike", explain=True)
        fused = await memory.search("Tatra hike", explain=True, reconstruct=True)
        assert all("reconstruction" not in {**hit.explanation.parts, **hit.explanation.ranks} for hit in plain)
        assert fused[0].explanation.parts["reconstruction"] == pytest.approx(1.0, abs=0.5)
        assert fused[0].explanation.ranks["reconstruction"] == 1
        assert fused[0].explanation.path[0].source.startswith("cue:")


async def test_the_setting_asks_for_the_arm_and_the_argument_wins(open_memory):
    async with open_memory(reconstruct=True, reconstruct_weight=3.0) as memory:
        await fill(memory)
        (hit, *_) = await memory.search("autumn hike", explain=True)
        assert hit.explanation.parts["reconstruction"] > 1
        (hit, *_) = await memory.search("autumn hike", explain=True, reconstruct=False)
        assert "reconstruction" not in hit.explanation.parts


def graph_of(texts, before=()):
    """A graph of notes, made by hand; `before` are notes outside it whose words were numbered first."""
    vocabulary = Vocabulary()
    for text in before:
        held(noted(0, text), vocabulary)
    notes = [noted(number, text) for number, text in enumerate(texts)]
    columns = Columns()
    columns.extend([Glance(n, note.id, None, None, None, NOW, note.content, False) for n, note in enumerate(notes)])
    return Graph(View(columns), [held(note, vocabulary) for note in notes], vocabulary)


def noted(number, text):
    return Note(id=f"n{number}", content=text, tags=text.split()[:1], occurred_at=NOW, created_at=NOW)


TEXTS = st.lists(st.sampled_from([" ".join(some) for some in combinations(WORDS, 3)]), min_size=1, max_size=6)


def test_of_equally_rare_words_those_that_stand_first_become_cues():
    words = [f"{first}{second}x" for first in "abcde" for second in "fghi"]
    for before in ((), [" ".join(reversed(words))]):
        graph = graph_of([" ".join(words)], before)
        names = [graph.vocabulary.handles[number] for number in graph.handle]
        assert [name for kind, name in names if kind == WORD] == words[:SALIENT]


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(inside=TEXTS, outside=TEXTS)
def test_words_of_notes_outside_the_view_change_nothing(inside, outside):
    found = []
    for before in ((), outside):
        graph = graph_of(inside, before)
        result = reconstruct(graph, Question("hiking boots, autumn piano", None), now=NOW, spread=PLAIN)
        ways = [result.path(row) for row in result.rows]
        found.append((result.rows.tolist(), result.scores.tolist(), ways))
    assert found[0] == found[1]


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(texts=TEXTS, threshold=st.floats(0, 1), decay=st.floats(0, 2), levels=st.integers(1, 3))
def test_activation_is_a_share_and_every_note_reached_has_a_way(texts, threshold, decay, levels):
    spread = Spread(decay, threshold, levels)
    result = reconstruct(graph_of(texts), Question("hiking in the autumn with Ben", None), now=NOW, spread=spread)
    assert ((result.scores >= 0) & (result.scores <= 1)).all()
    assert not len(result.rows) or result.scores.max() == 1.0
    for row in result.rows:
        way = result.path(row)
        assert way[0].source.startswith("cue:")
        assert way[-1].target == f"n{row}"


async def test_notes_that_the_filter_excludes_change_nothing(open_memory):
    async with open_memory() as memory:
        await fill(memory, HIKE[:3], speaker="Ana")
        before = brought_back(memory, "hiking boots, autumn piano", speaker="Ana")[0]
        await fill(memory, [*HIKE, "hike boots"], speaker="Max")
        assert brought_back(memory, "hiking boots, autumn piano", speaker="Ana")[0] == before


async def test_graphs_of_notes_that_have_changed_since_are_let_go(open_memory):
    async with open_memory() as memory:
        for text in HIKE:
            await memory.add(text)
            await memory.search("hike", reconstruct=True)
            await memory.search("hike", reconstruct=True, session_id="none")
        gc.collect()
        assert len(memory._rooms.graphs._graphs) <= 1


async def test_the_arm_is_quick(open_memory):
    """Measured .5 ms at 419 notes; the limit leaves room for a machine with other work to do."""
    async with open_memory() as memory:
        words = [f"word{number}" for number in range(300)]
        rng = np.random.default_rng(7)
        await fill(memory, [" ".join(rng.choice(words, 12)) for _ in range(1000)], speaker="Ana", session_id="s")
        brought_back(memory, "word1 word2 word3")
        taken = []
        for number in range(20):
            began = time.process_time()
            brought_back(memory, f"word{number} word7 and word9")
            taken.append(time.process_time() - began)
        assert sorted(taken)[10] < 0.010


async def test_the_same_question_gets_the_same_answer(open_memory):
    async with open_memory() as memory:
        await fill(memory, HIKE * 3)
        once = await memory.search("autumn hike", k=15, reconstruct=True, explain=True)
        assert await memory.search("autumn hike", k=15, reconstruct=True, explain=True) == once
