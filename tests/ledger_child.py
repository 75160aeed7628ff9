"""A process that writes to a ledger, and says on its output what was acknowledged: to be started, raced and killed."""

from __future__ import annotations

import sys
from pathlib import Path

from ledger_support import Shelf, change


def main(directory, name, rounds):
    shelf = Shelf(Path(directory))
    hub = None
    for number in range(int(rounds)):
        content = f"{name} {number}"
        (note,) = accepted(shelf, content, f"{name}-{number}")
        print("accepted", content, flush=True)
        if hub is None:
            hub = note
            continue
        step = change(note, "build", note, call=0, context=f"About {content}.", status="ready", pending_reason=None)
        learned = change(hub, "evolve", note, call=0, version=None, context=f"It knows {content}.")
        shelf.commit(shelf.plan(step, learned, shown=(note, hub)))
        shelf.link(note, hub)
        print("committed", content, flush=True)
        if number % 10 == 9:
            shelf.forget(note)
            print("forgotten", content, flush=True)


def accepted(shelf, content, source):
    from ledger_support import VECTORS

    # Ids must not collide between processes, as real ones do not.
    note = shelf.new(content, session_id="shared", id=f"{abs(hash(source)):036d}"[-36:])
    return [stored for stored, _ in shelf.ledger.accept([note], [source], VECTORS)]


if __name__ == "__main__":
    main(*sys.argv[1:])
