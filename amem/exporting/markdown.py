"""Text within a page of Markdown: quoted or escaped so that nothing of it is more than text, and read back."""

from __future__ import annotations

import json
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SIGNS = "\\`*_[]<>#|!"
"""What Markdown, or Obsidian, could take for something else within a line of our own."""
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in _SIGNS})
INCOMING = "←"
"""Stands before a link that another page makes."""
_ESCAPE = re.compile(rf"\\([{re.escape(_SIGNS)}{INCOMING}])")


def quoted(text: str) -> str:
    """Return a text as a quotation in which nothing is a link, a heading, or the end of it."""
    lines = _CONTROL.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(f"> {line.translate(_ESCAPED)}".rstrip() for line in lines)


def unquoted(lines: list[str]) -> str:
    """Return the text of a quotation."""
    return "\n".join(unescaped(line[1:].removeprefix(" ")) for line in lines)


def plain(text: str) -> str:
    """Return a text as part of a line: on one line, and nothing but text."""
    return " ".join(text.split()).translate(_ESCAPED)


def relation(text: str) -> str:
    """Return what a link is called, as the beginning of a line of links."""
    said = plain(text) or "linked"
    return f"\\{said}" if said.startswith(INCOMING) else said


def letters(text: str) -> str:
    """Return a text letter by letter, as a JSON string in which nothing looks like a link or a tag."""
    return json.dumps(text, ensure_ascii=False).replace("[", "\\u005b").replace("#", "\\u0023")


def unescaped(text: str) -> str:
    """Return a text that was escaped, as it was."""
    return _ESCAPE.sub(r"\1", text)


def tag_of(tag: str) -> str:
    """Return a tag as Obsidian takes it: without spaces, and not a number alone."""
    joined = "".join(sign if sign.isalnum() or sign in "-_/" else "-" for sign in tag.strip())
    return f"_{joined}" if not joined or joined.isdecimal() else joined
