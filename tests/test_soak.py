"""The soak's short form, and that it finds what it is there to find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from crash_child import opened
from soak.inspector import inspect
from soak.oracle import Fate, Oracle

SETTINGS = {"chroma": False, "similarity_floor": -1.0}


@pytest.mark.slow
def test_p1_p3_p6_a_short_soak_of_several_processes_with_kills_faults_and_damage_finds_no_violation():
    command = [sys.executable, "-m", "soak", "--seconds", "15", "--seed", "11"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=Path(__file__).parent)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 violations"), done.stdout


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"zqax1 lost": Fate("ann", added=True)}, "lost from ann"),
        ({"zqax1 bread": Fate("ann", added=True, deleting=True, deleted=True)}, "a ghost, or forgotten"),
        ({}, "a ghost, or forgotten"),
    ],
)
async def test_an_inspector_says_what_is_lost_and_what_is_made_up(tmp_path, said, wrong):
    async with opened(tmp_path / "m") as memory:
        await memory.box("ann").add("zqax1 bread", source="zqax1")
    _, found = await inspect(tmp_path / "m", Oracle(fates=said), SETTINGS)
    assert any(wrong in what for what in found), found


async def test_an_inspector_finds_nothing_where_all_is_as_it_was_said(tmp_path):
    async with opened(tmp_path / "m") as memory:
        await memory.box("ann").add("zqax1 bread", source="zqax1")
    looked, found = await inspect(tmp_path / "m", Oracle(fates={"zqax1 bread": Fate("ann", added=True)}), SETTINGS)
    assert found == []
    assert looked > 20
