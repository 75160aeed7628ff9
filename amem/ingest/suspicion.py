"""Whether a text reads like an instruction to a model rather than something to remember; and what follows from it.

Patterns and no model: each reason can be read, and no text can talk its way past them. They are no wall: whoever knows
them can write around them. What a note may do is decided by its trust; this only adds that one which is caught does
nothing by itself.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from amem.fences import FENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.model import Note
    from amem.settings import Settings

_LOW = ("tool", "untrusted")
"""Trust of texts that nobody stands behind."""
_IGNORE = "it tells its reader to ignore instructions"
_ROLE = "it gives its reader another role"
_SYSTEM = "it speaks as a system prompt"
_SECRETS = "it asks for hidden text or secrets"
_MEMORY = "it gives orders about the memory"
_HIDDEN = "it holds characters that are not shown"


def _near(*parts: str, within: int = 30) -> str:
    """Return a pattern of words that stand in this order in one sentence, not far from each other."""
    return rf"[^.!?\n]{{0,{within}}}".join(rf"\b(?:{part})\b" for part in parts)


_ORDERS = "instructions?|prompts?|directives?|guidelines?|programming|commands?"


class _Sign(NamedTuple):
    """What gives a text away."""

    words: str
    """Each match holds one of these: a text without them, as nearly all are, need not be searched."""
    pattern: str


_PATTERNS: tuple[tuple[str, tuple[_Sign, ...]], ...] = (
    (
        _IGNORE,
        (
            _Sign(
                "instruction|prompt|directive|guideline|programming|command",
                _near(
                    r"ignore|disregard|override|bypass|(?:do not|don't|stop) (?:follow|obey)\w*",
                    "previous|prior|above|earlier|preceding|system|all|any|your",
                    _ORDERS,
                ),
            ),
            _Sign(
                "forget",
                r"(?<!don't )(?<!not )(?<!never )" + _near("forget", "previous|prior|above|your", _ORDERS, within=20),
            ),
            _Sign(
                "anweisung|instruktion|vorgabe|befehl|prompt",
                _near(
                    r"(?:ignorier|missacht|vergiss|übergeh|umgeh)\w*",
                    r"(?:vorherig|bisherig|vorig|obig|früher|all|dein|ihr)\w*",
                    r"(?:anweisung|instruktion|vorgabe|befehl|prompt)\w*",
                ),
            ),
            _Sign(
                "instructions|consignes|directives",
                _near(
                    "ignore[rz]?|oublie[rz]?|néglige[rz]?|(?:tiens|tenez) pas compte",
                    "instructions|consignes|directives",
                ),
            ),
            _Sign(
                "instrucciones|indicaciones|directrices",
                _near("ignor[ae]|olvid[ae]|omit[ae]|caso omiso", "instrucciones|indicaciones|directrices"),
            ),
            _Sign(
                "instruções|orientações|diretrizes",
                _near("ignor[ae]|esqueça|desconsidere", "instruções|orientações|diretrizes"),
            ),
            _Sign("istruzioni|direttive", _near(r"(?:ignora|dimentica|trascura)\w*", "istruzioni|direttive")),
            _Sign("instructies|aanwijzingen", _near("negeer|vergeet", "instructies|aanwijzingen")),
            _Sign(
                "инструкци|указани|команд",
                _near(r"(?:игнорируй|забудь|не следуй)\w*", r"(?:инструкци|указани|команд)\w*"),
            ),
            _Sign(
                "talimat|komut|yönerge",
                _near(r"(?:talimat|komut|yönerge)\w*", r"yok say\w*|görmezden gel\w*|unut\w*"),
            ),
            _Sign("تجاهل|تجاوز|انس", r"(?:تجاهل|تجاوز|انس)[^.!؟\n]{0,30}(?:تعليمات|أوامر|توجيهات)"),
            _Sign("निर्देश|आदेश", r"(?:निर्देश|आदेश)[^।\n]{0,30}(?:अनदेखा|नज़रअंदाज़|भूल जा)"),
            _Sign(
                "指令|指示|提示|命令",
                r"(?:忽略|无视|無視|忽視|忘记|忘記|不要理会|不要遵守)[^。!?\n]{0,12}(?:指令|指示|提示词|提示詞|命令|系统提示|系統提示)",
            ),
            _Sign(
                "指示|命令|プロンプト",
                r"(?:指示|命令|プロンプト)[^。!?\n]{0,8}(?:無視し|忘れ(?:ろ|て|なさい)|従わない)",
            ),
            _Sign(
                "지시|명령|프롬프트|지침",
                r"(?:지시|명령|프롬프트|지침)[^.!?\n]{0,10}(?:무시하|무시해|잊어|따르지 마)",
            ),
        ),
    ),
    (
        _ROLE,
        (
            _Sign(
                "you are now",
                _near(
                    "you are now", r"ai|assistant|model|dan|mode|persona|unrestricted|jailbroken|admin\w*", within=40
                ),
            ),
            _Sign(
                "from now on",
                r"\bfrom now on,? you (?:must|will|shall|are to|only|always|never)\b",
            ),
            _Sign(" mode", _near("(?:developer|debug|god|admin|jailbreak) mode", "enabled|activated|on", within=20)),
            _Sign("act as", _near("act as", "ai|language model|unrestricted")),
            _Sign(
                "du bist jetzt|tu es maintenant|ahora eres|ora sei",
                _near(
                    "du bist jetzt|tu es maintenant|ahora eres|ora sei",
                    "ki|ia|assistent|assistant|asistente|modell?o?",
                    within=40,
                ),
            ),
            _Sign(
                "你现在是|你現在是|从现在起你|從現在起你|あなたは今から|지금부터 ",
                r"(?:你现在是|你現在是|从现在起你|從現在起你|あなたは今から|지금부터 (?:너는|당신은))",
            ),
        ),
    ),
    (
        _SYSTEM,
        (
            _Sign("<", r"<\|[a-z_]{2,30}\|>"),
            _Sign("inst]|sys>|system", r"\[/?inst\]|<</?sys>>|</?system(?:[ _-]?prompt)?>"),
            _Sign("system ", r"(?:^|\n)[#\s*>\[]{0,9}(?:new )?system (?:prompt|message|override|instructions?)\b"),
            _Sign("##", r"(?:^|\n)\s{0,9}#{2,} ?(?:instructions?|system)\b"),
            _Sign(
                "system |developer ",
                r"\b(?:begin|start|end) (?:of )?(?:the )?(?:system|developer) (?:prompt|message|instructions?)\b",
            ),
            _Sign("<", rf"<\s{{0,9}}/\s{{0,9}}(?:{'|'.join(sorted(FENCES))})\b"),
        ),
    ),
    (
        _SECRETS,
        (
            _Sign(
                "prompt|instructions|key|credentials",
                _near(
                    "reveal|print|show|repeat|output|leak|disclose",
                    "(?:your|the|system|hidden) (?:system )?(?:prompt|instructions)|api[ _-]?keys?|credentials",
                ),
            ),
            _Sign(
                "http|@",
                _near(
                    "send|post|upload|forward|exfiltrate|append",
                    "conversation|chat history|memories|passwords?|api[ _-]?keys?|credentials|tokens?",
                    within=40,
                )
                + r"[^\n]{0,40}(?:https?://|@)",
            ),
            _Sign(" the user", r"\b(?:do not|don't|never) (?:tell|inform|alert) the user\b"),
        ),
    ),
    (
        _MEMORY,
        (
            _Sign(
                "note|memor",
                _near(
                    "delete|erase|overwrite|rewrite|replace|change|update|link|merge",
                    "(?:all|every|each|any|other|older) (?:(?:of|the|your|other|older|existing) ){0,3}"
                    "(?:notes?|memor(?:y|ies))",
                    within=20,
                ),
            ),
            _Sign(
                "context|tags|keywords",
                _near("set|change|replace|overwrite", "(?:context|tags|keywords) (?:of|for|to)", within=20),
            ),
            _Sign(
                "because|neighbour|targets",
                r"[\"'](?:because|neighbour|targets)[\"']\s{0,9}:\s{0,9}\[?\s{0,9}\d",
            ),
            _Sign(
                "note|memory|instruction",
                _near(
                    "store|save|remember", "as (?:a )?(?:trusted|system|user) (?:note|memory|instruction)", within=20
                ),
            ),
        ),
    ),
)
_COMPILED = tuple(
    (reason, tuple((tuple(sign.words.split("|")), re.compile(sign.pattern)) for sign in signs))
    for reason, signs in _PATTERNS
)
_SPACES = re.compile(r"[^\S\n]+")
_UNSEEN = re.compile(
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0001-\U000e007f]|[\u202d\u202e]|[\u200b\u2060-\u2064]{4}"
)
"""Tag characters outside a flag, overrides of direction, and runs of what has no width."""


def suspicions(text: str) -> tuple[str, ...]:
    """Say why a text reads like an instruction to a model; empty for all that does not."""
    plain = _plain(text)
    found = [reason for reason, signs in _COMPILED if any(_shows(plain, words, pattern) for words, pattern in signs)]
    return (*found, _HIDDEN) if not text.isascii() and _UNSEEN.search(text) else tuple(found)


def _shows(plain: str, words: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return any(word in plain for word in words) and pattern.search(plain) is not None


def _plain(text: str) -> str:
    """Return a text as a reader takes it: without what is not shown, width or case."""
    if text.isascii():
        return _SPACES.sub(" ", text.lower())
    shown = "".join(c for c in text if c.isascii() or unicodedata.category(c) != "Cf")
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", shown).casefold().replace("\u2019", "'"))


def why_quarantined(note: Note, settings: Settings) -> tuple[str, ...]:
    """Say why what a note would bring about waits for review; empty where it does not."""
    if settings.quarantine == "off" or note.trust == "user":
        return ()
    if settings.quarantine == "untrusted" and note.trust in _LOW:
        return (f"its trust is {note.trust!r}", *suspicions(note.content))
    return suspicions(note.content)


def company(note: Note, settings: Settings) -> int:
    """Return which notes may share a call: 0 people and assistants, 1 tools and strangers, 2 the quarantined.

    A text can steer whatever is asked in one breath with it, so no call that builds, links or changes notes shows it
    among new notes of better trust, whatever causes its reply names.
    """
    if why_quarantined(note, settings):
        return 2
    return 1 if note.trust in _LOW else 0
