"""Talk in which nothing is told that a question could be about: no names, no dates, no possessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

_OPENINGS = (
    "That sounds {good}.", "I am glad to hear it.", "How {good}!", "I would not have thought so.", "You are right.",
    "That reminds me of home.", "I see what you mean.", "Thank you for telling me.", "Really?", "I know that feeling.",
    "Good to hear from you.", "Well, that is how it goes.", "I had to laugh about that.", "Say that again, please.",
)  # fmt: skip
_REMARKS = (
    "The {weather} made me stay inside and tidy up the kitchen for once.",
    "I cooked {food} and it came out better than I had feared.",
    "My back aches a little from all the sitting, so I should walk more.",
    "There was a queue in front of the counter and I nearly gave up waiting.",
    "I keep forgetting where I put my keys, and then they lie on the table.",
    "Somebody sang under my window for half the night, and not even badly.",
    "I read a few pages before going to bed and fell asleep over the book.",
    "The bus was late again, but the {weather} was {good}, so nobody minded.",
    "We should sit down over {food} some time and talk about nothing at all.",
    "I tried to fix the tap, and now it drips on the other side.",
    "Some days go by so fast that I wonder what I did with them.",
    "I am trying to drink less coffee, and it makes me {mood}.",
    "The heating hums like an old song, and I have grown fond of it.",
    "I made a list of things to do and lost the list.",
    "A pigeon looks in on me every morning as if it paid rent.",
    "I felt {mood} when I got up, but the {weather} cheered me up.",
    "My neighbours argue about whose turn it is to sweep the stairs.",
    "I could eat {food} every day and never be tired of it.",
)  # fmt: skip
_QUESTIONS = (
    "What about you?", "How have you been?", "Do you want to hear the rest?", "What would you have done?",
    "Is it as {good} where you are?", "Have you eaten yet?", "And how did you sleep?", "Shall we go on later?",
)  # fmt: skip
_WORDS = {
    "good": ("lovely", "splendid", "pleasant", "cheerful", "delightful", "quiet"),
    "weather": ("rain", "wind", "fog", "sunshine", "drizzle", "frost"),
    "food": ("lentil soup", "pancakes", "potato salad", "dumplings", "rice pudding", "noodles"),
    "mood": ("grumpy", "sleepy", "restless", "light-headed", "calm", "impatient"),
}


def small_talk(random: Random) -> str:
    """Return one to three sentences."""
    shape = random.choice(((_OPENINGS, _REMARKS), (_REMARKS, _QUESTIONS), (_OPENINGS, _REMARKS, _QUESTIONS)))
    return " ".join(_sentence(random, kind) for kind in shape)


def remark(random: Random) -> str:
    """Return one sentence to stand beside something that is told."""
    return _sentence(random, random.choice((_OPENINGS, _REMARKS, _QUESTIONS)))


def _sentence(random: Random, kind: tuple[str, ...]) -> str:
    return random.choice(kind).format_map(_Drawn(random))


class _Drawn(dict[str, str]):
    """Words for the slots of a sentence, drawn as they are asked for."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random

    def __missing__(self, slot: str) -> str:
        return self._random.choice(_WORDS[slot])
