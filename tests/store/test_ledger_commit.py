"""What `Ledger.commit` promises: compare-and-swap, all or nothing, revisions for real changes, links once."""

from __future__ import annotations

import sqlite3

import pytest
from ledger_support import VECTORS, a_link, call, cause, change, render, vector
from pydantic import ValidationError

from amem.model import Cause, MadeBy, Usage
from amem.store.plan import GroundMoved, NeedsVectors, PlannedLink

READY = {"status": "ready", "pending_reason": None, "error": None}


# -- what becomes of a note ---------------------------------------------------------------------------


def test_what_commit_returns_is_what_the_ledger_then_says(shelf):
    old, note = shelf.ready("bread oven"), shelf.add("sourdough")
    built = change(note, "build", note, call=0, keywords=["bread"], context="Baking.", **READY)
    evolved = change(old, "evolve", note, call=1, tags=["baking"])
    link = PlannedLink(link=a_link(note, old), cause=cause("link", note), call=1)
    plan = shelf.plan(built, evolved, links=[link], shown=(note,))
    plan = plan.model_copy(update={"calls": (call(note, stage="build"), call(old, note))})
    done = shelf.commit(plan)
    assert done.notes == shelf.ledger.get([note.id, old.id])
    assert list(done.links) == shelf.ledger.links_of([note.id])
    assert list(done.revisions) == sorted(
        [*shelf.history(note), *shelf.history(old)[-1:]], key=lambda revision: revision.id
    )
    assert done.notes[note.id].made_by == MadeBy(model="model", prompt="prompt@v1+0", shown=(note.id,))
    assert done.skipped == ()


def test_a_change_raises_the_version_and_leaves_a_revision_for_each_field(shelf):
    note = shelf.add("bread oven")
    after = shelf.build(note, keywords=["bread"], tags=["food"], context="An oven.")
    assert (after.version, after.status) == (note.version + 1, "ready")
    assert [(r.field, r.before, r.after, r.cause) for r in shelf.history(note)] == [
        ("keywords", [], ["bread"], cause("build", note)),
        ("tags", [], ["food"], cause("build", note)),
        ("context", "", "An oven.", cause("build", note)),
    ]


def test_a_change_that_changes_nothing_leaves_no_trace(shelf):
    note = shelf.build(shelf.add("bread oven"), keywords=["bread"])
    before = shelf.tables()
    done = shelf.edit(note, keywords=["bread"])
    assert (done.revisions, done.notes) == ((), {note.id: note})
    assert shelf.tables() == before


def test_true_for_one_is_a_change_of_metadata(shelf):
    note = shelf.add("bread oven", metadata={"fresh": 1})
    (revision,) = shelf.edit(note, metadata={"fresh": True}).revisions
    assert (revision.before, revision.after) == ({"fresh": 1}, {"fresh": True})
    assert shelf.get(note).metadata["fresh"] is True


def test_state_leaves_no_revision(shelf):
    note = shelf.ready("bread oven")
    assert (note.status, shelf.history(note)) == ("ready", [])


def test_two_changes_of_one_note_in_a_plan_are_both_applied(shelf):
    note = shelf.add("bread oven")
    steps = [change(note, "build", note, call=0, tags=["a"]), change(note, "evolve", note, call=0, tags=["a", "b"])]
    done = shelf.commit(shelf.plan(*steps, shown=(note,)))
    assert done.notes[note.id].tags == ("a", "b")
    assert [(r.before, r.after) for r in done.revisions] == [([], ["a"]), (["a"], ["a", "b"])]


@pytest.mark.parametrize("field", ["content", "id", "box", "session_id", "position", "sources", "trust", "created_at"])
def test_no_plan_may_change_what_a_note_is(shelf, field):
    with pytest.raises(ValidationError, match=f"no plan may change {field}"):
        change(shelf.add("bread"), "user", **{field: "other"})


def test_a_changed_text_is_found_by_its_words_and_vector_at_once_and_no_longer_by_its_old(shelf):
    note = shelf.build(shelf.add("bread oven"), context="Zanzibar.")
    after = shelf.edit(note, context="Reykjavik.").notes[note.id]
    assert shelf.holding("reykjavik") == [note.id]
    assert shelf.holding("zanzibar") == []
    assert shelf.vectors.vectors_of([note.id])[1][0].tolist() == vector(render(after)).tolist()
    assert shelf.vectors.outbox()[-1].note_id == note.id


def test_pins_of_two_edits_at_once_add_up(shelf):
    note = shelf.add("bread oven")
    shelf.edit(note, tags=["a"], pinned=["tags"])
    shelf.edit(note, context="Mine.", pinned=["context"])
    assert shelf.get(note).pinned == ("tags", "context")


# -- compare-and-swap ---------------------------------------------------------------------------------


