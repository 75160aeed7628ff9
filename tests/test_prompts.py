from __future__ import annotations

import subprocess
import sys

import jinja2
import pytest
from jinja2 import meta, nodes
from pydantic import BaseModel

import amem.replies
from amem.errors import PromptFormat, PromptNotFound, PromptVariables
from amem.prompts import PromptSet, shipped_prompts
from amem.settings import Settings


class Fields(BaseModel):
    keywords: list[str]


OUTPUTS = {"Fields": Fields}


def template(text, *, variables=("content",), params="{ temperature = 0.0, max_tokens = 400 }"):
    return (
        f'+++\ndescription = "What it is for."\noutput = "Fields"\nvariables = {list(variables)!r}\n'
        f'params = {params}\nchanges = "First."\n+++\n'
        "{% block system %}\nReply with JSON.\n{% endblock %}\n"
        f"{{% block user %}}\n{text}\n<memory>\n{{{{ content | fenced }}}}\n</memory>\n{{% endblock %}}\n"
    )


@pytest.fixture
def root(tmp_path):
    """Two versions of two prompts, the second with another wording."""
    folder = tmp_path / "prompts"
    for version in ("v1", "v2"):
        (folder / version).mkdir(parents=True)
        (folder / version / "note.j2").write_text(template(f"Index ({version})."))
        (folder / version / "link.j2").write_text(template("Connect."))
    write_versions(folder, 'default = "v1"\n[versions.v1]\nstatus = "draft"\n[versions.v2]\nstatus = "draft"\n')
    return folder


def write_versions(root, text):
    (root / "versions.toml").write_text(text)


def prompts(root, version=None, **options):
    return PromptSet(version, root=root, outputs=OUTPUTS, **options)


def test_a_request_carries_messages_schema_params_and_where_it_came_from(root):
    request = prompts(root).render("note", {"content": "Alice moved."}, model="m", params={"max_tokens": 9})
    assert [m.role for m in request.messages] == ["system", "user"]
    assert request.messages[1].content == "Index (v1).\n<memory>\nAlice moved.\n</memory>"
    assert request.variables == {"content": "Alice moved."}
    assert request.reply_schema is not None
    assert request.reply_schema["required"] == ["keywords"]
    assert request.params == {"temperature": 0.0, "max_tokens": 9}
    assert request.model == "m"
    assert request.prompt == prompts(root).get("note").ref
    assert request.prompt.label == f"note@v1+{request.prompt.hash}"


def test_a_prompt_says_what_it_is(root):
    prompt = prompts(root).get("note")
    assert (prompt.description, prompt.output, prompt.changes) == ("What it is for.", "Fields", "First.")
    assert prompt.source == (root / "v1" / "note.j2").read_text()


def test_a_reply_is_of_the_templates_own_kind_where_the_caller_can_read_it_and_else_of_the_callers_first(root):
    class Other(BaseModel):
        words: list[str]

    assert prompts(root).reply("note", Other, Fields) is Fields
    assert prompts(root).reply("note", Fields, Other) is Fields
    assert prompts(root).reply("note", Other) is Other


def test_the_version_is_chosen_by_argument_then_settings_then_file(root):
    settings = Settings.load(prompts_version="v2")
    assert prompts(root).version == "v1"
    assert prompts(root, settings=settings).version == "v2"
    assert prompts(root, "v1", settings=settings).version == "v1"
    assert "Index (v2)" in prompts(root, "v2").render("note", {"content": ""}).messages[1].content


def test_the_version_can_come_from_the_environment(root, monkeypatch):
    monkeypatch.setenv("AMEM_PROMPTS_VERSION", "v2")
    assert prompts(root, settings=Settings.load()).version == "v2"


def test_an_unknown_version_is_an_error_that_lists_the_known(root):
    with pytest.raises(PromptNotFound, match=r"'v9'.*v1, v2"):
        prompts(root, "v9")


@pytest.mark.parametrize("version", ["..", "v1/../v2", ""])
def test_a_version_is_a_name_and_no_path(root, version):
    (root / "versions.toml").unlink()
    with pytest.raises(PromptNotFound):
        prompts(root, version or ".")


def test_without_versions_toml_a_version_must_be_given(root):
    (root / "versions.toml").unlink()
    assert prompts(root, "v2").names() == ("link", "note")
    with pytest.raises(PromptNotFound, match="pass a version"):
        prompts(root)


@pytest.mark.parametrize("text", ["default =", 'default = "v1"\n[versions.v1]\nstatus = "finished"\n'])
def test_a_malformed_versions_file_is_an_error_that_names_it(root, text):
    write_versions(root, text)
    with pytest.raises(PromptFormat, match=r"versions\.toml"):
        prompts(root)


@pytest.mark.parametrize("name", ["notes", "../v2/note", ""])
def test_an_unknown_prompt_is_an_error_that_lists_the_known(root, name):
    with pytest.raises(PromptNotFound, match="There are: link, note"):
        prompts(root).get(name)


def test_a_slip_in_a_name_gets_a_suggestion(root):
    with pytest.raises(PromptNotFound, match="did you mean 'note'"):
        prompts(root).get("nte")


def test_missing_and_undeclared_variables_are_named(root):
    with pytest.raises(PromptVariables) as caught:
        prompts(root).render("note", {"contents": "x", "tone": "y"})
    assert caught.value.missing == ("content",)
    assert caught.value.unused == ("contents", "tone")


