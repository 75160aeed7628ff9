from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.interfaces.cli.shipped import DEMO
from amem.llm.recording_file import read_recording, recordings_in, write_recording
from amem.prompts import PromptSet, shipped_prompts
from amem.workbench.cases import cases_of, read_all, rerendered

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "openai/local"


@dataclass
class Shop:
    """A copy of the shipped prompts, and real recordings of the demo that fit them."""

    prompts: Path
    recordings: Path

    def template(self, name, version="v1"):
        return self.prompts / version / f"{name}.j2"

    def reword(self, name, old, new, version="v1"):
        file = self.template(name, version)
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")

    def set(self, version="v1"):
        return PromptSet(version, root=self.prompts)

    def cases(self, *prompts):
        return cases_of(read_all([self.recordings]).values(), prompts)

    def files(self, name, version="v1"):
        return sorted((self.recordings / version / name).glob("*.json"))

    def options(self):
        return ["--prompts", str(self.prompts), "--recordings", str(self.recordings)]


def open_shop(folder, notes=3, woven=1):
    """Copy v1 as a draft, and some recordings, rendered again: tests outlive a wording, and releases."""
    shop = Shop(folder / "prompts", folder / "recordings")
    shutil.copytree(shipped_prompts() / "v1", shop.prompts / "v1")
    (shop.prompts / "versions.toml").write_text('default = "v1"\n\n[versions.v1]\nstatus = "draft"\n', "utf-8")
    (shop.prompts / "CHANGELOG.md").write_text("# Prompt changelog\n\n## v1 (draft)\n\nThe first.\n", "utf-8")
    for name, number in (("note", notes), ("link_evolve", woven)):
        for path in recordings_in(DEMO / "recordings"):
            if path.parent.name == name and len(shop.files(name)) < number:
                recording = read_recording(path)
                request = rerendered(recording, shop.set())
                write_recording(
                    recording.model_copy(update={"request": request}),
                    shop.recordings / path.relative_to(DEMO / "recordings"),
                )
    return shop
