from __future__ import annotations

import datetime as dt
import tomllib

import pytest

from amem.errors import InputError, PromptNotFound
from amem.prompts import PromptSet, shipped_prompts
from amem.workbench.versioning import draft, own_folder, release

DAY = dt.date(2027, 1, 31)


def listed(shop):
    return tomllib.loads((shop.prompts / "versions.toml").read_text("utf-8"))


def everything(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_new_version_is_a_copy_byte_for_byte_and_a_draft(shop):
    made = draft(shop.prompts, "v2")
    assert made.source == "v1"
    for name in shop.set().names():
        assert shop.template(name, "v2").read_bytes() == shop.template(name).read_bytes()
        assert shop.set("v2").get(name).hash == shop.set().get(name).hash
    assert listed(shop)["versions"]["v2"] == {"status": "draft"}
    assert listed(shop)["default"] == "v1"


def test_a_new_version_stands_above_the_others_in_the_changelog(shop):
    draft(shop.prompts, "v2")
    headings = [line for line in (shop.prompts / "CHANGELOG.md").read_text("utf-8").splitlines() if line[:3] == "## "]
    assert headings == ["## v2 (draft)", "## v1 (draft)"]


@pytest.mark.parametrize("name", ["v1", "", "../v2", ".v2", "v 2"])
def test_a_name_that_is_taken_or_no_name_changes_nothing(shop, name):
    before = everything(shop.prompts)
    with pytest.raises(InputError):
        draft(shop.prompts, name)
    assert everything(shop.prompts) == before


def test_a_version_to_copy_must_exist(shop):
    with pytest.raises(PromptNotFound, match="v9"):
        draft(shop.prompts, "v2", "v9")


def test_a_release_locks_the_hash_of_every_file_and_keeps_the_comments(shop):
    comments = [line for line in (shop.prompts / "versions.toml").read_text("utf-8").splitlines() if line[:1] == "#"]
    made = release(shop.prompts, "v1", DAY)
    entry = listed(shop)["versions"]["v1"]
    assert entry == {"status": "released", "date": DAY, "files": made.files}
    assert made.files == {name: shop.set().get(name).hash for name in shop.set().names()}
    assert shop.set().check_locked() == ()
    after = (shop.prompts / "versions.toml").read_text("utf-8").splitlines()
    assert [line for line in after if line in comments] == comments
    assert "## v1 (2027-01-31)" in (shop.prompts / "CHANGELOG.md").read_text("utf-8")


def test_what_stands_above_and_below_a_section_stays_in_its_place(shop):
    file = shop.prompts / "versions.toml"
    file.write_text(
        '# top\ndefault = "v1"\n\n[versions.v1]\n# about v1\nstatus = "draft"\n\n'
        '# about v2\n[versions.v2]\nstatus = "draft"\n',
        "utf-8",
    )
    release(shop.prompts, "v1", DAY)
    text = file.read_text("utf-8")
    assert text.index("# top") < text.index("# about v1") < text.index("files =") < text.index("# about v2")
    assert text.index("# about v2") < text.index("[versions.v2]")


def test_a_released_version_is_not_released_again_and_can_be_copied(shop):
    release(shop.prompts, "v1", DAY)
    with pytest.raises(InputError, match="already"):
        release(shop.prompts, "v1", DAY)
    draft(shop.prompts, "v2", "v1")
    assert listed(shop)["versions"]["v1"]["status"] == "released"
    assert shop.set("v2").check_locked() == ()


def test_a_version_that_the_changelog_does_not_tell_of_is_not_released(shop):
    (shop.prompts / "CHANGELOG.md").write_text("# Prompt changelog\n", "utf-8")
    before = everything(shop.prompts)
    with pytest.raises(InputError, match="CHANGELOG"):
        release(shop.prompts, "v1", DAY)
    assert everything(shop.prompts) == before


def test_a_list_laid_out_otherwise_is_left_alone(shop):
    (shop.prompts / "versions.toml").write_text('default = "v1"\nversions = { v1 = { status = "draft" } }\n', "utf-8")
    before = everything(shop.prompts)
    with pytest.raises(InputError, match="by hand"):
        release(shop.prompts, "v1", DAY)
    with pytest.raises(InputError, match="by hand"):
        draft(shop.prompts, "v2")
    assert everything(shop.prompts) == before


def test_a_folder_of_one_s_own_begins_as_a_copy_of_the_shipped_prompts(tmp_path):
    mine = own_folder(tmp_path / "mine", shipped_prompts())
    assert PromptSet(root=mine).names() == PromptSet().names()
    draft(mine, "better")
    assert own_folder(mine, shipped_prompts()) == mine
    assert "better" in PromptSet(root=mine).versions()


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Ana", "utf-8")
    with pytest.raises(InputError, match="not empty"):
        own_folder(tmp_path, shipped_prompts())


def test_prompts_inside_an_installation_are_not_written_to(tmp_path):
    installed = tmp_path / "amem" / "_prompts"
    installed.mkdir(parents=True)
    with pytest.raises(InputError, match="--prompts"):
        own_folder(None, installed)
