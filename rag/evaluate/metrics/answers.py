"""Answer metrics that need no judge: an answer's text against references and facts.

Where there are several references (aliases), the best one counts. Markers are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from rag.evaluate.metrics.text import contains, literals, squad_tokens, without_markers, words

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, one a row."""

SIMILARITY_PASS, ROUGE_PASS = 0.7, 0.2
"""The thresholds of `passed`: a close paraphrase, with some of the same words in order."""


def fact_recall(answer: str, facts: Sequence[Sequence[str]]) -> float:
    """The share of facts of which one wording stands in the answer, word for word.

    A fact is a short phrase or a number; case, punctuation and digit grouping do not matter.
    """
    tokens = literals(without_markers(answer))
    found = sum(any(contains(tokens, literals(w)) for w in wordings) for wordings in facts)
    return found / len(facts)


def contains_reference(answer: str, references: Sequence[str]) -> float:
    """1 if a reference stands in the answer word for word, else 0. Meant for short references."""
    tokens = literals(without_markers(answer))
    return float(any(contains(tokens, literals(reference)) for reference in references))


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 if the answer is a reference after normalising (Rajpurkar et al. 2016, SQuAD)."""
    tokens = squad_tokens(without_markers(answer))
    return float(any(tokens == squad_tokens(reference) for reference in references))


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Harmonic mean of token precision and recall, as bags (Rajpurkar et al. 2016, SQuAD)."""
    tokens = squad_tokens(without_markers(answer))
    return max((_overlap_f1(tokens, squad_tokens(r)) for r in references), default=0.0)


def token_recall(answer: str, references: Sequence[str]) -> float:
    """The share of a reference's tokens that the answer has: how much of it was said.

    Fairer than F1 to an answer that says more than a short reference.
    """
    answered = Counter(squad_tokens(without_markers(answer)))
    best = 0.0
    for reference in references:
        tokens = Counter(squad_tokens(reference))
        if tokens:
            best = max(best, (answered & tokens).total() / tokens.total())
    return best


def rouge_l(answer: str, references: Sequence[str]) -> float:
    """F1 over the longest common subsequence of words (Lin 2004, ROUGE-L), without stemming."""
    tokens = words(without_markers(answer))
    best = 0.0
    for reference in references:
        other = words(reference)
        common = _longest_common(tokens, other)
        if common:
            best = max(best, 2 * common / (len(tokens) + len(other)))
    return best


def similarity(answer: str, references: Sequence[str], embed: Embed) -> float:
    """Cosine of the answer's and the nearest reference's sentence vectors (Reimers et al. 2019).

    Text beyond the embedder's window is not seen.
    """
    vectors = embed([without_markers(answer), *references])
    return float((vectors[1:] @ vectors[0]).max())


def passed(similarity_score: float, rouge_score: float) -> float:
    """1 if both reach their thresholds, else 0: close in meaning and in wording."""
    return float(similarity_score >= SIMILARITY_PASS and rouge_score >= ROUGE_PASS)


def _overlap_f1(answered: Sequence[str], reference: Sequence[str]) -> float:
    if not answered or not reference:
        return float(answered == reference)
    common = (Counter(answered) & Counter(reference)).total()
    return 2 * common / (len(answered) + len(reference))


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, one row of the usual table at a time."""
    row = [0] * (len(second) + 1)
    for word in first:
        diagonal = 0
        for j, other in enumerate(second, 1):
            above = row[j]
            row[j] = diagonal + 1 if word == other else max(above, row[j - 1])
            diagonal = above
    return row[-1]
