"""A model that does as much as it may: builds every turn, links every new note, and rewrites every neighbour."""

from __future__ import annotations

from amem.errors import ModelUnavailable
from amem.testing import ScriptedLLM


def built(request):
    """Keywords, tags and a context that repeat what each turn says."""
    return {
        "notes": [
            {
                "turn": turn["number"],
                "keywords": turn["text"].split()[:3],
                "tags": [f"of {turn['text'].split()[-1]}"],
                "context": f"About: {turn['text']}",
            }
            for turn in request.variables["turns"]
        ]
    }


def woven(request):
    """Link each new note to the first note shown, and have the first three neighbours tell what the new ones say."""
    older, newer = request.variables["neighbours"], request.variables["notes"]
    everyone = [*older, *newer]
    links = [
        {"source": new["number"], "targets": [everyone[0]["number"]], "relation": "goes on", "reason": new["text"]}
        for new in newer
        if new is not everyone[0]
    ]
    last = newer[-1]
    changes = [
        {
            "because": [last["number"]],
            "neighbour": old["number"],
            "context": f"{old['text']} and then {last['text']}",
            "keywords": last["text"].split()[-1:],
            "tags": [f"since {last['text'].split()[-1]}"],
        }
        for old in older[:3]
    ]
    return {"links": links, "changes": changes}


class Talkative(ScriptedLLM):
    """Keeps every exchange, and fails while it is told to."""

    def __init__(self):
        super().__init__({"note": self._answering(built), "link_evolve": self._answering(woven)})
        self.down = ()
        """Names of the prompts that fail."""
        self.exchanges = []
        """(request, reply, or None where the call failed), oldest first."""

    def _answering(self, answer):
        def respond(request):
            down = request.prompt.name in self.down
            reply = None if down else answer(request)
            self.exchanges.append((request, reply))
            if down:
                raise ModelUnavailable("it is down")
            return reply

        return respond

    def taken(self):
        """Return the exchanges since the last time."""
        exchanges, self.exchanges = self.exchanges, []
        return exchanges
