"""A ledger's vectors in memory, for tests of the index over them."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from amem.store.chroma import collection_name


def units(count, dimension=8, seed=0):
    """Random rows of length 1."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def free_port():
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        return probing.getsockname()[1]


@dataclass(frozen=True)
class Row:
    seq: int
    box: str
    note_id: str
    vector: np.ndarray | None
    filters: dict = field(default_factory=dict)


class MemorySource:
    """What `amem.store.source.VectorSource` asks for; `put` and `remove` stand for a ledger's commits."""

    def __init__(self, dimension=8):
        self.lock = threading.RLock()
        self.dimension = dimension
        self.stored = {}  # note id -> (box, revision, vector, filters)
        self.states = {}  # box -> [revision, epoch]
        self.waiting = {}  # seq -> (box, note id)
        self.claims = {}
        self.holes = Counter()
        self.next_seq = 1

    def put(self, box, ids, vectors, filters=None):
        with self.lock:
            state = self.states.setdefault(box, [0, 0])
            state[0] += 1
            for note_id, vector in zip(ids, vectors, strict=True):
                self.stored[note_id] = (box, state[0], np.asarray(vector, np.float32), filters or {"status": "ready"})
                self._enqueue(box, note_id)

    def remove(self, box, ids):
        with self.lock:
            self.states[box][1] += 1
            for note_id in ids:
                del self.stored[note_id]
                self._enqueue(box, note_id)

    def _enqueue(self, box, note_id):
        self.waiting[self.next_seq] = (box, note_id)
        self.next_seq += 1

    def _matrix(self, rows):
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def box_state(self, box):
        with self.lock:
            revision, epoch = self.states.get(box, (0, 0))
            return revision, epoch

    def vectors_since(self, box, revision):
        with self.lock:
            found = [(i, r, v) for i, (b, r, v, _) in self.stored.items() if b == box and r > revision]
            reached = max([r for _, r, _ in found], default=revision)
            return [i for i, _, _ in found], self._matrix([v for _, _, v in found]), reached

    def has_at_most(self, box, limit):
        with self.lock:
            return sum(kept[0] == box for kept in self.stored.values()) <= limit

    def vectors_of(self, note_ids):
        with self.lock:
            there = [note_id for note_id in note_ids if note_id in self.stored]
            return there, self._matrix([self.stored[note_id][2] for note_id in there])

    def outbox(self, box=None, *, limit=None):
        with self.lock:
            found = [(s, b, i) for s, (b, i) in sorted(self.waiting.items()) if box in (None, b)]
            return [self._row(*row) for row in found[:limit]]

    def _row(self, seq, box, note_id):
        _, _, vector, filters = self.stored.get(note_id, (box, 0, None, {}))
        return Row(seq, box, note_id, vector, filters)

    def outbox_sizes(self, box=None):
        with self.lock:
            return dict(Counter(b for b, _ in self.waiting.values() if box in (None, b)))

    def outbox_done(self, box, seqs, *, holes=0):
        with self.lock:
            for seq in seqs:
                self.waiting.pop(seq, None)
            self.holes[box] += holes
            return self.holes[box]

    def boxes(self):
        with self.lock:
            return [box for box, _ in Counter(row[0] for row in self.stored.values()).most_common()]

    def collections(self):
        with self.lock:
            return dict(self.claims)

    def claim_collection(self, box, limit):
        with self.lock:
            if box not in self.claims and len(self.claims) < limit:
                self.claims[box] = collection_name(box)
                self.outbox_done(box, [seq for seq, (b, _) in self.waiting.items() if b == box])
                self.holes[box] = 0
                for note_id in [i for i, row in self.stored.items() if row[0] == box]:
                    self._enqueue(box, note_id)
            return self.claims.get(box)

    def release_collections(self, boxes=None):
        with self.lock:
            for box in list(self.claims) if boxes is None else boxes:
                self.claims.pop(box, None)
