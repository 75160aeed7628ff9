from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem.errors import SettingsError
from amem.settings import Settings
from amem.tokens import Tokenizer, encodable, open_tokenizer, shipped_tokenizer

any_text = st.text(st.characters(codec=None, exclude_categories=()))


def test_the_shipped_vocabulary_is_the_official_file():
    data = (files("amem") / "_data" / "tokenizer.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def test_the_notice_names_the_file_and_its_licence():
    notice = (files("amem") / "_data" / "NOTICE").read_text("utf-8")
    assert "tokenizer.json" in notice
    assert "Apache License" in notice


def test_special_tokens_are_not_counted():
    assert shipped_tokenizer().count("hello world") == 2
    assert shipped_tokenizer().count("") == 0


def test_a_long_text_is_counted_whole_and_a_short_one_is_not_filled_up():
    assert shipped_tokenizer().count("word " * 5000) == 5000
    assert shipped_tokenizer().count("word") == 1


def test_many_texts_are_counted_in_order():
    tokenizer = shipped_tokenizer()
    texts = ["one", "one two three", "", "one two"]
    assert tokenizer.count_many(texts) == [tokenizer.count(text) for text in texts] == [1, 3, 0, 2]


def test_the_name_says_which_vocabulary_counts():
    assert shipped_tokenizer().name == "wordpiece (all-MiniLM-L6-v2)"
    assert isinstance(shipped_tokenizer(), Tokenizer)


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "nul\0byte", "👩‍👩‍👧 سلام", "日本語", "\u200d"])
def test_no_text_breaks_the_count(text):
    assert shipped_tokenizer().count(text) >= 0


@settings(max_examples=60)
@given(any_text, any_text)
def test_a_text_has_as_many_tokens_as_its_paragraphs(one, other):
    tokenizer = shipped_tokenizer()
    assert tokenizer.count(f"{one}\n\n{other}") == sum(tokenizer.count_many([one, other]))


@given(any_text)
def test_encodable_changes_lone_surrogates_only(text):
    clean = encodable(text)
    clean.encode()
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert clean == text


def test_a_file_of_ones_own_counts_with_its_own_vocabulary(tmp_path):
    described = json.loads((files("amem") / "_data" / "tokenizer.json").read_text("utf-8"))
    described["model"]["vocab"] = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4}
    described["added_tokens"] = []
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(described), "utf-8")
    tokenizer = open_tokenizer(Settings(tokenizer=f"file:{path}"))
    assert (tokenizer.name, tokenizer.count("abbb")) == ("file (mine.json)", 4)


@pytest.mark.parametrize("name", ["tiktoken", "file:", "file:/no/such/tokenizer.json"])
def test_an_unknown_tokenizer_is_refused_when_it_is_named(name):
    with pytest.raises(SettingsError, match="tokenizer"):
        open_tokenizer(Settings(tokenizer=name))


@pytest.mark.parametrize("content", ["not json", "[]", '{"model": {"type": "BPE"}}'])
def test_a_file_that_is_no_tokenizer_is_named_in_the_error(tmp_path, content):
    path = tmp_path / "broken.json"
    path.write_text(content, "utf-8")
    tokenizer = open_tokenizer(Settings(tokenizer=f"file:{path}"))
    with pytest.raises(SettingsError, match=r"broken\.json"):
        tokenizer.count("a")


def test_importing_the_module_loads_no_tokenizer_library():
    code = "import sys, amem.tokens; sys.exit('tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
