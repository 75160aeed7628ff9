from __future__ import annotations

import pytest
from recording_support import Fields

from amem.prompts import PromptSet

NOTE = (
    '+++\ndescription = "d"\noutput = "Fields"\nvariables = ["content"]\nparams = {{ temperature = 0.0 }}\n+++\n'
    "{{% block user %}}\n{wording}\n<memory>\n{{{{ content | fenced }}}}\n</memory>\n{{% endblock %}}\n"
)


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def request_of(tmp_path):
    """Render a request from a template written for the purpose."""

    def make(
        content="Alice moved to Oslo.", wording="Index it.", *, version="v1", name="note", output=Fields, **options
    ):
        folder = tmp_path / "prompts" / version
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.j2").write_text(NOTE.format(wording=wording))
        prompts = PromptSet(version, root=tmp_path / "prompts", outputs={"Fields": output})
        return prompts.render(name, {"content": content}, **options)

    return make


@pytest.fixture
def root(tmp_path):
    return tmp_path / "recordings"
