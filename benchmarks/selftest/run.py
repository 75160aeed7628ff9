"""The whole self-test."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from amem import __version__

from ..datasets.locomo import SHA256  # noqa: TID252 - in a wheel, this package has another name
from ..metrics.libraries import wordnet_version  # noqa: TID252 - likewise
from ..metrics.overlap import Scorer  # noqa: TID252 - likewise
from .checks import Check, Report, deviations
from .floors import answerers, floor_checks
from .golden import SHIPPED, golden_checks
from .retrieval import retrieval_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from amem.embedding import Embedder

    from ..datasets.locomo import Locomo  # noqa: TID252 - likewise

    Progress = Callable[[int, int], None]

_LIBRARIES = ("nltk", "rouge-score", "numpy")
_NO_WORDNET = "METEOR with synonyms: WordNet is not where NLTK looks for it; without synonyms it was checked"


async def selftest(
    data: Locomo, golden: Sequence[Path], embedder: Embedder, *, progress: Progress | None = None
) -> Report:
    """Compare the metrics with golden values, and with what they must give on LoCoMo's official file.

    Args:
        data: that file.
        golden: further files of golden values, besides those that ship.
        embedder: amem's own, for the similarity of sentences.
        progress: called with the questions answered so far, and their whole number.

    Raises:
        InputError: a file of golden values cannot be read, or the extra `bench` is not installed.
        EmbeddingError: the embedder failed.
    """
    scorer = Scorer()
    checks = [Check("SHA-256 of the file", SHA256, data.sha256)]
    for path in (*SHIPPED, *golden):
        checks += await golden_checks(path, scorer, embedder)
    total = (len(answerers()) + 1) * sum(len(conversation.questions) for conversation in data.conversations)
    done = 0

    def moved(by: int) -> None:
        nonlocal done
        done += by
        if progress is not None:
            progress(done, total)

    checks += floor_checks(data, scorer, moved)
    checks += retrieval_checks(data, moved)
    found = wordnet_version()
    return Report(
        data_sha256=data.sha256,
        checked=len(checks),
        deviations=deviations(checks),
        left_out=() if found else (_NO_WORDNET,),
        versions={"amem": __version__, **{name: version(name) for name in _LIBRARIES}, "WordNet": found or "none"},
    )
