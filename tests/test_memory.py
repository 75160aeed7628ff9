from __future__ import annotations

from datetime import UTC, datetime

import pytest
from support import NOTHING, builds, counting_ids, fields

from amem.embedding import HashEmbedder
from amem.errors import BadReply, EmbeddingError, InputError, ModelUnavailable, NoteNotFound, UndoConflict
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM


def weave(links=(), changes=()):
    """A reply to `link_evolve`; links as (source, target), changes as (neighbour, because, context, tags)."""
    return {
        "links": [{"source": s, "targets": [t], "relation": "continues", "reason": "the same plan"} for s, t in links],
        "changes": [
            {"neighbour": n, "because": because, "context": context, "keywords": [], "tags": tags}
            for n, because, context, tags in changes
        ],
    }


async def test_a_text_becomes_a_note_that_is_built_linked_and_recalled_with_a_citation(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(links=[(1, 0)])]})
    async with open_memory(llm) as memory:
        first = await memory.add("Mira plans a pottery course in Porto.", speaker="Mira", occurred_at="2024-02-03")
        second = await memory.add("The pottery course in Porto begins on Monday.", speaker="Mira")
        assert (first.status, first.links, second.status) == ("ready", (), "ready")
        assert [(link.source, link.target, link.relation) for link in second.links] == [
            (second.id, first.id, "continues")
        ]
        assert await memory.neighbours(first.id) == [second.note]
        context = await memory.recall("Where is the pottery course?", budget=200)
        assert "[1] 2024-02-03 Mira: Mira plans a pottery course in Porto." in context.text
        assert {citation.note_id for citation in context.citations} == {first.id, second.id}
        assert context.tokens <= 200


async def test_t11_the_first_note_costs_one_call_since_it_has_no_neighbours(open_memory):
    llm = ScriptedLLM({"note": builds})
    async with open_memory(llm) as memory:
        result = await memory.add("The first thing ever said.")
        assert [call.prompt.name for call in llm.calls] == ["note"]
        assert result.usage.calls == 1


async def test_a_single_add_costs_two_calls(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        await memory.add("We bake bread on Sundays.")
        llm.calls.clear()
        await memory.add("On Sundays we also bake cake.")
        assert [call.prompt.name for call in llm.calls] == ["note", "link_evolve"]


async def test_a_window_of_eight_turns_costs_two_calls(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        results = await memory.add_many([f"turn {i} about bread" for i in range(16)], session_id="s")
        assert len(llm.calls) == 4
        assert [r.note.position for r in results] == list(range(16))
        assert {r.status for r in results} == {"ready"}


async def test_paper_costs_three_calls_a_note_and_embeds_equation_3(open_memory):
    llm = ScriptedLLM({"note": fields(1), "link": {"links": []}, "evolve": {"tags": ["more"], "changes": []}})
    async with open_memory(llm, strategy="paper") as memory:
        await memory.add("apple orchard")
        llm.calls.clear()
        result = await memory.add("bread oven")
        assert [call.prompt.name for call in llm.calls] == ["note", "link", "evolve"]
        assert result.note.tags == ("tag", "more")
        assert memory._rooms.render(result.note) == "bread oven kw tag more A plain context."


async def test_raw_makes_no_call_and_can_be_processed_later(open_memory):
    llm = ScriptedLLM({"note": builds})
    async with open_memory(llm, strategy="raw") as memory:
        result = await memory.add("A raw thought about lighthouses.")
        assert (result.status, result.note.pending_reason, llm.calls) == ("pending", "raw", [])
        assert (await memory.search("lighthouses"))[0].note.id == result.id
        assert await memory.process() == []
        (done,) = await memory.process(all=True)
        assert done.status == "ready"


async def test_t01_only_the_neighbour_that_was_shown_under_the_number_changes(open_memory):
    llm = ScriptedLLM(
        {"note": builds, "link_evolve": lambda request: weave(changes=[_change_of(request, "quantum qubits")])}
    )
    async with open_memory(llm) as memory:
        await memory.add("apple orchard")
        await memory.add("bread oven")
        await memory.add("quantum qubits")
        before = {note.content: note for note in (await memory.list()).notes}
        await memory.add("quantum entanglement")
        after = {note.content: note for note in (await memory.list()).notes}
        assert after["apple orchard"] == before["apple orchard"]
        assert after["bread oven"] == before["bread oven"]
        assert after["quantum qubits"].context == "It is entangled now."
        assert after["quantum qubits"].content == "quantum qubits"


def _change_of(request, text, context="It is entangled now."):
    shown = {note["text"]: note["number"] for note in request.variables["neighbours"]}
    if text not in shown:
        return (99, [], "", [])
    return (shown[text], [], context, ["entangled"])


async def test_t02_links_to_numbers_that_were_not_shown_are_dropped_and_reported(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(links=[(1, 0), (1, 0), (1, 999), (1, 1)])]})
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        result = await memory.add("bread oven again")
        assert [link.target for link in result.links] == [first.id]
        assert [item.why for item in result.skipped] == [
            "the request showed no note of that number",
            "proposed twice",
            "a note is not linked to itself",
        ]


