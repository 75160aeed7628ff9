from __future__ import annotations

import json
from copy import deepcopy


def _conversation(name, qa):
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": _said(1, "I bought a sailing boat.", "What colour is the hull?", "It is as red as a cherry."),
            "session_2_date_time": "9:00 am on 2 June, 2023",
            "session_2": _said(2, "My sister teaches chemistry in Oslo.", "Which school?", "The one at the harbour.",
                               "I will visit her with the boat."),
        },
        "qa": qa,
    }  # fmt: skip


def _said(session, *texts):
    return [
        {"speaker": ("Ana", "Ben")[place % 2], "dia_id": f"D{session}:{place + 1}", "text": text}
        for place, text in enumerate(texts)
    ]


QUESTIONS = [
    {"question": "What kind of boat did Ana buy?", "answer": "a sailing boat", "evidence": ["D1:1"], "category": 4},
    {"question": "Where does the sister teach chemistry?", "answer": "Oslo", "evidence": ["D2:1"], "category": 4},
    {"question": "What will Ben do with the boat of Ana?", "answer": "visit her", "evidence": ["D1:1; D2:4"],
     "category": 1},
    {"question": "Why?", "answer": "nobody knows", "evidence": [], "category": 3},
    {"question": "What colour is the hull of Ben's car?", "adversarial_answer": "red", "evidence": ["D1:3"],
     "category": 5},
]  # fmt: skip

MINI = [_conversation("conv-26", QUESTIONS), _conversation("conv-1", QUESTIONS[:2])]
"""Invented, in LoCoMo's schema: one conversation of the tuning set, and one for reporting."""


def write_mini(folder, *, change=lambda _: None):
    data = deepcopy(MINI)
    change(data)
    path = folder / "mini.json"
    path.write_text(json.dumps(data))
    return path
