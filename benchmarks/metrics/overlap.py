"""A-Mem's scores of an answer against its reference, the same as those of `utils.py` in WujiangXu/A-mem.

Mem0 and others took them over. BLEU, ROUGE and METEOR are those of NLTK and rouge-score, as there. Two things differ
where NLTK's data is not installed, and both are said: texts are not cut into sentences before BLEU's words are found,
which concerns 10 of LoCoMo's 3,972 questions and answers and is done the same everywhere; and METEOR without WordNet
has a name of its own. BERTScore is left out: its weights come with no package.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from amem.values import Frozen

from .libraries import Stemmer, library, wordnet

_WEIGHTS = ((1.0,), (0.5, 0.5), (0.33, 0.33, 0.33), (0.25, 0.25, 0.25, 0.25))
_ROUGE = ("rouge1", "rouge2", "rougeL")
_SPACES = str.maketrans(".,!?", "    ")


class Overlap(Frozen):
    """How much an answer shares with its reference."""

    exact_match: float = 0.0
    f1: float = 0.0
    """Of the sets of words: no stemming, articles count, repeated words do not."""
    bleu1: float = 0.0
    bleu2: float = 0.0
    bleu3: float = 0.0
    bleu4: float = 0.0
    rouge1: float = 0.0
    rouge2: float = 0.0
    rouge_l: float = 0.0
    meteor_nowordnet: float = 0.0
    """METEOR without its stage of synonyms."""
    meteor: float | None = None
    """METEOR as A-Mem has it; None where WordNet is not installed."""


class NoSynonyms:
    """A WordNet that knows no word."""

    def synsets(self, _word: str) -> list[Any]:
        """Return no synset."""
        return []


class Scorer:
    """Scores answers; it holds what the libraries need."""

    def score(self, prediction: str, reference: str) -> Overlap:
        """Compare an answer with its reference; if either is empty, nothing is shared."""
        known = wordnet()
        said, wanted = prediction.strip(), reference.strip()
        if not said or not wanted:
            return Overlap(meteor=None if known is None else 0.0)
        rouge = self._rouge.score(wanted, said)
        return Overlap(
            exact_match=float(said.lower() == wanted.lower()),
            f1=set_f1(said, wanted),
            **dict(zip(("bleu1", "bleu2", "bleu3", "bleu4"), self._bleu_scores(said, wanted), strict=True)),
            **dict(zip(("rouge1", "rouge2", "rouge_l"), (rouge[name].fmeasure for name in _ROUGE), strict=True)),
            meteor_nowordnet=self._meteor_score(said, wanted, NoSynonyms()),
            meteor=None if known is None else self._meteor_score(said, wanted, known),
        )

    @cached_property
    def _rouge(self) -> Any:
        return library("rouge_score.rouge_scorer").RougeScorer(list(_ROUGE), use_stemmer=True)

    @cached_property
    def _bleu(self) -> Any:
        return library("nltk.translate.bleu_score")

    @cached_property
    def _meteor(self) -> Any:
        return library("nltk.translate.meteor_score")

    def _bleu_scores(self, said: str, wanted: str) -> list[float]:
        words = library("nltk.tokenize").word_tokenize
        found, right = (words(text.lower(), preserve_line=True) for text in (said, wanted))
        smooth = self._bleu.SmoothingFunction().method1
        return [
            float(self._bleu.sentence_bleu([right], found, weights=weights, smoothing_function=smooth))
            for weights in _WEIGHTS
        ]

    def _meteor_score(self, said: str, wanted: str, synonyms: Any) -> float:
        score = self._meteor.meteor_score
        return float(score([wanted.split()], said.split(), stemmer=Stemmer, wordnet=synonyms))


def set_f1(prediction: str, reference: str) -> float:
    """Return A-Mem's F1: of the sets of lower-cased words, with `. , ! ?` as white space."""
    said, wanted = (set(text.lower().translate(_SPACES).split()) for text in (prediction, reference))
    same = len(said & wanted)
    return 2 * same / (len(said) + len(wanted)) if same else 0.0