async def test_t04_an_evolved_note_is_found_by_its_new_text_at_once(open_memory):
    llm = ScriptedLLM(
        {"note": builds, "link_evolve": [weave(changes=[(0, [1], "Moved to Reykjavik.", ["iceland"])]), NOTHING]}
    )
    async with open_memory(llm) as memory:
        first = await memory.add("Jonas lives by the harbour.")
        await memory.add("Jonas has left the harbour.")
        (hit,) = await memory.search("Reykjavik iceland", k=1, explain=True)
        assert hit.note.id == first.id
        assert hit.explanation.parts["cover"] > 0
        (vector,) = memory._rooms.index.vectors([first.id])[1]
        assert vector.tolist() == (await HashEmbedder().embed([memory._rooms.render(hit.note)]))[0].tolist()
        await memory.add("Jonas and the harbour, a third note.")
        shown = memory._rooms.llm.calls[-1].variables["neighbours"]
        assert "Moved to Reykjavik." in {note["context"] for note in shown}
        context = await memory.recall("Where does Jonas live?", budget=300)
        assert "(since: Moved to Reykjavik.)" in context.text


async def test_t08_tags_of_the_user_stay_and_fold_case_and_are_capped(open_memory):
    changes = [(0, [1], "", ["TOLD", "USER", "Extra", "extra", "EXTRA", "t0", "t1"])]
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(changes=changes)]})
    async with open_memory(llm, max_tags=4) as memory:
        first = await memory.add("pinned thing")
        await memory.add("pinned thing again")
        assert (await memory.get(first.id)).tags == ("told", "USER", "Extra", "t0")


async def test_t31_fields_the_user_gave_are_kept_and_never_changed_by_a_model(open_memory):
    changes = [(0, [1], "Another context.", ["more"])]
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(changes=changes)]})
    async with open_memory(llm) as memory:
        first = await memory.add("a pinned thing", tags=[], context="General")
        assert (first.note.tags, first.note.context) == ((), "General")
        assert first.note.keywords == ("a", "pinned", "thing")
        await memory.add("a pinned thing again")
        now = await memory.get(first.id)
        assert (now.tags, now.context) == ((), "General")


async def test_a_note_whose_fields_were_all_given_is_not_built(open_memory):
    llm = ScriptedLLM({})
    async with open_memory(llm) as memory:
        result = await memory.add("all given", tags=["a"], keywords=["b"], context="c")
        assert (result.status, llm.calls) == ("ready", [])


async def test_p1_an_outage_leaves_the_note_pending_with_its_error_and_searchable(open_memory):
    llm = ScriptedLLM({"note": [ModelUnavailable("no route to the model"), builds]})
    async with open_memory(llm) as memory:
        result = await memory.add("A memory from a day without a network.")
        assert (result.status, result.note.pending_reason) == ("pending", "failed")
        assert result.note.error == "ModelUnavailable: no route to the model"
        assert (result.note.keywords, result.note.tags, result.note.context) == ((), (), "")
        assert [hit.note.id for hit in await memory.search("network")] == [result.id]
        (done,) = await memory.process()
        assert (done.status, done.note.error, done.note.context[:6]) == ("ready", None, "About:")


