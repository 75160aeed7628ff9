"""The changelog of the prompts: one entry for each version, newest first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from amem.prompts import Root, Version

CHANGELOG = "CHANGELOG.md"

_HEADING = re.compile(r"^## (?P<version>\S+)(?: +\((?P<state>[^)]*)\))? *$", re.MULTILINE)


def missing_entries(root: Root, versions: Mapping[str, Version]) -> Iterator[tuple[str, str]]:
    """Yield the versions that the changelog does not tell of, or calls something else than they are."""
    file = root / CHANGELOG
    states = _states(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for name, version in versions.items():
        if name not in states:
            yield name, f"{CHANGELOG} has no entry for {name}; write why it exists and what it changes"
        elif (states[name] == "draft") != (version.status == "draft"):
            yield name, f"{CHANGELOG} calls {name} {states[name] or 'released'}, and versions.toml {version.status}"


def with_draft(text: str, version: str, source: str) -> str:
    """Return the changelog with an entry for a new draft above the others."""
    entry = f"## {version} (draft)\n\nBegun as a copy of {source}. Say here why, what changed, and what it does.\n\n"
    first = _HEADING.search(text)
    if first is None:
        return f"{text.rstrip()}\n\n{entry}".lstrip()
    return text[: first.start()] + entry + text[first.start() :]


def with_release(text: str, version: str, date: str) -> str:
    """Return the changelog with the date in the place of the word `draft`; an entry that is not there stays so."""
    return _HEADING.sub(lambda found: f"## {version} ({date})" if found["version"] == version else found.group(), text)


def has_entry(text: str, version: str) -> bool:
    """Whether the changelog tells of a version."""
    return version in _states(text)


def _states(text: str) -> dict[str, str]:
    return {found["version"]: found["state"] or "" for found in _HEADING.finditer(text)}