def test_a_change_of_a_note_that_has_moved_on_is_dropped_and_reported_and_the_rest_is_applied(shelf):
    old, other = shelf.ready("bread oven"), shelf.ready("cake tin")
    shelf.edit(old, context="The user was quicker.")
    done = shelf.commit(
        shelf.plan(change(old, "evolve", other, context="Late."), change(other, "evolve", other, context="In time."))
    )
    assert shelf.get(old).context == "The user was quicker."
    assert shelf.get(other).context == "In time."
    (skipped,) = done.skipped
    assert (skipped.stage, skipped.what) == ("evolve", f"change of note {old.id}")
    assert skipped.why.startswith("conflict")
    assert [r.note_id for r in done.revisions] == [other.id]


def test_a_build_that_comes_too_late_leaves_the_note_waiting(shelf):
    note = shelf.add("bread oven")
    shelf.edit(note, tags=["mine"])
    done = shelf.commit(shelf.plan(change(note, "build", note, call=0, tags=["its"], **READY), shown=(note,)))
    assert [item.stage for item in done.skipped] == ["build"]
    after = shelf.get(note)
    assert (after.status, after.tags, after.made_by) == ("pending", ("mine",), None)


def test_a_change_of_a_note_that_is_gone_is_reported(shelf):
    note = shelf.ready("bread oven")
    shelf.forget(note)
    (skipped,) = shelf.edit(note, context="Too late.").skipped
    assert skipped.why == "the note is gone"


def test_a_plan_touches_nothing_outside_its_box(shelf):
    theirs, mine = shelf.ready("bread oven", box="theirs"), shelf.ready("cake tin")
    steps = [change(theirs, "evolve", mine, context="Mine now.")]
    link = PlannedLink(link=a_link(mine, theirs), cause=cause("link", mine))
    done = shelf.commit(shelf.plan(*steps, links=[link]))
    assert [item.why for item in done.skipped] == ["the note is gone"] * 2
    assert shelf.get(theirs) == theirs
    assert shelf.ledger.links_of([theirs.id]) == []


def test_what_came_of_a_call_that_was_shown_a_note_forgotten_since_is_dropped(shelf):
    secret, old, note = shelf.ready("a secret"), shelf.ready("bread oven"), shelf.add("sourdough")
    plan = shelf.plan(
        change(note, "build", note, call=0, context="It knows the secret.", **READY),
        change(old, "evolve", note, call=0, context="It knows, too."),
        links=[PlannedLink(link=a_link(note, old, "the secret"), cause=cause("link", note), call=0)],
        shown=(secret, old, note),
    )
    shelf.forget(secret)
    done = shelf.commit(plan)
    assert {item.why for item in done.skipped} == {"a note that the model was shown is gone"}
    assert (done.notes, done.links, done.revisions) == ({}, (), ())
    assert shelf.get(note).status == "pending"
    assert shelf.mentions("secret") == []


def test_a_plan_that_wants_all_or_nothing_gets_nothing_where_a_part_does_not_fit(shelf):
    old, other = shelf.ready("bread oven"), shelf.ready("cake tin")
    shelf.edit(old, context="The user was quicker.")
    before = shelf.tables()
    steps = [change(old, "evolve", other, context="Late."), change(other, "evolve", other, context="In time.")]
    with pytest.raises(GroundMoved, match="conflict"):
        shelf.commit(shelf.plan(*steps, whole=True))
    assert shelf.tables() == before


# -- all or nothing -----------------------------------------------------------------------------------


def test_a_failure_in_the_middle_of_a_commit_changes_nothing(shelf):
    old, note = shelf.ready("bread oven"), shelf.add("sourdough")
    taken = shelf.link(old, note).links[0]
    third = shelf.ready("cake tin")
    steps = [change(note, "build", note, call=0, context="Baking.", **READY)]
    broken = a_link(note, third, id=taken.id)  # a link's id is unique: the database refuses, after much was written
    links = [PlannedLink(link=broken, cause=cause("link", note), call=0)]
    before = shelf.tables()
    with pytest.raises(sqlite3.IntegrityError):
        shelf.commit(shelf.plan(*steps, links=links, shown=(note,), spent={"build": Usage(calls=1)}))
    assert shelf.tables() == before
    assert shelf.build(note, context="Baking.").status == "ready"


def test_a_text_that_has_no_vector_is_asked_for_and_nothing_is_changed(shelf):
    note = shelf.ready("bread oven")
    plan = shelf.plan(change(note, "user", context="An oven."))
    before = shelf.tables()
    with pytest.raises(NeedsVectors) as asked:
        shelf.ledger.commit(plan, {})
    assert shelf.tables() == before
    (text,) = asked.value.texts
    assert text == render(note.model_copy(update={"context": "An oven."}))
    assert shelf.ledger.commit(plan, {text: vector(text)}).notes[note.id].context == "An oven."


