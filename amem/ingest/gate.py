"""What is worth building: rules that say why a turn is not, before any call is paid for it.

Nothing is lost by them: a turn that is kept out stays raw and is found by its words; `process(all=True)` builds it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.recall.words import content_words, is_question
from amem.store.sqlite import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.model import Note

NOTHING_SAID = "it says nothing in words"
SMALL_TALK = "it is small talk"
_LEAST_ECHO = 5
"""Words with a meaning that a turn must have before it counts as an echo: short answers repeat the question's."""
_ECHO = 0.9
_PLENTY = 8
"""Words with a meaning from which a user's turn is not small talk."""
_LONGEST = 6
"""Words of the longest small talk."""
_PLEASANT = """
ok okay k yes yeah yep no nope sure right exactly indeed thanks thank you thx ty cheers please welcome great nice cool
good fine perfect awesome wow haha lol hello hi hey bye goodbye goodnight night morning evening see later soon got it
so much a lot very really oh ah hm well that is that's it's a and then the too there all again everyone guys danke bitte
ja nein gut genau hallo tschüss schön super klar alles merci oui non bonjour salut au revoir d'accord bien parfait
gracias sí si hola adiós vale bueno genial perfecto grazie sì ciao prego bene va obrigado obrigada sim não olá tchau
спасибо да нет привет пока хорошо ладно
"""
_PLEASANTRIES = frozenset(_PLEASANT.split())
_CJK_PLEASANTRIES = re.compile(
    r"(?:谢谢|好的?|你好|再见|嗯+|ありがとう(?:ございます)?|はい|いいえ|こんにちは|了解(?:です)?|네|아니요|감사합니다|안녕하세요|알겠습니다)+"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_SIGNIFICANT = re.compile(r"\w")
_NUMBER = re.compile(r"\d")


def why_skip(turn: Note, before: Sequence[Note]) -> str | None:
    """Say why a turn need not be built, or return None.

    Args:
        turn: what was said.
        before: what was said just before it, in its session.
    """
    if not _SIGNIFICANT.search(turn.content):
        return NOTHING_SAID
    answers = bool(before) and before[-1].speaker != turn.speaker and is_question(before[-1].content)
    if _is_small_talk(turn.content) and not answers:
        return SMALL_TALK
    for note in reversed(before):
        if _same_words(turn, note):
            return f"it repeats note {note.id}"
    return _echo(turn, before)


def why_keep(turn: Note, before: Sequence[Note]) -> str | None:
    """Say why a turn that no rule keeps out is worth building, or return None where a model might tell better.

    Args:
        turn: what was said.
        before: what was said just before it, in its session.
    """
    if turn.trust != "user" or is_question(turn.content):
        return None
    if before and before[-1].speaker != turn.speaker and is_question(before[-1].content):
        return "it answers a question"
    if _NUMBER.search(turn.content):
        return "it has a number"
    words = len(content_words(turn.content))
    return f"it says {words} words with a meaning" if words >= _PLENTY else None


def _is_small_talk(text: str) -> bool:
    """Whether there is nothing but pleasantries; a question may be short and ask for much."""
    if is_question(text):
        return False
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) <= _LONGEST and all(word in _PLEASANTRIES for word in words):
        return True
    return _CJK_PLEASANTRIES.fullmatch("".join(_SIGNIFICANT.findall(text))) is not None


def _same_words(turn: Note, other: Note) -> bool:
    return turn.speaker == other.speaker and words_of(turn.content) == words_of(other.content)


def _echo(turn: Note, before: Sequence[Note]) -> str | None:
    """Say whose words an assistant or a tool only gives back: they would come to be remembered as its own."""
    if turn.trust == "user":
        return None
    said = set(content_words(turn.content))
    if len(said) < _LEAST_ECHO:
        return None
    for note in reversed(before):
        if len(said & set(words_of(note.content))) >= _ECHO * len(said):
            return f"it gives back what note {note.id} says"
    return None
