"""What came of a rebuild."""

from __future__ import annotations

from amem.model import Link, Revision, Usage
from amem.values import Frozen


class Left(Frozen):
    """A note that was not made anew, and is as it was."""

    note_id: str
    why: str


class Rebuilt(Frozen):
    """What a rebuild did; of a dry run, what it would do."""

    built: tuple[str, ...] = ()
    """Notes that were built anew."""
    woven: tuple[str, ...] = ()
    """Notes that were linked anew, and whose changes to others were made anew."""
    rewritten: tuple[str, ...] = ()
    """Memories that were distilled or summed up anew: told again word for word they stay, else they are in the archive;
    a summary has the new one in its place."""
    written: tuple[str, ...] = ()
    """The memories that are new."""
    kept: tuple[Left, ...] = ()
    """Memories that stay as they are, and why: another run would not do otherwise."""
    left: tuple[Left, ...] = ()
    """Notes that still are as they were; another run tries them again."""
    links: tuple[Link, ...] = ()
    """The new links."""
    revisions: tuple[Revision, ...] = ()
    """Everything that changed, oldest first; `undo` takes all of it back."""
    usage: Usage = Usage()
    dry_run: bool = False
