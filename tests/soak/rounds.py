"""Round after round: start workers, kill some of them, damage Chroma now and then, look at what is left."""

from __future__ import annotations

import asyncio
import logging
import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field

from crash_support import processes

from .damage import damage
from .inspector import inspect
from .oracle import Oracle
from .worker import work

AN_AGE = 25
"""Rounds after which a new memory is begun, so that openings of a new one are raced, too."""
PATIENCE = 300
"""Seconds within which a worker must end by itself, and an inspector must have an answer."""


@dataclass
class Totals:
    """What was done, and what was found."""

    rounds: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    faults: int = 0
    damages: int = 0
    checked: int = 0
    violations: list[str] = field(default_factory=list)


class Soak:
    """One run; all that is random comes from the seed, but for what the machine does with several processes."""

    def __init__(self, directory, seed, say, *, workers=3, longest=5.0, chroma=True):
        self._directory = directory
        self._random = random.Random(seed)
        self._say = say
        self._workers = workers
        self._longest = longest
        self._chroma = chroma
        self._oracle = Oracle()
        self._heard = 0
        self.totals = Totals()

    def run(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until or not self.totals.rounds:
            if self.totals.rounds % AN_AGE == 0:
                self._begin_anew()
            self._round(min(self._random.uniform(1.0, self._longest), max(1.0, until - time.monotonic())))
        return self.totals

    def _begin_anew(self):
        self._oracle = Oracle()
        self._age = self._directory / f"age{self.totals.rounds // AN_AGE}"
        shutil.rmtree(self._directory / f"age{self.totals.rounds // AN_AGE - 1}", ignore_errors=True)
        (self._age / "journals").mkdir(parents=True)

    @property
    def _memory(self):
        return self._age / "memory"

    def _settings(self):
        return {
            "chroma": self._chroma,
            "similarity_floor": -1.0,
            "exact_up_to": 0,
            "index_batch": self._random.choice((1, 4, 16)),
            "window": self._random.choice((1, 4, 8)),
        }

    def _round(self, seconds):
        number, settings = self.totals.rounds, self._settings()
        self.totals.rounds += 1
        journals = [self._age / "journals" / f"{number}-{i}.jsonl" for i in range(self._workers)]
        children = [self._start(journal, seconds, settings) for journal in journals]
        killed = self._kill_some(children, journals, seconds)
        for child in children:
            child.join(PATIENCE)
            if child.exitcode not in (0, None) and child not in killed:
                self._violated(f"a worker ended with {child.exitcode}")
            elif child.exitcode is None:
                child.kill()
                child.join()
                self._violated("a worker did not end")
        for journal in journals:
            self._hear(journal)
        damaged = damage(self._memory, self._random) if self._random.random() < 0.3 else None
        self.totals.damages += damaged is not None
        self._look(settings, damaged)
        self._say(f"round {number}: {seconds:.1f} s, {len(killed)} killed, {damaged or 'nothing damaged'}")

    def _start(self, journal, seconds, settings):
        given = (self._memory, journal, self._random.getrandbits(40), seconds, settings)
        child = processes().Process(target=work, args=given)
        child.start()
        return child

    def _kill_some(self, children, journals, seconds):
        """Kill most of the workers: some while they open the memory, most of them at work."""
        doomed = [i for i in range(len(children)) if self._random.random() < 0.7]
        moments = {i: self._random.uniform(0.0, seconds) for i in doomed}
        if self._random.random() < 0.7:
            pairs = list(zip(journals, children, strict=True))
            _wait_until(lambda: all(journal.exists() or child.exitcode is not None for journal, child in pairs))
        began, killed = time.monotonic(), []
        for i in sorted(doomed, key=moments.get):
            time.sleep(max(0.0, began + moments[i] - time.monotonic()))
            if children[i].exitcode is None:
                children[i].kill()
                killed.append(children[i])
                self.totals.kills += 1
        return killed

    def _hear(self, journal):
        before = Oracle()
        before.read(journal)
        self.totals.operations += before.operations
        self.totals.faults += before.faults
        self.totals.checked += before.checked
        for failure in before.failures:
            self._violated(failure)
        self._oracle.read(journal)

    def _look(self, settings, damaged):
        receiving, sending = processes().Pipe(duplex=False)
        given = (sending, self._memory, self._oracle, settings, damaged is not None)
        child = processes().Process(target=_inspect, args=given)
        child.start()
        sending.close()
        try:
            looked, wrong = receiving.recv() if receiving.poll(PATIENCE) else (0, ["the inspector did not end"])
        except EOFError:
            looked, wrong = 0, ["what was left kills the process that opens it, or no look can be had at it"]
        receiving.close()
        child.join(PATIENCE)
        self.totals.checked += looked
        for what in wrong:
            self._violated(f"{what} (after: {damaged or 'no damage'})")

    def _violated(self, what):
        self.totals.violations.append(what)
        self._say(f"VIOLATION in round {self.totals.rounds - 1}: {what}")


def _inspect(pipe, directory, oracle, settings, damaged):
    logging.disable(logging.WARNING)  # a damaged Chroma is what is wanted here
    pipe.send(asyncio.run(inspect(directory, oracle, settings, damaged=damaged)))


def _wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
