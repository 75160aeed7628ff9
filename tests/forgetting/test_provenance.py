"""P6: forgetting follows the text, however many calls it went through, and takes nothing that never saw it."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import pairwise

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ledger_support import VECTORS, Shelf, a_link, call, cause, change

from amem.errors import UndoConflict
from amem.store.doctor import doctor
from amem.store.plan import Call, Plan, PlannedLink
from amem.store.provenance import spread

CANARY = "zanzibar"


def suspects(shelf, *notes):
    with shelf.ledger.database.reading() as connection:
        return spread(connection, "default", {note.id for note in notes}).calls


def test_p6_what_a_third_note_learned_through_a_second_one_is_taken_back(shelf):
    secret, second, third, fourth = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough", "flour"))
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.", tags=[CANARY])
    shelf.evolve(third, second, context=f"Baked in {CANARY}.")
    shelf.evolve(fourth, third, keywords=[f"{CANARY}-flour"])
    shelf.link(third, fourth, reason=f"both of {CANARY}")
    assert "revision" in shelf.mentions(CANARY)
    receipt = shelf.forget(secret)
    assert receipt.rewound == (second.id, third.id, fourth.id)
    assert receipt.requeued == (second.id, third.id)
    assert receipt.links == 1
    assert [shelf.get(note).context for note in (second, third, fourth)] == ["", "", ""]
    assert (shelf.mentions(CANARY), shelf.holding(CANARY)) == ([], [])


def test_a_long_chain_is_followed_to_its_end(shelf):
    notes = shelf.accept(f"in {CANARY}", *(f"note {i}" for i in range(40)))
    notes = [shelf.build(note, context="") for note in notes]
    for before, after in pairwise(notes):
        shelf.evolve(after, before, context=f"{CANARY} told by {before.id[-3:]}")
    receipt = shelf.forget(notes[0])
    assert len(receipt.rewound) == 40
    assert shelf.mentions(CANARY) == []


def test_what_saw_a_note_before_it_learned_anything_stays(shelf):
    secret, second, third = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough"))
    shelf.evolve(third, second, context="It rises in the oven.")
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.")
    receipt = shelf.forget(secret)
    assert (receipt.rewound, receipt.requeued) == ((second.id,), ())
    assert shelf.get(third).context == "It rises in the oven."


def test_what_saw_a_note_after_the_user_had_taken_it_out_stays(shelf):
    secret, second, third = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough"))
    shelf.undo(shelf.evolve(second, secret, context=f"An oven in {CANARY}.", tags=[CANARY]).revisions[0])
    shelf.edit(second, tags=["mine"])
    shelf.edit(second, context="My own words.")
    shelf.evolve(third, second, context="It rises in the oven.")
    shelf.forget(secret)
    assert (shelf.get(third).context, shelf.get(third).status) == ("It rises in the oven.", "ready")
    assert (shelf.get(second).context, shelf.get(second).tags) == ("My own words.", ("mine",))
    assert shelf.mentions(CANARY) == []


def test_a_call_that_saw_the_turn_alone_saw_nothing_that_a_model_wrote(shelf):
    secret, second, third = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough"))
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.")
    turns = Call(stage="build", model="m", prompt="p@v1+0", shown=(second.id, third.id), versions=(0, 0))
    built = change(shelf.get(third), "build", third, call=0, context="A dough beside an oven.")
    shelf.commit(shelf.plan(built).model_copy(update={"calls": (turns,)}))
    receipt = shelf.forget(secret)
    assert receipt.rewound == (second.id,)
    assert shelf.get(third).context == "A dough beside an oven."


def test_a_note_that_was_shown_in_an_earlier_version_was_not_shown_what_came_later(shelf):
    secret, second, third = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough"))
    early = Call(stage="evolve", model="m", prompt="p@v1+0", shown=(second.id,), versions=(second.version,))
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.")
    step = change(third, "evolve", second, call=0, context="It rises.")
    shelf.commit(shelf.plan(step).model_copy(update={"calls": (early,)}))
    shelf.forget(secret)
    assert shelf.get(third).context == "It rises."


def test_p6_a_plan_in_flight_that_had_seen_what_came_of_it_does_not_bring_it_back(shelf):
    secret, second, third = (shelf.ready(text) for text in (f"in {CANARY}", "bread oven", "dough"))
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.")
    seen = shelf.get(second)
    late = Call(
        stage="evolve", model="m", prompt="p@v1+0", shown=(second.id, third.id), versions=(seen.version, third.version)
    )
    link = PlannedLink(link=a_link(second, third, f"as {CANARY} shows"), cause=cause("link", third), call=0)
    plan = shelf.plan(change(third, "evolve", second, call=0, context=f"In {CANARY}."), links=[link])
    shelf.forget(secret)
    done = shelf.commit(plan.model_copy(update={"calls": (late,)}))
    assert (done.notes, done.links, len(done.skipped)) == ({}, (), 2)
    assert shelf.mentions(CANARY) == []


def test_p6_an_error_that_may_quote_it_keeps_its_type_alone(shelf):
    secret, other = shelf.ready(f"in {CANARY}"), shelf.add("bread oven")
    failed = {"status": "pending", "pending_reason": "failed", "error": f"ModelRefused: I will not say {CANARY}"}
    shelf.commit(shelf.plan(change(other, "build", other, **failed)))
    receipt = shelf.forget(secret)
    assert receipt.errors == 1
    assert re.fullmatch(r"ModelRefused: the message was erased.*", shelf.get(other).error)
    assert (shelf.get(other).pending_reason, shelf.mentions(CANARY)) == ("failed", [])
    assert shelf.forget(shelf.ready("another")).errors == 0


def test_p6_an_error_of_a_call_that_was_in_flight_is_not_stored(shelf):
    secret, other = shelf.ready(f"in {CANARY}"), shelf.add("bread oven")
    failed = {"status": "pending", "pending_reason": "failed", "error": f"ModelRefused: I will not say {CANARY}"}
    plan = shelf.plan(change(other, "build", other, **failed)).model_copy(update={"failed": call(secret, other)})
    shelf.forget(secret)
    shelf.commit(plan)
    assert (shelf.get(other).error, shelf.mentions(CANARY)) == (None, [])


def test_p6_notes_that_were_distilled_from_it_go_with_it_and_so_do_those_distilled_from_them(shelf):
    secret = shelf.ready(f"in {CANARY}")
    summary = shelf.ready(f"A summary about {CANARY}.", sources=(secret.id, "elsewhere"))
    again = shelf.ready(f"A summary of the summary about {CANARY}.", sources=(summary.id,))
    other = shelf.ready("bread oven", sources=("m1",))
    shelf.evolve(other, again, context=f"In {CANARY}.")
    receipt = shelf.forget(secret)
    assert set(receipt.erased) == {secret.id, summary.id, again.id}
    assert (shelf.mentions(CANARY), shelf.ids()) == ([], {other.id})


def test_p6_a_box_is_forgotten_with_its_name_and_nothing_else_is(shelf):
    mine, other = shelf.add(f"I hid it in {CANARY}", box=CANARY), shelf.ready("bread", box="bakery")
    shelf.build(mine, context=f"In {CANARY}.")
    shelf.commit(Plan(box=CANARY, at=shelf.now(), spent={"build": {"calls": 1}}, model="m"))
    before = shelf.get(other), shelf.vectors.box_state("bakery")
    assert "usage" in shelf.mentions(CANARY)
    receipt = shelf.ledger.forget(CANARY, None)
    assert (receipt.erased, shelf.mentions(CANARY), shelf.holding(CANARY, box=CANARY)) == ((mine.id,), [], [])
    assert (shelf.get(other), shelf.vectors.box_state("bakery")) == before
    assert not shelf.ledger.forget(CANARY, None)


def test_a_box_that_comes_again_is_no_copy_of_the_old_one_for_any_cache(shelf):
    for _ in range(3):
        shelf.forget(shelf.ready("one", box="b"), box="b")
    old = shelf.vectors.box_state("b")
    shelf.ledger.forget("b", None)
    gone = shelf.vectors.box_state("b")
    shelf.add("two", box="b")
    new = shelf.vectors.box_state("b")
    assert len({old[1], gone[1], new[1]}) == 3
    assert new[1] > old[1]


def test_p6_what_was_spent_in_flight_does_not_bring_the_name_of_a_box_back(shelf):
    note = shelf.add("bread", box=CANARY)
    plan = Plan(box=CANARY, at=shelf.now(), calls=(call(note),), spent={"build": {"calls": 1}}, model="m")
    shelf.ledger.forget(CANARY, None)
    shelf.commit(plan)
    assert shelf.mentions(CANARY) == []


def test_a_dry_run_says_what_would_be_done_and_does_nothing(shelf):
    secret, second = shelf.ready(f"in {CANARY}"), shelf.ready("bread oven")
    shelf.evolve(second, secret, context=f"An oven in {CANARY}.")
    before = shelf.tables()
    would = shelf.ledger.forget("default", [secret.id], dry_run=True)
    assert shelf.tables() == before
    did = shelf.ledger.forget("default", [secret.id])
    assert (would.dry_run, did.dry_run) == (True, False)
    assert would.model_copy(update={"dry_run": False}) == did


# -- whatever happened ----------------------------------------------------------------------------------

STEPS = ("evolve", "evolve", "link", "edit", "undo", "build")
lives = st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["tags", "context"]))


def told(shelf, note, secret):
    """What a model might say that is shown a note: whether it is the secret itself, or one that has learned it."""
    now = shelf.get(note)
    knows = note.id == secret.id or CANARY in repr((now.tags, now.context, now.keywords))
    return CANARY if knows else "bread"


def live(shelf, notes, step):
    """Do one thing that may happen to notes, the first of which is the secret; a model repeats what it was shown."""
    what, one, other, field = step
    secret, old, new = notes[0], notes[one % len(notes)], notes[other % len(notes)]
    if old.id in {new.id, secret.id}:
        return
    words = CANARY if CANARY in (told(shelf, old, secret), told(shelf, new, secret)) else "bread"
    value = f"{words} {one}{other}"
    if what == "evolve":
        now = shelf.get(old)
        shelf.evolve(old, new, **{field: [*now.tags, value] if field == "tags" else value})
    elif what == "link":
        shelf.link(new, old, reason=value)
    elif what == "edit":
        shelf.edit(old, **{field: ["mine"] if field == "tags" else f"My words {other}."})
    elif what == "build":
        shelf.build(shelf.get(old), new, context=value)
    elif what == "undo":
        standing = [r for r in shelf.history(old) if not r.undone]
        if standing:
            shelf.undo(standing[other % len(standing)])


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(lives, max_size=14))
def test_p6_whatever_happened_nothing_of_it_is_left_and_every_invariant_holds(tmp_path_factory, steps):
    shelf = Shelf(tmp_path_factory.mktemp("lived"))
    secret, *others = notes = [shelf.ready(text) for text in (f"in {CANARY}", "oven", "dough", "flour")]
    for step in steps:
        with suppress(UndoConflict):
            live(shelf, notes, step)
    shelf.forget(secret)
    assert (shelf.mentions(CANARY), shelf.holding(CANARY)) == ([], [])
    shelf.ledger.put_vectors(shelf.ledger.without_vector(), VECTORS)
    assert doctor(shelf.ledger, shelf.vectors).problems == ()
    assert shelf.ids() == {note.id for note in others}
    shelf.close()
