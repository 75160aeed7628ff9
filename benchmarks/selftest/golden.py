"""Golden values: what the published code gave for single answers, which ours must give as well.

`golden_metrics.json` and `golden_dialsim.json` beside this file hold answers invented for it, and what the published
code said of them: `task_eval/evaluation.py` of snap-research/locomo, the functions of `utils.py` of WujiangXu/A-mem,
`post_processing/process_answer.py` of jiho283/Simulator. Other files of the same form can be given as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..datasets.checking import read  # noqa: TID252 - in a wheel, this package has another name
from ..metrics import dialsim, official, sbert  # noqa: TID252 - likewise
from .checks import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.embedding import Embedder

    from ..datasets.checking import Checked  # noqa: TID252 - likewise
    from ..metrics.overlap import Scorer  # noqa: TID252 - likewise

TOLERANCE = 1e-6
SBERT_TOLERANCE = 0.01
"""Golden similarities are those of weights in full precision, ours of 8 bits; the largest departure known is .007."""
SHIPPED = tuple(Path(__file__).parent / name for name in ("golden_metrics.json", "golden_dialsim.json"))
_OVERLAP = {
    "exact_match": "exact_match",
    "f1": "f1",
    **{f"bleu{n}": f"bleu{n}" for n in range(1, 5)},
    "rouge1": "rouge1_f",
    "rouge2": "rouge2_f",
    "rouge_l": "rougeL_f",
    "meteor": "meteor",
    "meteor_nowordnet": "meteor_nowordnet",
}
_VERDICTS = {"Correct": "correct", "Wrong": "wrong", "Ambiguous": "ambiguous"}


async def golden_checks(path: Path, scorer: Scorer, embedder: Embedder) -> list[Check]:
    """Score the answers of a file of golden values; return what they get beside what they should.

    Raises:
        InputError: it cannot be read, or departs from both forms.
    """
    root, _ = read(path)
    if "judge" in root.names():
        return list(_judged(root))
    examples = list(root["examples"].items())
    checks = [check for example in examples for check in (*_official(example), *_overlap(example, scorer))]
    return [*checks, *await _similar([one for one in examples if one.get("amem_sbert_similarity")], embedder)]


def _official(example: Checked) -> Iterator[Check]:
    said, wanted, name = _texts(example)
    found = {
        "official_score": official.score(example["category"].integer(), said, wanted),
        "official_f1_plain": official.f1(said, wanted),
        "official_f1_split": official.multi_f1(said, wanted),
        "official_em": float(official.exact_match(said, wanted)),
    }
    for measure, value in found.items():
        yield Check(f"{name}: {measure}", example[measure].number(), value, TOLERANCE)


def _overlap(example: Checked, scorer: Scorer) -> Iterator[Check]:
    said, wanted, name = _texts(example)
    found = scorer.score(said, wanted)
    for ours, theirs in _OVERLAP.items():
        value, expected = getattr(found, ours), example.get(f"amem_{theirs}")
        if value is not None and expected is not None:
            yield Check(f"{name}: A-Mem's {ours}", expected.number(), value, TOLERANCE)


async def _similar(examples: Sequence[Checked], embedder: Embedder) -> list[Check]:
    texts = [_texts(example) for example in examples]
    found = await sbert.similarities([(said, wanted) for said, wanted, _ in texts], embedder)
    return [
        Check(f"{name}: SBERT", example["amem_sbert_similarity"].number(), value, SBERT_TOLERANCE)
        for (_, _, name), example, value in zip(texts, examples, found.values, strict=True)
    ]


def _judged(root: Checked) -> Iterator[Check]:
    for place, case in enumerate(root["judge"].items()):
        right = next((letter for letter in dialsim.LETTERS if case["true"].text() == f"({letter})"), None)
        if right is None:
            raise case["true"].wrong("a letter from (A) to (E)")
        expected = _VERDICTS.get(case["judge_result"].text())
        if expected is None:
            raise case["judge_result"].wrong(f"one of {', '.join(_VERDICTS)}")
        yield Check(f"DialSim answer {place}: strict", expected, dialsim.strict(case["answer"].text(), right))


def _texts(example: Checked) -> tuple[str, str, str]:
    return example["prediction"].text(), example["reference"].text_or_number(), example["name"].text()
