"""The data sets that can be read: what they are called, where they come from, and under what terms."""

from __future__ import annotations

from amem.values import Frozen

from . import dialsim, locomo


class Known(Frozen):
    """One data set."""

    name: str
    files: str
    source: str
    terms: str
    authors: str = ""
    """Whom to name with results, and their work."""
    sha256: tuple[str, ...] = ()
    """Of the official files, where they are known."""


KNOWN = (
    Known(
        name="locomo",
        files="locomo10.json",
        source="github.com/snap-research/locomo, data/locomo10.json (arXiv 2402.17753)",
        terms="CC BY-NC 4.0: attribution, no commercial use; no part of amem",
        authors='A. Maharana, D.-H. Lee, S. Tulyakov, M. Bansal, F. Barbieri, Y. Fang: "Evaluating Very Long-Term'
        ' Conversational Memory of LLM Agents", ACL 2024',
        sha256=(locomo.SHA256,),
    ),
    Known(
        name="dialsim",
        files="dialsim_v1.1.zip, its folder of pickles, or one JSON file made of it by `amem bench data convert`",
        source="github.com/jiho283/Simulator (arXiv 2406.13144)",
        terms="television scripts, no licence is given for them; no part of amem",
        authors='J. Kim and others: "DialSim"',
        sha256=tuple(dialsim.SHA256),
    ),
    Known(
        name="longmemeval",
        files="longmemeval_oracle.json, longmemeval_s.json",
        source="github.com/xiaowu0162/LongMemEval (arXiv 2410.10813)",
        terms="its code is MIT, of the data see its page; no part of amem",
        authors='D. Wu and others: "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory",'
        " ICLR 2025",
    ),
    Known(
        name="synthetic-locomo, synthetic-dialsim",
        files="written by `amem bench data generate`",
        source="generated, in the formats of LoCoMo and DialSim; none of their data",
        terms="those of amem",
    ),
)
"""In the order in which they are listed."""


def attribution(name: str) -> str | None:
    """Return whom results on a data set of others must name, and its terms; None where it is nobody else's."""
    found = next((one for one in KNOWN if one.name == name), None)
    return f"{found.authors}. {found.source}. {found.terms}" if found is not None and found.authors else None
