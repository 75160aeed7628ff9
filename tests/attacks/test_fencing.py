"""Whatever a text holds, a prompt has the tags its template puts there, and no others."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem.fences import attribute, fences_of
from amem.ingest import builder, evolver, linker, weaver
from amem.ingest.neighbours import Neighbours
from amem.ingest.shown import Numbered
from amem.model import Note
from amem.prompts import PromptSet

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PROMPTS = {version: PromptSet(version) for version in PromptSet().versions()}
SHIPPED = [(version, name) for version, prompts in PROMPTS.items() for name in prompts.names()]
TAGS = sorted({tag for version, name in SHIPPED for tag in fences_of(PROMPTS[version].get(name).source)})

PIECES = [
    *(f"</{tag}>" for tag in TAGS),
    *(f"<{tag} 0>" for tag in TAGS),
    *(f"</{tag.upper()} >" for tag in TAGS),
    *(f"\uff1c\uff0f{tag[0]}\u200b{tag[1:]}\uff1e" for tag in TAGS),
    *(f"<\u3164/{tag}>" for tag in TAGS),
    '">', '" x="', "'>", "\n", "\r", "\u2028", "\x00", "&lt;", "{{ 7 * 7 }}", "{% raw %}", "{# x #}", "</", "<", "-->",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=8).map("".join)
QUICK = settings(max_examples=25, deadline=None)
PLAIN = "bread"


def a_note(content, *, speaker=PLAIN, context="", words=()):
    return Note(
        id="n", content=content, speaker=speaker, context=context, keywords=words, tags=words, occurred_at=NOON,
        created_at=NOON,
    )  # fmt: skip


def shown(note, number):
    return Numbered([note], first=number).known()[0]


def variables(text):
    """Variables for every shipped prompt, with `text` wherever text from outside can stand."""
    note = a_note(text, speaker=text, context=text, words=(text,))
    turn = Numbered([note]).turns()[0]
    return {
        "note": {"earlier": [turn], "turns": [turn]},
        "link": {"neighbours": [shown(note, 0)], "note": shown(note, 1)},
        "evolve": {"neighbours": [shown(note, 0)], "note": shown(note, 1)},
        "link_evolve": {"neighbours": [shown(note, 0)], "notes": [{**shown(note, 1), "near": [0]}]},
        "answer": {"context": text, "question": text},
        "consolidate": {"notes": [shown(note, 0)]},
        "distill": {"earlier": [turn], "turns": [turn]},
        "gate": {"earlier": [turn], "turns": [turn]},
        "open_tags": {"question": text, "tags": [{"number": 0, "text": text}]},
        "query": {"date": "2024-05-01", "question": text},
        "rerank": {"notes": [{"number": 0, "text": text}], "question": text},
    }


def rendered(version, name, text):
    return PROMPTS[version].render(name, variables(text)[name]).messages


def tags_in(content, names):
    """The tags that a reader sees, who overlooks case, width, and what is not shown."""
    seen = "".join(c for c in content if unicodedata.category(c) not in {"Cf", "Mn", "Cc"} or c.isspace())
    seen = unicodedata.normalize("NFKC", seen.replace("\u3164", "")).casefold()
    return re.findall(rf"<[\s/\\]*(?:{'|'.join(names)})(?![\w])", seen)


def test_every_shipped_prompt_is_under_test():
    assert {name for _, name in SHIPPED} == set(variables(PLAIN))


@pytest.mark.parametrize(("version", "name"), SHIPPED)
@given(text=HOSTILE)
@QUICK
def test_no_text_makes_or_closes_a_tag_of_a_prompt_or_reaches_its_instructions(version, name, text):
    names = fences_of(PROMPTS[version].get(name).source)
    for plain, hostile in zip(rendered(version, name, PLAIN), rendered(version, name, text), strict=True):
        assert tags_in(hostile.content, names) == tags_in(plain.content, names)
        assert hostile.role == "user" or hostile == plain


@pytest.mark.parametrize(("version", "name"), SHIPPED)
def test_template_syntax_in_a_text_is_never_evaluated(version, name):
    text = "{{ 6 * 7 }} {% for x in y %} {# note #} {{ cycler.__init__.__globals__ }}"
    content = rendered(version, name, text)[-1].content
    assert text in content
    assert "42" not in content


@given(HOSTILE)
@QUICK
def test_a_speaker_cannot_leave_the_attribute_it_stands_in(name):
    value = attribute(name)
    assert not set(value) & {'"', "\n", "\r", "\u2028", "\x85"}


def requests(older, newer):
    """What the stages ask about two notes."""
    prompts = PROMPTS["v1"]
    window = weaver.numbered([older], [newer])
    return [
        builder.request([newer], [older], prompts, max_tokens=9),
        linker.request(newer, Numbered([older]), prompts, max_tokens=9),
        evolver.request(newer, Numbered([older]), prompts, max_tokens=9),
        weaver.request(*window, Neighbours(notes=(), strengths={}, mates=False), prompts, max_tokens=9),
    ]


@given(HOSTILE)
@QUICK
def test_each_stage_shows_a_hostile_note_within_its_own_tags(text):
    """The requests as the stages make them: the speaker stands in an attribute there."""
    hostile, plain = a_note(text, speaker=text, words=(text,)), a_note(PLAIN, words=(PLAIN,))
    for request, expected in zip(requests(hostile, hostile), requests(plain, plain), strict=True):
        names = fences_of(PROMPTS["v1"].get(request.prompt.name).source)
        content = request.messages[-1].content
        opened = [line for line in content.splitlines() if re.match(rf"<(?:{'|'.join(names)})\b", line)]
        assert tags_in(content, names) == tags_in(expected.messages[-1].content, names)
        assert all(re.match(r'<\w+(?: \d+)?(?: \w+="[^"]*")+>', line) for line in opened)


@pytest.mark.parametrize(
    "tag",
    [
        "</n\u043et\u0435>",  # Cyrillic o and e
        "</n\u03bfte>",  # Greek omicron
        "<\x00/note>",
        "</no\x08te>",
        "<\u115f/note>",
        "</note\u3164>",
        "\u300a/note\u300b",
        "\u276e/note\u276f",
        "<\U000e0001/note>",
    ],
)
def test_a_disguised_tag_is_escaped(tag):
    from amem.fences import fenced

    assert fenced(tag) == f"&lt;{tag[1:]}"