def test_an_override_shadows_one_prompt_and_is_labelled_so(root, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "note.j2").write_text(template("My way."))
    chosen = prompts(root, overrides=mine)
    request = chosen.render("note", {"content": "x"})
    assert "My way." in request.messages[1].content
    assert request.prompt.label.startswith("note@override+")
    assert request.prompt.hash != prompts(root).get("note").hash
    assert chosen.get("link").version == "v1"


def test_overrides_can_come_from_the_settings(root, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "note.j2").write_text(template("My way."))
    settings = Settings.load(prompts_overrides=str(mine))
    assert prompts(root, settings=settings).get("note").version == "override"


def test_an_override_must_take_the_same_variables(root, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "note.j2").write_text(template("{{ tone }}", variables=("content", "tone")))
    with pytest.raises(PromptVariables) as caught:
        prompts(root, overrides=mine).get("note")
    assert caught.value.unused == ("tone",)


def test_an_override_that_shadows_nothing_is_a_slip(root, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "nte.j2").write_text(template("My way."))
    with pytest.raises(PromptNotFound, match=r"nte\.j2.*did you mean 'note'"):
        prompts(root, overrides=mine)
    with pytest.raises(PromptNotFound, match="does not exist"):
        prompts(root, overrides=tmp_path / "nowhere")


def test_a_template_is_read_once(root):
    chosen = prompts(root)
    before = chosen.get("note")
    (root / "v1" / "note.j2").write_text(template("Another wording."))
    assert chosen.get("note") is before
    assert prompts(root).get("note") != before


def test_a_file_that_is_not_utf8_is_an_error_that_names_it(root):
    (root / "v1" / "note.j2").write_bytes(template("Index.").encode() + b"\xff")
    with pytest.raises(PromptFormat, match=r"note\.j2.*not UTF-8"):
        prompts(root).get("note")


def release(root, files):
    listed = ", ".join(f'{name} = "{hash_}"' for name, hash_ in files.items())
    write_versions(
        root, f'default = "v1"\n[versions.v1]\nstatus = "released"\ndate = 2027-01-31\nfiles = {{ {listed} }}\n'
    )


def test_a_released_version_that_is_as_released_has_no_problem(root):
    release(root, {name: prompts(root).get(name).hash for name in ("link", "note")})
    assert prompts(root).check_locked() == ()


def test_a_released_file_that_changed_vanished_or_was_added_is_a_problem(root):
    hashes = {name: prompts(root).get(name).hash for name in ("link", "note")}
    release(root, {"note": hashes["note"], "gone": "0badc0de"})
    (root / "v1" / "note.j2").write_text(template("Index, but otherwise."))
    problems = prompts(root).check_locked()
    assert [(p.prompt, p.locked, p.found) for p in problems] == [
        ("gone", "0badc0de", None),
        ("link", None, hashes["link"]),
        ("note", hashes["note"], prompts(root).get("note").hash),
    ]
    assert "restore it" in str(problems[0])
    assert "next one" in str(problems[1])
    assert f"released as {hashes['note']}" in str(problems[2])


def test_a_draft_may_change(root):
    write_versions(root, 'default = "v1"\n[versions.v1]\nstatus = "draft"\nfiles = { note = "0badc0de" }\n')
    assert prompts(root).check_locked() == ()


# The shipped prompts


def shipped():
    chosen = PromptSet()
    return [pytest.param(version, name, id=f"{name}@{version}") for version, name in listed(chosen)]


def listed(chosen):
    for version in chosen.versions():
        for name in PromptSet(version).names():
            yield version, name


def test_prompts_are_shipped():
    assert (shipped_prompts() / "versions.toml").is_file()
    assert {"note", "link", "evolve", "link_evolve"} <= set(PromptSet().names())


@pytest.mark.parametrize(("version", "name"), shipped())
def test_a_shipped_prompt_parses_declares_what_it_uses_and_has_its_output(version, name):
    prompt = PromptSet(version).get(name)
    body = prompt.source.split("\n+++\n", 1)[1]
    environment = jinja2.Environment()
    environment.filters["fenced"] = str
    assert meta.find_undeclared_variables(environment.parse(body)) == set(prompt.variables)
    assert prompt.output is None or issubclass(getattr(amem.replies, prompt.output), BaseModel)
    assert prompt.description
    assert prompt.changes


@pytest.mark.parametrize(("version", "name"), shipped())
def test_a_shipped_prompt_fences_every_text_from_outside(version, name):
    made_by_code = {"number", "date", "near"}
    body = PromptSet(version).get(name).source.split("\n+++\n", 1)[1]
    environment = jinja2.Environment()
    environment.filters["fenced"] = str
    for output in environment.parse(body).find_all(nodes.Output):
        for part in output.nodes:
            fenced = isinstance(part, nodes.Filter) and part.name == "fenced"
            read = [part, *part.find_all(nodes.Getattr)]
            read = [node.attr for node in read if isinstance(node, nodes.Getattr)]
            code = bool(read) and made_by_code.issuperset(read)
            assert fenced or code or isinstance(part, nodes.TemplateData), f"line {part.lineno} of the body"


def test_no_released_prompt_has_changed():
    assert [str(problem) for problem in PromptSet().check_locked()] == []


def test_importing_prompts_loads_no_jinja():
    code = "import amem.prompts, sys; assert 'jinja2' not in sys.modules; assert 'amem.replies' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
