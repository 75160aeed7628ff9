"""The words of generated conversations."""

from __future__ import annotations

from typing import NamedTuple

COLOURS = ("red", "green", "yellow", "purple", "blue", "turquoise", "white", "brown", "pink", "grey")
THINGS = ("bicycle", "canoe", "accordion", "armchair", "kettle", "lantern", "telescope", "suitcase", "teapot",
          "scooter", "wardrobe", "tent")  # fmt: skip
BOUGHT = (
    "I bought a {colour} {thing} from {seller} and named it {name}.",
    "{name} is my new {thing}: {colour}, a little scratched, and {seller} sold it to me.",
    "Do you know {seller}? I got a {colour} {thing} from there, and I call it {name}.",
)
RELATIONS = ("cousin", "neighbour", "uncle", "aunt", "niece", "nephew", "colleague", "flatmate")
PLACES = ("bakery", "library", "shipyard", "brewery", "museum", "clinic", "nursery", "printing house", "sawmill",
          "observatory")  # fmt: skip
STARTED_WORK = (
    "My {relation} {person} has started work at {place}.",
    "You have not met my {relation} {person}, have you? The one with the job at {place}.",
    "My {relation} {person} works at {place} and seems to like it there.",
)
CHANGED_WORK = (
    "My {relation} {person} has a new job and works at {place} from now on.",
    "News from my {relation} {person}: out of the old job, and at {place} since this week.",
    "{person}, my {relation}, has changed places and is at {place} these days.",
)


class Deed(NamedTuple):
    """Something that is done to a named thing."""

    do: str
    did: str


DEEDS = (
    Deed("climb mount", "climbed mount"),
    Deed("restore the boat", "restored the boat"),
    Deed("visit the island", "visited the island"),
    Deed("finish the novel", "finished the novel"),
    Deed("paint the mural", "painted the mural"),
    Deed("sign up for the course", "signed up for the course"),
    Deed("cross the lake", "crossed the lake"),
    Deed("record the song", "recorded the song"),
)
DID = (
    "I {did} {name} {when}, and it was worth every minute.",
    "Guess what: I {did} {name} {when}.",
    "It is true, I {did} {name} {when}. I had wanted to for ages.",
)
WILL_DO = (
    "I am going to {do} {name} {when}, if nothing comes in between.",
    "It is settled: I will {do} {name} {when}.",
)
SHOWS = ("circus", "opera", "exhibition", "cabaret", "regatta")
PRICED = (
    "A ticket for the {show} {name} costs {price} crowns, I asked.",
    "They want {price} crowns for a ticket for the {show} {name}.",
)
CORRECTED = (
    "I told you something wrong: a ticket for the {show} {name} costs {price} crowns, not {wrong}.",
    "Forget the {wrong} crowns. A ticket for the {show} {name} costs {price}.",
)
CLUBS = ("choir", "chess club", "rowing club", "reading circle", "theatre group")
MEETS = (
    "The {club} {name} meets every {day}, as far as I know.",
    "As I have it, {day} is the day on which the {club} {name} meets.",
)
PLAYED = (
    "My band {band} played in {town}, and people even danced.",
    "We had a concert in {town} with my band {band}.",
    "{town} was a good place for a concert: my band {band} had to play on and on.",
)
RUNS = (
    "My {relation} {person} runs the {shop} {name} now.",
    "The {shop} {name} belongs to my {relation} {person}, who runs it alone.",
)
LIES = (
    "The {shop} {name} has moved to {street} Street.",
    "I walked past the {shop} {name}. It is in {street} Street.",
)


class Trait(NamedTuple):
    """Something known of a person, and a question that it answers."""

    told: str
    asked: str
    answer: str


TRAITS = (
    Trait("cannot swim and keeps away from deep water.", "enjoy a diving holiday?", "Likely no"),
    Trait("has not eaten meat for years.", "order the roast beef?", "Likely no"),
    Trait("sneezes as soon as a cat is in the room.", "be at ease in a home with three cats?", "Likely no"),
    Trait("gets up at four every morning to watch birds.", "like a pair of binoculars as a present?", "Likely yes"),
    Trait("is afraid of heights.", "want to repair the roof?", "Likely no"),
    Trait("speaks to everybody at a party and hates to be alone.", "be happy as a lighthouse keeper?", "Likely no"),
    Trait("collects old maps and fills whole walls with them.", "look for a shop with antique atlases?", "Likely yes"),
    Trait("plays the cello in two orchestras.", "be able to read music?", "Likely yes"),
)
SPOKEN_OF = (
    "I bought a {colour} {thing} and named it {name}.",
    "{name} is my new {thing}, {colour} all over.",
    "Nobody touches {name}, my {colour} {thing}.",
)
MOVED_HOME = (
    "My {relation} {person} has moved to {town}.",
    "{person}, my {relation}, lives in {town} from now on.",
)
PRICES = ("12 crowns", "25 crowns", "40 crowns", "70 crowns", "95 crowns", "110 crowns")
