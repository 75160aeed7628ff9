"""Every error amem raises on purpose; each says what happened, what was kept, and what to do.

AmemError
├── SettingsError                 a setting is unknown, of the wrong type, or contradicts another
├── InputError                    (also a ValueError) the caller's text, filter, k, budget or metadata is refused
│   └── ReadOnly                  a view that may only read was asked to write
├── PromptError
│   ├── PromptNotFound            no such prompt or version
│   ├── PromptVariables           given variables and declared variables differ
│   └── PromptFormat              the template file itself is malformed
├── LLMError                      a call to a language model failed; notes stay `pending`
│   ├── ModelUnavailable          outage, 429, 5xx, timeout, reset, after all retries
│   ├── ModelRejected             the provider refused the request (401, 403, 404, 400); retrying is useless
│   ├── ModelRefused              the model declined to answer (refusal, content filter)
│   ├── BadReply                  the reply could not be used, also after one re-ask
│   │   ├── EmptyReply            None, "", or nothing but reasoning
│   │   └── TruncatedReply        finish_reason was "length"
│   └── BudgetSpent               the next call would overspend the Budget
├── EmbeddingError                the embedding model failed or is not installed
└── StoreError
    ├── NoteNotFound              no such note in this box
    ├── RevisionNotFound          no such revision in this box
    ├── ProposalNotFound          nothing waits for review under that number in this box
    ├── UndoConflict              later revisions stand on the one to undo
    ├── EmbeddingMismatch         the ledger was made with another embedding model or text form
    ├── LedgerUnavailable         the database cannot be opened, read or written, or the memory was closed
    ├── LedgerTooNew              the database was written by a newer amem
    └── IndexUnavailable          Chroma is locked, damaged or unreachable; search goes on without it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class AmemError(Exception):
    """Base of everything amem raises on purpose."""


class SettingsError(AmemError):
    """A setting is unknown, of the wrong type, or contradicts another."""


class InputError(AmemError, ValueError):
    """What the caller passed in is refused; nothing was stored."""


class ReadOnly(InputError):
    """A view that may only read was asked to write; nothing was changed."""


class PromptError(AmemError):
    """A prompt template cannot be used."""


class PromptNotFound(PromptError):
    """There is no prompt of that name in that version."""


class PromptVariables(PromptError):
    """The variables given to a prompt are not the ones it declares."""

    def __init__(self, prompt: str, *, missing: Sequence[str], unused: Sequence[str]) -> None:
        self.prompt = prompt
        self.missing = tuple(missing)
        self.unused = tuple(unused)
        parts = [f"missing {', '.join(missing)}"] if missing else []
        parts += [f"not declared {', '.join(unused)}"] if unused else []
        super().__init__(f"prompt {prompt!r}: {'; '.join(parts)}. Make its `variables` and the template agree.")


class PromptFormat(PromptError):
    """A template file is malformed; `line` is 1-based where it is known."""

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path = path
        self.problem = problem
        self.line = line
        super().__init__(f"{path}{f':{line}' if line else ''}: {problem}")


class LLMError(AmemError):
    """A call to a language model failed; the notes concerned are kept as `pending`."""


class ModelUnavailable(LLMError):
    """The model could not be reached, or kept failing, after all retries."""

    def __init__(self, message: str, *, attempts: int = 1) -> None:
        self.attempts = attempts
        super().__init__(message)


class ModelRejected(LLMError):
    """The provider refused the request itself (key, permission, model name, parameters)."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class ModelRefused(LLMError):
    """The model declined to answer, or a content filter stopped it."""


class BadReply(LLMError):
    """The reply could not be used, also after one re-ask; `text` is the last reply."""

    def __init__(self, problem: str, text: str = "") -> None:
        self.problem = problem
        self.text = text
        super().__init__(problem)


class EmptyReply(BadReply):
    """The model answered with nothing (None, an empty string, or reasoning only)."""


class TruncatedReply(BadReply):
    """The reply was cut at the token limit, also after the limit was raised."""


class BudgetSpent(LLMError):
    """The next call would overspend the budget; what was done so far is kept and can be resumed."""


class EmbeddingError(AmemError):
    """Text could not be embedded; notes are kept and found by their words."""


class StoreError(AmemError):
    """The store cannot do what was asked."""


class NoteNotFound(StoreError):
    """There is no such note in this box."""


class RevisionNotFound(StoreError):
    """There is no such revision in this box."""


class ProposalNotFound(StoreError):
    """Nothing waits for review under that number in this box."""


class UndoConflict(StoreError):
    """A change cannot be taken back because later changes stand on it; `later` lists their ids."""

    def __init__(self, revision: int, later: Sequence[int]) -> None:
        self.revision = revision
        self.later = tuple(later)
        super().__init__(
            f"revision {revision} cannot be undone: later revisions {list(later)} changed the same text. "
            "Nothing was changed; undo those first, newest first."
        )


class EmbeddingMismatch(StoreError):
    """The ledger's vectors come from another embedding model or text form; run `amem reindex`."""


class LedgerUnavailable(StoreError):
    """The database cannot be opened, read or written."""


class LedgerTooNew(StoreError):
    """The database was written by a newer amem."""


class IndexUnavailable(StoreError):
    """Chroma is locked, damaged or unreachable; search goes on over the ledger's vectors."""
