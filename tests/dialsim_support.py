from __future__ import annotations

import json
import pickle
import struct
import zlib
from pathlib import Path

import inflate64

FIXTURE = Path(__file__).parent / "fixtures" / "dialsim_fixture.json"
"""Invented text in the structure of DialSim's official files: three shows of three scenes each."""
UNKNOWN = "I don't know. (None of the above)"
HARD = ("past", "cur", "fu", "past_past", "past_cur", "past_fu", "cur_past", "cur_cur", "cur_fu", "fu_past", "fu_cur",
        "fu_fu")  # fmt: skip
EASY = ("ans_w_time", "ans_wo_time", "before_event_unans", "dont_know_unans", "dont_know_unans_time")


def fixture_parts(*shows):
    """Return the fixture's parts by the names of their pickles, with whole numbers as keys, as those have them."""
    parts = json.loads(FIXTURE.read_text())
    return {name: _numbered(part) for name, part in parts.items() if name != "note" and name.startswith(shows or "")}


def _numbered(value):
    if isinstance(value, dict):
        return {int(key) if key.isdigit() else key: _numbered(one) for key, one in value.items()}
    return value


def write_pickles(folder, parts, protocol=4):
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(part, protocol=protocol))
    return folder


def write_json(path, parts):
    path.write_text(json.dumps(parts))
    return path


def question(text, right=0, **wordings):
    """A question with the options `text a` to `text d`; the last is right where `right` is 4."""
    options = [*(f"{text} {letter}" for letter in "abcd"), UNKNOWN]
    return {"questions": {"default": text, **wordings}, "options": options, "answer": options[right]}


def scene(date, script, hard=(), easy=()):
    return {
        "date": date,
        "script": script,
        "hard_q": {name: [] for name in HARD} | dict(hard),
        "easy_q": {name: {} for name in EASY} | dict(easy),
    }


def long_show():
    """A show of twelve scenes in which every rule of the choice has something to do; its text means nothing."""
    episodes, tkg, fan = {}, {}, {}
    for place in range(12):
        episode, number = f"S01E0{place // 4 + 1} Made Up.txt", place % 4 + 1
        date = f"March {place // 2 * 3 + 1}, 2001"
        hard = {
            name: [question(f"{name} {place} {copy}", 4 if "fu" in name else copy) for copy in range(1 + place % 3)]
            for name in HARD[place % 4 :: 2]
        }
        hard["past"] = [question(f"what was said in March 2001, {place}", 1), question(f"before {place}", 2)]
        easy = {
            name: {
                10 * place + copy: question(f"{name} {place} {copy}", 4 if "unans" in name else copy, Ben=f"So {place}")
                for copy in range(1 + (place + 1) % 2)
            }
            for name in EASY[place % 3 :]
        }  # fmt: skip
        if place == 5:
            easy = {}
        if place == 7:
            hard, easy = {}, {}
        lines = [f"{('Ana', 'Ross', 'Ben', 'Ross', 'Cleo', 'All', 'Ross', 'Dora')[(turn + place) % 8]}: line {turn}"
                 for turn in range(5 + place % 6)]  # fmt: skip
        lines.insert(2, "which goes on here")
        if place == 3:
            lines = ["Story: by nobody", "Ana: alone", "Ben: not alone"]
        episodes.setdefault(episode, {})[number] = scene(date, "\n".join(lines) + "\n", hard, easy)
        dates = [f"March {place // 2 * 3 + 1}, 2001", "fu", "December 30, 2001"]
        tkg.setdefault(episode, {})[number] = {
            name: [[dates[(place + at) % 3]] for at, _ in enumerate(found)] for name, found in hard.items()
        }
        fan.setdefault(episode, {})[number] = {
            name: {qid: [dates[(place + qid) % 2 * 2]] for qid in found} for name, found in easy.items()
        }
    return {"friends_dialsim": episodes, "friends_oracle_tkg": tkg, "friends_oracle_fan": fan}


def write_zip(path, files, method=9, prefix="data/"):
    """Write a zip by hand, since `zipfile` cannot write Deflate64 (method 9)."""
    body, directory = b"", b""
    for name, data in files.items():
        packed = _packed(data) if method == 9 else data
        full = f"{prefix}{name}".encode()
        fields = (20, 0, method, 0, 0, zlib.crc32(data), len(packed), len(data), len(full), 0)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, *fields, 0, 0, 0, 0, len(body)) + full
        body += struct.pack("<4s5H3L2H", b"PK\3\4", *fields) + full + packed
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    return path


def _packed(data):
    deflater = inflate64.Deflater()
    return deflater.deflate(data) + deflater.flush()
