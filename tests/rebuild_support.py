"""A memory that an older wording of the prompts made, and a model whose replies tell which wording asked."""

from __future__ import annotations

import re

from amem.prompts import PromptSet
from amem.testing import ScriptedLLM

TEXTS = (
    "Ana sold the old boat",
    "Ana bought a van with the boat money",
    "The van needs new brakes",
    "The brakes cost Ana more than the boat",
)


def reworded(folder, *names, word="Nova"):
    """Write another wording of some prompts, that asks for `word`; return the setting that uses it."""
    folder.mkdir(exist_ok=True)
    for name in names:
        source = PromptSet().get(name).source
        (folder / f"{name}.j2").write_text(source.replace("{% block system %}", f"{{% block system %}}\nWord: {word}."))
    return {"prompts_overrides": str(folder)}


def word_of(request):
    found = re.search(r"Word: (\w+)\.", request.messages[0].content)
    return found[1] if found else "Old"


def build(request):
    """Say the wording's word in every field."""
    word = word_of(request)
    return {
        "notes": [
            {
                "turn": turn["number"],
                "keywords": [word, turn["text"].split()[-1]],
                "tags": [f"{word.lower()}-tag"],
                "context": f"{word}: {turn['text']}",
            }
            for turn in request.variables["turns"]
        ]
    }


def weave(request):
    """Link each new note to the one before it, and have it change that one, in the wording's word."""
    word = word_of(request)
    older, newer = request.variables["neighbours"], request.variables["notes"]
    texts = {note["text"]: note["number"] for note in (*older, *newer)}
    links, changes = [], []
    for note in newer:
        place = TEXTS.index(note["text"])
        before = texts.get(TEXTS[place - 1]) if place else None
        if before is None:
            continue
        reason = f"{word} reason"
        links.append({"source": note["number"], "targets": [before], "relation": word, "reason": reason})
        if before < len(older):
            changes.append(
                {
                    "neighbour": before,
                    "because": [note["number"]],
                    "context": f"{TEXTS[place - 1]}, {word} of {place}",
                    "keywords": [f"{word}-{place}"],
                    "tags": [],
                }
            )
    return {"links": links, "changes": changes}


def model(**more):
    return ScriptedLLM({"note": build, "link_evolve": weave}, **more)


async def fill(memory, texts=TEXTS):
    """Add the texts one by one; return their ids."""
    return [(await memory.add(text)).id for text in texts]


async def state(memory):
    """What notes are known for and who made that, and the links: all that a rebuild changes."""
    notes = (await memory.list()).notes
    links = {link.id: link for note in notes for link in await memory.links(note.id)}
    return (
        {n.content: (n.keywords, n.tags, n.context, n.status, n.made_by and n.made_by.prompt) for n in notes},
        sorted((link.source, link.target, link.relation, link.made_by.prompt) for link in links.values()),
    )


def hub(request):
    """Have each new note change the first note of all, on top of what was made of it so far; link nothing."""
    word = word_of(request)
    older, newer = request.variables["neighbours"], request.variables["notes"]
    first = next((note for note in older if note["text"] == TEXTS[0]), None)
    if first is None:
        return {"links": [], "changes": []}
    place = TEXTS.index(newer[0]["text"])
    change = {"neighbour": first["number"], "because": [newer[0]["number"]], "keywords": [f"{word}-{place}"]}
    return {"links": [], "changes": [{**change, "context": f"{first['context']}, {word} of {place}", "tags": []}]}
