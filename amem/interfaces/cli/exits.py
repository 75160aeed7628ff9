"""Exit codes, so that scripts can tell what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem import errors

if TYPE_CHECKING:
    from amem.errors import AmemError

OK = 0
UNFINISHED = 1
"""Something was left pending, or `doctor` found problems."""
USAGE = 2
"""Bad usage or input, a note or prompt that is not there, a setting that is refused."""
STORE = 3
"""The store cannot be opened, read or written, or refuses the change."""
MODEL = 4
"""A language or embedding model failed, or a recording of one."""
STOPPED = 130
"""Stopped from the keyboard; what was stored is kept."""

_CODES: tuple[tuple[type[AmemError], int], ...] = (
    (errors.InputError, USAGE),
    (errors.SettingsError, USAGE),
    (errors.PromptError, USAGE),
    (errors.NoteNotFound, USAGE),
    (errors.RevisionNotFound, USAGE),
    (errors.ProposalNotFound, USAGE),
    (errors.StoreError, STORE),
)

EPILOG = (
    "Exit codes: 0 done · 1 something was left pending, or doctor found problems · 2 bad usage, input or setting · "
    "3 the store failed or refused · 4 a model failed · 130 stopped from the keyboard.\n\n"
    "Settings: options > AMEM_* environment > amem.toml in this directory > defaults. "
    "The options above may also stand after the verb."
)


def code_of(error: AmemError) -> int:
    """Return the exit code for an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), MODEL)
