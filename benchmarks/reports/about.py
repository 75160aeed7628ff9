"""What was measured with what, in words; no path, and nothing of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..systems.peers import a_mem, mem0ai  # noqa: TID252 - in a wheel, this package has another name
from .types import About, Sitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runs.config import Data, Reader, SystemConfig  # noqa: TID252 - likewise
    from .gathering import Party, Run

_KINDS = {
    "amem": "amem",
    "a-mem": f"the package a-mem {a_mem.PACKAGE.version} of PyPI",
    "mem0": f"the package mem0ai {mem0ai.PACKAGE.version} of PyPI",
    "none": "no memory: the reader sees the question alone",
    "full_context": "everything that was said, whatever the budget",
    "recent": "the newest turns",
    "bm25": "BM25 over single turns",
    "dense": "cosine of embeddings over single turns",
    "hybrid": "BM25 and cosine, fused by reciprocal ranks",
    "oracle": "the evidence turns themselves",
    "oracle_sessions": "the sessions that hold the evidence",
}


def described(entry: SystemConfig) -> str:
    """Say what a system is."""
    parts = [_KINDS[entry.kind]]
    if entry.kind == "amem":
        parts = [
            f"amem, strategy {entry.strategy or 'fused'}"
            if entry.model
            else "amem over the turns alone, without a model"
        ]
    parts += [f"without {part}" for part in entry.without]
    parts += [f"{name} = {value}" for name, value in sorted(entry.settings.items())]
    parts += [f"k = {entry.k}"] if entry.k is not None else []
    parts += [f"window of {entry.window:,} tokens"] if entry.window is not None else []
    return "; ".join(parts + ([f"written by {entry.model.label}"] if entry.model else []))


def about(runs: Sequence[Run], found: Sequence[Party]) -> About:
    """Say what was measured with what."""
    first = runs[0].manifest
    config = first.config
    asked = {one.conversation for party in found for one in party.scores}
    return About(
        name=config.name,
        data=first.data_name,
        data_format=first.data_format,
        data_hashes=first.data | ({"disputed": runs[0].scoring.disputed} if runs[0].scoring.disputed else {}),
        category_names=first.category_names,
        conversations=tuple(sorted(asked)),
        questions=first.questions,
        choice=_choice(config.data),
        restricted=first.restricted,
        reader=first.reader,
        compat=config.compat,
        budget=config.budget,
        tokenizer=first.tokenizer,
        embedding=first.embedding,
        prompts={name: label for run in runs for name, label in run.manifest.prompts.items()},
        models=_models(config.reader, found),
        metrics=runs[0].scoring.metrics,
        seed=first.seed,
        config=tuple(run.manifest.config_hash for run in runs),
        sittings=tuple(Sitting(**sitting.model_dump()) for run in runs for sitting in run.manifest.sittings),
        warnings=tuple(dict.fromkeys(warning for run in runs for warning in run.manifest.warnings)),
    )


def _choice(data: Data) -> str:
    parts = [f"the first {_several(data.sessions, 'session')}"] if data.sessions is not None else []
    parts += ["questions whose whole evidence was taken in"] if data.questions == "evidence_within" else []
    parts += [f"categories {', '.join(data.categories)}"] if data.categories else []
    parts += [f"the first {_several(data.limit, 'question')} of each conversation"] if data.limit is not None else []
    parts += [] if data.captions else ["without the pictures' captions"]
    return "; ".join(parts) or "everything"


def _several(number: int, noun: str) -> str:
    return noun if number == 1 else f"{number} {noun}s"


def _models(reader: Reader, found: Sequence[Party]) -> dict[str, str]:
    """Return who read and who wrote."""
    models = {"reader": reader.model.label} if reader.model is not None else {}
    return models | {party.label: party.entry.model.label for party in found if party.entry.model is not None}
