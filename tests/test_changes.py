"""Edits by the user, and taking changes back."""

from __future__ import annotations

import pytest
from ledger_support import NOON, VECTORS, a_link, cause, change

from amem.changes import edit, undo_plan
from amem.errors import InputError, RevisionNotFound, UndoConflict
from amem.model import Cause
from amem.store.plan import GroundMoved, PlannedLink


def fields_of(revisions):
    return [(r.field, r.before, r.after) for r in revisions]


# -- edits --------------------------------------------------------------------------------------------


def test_an_edit_sets_what_is_given_and_pins_what_a_model_could_change(shelf):
    note = shelf.add("bread oven", tags=["a"], pinned=["tags"])
    after = shelf.commit(edit(note, {"context": "Mine.", "speaker": "Mira", "tags": None}, at=NOON)).notes[note.id]
    assert (after.context, after.speaker, after.tags, after.pinned) == ("Mine.", "Mira", ("a",), ("tags", "context"))
    assert after.content == note.content


def test_an_edit_may_empty_a_field(shelf):
    note = shelf.build(shelf.add("bread oven"), tags=["a"], context="Its.")
    after = shelf.commit(edit(note, {"tags": [], "context": ""}, at=NOON)).notes[note.id]
    assert (after.tags, after.context, after.pinned) == ((), "", ("tags", "context"))


def test_edits_of_two_fields_at_once_do_not_lose_each_other(shelf):
    note = shelf.add("bread oven")
    plans = [edit(note, {"tags": ["a"]}, at=NOON), edit(note, {"context": "Mine."}, at=NOON)]
    for plan in plans:
        shelf.commit(plan)
    after = shelf.get(note)
    assert (after.tags, after.context, after.pinned) == (("a",), "Mine.", ("tags", "context"))


@pytest.mark.parametrize("given", [{"tags": "one, two"}, {"occurred_at": "soon"}, {"metadata": {"a": float("nan")}}])
def test_an_edit_of_the_wrong_type_is_refused_with_the_field(shelf, given):
    (field,) = given
    with pytest.raises(InputError, match=f"the edit is refused: {field}.*Nothing was changed"):
        edit(shelf.add("bread oven"), given, at=NOON)


# -- undo ---------------------------------------------------------------------------------------------


def test_undo_takes_a_context_back_and_says_so_in_the_history(shelf):
    old, note = shelf.build(shelf.add("bread oven"), context="An oven."), shelf.ready("sourdough")
    (revision,) = shelf.evolve(old, note, context="It bakes sourdough.").revisions
    done = shelf.undo(revision)
    assert shelf.get(old).context == "An oven."
    assert fields_of(done.revisions) == [("context", "It bakes sourdough.", "An oven.")]
    assert done.revisions[0].cause == Cause(kind="undo", notes=(note.id,), undoes=revision.id)
    assert [r.undone for r in shelf.history(old)] == [False, True, False]


