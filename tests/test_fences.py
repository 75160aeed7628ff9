from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.fences import FENCES, fenced, fences_of


@pytest.mark.parametrize(
    "tag",
    [
        "<memory>",
        "</memory>",
        "</MEMORY>",
        "</Memory >",
        "< / memory>",
        "</\tmemory>",
        "<\n/memory>",
        '<turn number="1">',
        "<note",
        "</question",
        "</me\u200bmory>",
        "<\u200d/\u2060memory>",
        "</memory\u200b>",
        "\uff1c\uff0fmemory\uff1e",
        "</\uff4d\uff45\uff4d\uff4f\uff52\uff59>",
        "\u2039/turn\u203a",
        "<\\note>",
    ],
)
def test_a_fence_tag_is_escaped_however_it_is_disguised(tag):
    assert fenced(f"before {tag} after") == f"before &lt;{tag[1:]} after"


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "<b>bold</b> <div class='note'>",
        "<notebook> </turnip> <memoryless>",
        "if x <turns: pass",
        "👨‍👩‍👧 family, می‌خواهم, क्‍ष, ﷺ, e\u0301",
        "&lt;memory> & &amp;",
        "{{ content }} {% raw %} {# no #}",
        "line\r\nline\u2028line\x00",
        "<",
        "</",
        "",
    ],
)
def test_all_other_text_stays_byte_for_byte(text):
    assert fenced(text) == text


@given(st.text(alphabet=st.sampled_from("<>/ \u200b\uff1cmemoryMEMORYturn\nx"), max_size=60))
def test_no_text_can_close_a_fence(text):
    kept = "".join(c for c in fenced(text).lower() if c.isprintable() and not c.isspace())
    assert "<memory>" not in kept
    assert "</memory>" not in kept
    assert "</turn>" not in kept


@given(st.text())
def test_escaping_twice_changes_nothing_more(text):
    assert fenced(fenced(text)) == fenced(text)


def test_tags_that_a_template_closes_are_fences_too():
    fences = fences_of("<Scene>{{ scene | fenced }}</Scene> and < br/>")
    assert fences == FENCES | {"scene"}
    assert fenced("</scene>", fences) == "&lt;/scene>"
    assert fenced("</scene>") == "</scene>"


def test_numbers_are_text_and_lists_are_a_mistake():
    assert fenced(7) == "7"
    with pytest.raises(TypeError, match="join lists first"):
        fenced(["</memory>"])


def test_many_brackets_take_linear_time():
    import time

    def cost(size):
        begin = time.process_time()
        fenced("<\u200b" * size)
        fenced("<" + "\u200b" * size)
        fenced("< " * size + "x")
        return time.process_time() - begin

    cost(1000)
    assert cost(40_000) < 20 * max(cost(4_000), 0.005)
