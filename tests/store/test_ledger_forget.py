"""Forgetting (P6): erasing a note, and everything that any call learned from it. The canary is in no table then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_support import VECTORS, a_link, call, cause, change

from amem.store.plan import PlannedLink
from amem.store.rewind import Step, without

CANARY = "zanzibar"
READY = {"status": "ready", "pending_reason": None, "error": None}


def test_p6_a_forgotten_note_is_in_no_table(shelf):
    note = shelf.build(
        shelf.add(f"I hid it in {CANARY}.", speaker=CANARY, source=CANARY, metadata={CANARY: CANARY}),
        keywords=[CANARY], tags=[CANARY], context=CANARY,
    )  # fmt: skip
    shelf.edit(note, context=f"in {CANARY}")
    assert "note" in shelf.mentions(CANARY)
    receipt = shelf.forget(note)
    assert (bool(receipt), receipt.notes) == (True, 1)
    assert shelf.mentions(CANARY) == []
    assert shelf.holding(CANARY) == []
    assert shelf.vectors.vectors_of([note.id])[0] == []
    assert [(row.note_id, row.vector) for row in shelf.vectors.outbox()] == [(note.id, None)]


def test_forgetting_what_is_not_there_is_false_and_changes_nothing(shelf):
    theirs = shelf.add("theirs", box="theirs")
    before = shelf.tables()
    assert not shelf.forget(theirs)
    assert not shelf.ledger.forget("default", ["never"])
    assert shelf.tables() == before


def test_a_source_that_was_forgotten_may_come_again(shelf):
    note = shelf.add("one", source="m1")
    shelf.forget(note)
    assert shelf.add("one", source="m1").id != note.id


def test_p6_what_another_note_learned_is_taken_back(shelf):
    old = shelf.build(shelf.add("bread oven"), context="An oven.", tags=["food"])
    secret = shelf.ready(f"the oven is in {CANARY}")
    shelf.evolve(old, secret, context=f"An oven in {CANARY}.", tags=["food", CANARY])
    receipt = shelf.forget(secret)
    after = shelf.get(old)
    assert (after.context, after.tags, after.status) == ("An oven.", ("food",), "ready")
    assert receipt.rewound == (old.id,)
    assert shelf.mentions(CANARY) == []
    assert shelf.holding(CANARY) == []


def test_a_rewound_text_is_without_a_vector_until_it_is_embedded_anew(shelf):
    old, secret = shelf.ready("bread oven"), shelf.ready(f"the oven is in {CANARY}")
    shelf.evolve(old, secret, context=f"In {CANARY}.")
    _, epoch = shelf.vectors.box_state("default")
    shelf.forget(secret)
    assert shelf.vectors.vectors_of([old.id])[0] == []
    assert [note.id for note in shelf.ledger.without_vector("default")] == [old.id]
    assert shelf.vectors.box_state("default")[1] > epoch
    assert {row.note_id: row.vector is None for row in shelf.vectors.outbox()} == {old.id: True, secret.id: True}
    assert shelf.holding("bread")


def test_what_came_later_from_others_stays_on_what_was_before(shelf):
    old, secret = shelf.ready("bread oven"), shelf.ready(f"in {CANARY}")
    shelf.edit(old, tags=["mine"])
    shelf.evolve(old, secret, tags=["mine", CANARY])
    shelf.edit(old, tags=["mine", CANARY, "warm"])
    shelf.forget(secret)
    assert shelf.get(old).tags == ("mine", "warm")
    assert [(r.before, r.after) for r in shelf.history(old)] == [([], ["mine"]), (["mine"], ["mine", "warm"])]
    assert shelf.mentions(CANARY) == []


def test_what_the_user_wrote_over_it_stays(shelf):
    old, secret = shelf.ready("bread oven"), shelf.ready(f"in {CANARY}")
    shelf.evolve(old, secret, context=f"In {CANARY}.")
    shelf.edit(old, context="My own words.")
    receipt = shelf.forget(secret)
    assert shelf.get(old).context == "My own words."
    assert [(r.before, r.after) for r in shelf.history(old)] == [("", "My own words.")]
    assert (receipt.rewound, shelf.mentions(CANARY)) == ((old.id,), [])


def test_what_was_undone_is_forgotten_all_the_same(shelf):
    old, secret = shelf.ready("bread oven"), shelf.ready(f"in {CANARY}")
    (revision,) = shelf.evolve(old, secret, context=f"In {CANARY}.").revisions
    shelf.undo(shelf.undo(revision).revisions[0])
    shelf.undo(revision)
    assert "revision" in shelf.mentions(CANARY)
    shelf.forget(secret)
    assert (shelf.get(old).context, shelf.history(old), shelf.mentions(CANARY)) == ("", [], [])


def test_what_was_only_shown_taints_a_call_as_well(shelf):
    secret, old, new = shelf.ready(f"in {CANARY}"), shelf.ready("bread oven"), shelf.ready("sourdough")
    shelf.evolve(old, new, shown=[secret], context=f"An oven in {CANARY}.")
    receipt = shelf.forget(secret)
    assert shelf.get(old).context == ""
    assert receipt.requeued == (new.id,)
    assert (shelf.get(new).status, shelf.get(new).pending_reason) == ("pending", "queued")


def test_p6_window_mates_are_built_anew(shelf):
    secret, mate = shelf.add(f"in {CANARY}"), shelf.add("it is lovely there")
    steps = [
        change(n, "build", n, call=0, context=f"About {CANARY}.", keywords=[CANARY], **READY) for n in (secret, mate)
    ]
    shelf.commit(shelf.plan(*steps, shown=(secret, mate)))
    receipt = shelf.forget(secret)
    after = shelf.get(mate)
    assert (after.status, after.pending_reason, after.made_by) == ("pending", "queued", None)
    assert (after.context, after.keywords, receipt.requeued) == ("", (), (mate.id,))
    assert shelf.mentions(CANARY) == []


def test_a_mate_whose_linking_failed_is_built_anew_too(shelf):
    secret, mate = shelf.add(f"in {CANARY}"), shelf.add("it is lovely there")
    failed = {"status": "pending", "pending_reason": "failed", "error": "ModelUnavailable: timeout"}
    step = change(mate, "build", mate, call=0, context=f"About {CANARY}.", **failed)
    shelf.commit(shelf.plan(step, shown=(secret, mate)))
    shelf.forget(secret)
    after = shelf.get(mate)
    assert (after.context, after.made_by, after.pending_reason) == ("", None, "failed")


def test_what_the_user_pinned_on_a_mate_stays(shelf):
    secret, mate = shelf.add(f"in {CANARY}"), shelf.add("it is lovely there", tags=["mine"], pinned=["tags"])
    shelf.build(mate, secret, context=f"About {CANARY}.")
    shelf.forget(secret)
    assert (shelf.get(mate).tags, shelf.get(mate).pinned) == (("mine",), ("tags",))


def test_p6_links_that_touch_it_or_were_made_by_a_call_that_saw_it_are_erased_with_their_reasons(shelf):
    secret, one, other, far = (shelf.ready(text) for text in (f"in {CANARY}", "bread", "dough", "flour"))
    shelf.link(secret, one, reason=f"both in {CANARY}")
    shelf.link(other, secret, reason=f"near {CANARY}")
    shelf.link(one, other, reason=f"as {CANARY} shows", shown=[secret])
    (kept,) = shelf.link(one, far).links
    receipt = shelf.forget(secret)
    assert shelf.ledger.links_of([one.id, other.id, far.id]) == [kept]
    assert (receipt.links, shelf.mentions(CANARY)) == (3, [])
    assert [r.after["id"] for r in shelf.ledger.revisions("default") if r.field == "link"] == [kept.id]


def test_a_link_that_was_undone_or_brought_back_is_forgotten_all_the_same(shelf):
    secret, one, other, far = (shelf.ready(text) for text in (f"in {CANARY}", "bread", "dough", "flour"))
    gone = shelf.link(one, other, reason=f"as {CANARY} shows", shown=[secret]).revisions[0]
    back = shelf.link(one, far, reason=f"as {CANARY} shows", shown=[secret]).revisions[0]
    shelf.undo(gone)
    shelf.undo(shelf.undo(back).revisions[0])
    assert {"link", "revision"} <= set(shelf.mentions(CANARY))
    shelf.forget(secret)
    assert (shelf.mentions(CANARY), shelf.ledger.links_of([one.id])) == ([], [])


def test_a_note_that_it_had_superseded_is_superseded_no_more(shelf):
    old, new = shelf.ready("bread oven"), shelf.ready("cake tin")
    shelf.commit(shelf.plan(change(old, "supersede", new, superseded_by=new.id, valid_to="2024-01-01T00:00:00Z")))
    assert shelf.get(old).superseded_by == new.id
    shelf.forget(new)
    after = shelf.get(old)
    assert (after.superseded_by, after.valid_to, shelf.history(old)) == (None, None, [])


def test_an_archived_mate_stays_archived(shelf):
    secret, mate = shelf.add(f"in {CANARY}"), shelf.add("it is lovely there")
    shelf.build(mate, secret, context=f"About {CANARY}.")
    shelf.commit(shelf.plan(change(mate, "user", version=None, status="archived")))
    shelf.forget(secret)
    assert (shelf.get(mate).status, shelf.get(mate).context) == ("archived", "")


def test_other_notes_and_boxes_are_not_touched(shelf):
    secret, other, theirs = shelf.ready(f"in {CANARY}"), shelf.ready("bread"), shelf.ready("bread", box="theirs")
    shelf.link(secret, other)
    shelf.ledger.touch({other.id: (1, shelf.now()), secret.id: (1, shelf.now())})
    before = shelf.get(other), shelf.get(theirs), shelf.vectors.box_state("theirs")
    shelf.forget(secret)
    mate = shelf.get(other)
    assert (mate, shelf.get(theirs), shelf.vectors.box_state("theirs")) == before
    assert [row.note_id for row in shelf.sql("SELECT note_id FROM access")] == [other.id]


def test_many_are_forgotten_at_once(shelf):
    notes = shelf.accept(*(f"{CANARY} {i}" for i in range(1_200)))
    hub = shelf.ready("hub")
    wanted = [PlannedLink(link=a_link(hub, note), cause=cause("link", hub)) for note in notes]
    shelf.commit(shelf.plan(links=wanted))
    receipt = shelf.forget(*notes)
    assert (receipt.notes, receipt.links, shelf.mentions(CANARY)) == (1_200, 1_200, [])
    assert shelf.ids() == {hub.id}


def test_a_plan_in_flight_does_not_bring_it_back(shelf):
    secret, old = shelf.ready(f"in {CANARY}"), shelf.ready("bread oven")
    late = shelf.plan(change(old, "evolve", secret, call=0, context=f"In {CANARY}."))
    late = late.model_copy(update={"calls": (call(secret, old),)})
    shelf.forget(secret)
    assert shelf.ledger.commit(late, VECTORS).notes == {}
    assert shelf.mentions(CANARY) == []


# -- the arithmetic of it -----------------------------------------------------------------------------

words = st.lists(st.sampled_from("abcde"), unique=True, max_size=4)


@st.composite
def histories(draw, canary=False):
    """Revisions of a set, each from what the one before left; undoings among them. The first brings the canary."""
    value, steps = draw(words), []
    for key in range(1, draw(st.integers(1, 7)) + 1):
        undoable = [step for step in steps if step.id not in {other.undoes for other in steps}]
        undone = draw(st.sampled_from([None, *undoable])) if key > 1 else None
        if undone is not None:
            after = without_words(value, undone.after, undone.before)
        elif canary:
            after = [*draw(words), *(["canary"] if key == 1 or ("canary" in value and draw(st.booleans())) else [])]
        else:
            after = draw(words)
        kind = "undo" if undone else draw(st.sampled_from(["evolve", "user"]))
        steps.append(Step(key, value, after, kind, undone.id if undone else None))
        value = after
    return steps


def without_words(value, after, before):
    """What undoing a revision makes of a set."""
    kept = [word for word in value if word in before or word not in after]
    return kept + [word for word in before if word not in after and word not in kept]


@given(histories(), st.data())
def test_the_history_that_is_left_replays_to_the_value_that_is_left(steps, data):
    tainted = {1, *data.draw(st.sets(st.sampled_from([step.id for step in steps])))}
    rewound = without(steps, tainted, "tags")
    value = steps[0].before
    for step in rewound.kept:
        assert (step.before, step.id in tainted, step.after != step.before) == (value, False, True)
        value = step.after
    assert value == rewound.value
    assert {step.id for step in rewound.kept} | set(rewound.dropped) == {step.id for step in steps}
    assert {step.undoes for step in rewound.kept} <= {None, *(step.id for step in rewound.kept)}


@given(histories(canary=True))
def test_a_word_that_only_tainted_revisions_brought_is_gone(steps):
    rewound = without(steps, {1}, "tags")
    assert "canary" not in rewound.value
    assert not any("canary" in step.before or "canary" in step.after for step in rewound.kept)


@pytest.mark.parametrize(
    ("kinds", "value"),
    [
        ("evolve!", "0"),
        ("evolve! evolve!", "0"),
        ("evolve! user", "2"),
        ("evolve! user evolve!", "2"),
        ("evolve! evolve! user evolve", "4"),
        ("evolve! user user", "3"),
    ],
)
def test_a_text_keeps_what_was_written_by_whoever_had_not_seen_it(kinds, value):
    names = kinds.split()
    steps = [Step(i, str(i - 1), str(i), name.rstrip("!")) for i, name in enumerate(names, 1)]
    tainted = {i for i, name in enumerate(names, 1) if name.endswith("!")}
    assert without(steps, tainted, "context").value == value
