"""What people say of themselves once, and how others would ask for it: in other words, so that no name leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from random import Random

    from .names import Names


class Feature(NamedTuple):
    """Something that is true of a person."""

    told: str
    asked: str
    values: tuple[str, ...]
    """What it may be; none where it is a name."""


PORTRAIT = (
    Feature("As a child I lived in a village called {value}.", "Where did {who} grow up?", ()),
    Feature("Every evening I practise the {value} until somebody knocks on the wall.",
            "Which instrument does {who} play?", ("oboe", "harp", "banjo", "trombone", "cello", "bassoon")),
    Feature("Our {value} has torn the curtains again.", "What kind of pet does {who} have?",
            ("parrot", "ferret", "goat", "tortoise", "iguana", "raccoon")),
    Feature("Please, never again {value} on my plate.", "Which food can {who} not stand?",
            ("beetroot", "liver", "celery", "olives", "fennel", "tripe")),
    Feature("With {value} brothers in one room I learned to sleep through anything.", "How many siblings has {who}?",
            ("two", "three", "four", "five", "six", "seven")),
    Feature("I sit in evening classes now and fight with the grammar of {value}.", "Which language is {who} learning?",
            ("Welsh", "Finnish", "Basque", "Hungarian", "Estonian", "Maltese")),
    Feature("I leave the room at once when there is a {value} in it.", "Which animal is {who} afraid of?",
            ("spider", "wasp", "moth", "mouse", "snake", "beetle")),
    Feature("They made me head of the {value} department, and now I have to write reports.",
            "Where in the company is {who} the boss?", ("sales", "packing", "design", "legal", "repair", "export")),
    Feature("I get to the office in an old {value} that nobody else dares to start.", "What does {who} drive?",
            ("van", "tractor", "ambulance", "camper", "convertible", "minibus")),
    Feature("On Sundays you will find me playing {value}, whatever the sky looks like.",
            "Which sport does {who} do at the weekend?",
            ("badminton", "squash", "hockey", "cricket", "handball", "lacrosse")),
    Feature("When I was twelve they hung a medal round my neck for {value}.",
            "What did {who} win a prize for at school?",
            ("spelling", "high diving", "juggling", "debating", "fencing", "archery")),
    Feature("I came into the world one {value} night in the middle of a storm.",
            "In which month does {who} have a birthday?",
            ("January", "April", "June", "August", "October", "December")),
    Feature("One day I want to stand in {value} and just look around.", "Where would {who} most like to travel?",
            ("Patagonia", "Lapland", "Mongolia", "Samoa", "Bhutan", "Namibia")),
    Feature("I cannot see a {value} in a shop window without taking it home.", "What does {who} collect?",
            ("snow globe", "thimble", "barometer", "typewriter", "music box", "compass")),
)  # fmt: skip
"""What can be told of a person; of a group of people, each is told of some only."""


def value_of(feature: Feature, random: Random, names: Names) -> str:
    """Return what is true of one person."""
    return random.choice(feature.values) if feature.values else names.new()
