"""What must be there, what must not, and what may be either, as the workers' journals tell it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from .journal import entries
from .worker import CANARY

_CANARY = re.compile(rf"{CANARY}[0-9a-f]+x[0-9]+")


@dataclass
class Fate:
    """What was done with one text."""

    box: str
    added: bool = False
    """Acknowledged."""
    deleting: bool = False
    """Somebody began to delete it, and perhaps did."""
    deleted: bool = False
    """Acknowledged."""


@dataclass
class Oracle:
    """All that has been said of one memory."""

    fates: dict[str, Fate] = field(default_factory=dict)
    """By text."""
    updates: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tag to the text and id of the note that it was given to by hand."""
    operations: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    checked: int = 0
    failures: list[str] = field(default_factory=list)
    """Errors that no verb should raise, and results that were wrong."""

    def read(self, path):
        """Take in what one worker has written."""
        for entry in entries(path):
            getattr(self, f"_{entry['what']}", _nothing)(entry)

    def _adding(self, entry):
        for text in entry["texts"]:  # whoever deleted it may have been heard already
            self.fates.setdefault(text, Fate(entry["box"]))

    def _added(self, entry):
        for text in entry["texts"]:
            self.fates[text].added = True

    def _deleting(self, entry):
        self._fate(entry).deleting = True

    def _deleted(self, entry):
        self._fate(entry).deleted = True

    def _updated(self, entry):
        self.updates[entry["tag"]] = (entry["text"], entry["id"])

    def _did(self, entry):
        self.operations[entry["verb"]] += 1

    def _fault(self, _entry):
        self.faults += 1

    def _checked(self, _entry):
        self.checked += 1

    def _failed(self, entry):
        self.failures.append(f"{entry['verb']}: {entry['error']}")

    def _fate(self, entry):
        # Another worker's journal may not have been read yet.
        return self.fates.setdefault(entry["text"], Fate(entry["box"]))

    # -- what follows from it -------------------------------------------------------------------------

    @property
    def certain(self):
        """Texts that must be there, with their boxes."""
        return {text: fate.box for text, fate in self.fates.items() if fate.added and not fate.deleting}

    @property
    def possible(self):
        """Texts that may be there, with their boxes."""
        return {text: fate.box for text, fate in self.fates.items() if not fate.deleted}

    @property
    def forgotten(self):
        """Canaries of texts that must be nowhere."""
        return {text.split()[0] for text, fate in self.fates.items() if fate.deleted}


def canaries(text):
    """Return the canaries that a text holds."""
    return set(_CANARY.findall(text))


def _nothing(_entry):
    pass
