"""The measures of a report: what each is called, what it means, and which questions it is defined for."""

from __future__ import annotations

from typing import Literal, NamedTuple

Family = Literal["answers", "overlap", "context", "judge"]


class Measure(NamedTuple):
    """One column."""

    key: str
    title: str
    about: str
    family: Family
    unanswerable: bool = True
    """Whether it is defined for questions without an answer."""


MEASURES = (
    Measure("official", "official", "LoCoMo's official score", "answers"),
    Measure("strict", "strict", "DialSim's accuracy as its simulator counts", "answers"),
    Measure("lenient", "lenient", "the same, where (a), an option's text and a refusal for (E) count too", "answers"),
    Measure("right_words", "right words", "the right answer's words stand in the answer, in a row", "answers"),
    Measure("judge_strict", "judge, strict", "share that a language model passes, strictly", "judge"),
    Measure("judge_lenient", "judge, lenient", "share that a language model passes, generously", "judge"),
    Measure("amem_f1", "F1", "A-Mem's F1 over sets of words", "overlap", unanswerable=False),
    Measure("amem_bleu1", "BLEU-1", "as A-Mem computes it", "overlap", unanswerable=False),
    Measure("amem_rouge_l", "ROUGE-L", "likewise", "overlap", unanswerable=False),
    Measure("amem_rouge2", "ROUGE-2", "likewise", "overlap", unanswerable=False),
    Measure("amem_meteor", "METEOR", "likewise, with WordNet", "overlap", unanswerable=False),
    Measure("amem_meteor_nowordnet", "METEOR*", "without WordNet's synonyms", "overlap", unanswerable=False),
    Measure("amem_similarity", "similarity", "cosine of answer and right answer", "overlap", unanswerable=False),
    Measure("evidence_shown", "evidence", "share of the evidence turns in the context", "context"),
    Measure("evidence_all_shown", "all of it", "questions whose whole evidence is in the context", "context"),
    Measure("sessions_shown", "sessions", "share of the evidence sessions in the context", "context"),
    Measure("recall_at_5", "R@5", "share of the evidence among the first five turns found", "context"),
    Measure("recall_at_10", "R@10", "likewise", "context"),
    Measure("recall_at_20", "R@20", "likewise", "context"),
    Measure("reciprocal_rank", "MRR", "one over the place of the first evidence turn", "context"),
    Measure("answer_in_context", "answer in it", "the answer's words stand in the context", "context",
            unanswerable=False),
)  # fmt: skip
"""In the order of columns."""

REFERENCES = {
    "official_always_refuses": ("official", "always refuses"),
    "chance": ("strict", "chance"),
    "always_e": ("strict", "always (E)"),
}
"""What can be had without any memory or reader: the measure it is a value of, and what it is called."""

MAIN = {"locomo": "official", "dialsim": "strict", "longmemeval": "right_words"}
"""The first measure of each format."""


def measure(key: str) -> Measure:
    """Return the measure of that key."""
    return next(one for one in MEASURES if one.key == key)
