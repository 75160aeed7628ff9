"""The pytest plugin, in another project: recorded from a real model server, replayed without one."""

from __future__ import annotations

import json
import shutil
import tomllib

import pytest
from testing.plugin_support import ROOT, Project, answer

from amem.prompts import PromptSet
from amem.testing.fault_server import FaultServer


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A project whose tests were run once against a model server; nobody changes it."""
    project = Project(tmp_path_factory.mktemp("recorded"))
    with FaultServer(default=answer) as server:
        project.run = project.pytest(
            "--amem-record=new", "--amem-model=openai/served", f"--amem-api-base={server.url}"
        )  # fmt: skip
        project.asked = len(server.requests)
    return project


@pytest.fixture
def project(recorded, tmp_path):
    """A copy of it."""
    shutil.copytree(recorded.root, tmp_path / "copy")
    return Project(tmp_path / "copy")


def test_recording_asks_the_model_and_keeps_every_reply_with_its_vectors(recorded):
    assert recorded.run.returncode == 0, recorded.run.said
    assert "amem recordings: 3 replayed · 3 new · 0 stale · 0 unused" in recorded.run.said
    assert recorded.asked == 3
    assert [path.parent.name for path in recorded.files()] == ["link_evolve", "note", "note"]
    assert (recorded.recordings / "vectors.npz").exists()
    assert {json.loads(path.read_text())["recorded"]["by"] for path in recorded.files()} == {"openai/served"}


def test_replaying_needs_no_model_and_is_allowed_in_ci(project):
    run = project.pytest(CI="true", OPENAI_API_KEY="")
    assert run.returncode == 0, run.said
    assert "amem recordings: 3 replayed · 0 new · 0 stale · 0 unused" in run.said


def test_a_changed_prompt_is_a_miss_that_shows_what_changed_and_how_to_record_it(project):
    source = PromptSet().get("note").source
    (project.root / "my_prompts").mkdir()
    (project.root / "my_prompts" / "note.j2").write_text(source.replace("{% block user %}", "{% block user %}\nNow!"))
    project.write(
        "tests/conftest.py",
        """
        import pytest

        @pytest.fixture
        def amem_settings():
            return {"prompts_overrides": "my_prompts"}
        """,
    )
    run = project.pytest()
    assert run.returncode == 1
    assert "STALE recording for 'note' (stale_prompt)" in run.said
    assert "+Now!" in run.said
    assert "pytest --amem-record=new --amem-model=NAME 'tests/test_agent.py::test_it_remembers'" in run.said


def test_a_miss_that_the_code_under_test_swallows_fails_the_test_all_the_same(project):
    project.write(
        "tests/test_agent.py",
        """
        def test_it_swallows_everything(amem_memory):
            try:
                amem_memory.add("Something that nobody recorded")
            except Exception:
                pass
        """,
    )
    project.write(
        "tests/conftest.py",
        """
        import pytest
        from amem.testing import HashEmbedder

        @pytest.fixture
        def amem_embedder():
            return HashEmbedder()
        """,
    )
    run = project.pytest()
    assert run.returncode == 1
    assert "went on without a reply that is not recorded" in run.said
    assert "its input is new" in run.said


def test_what_no_test_asks_for_is_reported_and_fails_only_where_that_is_asked_for(project):
    kept = json.loads(project.files("note")[0].read_text())
    gone = {key: value for key, value in kept.items() if key not in {"case", "key"}} | {"hash": "00000000"}
    gone["variables"] = {**gone["variables"], "earlier": [{"date": "2024-05-01", "speaker": None, "text": "Before."}]}
    (project.recordings / "v1" / "note" / "of-an-old-wording.json").write_text(json.dumps(gone))
    project.write("tests/test_agent.py", "def test_the_model_is_there(amem_llm):\n    assert amem_llm.model\n")
    run = project.pytest()
    assert run.returncode == 0, run.said
    assert "0 replayed · 0 new · 1 stale · 3 unused" in run.said
    assert "stale: tests/recordings/v1/note/of-an-old-wording.json" in run.said
    assert f"unused: tests/recordings/v1/note/{project.files('note')[0].name}" in run.said
    run = project.pytest("--amem-fail-unused")
    assert run.returncode == 1
    assert "as --amem-fail-unused asks" in run.said


def test_a_recording_that_shows_a_secret_fails(project):
    path = project.files("note")[0]
    path.write_text(path.read_text().replace("The boat is sold.", "The key is sk-live-0123456789abcdef0123."))
    run = project.pytest()
    assert run.returncode == 1
    assert path.name in run.said
    assert "it shows what should stand there as [redacted api key]" in run.said


def test_a_connection_to_another_machine_is_refused_while_replaying(project):
    project.write(
        "tests/test_agent.py",
        """
        import socket, asyncio
        import pytest

        @pytest.mark.parametrize("host", ["192.0.2.1", "model.example"])
        def test_it_calls_home(amem_llm, host):
            socket.create_connection((host, 443), timeout=5)

        def test_it_calls_home_by_asyncio_and_hides_it(amem_llm):
            async def call():
                with pytest.raises(Exception):
                    await asyncio.open_connection("192.0.2.1", 443)
            asyncio.run(call())

        def test_this_machine_may_be_reached(amem_llm):
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname()).close()

        def test_others_are_not_concerned():
            with pytest.raises(OSError):
                socket.create_connection(("192.0.2.1", 443), timeout=0.01)
        """,
    )
    run = project.pytest("-rA", "-W", "ignore")
    assert "NetworkBlocked: 192.0.2.1 was not reached" in run.said
    assert "NetworkBlocked: model.example was not reached" in run.said
    assert "the code under test tried to reach 192.0.2.1 while replies were replayed" in run.said
    assert "PASSED tests/test_agent.py::test_this_machine_may_be_reached" in run.said
    assert "PASSED tests/test_agent.py::test_others_are_not_concerned" in run.said
    assert "2 failed, 3 passed, 1 error" in run.said


@pytest.mark.parametrize("mode", ["new", "all", "live"])
def test_where_ci_is_set_nothing_but_replay_is_allowed(project, mode):
    run = project.pytest(f"--amem-record={mode}", CI="true")
    assert run.returncode == 4
    assert f"--amem-record={mode} is refused where CI is set" in run.said


def test_recording_without_a_model_says_what_is_missing(project):
    run = project.pytest("--amem-record=new")
    assert run.returncode == 1
    assert "recording needs a model: --amem-model=NAME" in run.said


def test_several_processes_report_together(project):
    run = project.pytest("-p", "xdist.plugin", "-n", "2")
    assert run.returncode == 0, run.said
    assert "amem recordings: 3 replayed · 0 new · 0 stale · 0 unused" in run.said


def test_async_code_gets_a_memory_too(project):
    project.write(
        "tests/test_agent.py",
        """
        import asyncio

        def test_it_remembers(amem_async_memory):
            async def agent():
                return await amem_async_memory.add("Ana sold the old boat", speaker="Ana")
            assert asyncio.run(agent()).status == "ready"
        """,
    )
    run = project.pytest()
    assert run.returncode == 0, run.said


def test_p7_a_project_that_does_not_use_it_does_not_notice_it(project):
    project.write(
        "tests/test_agent.py",
        """
        import sys

        def test_nothing():
            heavy = {"numpy", "pydantic", "sqlalchemy", "chromadb", "litellm", "jinja2", "onnxruntime", "asyncio"}
            assert not heavy & sys.modules.keys()
        """,
    )
    run = project.pytest()
    assert run.returncode == 0, run.said
    assert "amem recordings" not in run.said


def test_pytest_finds_the_plugin_by_the_package_s_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"amem": "amem.testing.plugin"}