def test_an_undone_text_is_searched_as_it_was_before(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    before = shelf.vectors.vectors_of([old.id])[1].tolist()
    (revision,) = shelf.evolve(old, note, context="Zanzibar.").revisions
    assert shelf.holding("zanzibar") == [old.id]
    shelf.undo(revision.id)
    assert shelf.holding("zanzibar") == []
    assert shelf.vectors.vectors_of([old.id])[1].tolist() == before


def test_undoing_again_and_again_leaves_every_revision_marked_as_it_is(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    (undone,) = shelf.evolve(old, note, context="It bakes sourdough.").revisions
    for times in range(1, 6):
        (undone,) = shelf.undo(undone).revisions
        assert shelf.get(old).context == ("" if times % 2 else "It bakes sourdough.")
        history = shelf.history(old)
        standing = {revision.cause.undoes for revision in history if not revision.undone}
        assert [r.id for r in history if r.undone] == [r.id for r in history if r.id in standing]


def test_what_was_undone_twice_stays_undone_when_one_of_its_undoings_is_taken_back(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    (first,) = shelf.evolve(old, note, tags=["flour", "oven"]).revisions
    (undoing,) = shelf.undo(first).revisions
    shelf.evolve(old, note, tags=["flour"])
    back, again = shelf.undo([first, undoing]).revisions
    assert (back.cause.undoes, again.cause.undoes) == (undoing.id, first.id)
    shelf.undo([undoing, back])
    assert first.id in {revision.id for revision in shelf.history(old) if revision.undone}


def test_several_revisions_are_undone_at_once_newest_first(shelf):
    old, note = shelf.build(shelf.add("bread oven"), context="An oven."), shelf.ready("sourdough")
    (first,) = shelf.evolve(old, note, context="It bakes sourdough.").revisions
    (second,) = shelf.evolve(old, note, context="It baked sourdough.").revisions
    undone = shelf.undo([first, second.id]).revisions
    assert shelf.get(old).context == "An oven."
    assert [revision.cause.undoes for revision in undone] == [second.id, first.id]
    with pytest.raises(RevisionNotFound, match=r"revision \d was undone already"):
        shelf.undo([second, first])


def test_undo_brings_a_link_back_in_the_place_of_the_one_that_is_undone_with_it(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    (made,) = shelf.link(note, old).revisions
    (gone,) = shelf.undo(made).revisions
    (again,) = shelf.link(note, old, reason="another plan").revisions
    shelf.undo([gone, again])
    assert [link.reason for link in shelf.ledger.links_of([note.id])] == ["the same plan"]


def test_undo_of_a_build_says_again_who_built_before(shelf):
    note = shelf.build(shelf.add("bread oven"), context="An oven.")
    again = shelf.plan(change(note, "build", note, call=0, context="A big oven."), shown=(note,))
    again = again.model_copy(update={"calls": (again.calls[0].model_copy(update={"prompt": "note@v2+1"}),)})
    (revision,) = shelf.commit(again).revisions
    assert shelf.get(note).made_by.prompt == "note@v2+1"
    (undone,) = shelf.undo(revision).revisions
    assert shelf.get(note).made_by == note.made_by
    shelf.undo(undone)
    assert shelf.get(note).made_by.prompt == "note@v2+1"


def test_undo_of_tags_removes_what_was_added_and_keeps_what_came_later(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    shelf.edit(old, tags=["mine"])
    (revision,) = shelf.evolve(old, note, tags=["mine", "baking"]).revisions
    shelf.evolve(old, note, tags=["mine", "baking", "warm"])
    shelf.undo(revision)
    assert shelf.get(old).tags == ("mine", "warm")


def test_undo_of_tags_brings_back_what_was_removed(shelf):
    note = shelf.build(shelf.add("bread oven"), tags=["a", "b"])
    (revision,) = shelf.edit(note, tags=["b", "c"]).revisions
    shelf.edit(note, tags=["b", "c", "d"])
    shelf.undo(revision)
    assert set(shelf.get(note).tags) == {"a", "b", "d"}


def test_undo_of_a_context_that_changed_since_is_refused_with_the_later_revisions(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    (first,) = shelf.evolve(old, note, context="One.").revisions
    (second,) = shelf.evolve(old, note, context="Two.").revisions
    (third,) = shelf.edit(old, context="Three.").revisions
    before = shelf.tables()
    with pytest.raises(UndoConflict) as refused:
        shelf.undo(first)
    assert (refused.value.revision, refused.value.later) == (first.id, (second.id, third.id))
    assert shelf.tables() == before
    for revision in (third, second, first):
        shelf.undo(revision)
    assert shelf.get(old).context == ""


def test_undoing_the_undo_brings_the_change_back_and_it_can_be_undone_again(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    (revision,) = shelf.evolve(old, note, context="It bakes.").revisions
    (undoing,) = shelf.undo(revision).revisions
    shelf.undo(undoing)
    assert shelf.get(old).context == "It bakes."
    assert [r.undone for r in shelf.history(old)] == [False, True, False]
    shelf.undo(revision)
    assert shelf.get(old).context == ""


def test_what_was_undone_cannot_be_undone_twice(shelf):
    (revision,) = shelf.edit(shelf.ready("bread oven"), context="One.").revisions
    shelf.undo(revision)
    with pytest.raises(RevisionNotFound, match="was undone already"):
        shelf.undo(revision)


def test_undo_of_a_link_removes_it_and_undoing_that_brings_it_back_as_it_was(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    done = shelf.link(one, other)
    (undoing,) = shelf.undo(done.revisions[0]).revisions
    assert (shelf.ledger.links_of([one.id]), undoing.after) == ([], None)
    (again,) = shelf.undo(undoing).links
    assert again == done.links[0]
    assert shelf.ledger.links_of([other.id]) == [again]
    shelf.undo(done.revisions[0])
    assert shelf.ledger.links_of([one.id]) == []


def test_a_link_does_not_come_back_over_a_newer_one(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    (undoing,) = shelf.undo(shelf.link(one, other).revisions[0]).revisions
    newer = shelf.link(one, other, reason="a better reason")
    with pytest.raises(UndoConflict) as refused:
        shelf.undo(undoing)
    assert refused.value.later == (newer.revisions[0].id,)
    assert shelf.ledger.links_of([one.id]) == list(newer.links)


def test_everything_a_note_brought_about_is_undone_together(shelf):
    old, far, note = shelf.ready("bread oven"), shelf.ready("flour"), shelf.add("sourdough")
    shelf.build(note, keywords=["dough"])
    shelf.evolve(old, note, context="It bakes.", tags=["warm"])
    shelf.evolve(old, note, context="It bakes well.")
    shelf.link(note, far)
    done = shelf.undo(caused_by=note)
    assert len(done.revisions) == 4
    assert (shelf.get(old).context, shelf.get(old).tags) == ("", ())
    assert shelf.ledger.links_of([note.id]) == []
    assert shelf.get(note).keywords == ("dough",)  # its own building is not what it brought about elsewhere
    assert shelf.undo(caused_by=note).revisions == ()


def test_everything_a_note_brought_about_or_nothing(shelf):
    old, far, note = shelf.ready("bread oven"), shelf.ready("flour"), shelf.ready("sourdough")
    shelf.evolve(old, note, context="It bakes.")
    shelf.evolve(far, note, context="It is baked.")
    shelf.edit(old, context="Mine.")
    with pytest.raises(UndoConflict):
        shelf.undo(caused_by=note)
    assert shelf.get(far).context == "It is baked."


def test_a_note_that_moves_on_while_it_is_being_undone_keeps_what_it_moved_on_to(shelf):
    note = shelf.ready("bread oven")
    (revision,) = shelf.edit(note, tags=["a"]).revisions
    plan = undo_plan(shelf.ledger, "default", revision, None, NOON)
    shelf.edit(note, tags=["a", "b"])
    with pytest.raises(GroundMoved):
        shelf.commit(plan)
    assert not shelf.history(note)[0].undone
    shelf.undo(revision)
    assert shelf.get(note).tags == ("b",)


def test_undo_is_told_what_to_undo_and_finds_it_only_in_its_own_box(shelf):
    (revision,) = shelf.edit(shelf.ready("bread oven"), tags=["a"]).revisions
    with pytest.raises(InputError, match="either a revision or caused_by"):
        undo_plan(shelf.ledger, "default", None, None, NOON)
    with pytest.raises(InputError, match="either a revision or caused_by"):
        undo_plan(shelf.ledger, "default", revision, "note", NOON)
    for box, key in (("other", revision.id), ("default", 99), ("default", 10**30), ("default", -1), ("default", 2**63)):
        with pytest.raises(RevisionNotFound, match=f"no revision {key} in the box '{box}'"):
            shelf.undo(key, box=box)


def test_an_evolved_context_is_known_as_such_while_it_stands(shelf):
    old, note = shelf.ready("bread oven"), shelf.ready("sourdough")
    evolved = shelf.ledger.evolved_contexts
    shelf.build(note, context="Its own.")
    (revision,) = shelf.evolve(old, note, context="It bakes.").revisions
    assert evolved([old.id, note.id]) == {old.id: "It bakes."}
    (undoing,) = shelf.undo(revision).revisions
    assert evolved([old.id]) == {}
    shelf.undo(undoing)
    assert evolved([old.id]) == {old.id: "It bakes."}
    shelf.edit(old, context="Mine.")
    assert evolved([old.id]) == {}


def test_a_dropped_link_is_no_reason_to_mark_anything_undone(shelf):
    one, other = shelf.ready("bread oven"), shelf.ready("sourdough")
    (undoing,) = shelf.undo(shelf.link(one, other).revisions[0]).revisions
    plan = undo_plan(shelf.ledger, "default", undoing, None, NOON)
    shelf.ledger.commit(shelf.plan(links=[PlannedLink(link=a_link(other, one), cause=cause("link", other))]), VECTORS)
    with pytest.raises(GroundMoved, match="linked already"):
        shelf.commit(plan)
    assert not shelf.ledger.revisions("default", ids=[undoing.id])[0].undone


def test_a_moment_and_metadata_come_back_exactly(shelf):
    note = shelf.add("bread oven", metadata={"a": [1, 2.5, None, {"b": True}]})
    moved = shelf.commit(
        shelf.plan(change(note, "user", occurred_at="2023-02-03T04:05:06.000007+09:00", metadata={"a": 2**70}))
    )
    assert shelf.get(note).occurred_at.isoformat() == "2023-02-02T19:05:06.000007+00:00"
    for revision in moved.revisions[::-1]:
        shelf.undo(revision)
    after = shelf.get(note)
    assert (after.occurred_at, after.metadata) == (note.occurred_at, note.metadata)