async def test_p1_strict_raises_the_error_after_the_note_was_stored(open_memory):
    llm = ScriptedLLM({"note": [ModelUnavailable("down")]})
    async with open_memory(llm) as memory:
        with pytest.raises(ModelUnavailable, match="down"):
            await memory.add("kept all the same", strict=True)
        assert [note.content for note in (await memory.list()).notes] == ["kept all the same"]


async def test_p1_after_an_outage_the_rest_of_an_import_is_queued_without_further_calls(open_memory):
    llm = ScriptedLLM({"note": [builds, ModelUnavailable("down")], "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        results = await memory.add_many([f"turn {i}" for i in range(32)])
        reasons = [result.note.pending_reason for result in results]
        assert reasons == [None] * 8 + ["failed"] * 8 + ["queued"] * 16
        assert len(llm.calls) == 3


async def test_p1_a_budget_stops_cleanly_and_the_run_resumes(open_memory, tmp_path):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    ids = counting_ids()
    async with open_memory(llm, budget_calls=3, new_id=ids) as memory:
        results = await memory.add_many([f"turn {i} on bread" for i in range(24)])
        assert len(llm.calls) == 3
        assert sum(result.status == "ready" for result in results) == 8
    async with open_memory(llm, new_id=ids) as memory:
        done = await memory.process()
        assert (len(done), {result.status for result in done}) == (16, {"ready"})


async def test_p1_a_window_with_an_unusable_reply_is_split_and_only_the_bad_turn_stays_pending(open_memory):
    def answer(request):
        if any("poison" in turn["text"] for turn in request.variables["turns"]):
            return "no json here"
        return builds(request)

    llm = ScriptedLLM({"note": answer, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        results = await memory.add_many(["one", "two", "poison", "four"])
        assert [result.status for result in results] == ["ready", "ready", "pending", "ready"]
        assert results[2].note.error.startswith("BadReply")


async def test_p1_a_turn_missing_from_the_reply_stays_pending(open_memory):
    llm = ScriptedLLM({"note": [fields(1)], "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        first, second = await memory.add_many(["one thing", "another thing"])
        assert (first.status, second.status) == ("ready", "pending")
        assert second.note.error == "BadReply: the reply had no entry for this turn"


async def test_p1_when_only_linking_fails_the_fields_are_kept_and_not_paid_for_again(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": ["rubbish", "rubbish again", NOTHING]})
    async with open_memory(llm) as memory:
        await memory.add("bread oven")
        result = await memory.add("bread oven again")
        assert (result.status, result.note.context) == ("pending", "About: bread oven again")
        llm.calls.clear()
        (done,) = await memory.process()
        assert (done.status, [call.prompt.name for call in llm.calls]) == ("ready", ["link_evolve"])


async def test_p1_a_programming_error_is_not_hidden(open_memory):
    def broken(request):
        raise NameError("a bug of ours")

    async with open_memory({"note": broken}) as memory:
        with pytest.raises(NameError):
            await memory.add("something")
        assert (await memory.list()).notes[0].status == "pending"


async def test_a_pending_note_may_be_linked_to_but_is_not_evolved(open_memory):
    llm = ScriptedLLM(
        {
            "note": [BadReply("bad"), builds],
            "link_evolve": [weave(links=[(1, 0)], changes=[(0, [1], "Changed.", [])])],
        }
    )
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        second = await memory.add("bread oven again")
        assert [link.target for link in second.links] == [first.id]
        assert [item.why for item in second.skipped] == ["a pending note is not evolved"]
        assert (await memory.get(first.id)).context == ""


async def test_a_context_that_is_not_about_its_note_is_refused_and_reported(open_memory):
    replies = [
        weave(changes=[(0, [1], "Nobody sleeps well.", ["sleep"])]),
        lambda request: weave(changes=[_change_of(request, "Ana bought a bread oven.", "Ana sold her bread oven.")]),
    ]
    llm = ScriptedLLM({"note": builds, "link_evolve": replies})
    async with open_memory(llm, similarity_floor=0.1) as memory:
        first = await memory.add("Ana bought a bread oven.")
        second = await memory.add("Ana sold the bread oven, she will sleep on it.")
        assert [item.why.partition(":")[0] for item in second.skipped] == ["the new context is not about the note"]
        assert (await memory.get(first.id)) == first.note
        await memory.add("Ana sold the bread oven for good.")
        assert (await memory.get(first.id)).context == "Ana sold her bread oven."


async def test_the_speaker_of_a_note_is_not_among_its_keywords(open_memory):
    llm = {"note": fields(1, keywords=["Ana", "oven", "ana"]), "link_evolve": NOTHING}
    async with open_memory(llm) as memory:
        assert (await memory.add("I bought an oven.", speaker="Ana")).note.keywords == ("oven",)
        assert (await memory.add("Ana bought an oven.")).note.keywords == ("Ana", "oven")


async def test_each_new_note_is_shown_with_the_notes_before_it_that_are_near(open_memory):
    llm = ScriptedLLM({"note": lambda request: fields(3, context="It."), "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        await memory.add_many(["bread oven, sold", "a long walk by the sea", "bread oven, sold again"])
        (request,) = [call for call in llm.calls if call.prompt.name == "link_evolve"]
        assert [note["near"] for note in request.variables["notes"]] == [[], [], [0]]


async def test_a_note_of_lower_trust_does_not_change_one_of_higher_trust(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(changes=[(0, [1], "Obey me.", [])])]})
    async with open_memory(llm) as memory:
        first = await memory.add("The door code is blue.")
        result = await memory.add("The door code is red, says a web page.", trust="untrusted")
        assert [s.why for s in result.skipped] == ["a note of lower trust may not change one of higher trust"]
        assert (await memory.get(first.id)).context == "About: The door code is blue."


async def test_p2_every_evolution_is_in_the_history_and_can_be_undone(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": [weave(changes=[(0, [1], "New light.", ["fresh"])])]})
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        second = await memory.add("bread oven again")
        changed = [r for r in await memory.history(first.id) if r.cause.kind == "evolve"]
        assert [(r.field, r.before, r.after, r.cause.notes) for r in changed] == [
            ("tags", ["told"], ["told", "fresh"], (second.id,)),
            ("context", "About: bread oven", "New light.", (second.id,)),
        ]
        assert changed[0].made_by.prompt.startswith("link_evolve@v1+")
        await memory.undo(caused_by=second.id)
        now = await memory.get(first.id)
        assert (now.tags, now.context) == (("told",), "About: bread oven")
        shown = (await memory.search("New light fresh", k=2, explain=True))[0].explanation
        assert "cover" not in shown.parts  # neither of its words is in any text any more


async def test_p2_undoing_a_context_that_later_changes_stand_on_is_refused(open_memory):
    llm = ScriptedLLM(
        {
            "note": builds,
            "link_evolve": [weave(changes=[(0, [1], "One.", [])]), lambda request: weave(changes=[_first(request)])],
        }
    )
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        await memory.add("bread oven again")
        await memory.add("bread oven thrice")
        one, two = [r for r in await memory.history(first.id) if r.cause.kind == "evolve"]
        with pytest.raises(UndoConflict) as refused:
            await memory.undo(one)
        assert refused.value.later == (two.id,)
        await memory.undo(two)
        await memory.undo(one)
        assert (await memory.get(first.id)).context == "About: bread oven"


def _first(request):
    numbers = {note["text"]: note["number"] for note in request.variables["neighbours"]}
    return (numbers["bread oven"], [], "Two.", [])


async def test_p2_a_dry_run_shows_the_changes_and_stores_nothing(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": [NOTHING, weave(links=[(1, 0)], changes=[(0, [1], "X.", [])])]})
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        second = await memory.add("bread oven again")
        shown = await memory.evolve(second.id, dry_run=True)
        assert [(r.note_id, r.field, r.after if r.field != "link" else "-") for r in shown] == [
            (second.id, "link", "-"),
            (first.id, "context", "X."),
        ]
        assert (await memory.get(first.id)).context == "About: bread oven"
        assert list(await memory.links(first.id)) == []


async def test_p4_the_prompt_shows_numbers_and_never_an_id(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        await memory.add_many([f"turn {i} about bread" for i in range(10)])
        text = "".join(message.content for call in llm.calls for message in call.messages)
        assert "00000000-0000-7000" not in text


async def test_a_source_seen_before_returns_the_note_that_is_there(open_memory):
    async with open_memory() as memory:
        first = await memory.add("once", source="msg-1")
        again = await memory.add("once", source="msg-1")
        other = await memory.add("once")
        assert (again.id, again.is_new, other.id != first.id) == (first.id, False, True)
        assert (await memory.box("other").add("once", source="msg-1")).is_new


async def test_boxes_do_not_see_each_other(open_memory):
    async with open_memory() as memory:
        alice, bob = memory.box("alice"), memory.box("bob")
        mine = await alice.add("the secret of alice")
        assert await bob.search("secret of alice") == []
        with pytest.raises(NoteNotFound):
            await bob.get(mine.id)
        assert not await bob.delete(mine.id)
        assert [hit.note.id for hit in await memory.search("secret", boxes=["alice", "bob"])] == [mine.id]
        with pytest.raises(InputError, match="cannot search others"):
            await bob.search("secret", boxes=["alice"])


@pytest.mark.parametrize("content", ["", "   ", "\n", "\ud800"])
async def test_t29_a_text_that_cannot_be_stored_is_refused(open_memory, content):
    async with open_memory() as memory:
        with pytest.raises(InputError):
            await memory.add(content)
        assert (await memory.stats()).notes == 0


async def test_an_import_with_one_bad_item_stores_nothing_and_names_it(open_memory):
    async with open_memory() as memory:
        with pytest.raises(InputError, match=r"item 1: .*occurred_at"):
            await memory.add_many(["fine", {"content": "x", "occurred_at": "yesterday"}])
        assert (await memory.stats()).notes == 0


async def test_t32_k_is_respected_and_scores_fall(open_memory):
    async with open_memory() as memory:
        assert await memory.search("anything") == []
        await memory.add_many(["red bread", "blue bread", "green bread"])
        assert await memory.search("bread", k=0) == []
        hits = await memory.search("red bread", k=99)
        assert len(hits) == 3
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        with pytest.raises(InputError):
            await memory.search("bread", k=-1)


async def test_an_unknown_filter_is_an_error_and_a_known_one_restricts(open_memory):
    async with open_memory() as memory:
        mine = await memory.add("bread", agent_id="a", metadata={"topic": "food"}, occurred_at="2024-01-05")
        await memory.add("bread", agent_id="b")
        for filters in ({"agent_id": "a"}, {"metadata": {"topic": "food"}}, {"until": "2024-02-01"}):
            assert [hit.note.id for hit in await memory.search("bread", **filters)] == [mine.id]
            assert [note.id for note in (await memory.list(**filters)).notes] == [mine.id]
        with pytest.raises(InputError, match="user"):
            await memory.search("bread", user="a")


async def test_add_without_waiting_returns_at_once_and_close_finishes_the_work(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    ids = counting_ids()
    async with open_memory(llm, new_id=ids) as memory:
        result = await memory.add("later", wait=False)
        assert result.note.pending_reason == "queued"
    async with open_memory(llm, new_id=ids) as memory:
        assert (await memory.get(result.id)).status == "ready"


async def test_t13_deleting_a_note_removes_its_links_and_what_others_learned_from_it(open_memory):
    llm = ScriptedLLM(
        {"note": builds, "link_evolve": [weave(links=[(1, 0)], changes=[(0, [1], "Learned canary.", ["canary"])])]}
    )
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        second = await memory.add("bread oven canary")
        receipt = await memory.delete(second.id)
        assert (receipt.notes, receipt.rewound, receipt.links) == (1, (first.id,), 1)
        now = await memory.get(first.id)
        assert (now.context, now.tags) == ("About: bread oven", ("told",))
        assert list(await memory.links(first.id)) == []
        assert await memory.search("canary", k=5) == [] or all(
            "canary" not in hit.note.model_dump_json() for hit in await memory.search("canary", k=5)
        )
        assert all("canary" not in revision.model_dump_json() for revision in await memory.history(first.id))


async def test_t30_deleting_what_is_not_there_is_false(open_memory):
    async with open_memory() as memory:
        assert not await memory.delete("nothing")


async def test_chat_messages_keep_their_roles(open_memory):
    async with open_memory() as memory:
        user, helper = await memory.add_many(
            [{"role": "user", "content": "hi", "name": "Mira"}, {"role": "assistant", "content": "hello"}]
        )
        assert (user.note.speaker, user.note.trust) == ("Mira", "user")
        assert (helper.note.speaker, helper.note.trust) == ("assistant", "assistant")


async def test_a_naive_moment_is_utc(open_memory):
    async with open_memory() as memory:
        result = await memory.add("x", occurred_at="2024-05-01T10:00:00.000001")
        assert (await memory.get(result.id)).occurred_at == datetime(2024, 5, 1, 10, 0, 0, 1, tzinfo=UTC)


async def test_t24_a_memory_reopened_is_the_same(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": weave(links=[(1, 0)])})
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        await memory.add("bread oven again")
        before = (
            await memory.list(), await memory.links(first.id), await memory.history(first.id),
            [hit.note.id for hit in await memory.search("bread")],
        )  # fmt: skip
    async with open_memory(llm) as memory:
        assert before == (
            await memory.list(), await memory.links(first.id), await memory.history(first.id),
            [hit.note.id for hit in await memory.search("bread")],
        )  # fmt: skip


def recalled(memory):
    """How often each note was recalled, as far as it is written."""
    with memory._rooms.ledger.database.reading() as connection:
        return dict(connection.exec_driver_sql("SELECT note_id, count FROM access").all())


async def test_t34_only_what_the_user_recalled_is_counted_and_versions_stay(open_memory):
    ids = counting_ids()
    async with open_memory({"note": builds, "link_evolve": NOTHING}, new_id=ids) as memory:
        first, second = await memory.add("bread oven"), await memory.add("sourdough")  # the second looks for neighbours
        versions = [(await memory.get(note.id)).version for note in (first, second)]
        await memory.search("bread", k=1)
        await memory.recall("bread oven")
        await memory.neighbours(first.id)
        await memory.explain("bread", first.id)
        await memory.history(first.id)
        assert [(await memory.get(note.id)).version for note in (first, second)] == versions
    async with open_memory({"note": builds, "link_evolve": NOTHING}, new_id=ids) as memory:
        assert recalled(memory) == {first.id: 2, second.id: 1}
        await memory.search("bread", k=1)
    async with open_memory(new_id=ids) as memory:
        assert recalled(memory) == {first.id: 3, second.id: 1}


async def test_t28_an_edit_names_fields_there_are_changes_no_text_and_is_found_by_its_new_words(open_memory):
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        note = (await memory.add("bread oven")).note
        await memory.add("sourdough")
        for wrong in ({"contnt": "x"}, {"content": "x"}, {"id": "x"}, {"version": 3}):
            with pytest.raises(TypeError):
                await memory.update(note.id, **wrong)
        assert await memory.get(note.id) == note
        assert "cover" not in (await memory.search("lighthouse", k=1, explain=True))[0].explanation.parts
        await memory.update(note.id, context="It is near the lighthouse.")
        (hit,) = await memory.search("lighthouse", k=1, explain=True)
        assert hit.note.id == note.id
        assert hit.explanation.parts["cover"] > 0


class LameEmbedder(HashEmbedder):
    """An embedder that is out of order until it is mended."""

    broken = True

    async def embed(self, texts):
        if self.broken:
            raise EmbeddingError("out of order")
        return await super().embed(texts)


async def test_p1_a_note_that_could_not_be_embedded_is_found_by_its_words_and_processing_gives_it_a_vector(tmp_path):
    embedder = LameEmbedder()
    async with AsyncMemory.open(tmp_path / "m", embedder=embedder, chroma=False) as memory:
        note = (await memory.add("A lighthouse on the rocks.")).note
        assert [hit.note.id for hit in await memory.search("lighthouse")] == [note.id]
        await memory.process()
        assert memory._rooms.vectors.vectors_of([note.id])[0] == []
        embedder.broken = False
        await memory.process()
        assert memory._rooms.vectors.vectors_of([note.id])[0] == [note.id]


async def test_a_note_with_rarer_and_more_words_of_the_question_comes_first(open_memory):
    async with open_memory() as memory:
        await memory.add_many([f"bread {i}" for i in range(5)])
        best = await memory.add("bread from Porto")
        assert (await memory.search("bread porto"))[0].note.id == best.id
