"""A process that writes to a ledger, and says on its output what was acknowledged: to be started, raced and killed."""

from __future__ import annotations

import sys
from pathlib import Path

from ledger_support import VECTORS, Shelf, change

from amem.ids import NoteIds


def main(directory, name, rounds):
    shelf, new_id = Shelf(Path(directory)), NoteIds()
    hub = None
    for number in range(int(rounds)):
        content = f"{name} {number}"
        new = shelf.new(content, session_id="shared", id=new_id(), sources=(content,))
        ((note, _),) = shelf.ledger.accept([new], [content], VECTORS)
        say("accepted", content)
        if hub is None:
            hub = note
            continue
        step = change(note, "build", note, call=0, context=f"About {content}.", status="ready", pending_reason=None)
        learned = change(hub, "evolve", note, call=0, version=None, context=f"It knows {content}.")
        shelf.commit(shelf.plan(step, learned, shown=(note, hub)))
        shelf.link(note, hub)
        say("committed", content)
        if number % 10 == 9:
            shelf.forget(note)
            say("forgotten", content)


def say(what, content):
    sys.stdout.write(f"{what} {content}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
