"""What forgetting says it did, and where it looked afterwards."""

from __future__ import annotations

from typing import Literal

from amem.values import Frozen


class Searched(Frozen):
    """One place that was searched for the forgotten text."""

    place: str
    result: Literal["clean", "found", "not searched"]
    remark: str = ""
    """What was found, or why nothing was looked for."""


class Receipt(Frozen):
    """What was forgotten, what was taken back for it, and where it was looked for; false where there was nothing."""

    erased: tuple[str, ...] = ()
    """Ids of the notes that were erased; also of those that had been distilled from them."""
    rewound: tuple[str, ...] = ()
    """Notes that had learned from them, and were taken back to what they would be without."""
    requeued: tuple[str, ...] = ()
    """Notes that wait to be built or linked anew, since the call that made them had seen the erased text."""
    links: int = 0
    """Links erased, because they touched the notes or were made by a call that had seen them."""
    errors: int = 0
    """Errors of other notes whose message was erased, since it might quote them."""
    dry_run: bool = False
    """Nothing was changed: this is what would be."""
    searched: tuple[Searched, ...] = ()
    unfinished: tuple[str, ...] = ()
    """What could not be done yet, and why; the next opening, `process` or `forget` takes it up."""

    @property
    def notes(self) -> int:
        """How many notes were erased."""
        return len(self.erased)

    @property
    def clean(self) -> bool:
        """Whether everything is done, and nothing was found where it was looked."""
        return not self.unfinished and all(place.result != "found" for place in self.searched)

    def __bool__(self) -> bool:
        return bool(self.erased)
