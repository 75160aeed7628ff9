from __future__ import annotations

import pytest
from benchmarks_support import BASELINES, RAW, fused, model_reader, write_config

from amem.errors import InputError, SettingsError
from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
journal = benchmarks_module("runs.journal")
material = benchmarks_module("runs.material")


@pytest.fixture
def written(tmp_path):
    def write(*systems, **given):
        return config.load(write_config(tmp_path, "data.json", *(systems or (RAW,)), **given))

    return write


def test_paths_are_relative_to_the_file(written, tmp_path):
    assert written().data.path == tmp_path / "data.json"
    assert config.load(tmp_path / "config.toml", data=tmp_path / "x" / "other.json").data.path.name == "other.json"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"top": "budgets = 3"}, "budgets: Extra inputs"),
        ({"wanted": "sessions = 2"}, "evidence_within"),
        ({"reader": 'kind = "llm"'}, "the reader `llm` needs a model"),
        ({"reader": 'kind = "recorded"'}, "needs `answers`"),
        ({"reader": 'kind = "extractive"\nmodel = { name = "x" }'}, "no other has one"),
        ({"top": "seed = -1.5"}, "seed"),
    ],
)
def test_a_key_that_is_unknown_or_makes_no_sense_is_refused_with_its_place(written, given, message):
    with pytest.raises(InputError, match=message):
        written(**given)


def test_two_systems_of_one_name_are_refused(written):
    with pytest.raises(InputError, match="two systems are called 'amem_raw'"):
        written(RAW, RAW)


def test_no_file_no_toml_and_no_data_are_said(tmp_path):
    (tmp_path / "bad.toml").write_text("[")
    (tmp_path / "none.toml").write_text('[data]\n[reader]\nkind = "extractive"\n[[systems]]\nkind = "none"\n')
    for name, message in (("missing", "cannot be read"), ("bad", "is not TOML"), ("none", "give --data PATH")):
        with pytest.raises(InputError, match=message):
            config.load(tmp_path / f"{name}.toml")


def test_the_hash_is_of_what_a_run_means_and_not_of_how_it_is_reached(written):
    base = written()
    assert base.hash == written(BASELINES).hash  # systems may join
    assert base.hash == written(top='name = "another"').hash
    assert base.hash != written(top="seed = 1").hash
    assert base.hash != written(wanted='categories = ["4"]').hash
    slow, fast = (written(reader=f'kind = "llm"\nmodel = {{ name = "x", timeout = {t} }}') for t in (900, 60))
    assert slow.hash == fast.hash


def test_every_key_is_in_the_hash_or_named_as_left_out():
    """A new key must be put into one of both on purpose."""
    known = {
        "Config": {"name", "budget", "compat", "embedding", "tokenizer", "seed", "similarity", "data", "reader",
                   "systems"},
        "Data": {"path", "captions", "shows", "names", "answers", "seed", "episodes", "plan", "conversations",
                 "sessions", "questions", "categories", "limit", "disputed"},
        "Model": {"name", "about", "api_base", "api_key_env", "timeout", "deadline", "retries"},
        "Reader": {"kind", "model", "prompts", "max_tokens", "answers", "concurrency"},
        "SystemConfig": {"kind", "name", "strategy", "without", "settings", "model", "k", "window", "python"},
    }  # fmt: skip
    for name, fields in known.items():
        assert set(getattr(config, name).model_fields) == fields
        assert config.NOT_IN_HASH[name] <= fields


def test_a_key_as_it_is_by_default_changes_no_hash(written):
    assert written().hash == written(top='compat = "fair"\nseed = 0').hash


def test_a_key_stands_in_the_environment_and_a_server_of_this_machine_needs_none(monkeypatch):
    here = config.Model(name="openai/x", api_base="http://127.0.0.1:8091/v1")
    away = config.Model(name="openai/x", api_base="https://example.com/v1")
    named = config.Model(name="openai/x", api_key_env="BENCH_KEY")
    assert (material._key(here), material._key(away)) == ("none", None)
    with pytest.raises(SettingsError, match="BENCH_KEY is not set"):
        material._key(named)
    monkeypatch.setenv("BENCH_KEY", "abc")
    assert material._key(named) == "abc"


class Counted(journal.Record):
    value: int


def test_of_two_lines_about_the_same_the_last_one_holds(tmp_path):
    lines = journal.Journal(tmp_path / "x.jsonl", Counted)
    for value in (1, 2):
        lines.append(Counted(unit="a", value=value))
    assert journal.Journal(tmp_path / "x.jsonl", Counted).get("a").value == 2


def test_reading_changes_no_file_and_writing_takes_a_torn_line_away(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"unit":"a","value":1}\n{"unit":"b","va')
    lines = journal.Journal(path, Counted)
    assert len(lines) == 1
    assert path.read_bytes().endswith(b'"va')
    lines.append(Counted(unit="c", value=3))
    assert path.read_bytes() == b'{"unit":"a","value":1}\n{"unit":"c","value":3}\n'


def test_a_line_of_another_version_is_named_and_left_alone(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"unit":"a","other":1}\n')
    with pytest.raises(InputError, match=r"x\.jsonl:1 is no line of this version"):
        journal.Journal(path, Counted)
    assert path.read_bytes() == b'{"unit":"a","other":1}\n'


def test_a_model_with_an_address_can_be_reached_at_another_one_and_stays_the_same_model(tmp_path):
    path = write_config(
        tmp_path, "data.json", fused("http://127.0.0.1:1/v1"), RAW, reader=model_reader("http://b:1/v1")
    )
    here, there = config.load(path), config.load(path, api_base="http://127.0.0.1:2/v1")
    models = [there.reader.model, *(one.model for one in there.systems if one.model)]
    assert [one.api_base for one in models] == ["http://127.0.0.1:2/v1"] * 2
    assert there.systems[1].model is None
    assert there.hash == here.hash
    hosted = path.read_text().replace(', api_base = "http://b:1/v1"', "")
    path.write_text(hosted)
    assert config.load(path, api_base="http://127.0.0.1:2/v1").reader.model.api_base is None


def test_what_a_model_is_changes_no_hash(written):
    model = 'kind = "llm"\nmodel = {{ name = "openai/local", {} }}'
    hashes = {written(reader=model.format(f'about = "{about}"')).hash for about in ("", "a small one")}
    assert len(hashes) == 1


def test_a_path_may_begin_at_home(written, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    entry = '\n[[systems]]\nkind = "a-mem"\npython = "~/a-mem/bin/python"\n'
    assert str(written(entry).systems[0].python) == f"{tmp_path}/a-mem/bin/python"