def test_the_text_that_a_note_moved_on_to_is_asked_for(shelf):
    note = shelf.ready("bread oven")
    planned = shelf.plan(change(note, "evolve", note, version=None, tags=["warm"]))
    expected = {text: vector(text) for text in [render(note.model_copy(update={"tags": ("warm",)}))]}
    shelf.edit(note, context="Meanwhile.")
    with pytest.raises(NeedsVectors, match="1 text"):
        shelf.ledger.commit(planned, expected)
    both = render(shelf.get(note).model_copy(update={"tags": ("warm",)}))
    assert "Meanwhile." in both
    shelf.ledger.commit(planned, {both: vector(both)})
    assert shelf.get(note).tags == ("warm",)


def test_a_change_of_state_needs_no_vector(shelf):
    note = shelf.add("bread oven")
    assert shelf.ledger.commit(shelf.plan(change(note, "build", note, **READY)), {}).notes[note.id].status == "ready"


# -- links --------------------------------------------------------------------------------------------


def test_a_link_is_seen_from_both_ends_and_leaves_a_revision(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    done = shelf.link(one, other)
    (link,) = done.links
    assert shelf.ledger.links_of([one.id]) == shelf.ledger.links_of([other.id]) == [link]
    assert (link.other(one.id), link.other(other.id)) == (other.id, one.id)
    (revision,) = done.revisions
    assert (revision.field, revision.before, revision.cause) == ("link", None, cause("link", one))
    assert revision.after["reason"] == "the same plan"


def test_a_pair_is_linked_once_whichever_way_round(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    both = [PlannedLink(link=a_link(*pair), cause=cause("link", one)) for pair in ((one, other), (other, one))]
    done = shelf.commit(shelf.plan(links=both))
    assert (len(done.links), [item.why for item in done.skipped]) == (1, ["linked already"])
    assert [item.why for item in shelf.link(other, one).skipped] == ["linked already"]
    assert shelf.ledger.links_of([one.id]) == list(done.links)


def test_a_link_to_a_note_that_is_gone_or_to_itself_is_dropped_and_reported(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    shelf.forget(other)
    wanted = [PlannedLink(link=a_link(one, end), cause=cause("link", one)) for end in (other, one)]
    done = shelf.commit(shelf.plan(links=wanted))
    assert [item.why for item in done.skipped] == ["the note is gone", "a note is not linked to itself"]
    assert done.links == ()


def test_many_links_at_once_are_found_to_be_there_already(shelf):
    hub, notes = shelf.ready("hub"), shelf.accept(*(f"note {i}" for i in range(600)))
    wanted = [PlannedLink(link=a_link(hub, note), cause=cause("link", hub)) for note in notes]
    assert len(shelf.commit(shelf.plan(links=wanted)).links) == 600
    assert len(shelf.commit(shelf.plan(links=wanted)).skipped) == 600
    assert len(shelf.ledger.links_of([hub.id])) == 600


# -- what it cost -------------------------------------------------------------------------------------


def test_usage_adds_up_by_stage_over_all_models(shelf):
    shelf.add("bread oven")
    spent = Usage(calls=1, failed=1, prompt_tokens=10, completion_tokens=5, seconds=0.5, cost=0.25, unpriced=1)
    for model in ("one", "one", "other"):
        plan = shelf.plan(spent={"build": spent, "link": Usage(calls=1)}).model_copy(update={"model": model})
        shelf.commit(plan)
    usage = shelf.ledger.stats("default", index="-").usage
    assert usage == {"build": spent + spent + spent, "link": Usage(calls=3)}


def test_the_user_is_nobody_s_model(shelf):
    note = shelf.edit(shelf.add("bread"), tags=["food"]).revisions[0]
    assert (note.made_by, note.cause) == (None, Cause(kind="user"))


def test_many_vectors_of_one_commit_share_one_revision_of_the_box(shelf):
    notes = shelf.accept("a", "b")
    before, _ = shelf.vectors.box_state("default")
    shelf.commit(shelf.plan(*(change(note, "user", context="c") for note in notes)))
    ids, _, reached = shelf.vectors.vectors_since("default", before)
    assert (set(ids), reached) == ({note.id for note in notes}, before + 1)
    assert shelf.ledger.commit(shelf.plan(), VECTORS).notes == {}
    assert shelf.vectors.box_state("default")[0] == before + 1


# -- what is derived from the ledger ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "noticed"),
    [
        ({"occurred_at": "2020-01-01T00:00:00Z"}, True),
        ({"status": "archived"}, True),
        (READY, False),
        ({"metadata": {"a": 1}}, None),
        ({"error": "BadReply: no"}, None),
    ],
)
def test_caches_and_chroma_notice_changes_that_are_in_no_text(shelf, fields, noticed):
    note = shelf.add("bread")
    (_, epoch), waiting = shelf.vectors.box_state("default"), len(shelf.vectors.outbox())
    shelf.commit(shelf.plan(change(note, "user", **fields)))
    assert shelf.vectors.box_state("default")[1] == epoch + (noticed is True)
    told = shelf.vectors.outbox()[waiting:]
    assert [row.note_id for row in told] == ([] if noticed is None else [note.id])
    assert all(row.filters["status"] == shelf.get(note).status for row in told)
