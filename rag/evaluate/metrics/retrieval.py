"""Ranking metrics over distinct places: pages of documents, or passages.

A ranking is a list of distinct places, best first. `Gold` says which places are right and how
many of them make a complete find; pages that say the same make more places right without making
more of them needed. Where every right place is needed, the values are trec_eval's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Place = tuple[str, int]
"""A document (or passage) and a 1-based page."""


@dataclass(frozen=True, slots=True)
class Gold:
    grades: Mapping[Place, float]
    """The right places with their grade, above 0."""
    needed: int
    """How many of them make a complete find: at least 1, at most all."""


def distinct(places: Iterable[Place]) -> list[Place]:
    """In order of first appearance: several passages of one page are one find."""
    return list(dict.fromkeys(places))


def hit(ranking: Sequence[Place], gold: Gold, k: int) -> float:
    """1 if any right place is among the first k, else 0 ("success at k")."""
    return float(any(place in gold.grades for place in ranking[:k]))


def recall(ranking: Sequence[Place], gold: Gold, k: int) -> float:
    """The share of the needed places that are among the first k (Manning et al. 2008, 8.3)."""
    found = sum(place in gold.grades for place in ranking[:k])
    return min(found, gold.needed) / gold.needed


def precision(ranking: Sequence[Place], gold: Gold, k: int) -> float:
    """The share of the first k that are right; fewer than k found count as wrong (trec_eval P)."""
    return sum(place in gold.grades for place in ranking[:k]) / k


def reciprocal_rank(ranking: Sequence[Place], gold: Gold, k: int) -> float:
    """1 / rank of the first right place among the first k, else 0 (Voorhees 1999, TREC-8 QA)."""
    found = rank(ranking[:k], gold)
    return 1 / found if found else 0.0


def ndcg(ranking: Sequence[Place], gold: Gold, k: int) -> float:
    """Discounted gain over the best possible, gain = grade, discount = log2(rank + 1).

    Järvelin and Kekäläinen 2002, in the form of trec_eval's ndcg_cut. Beyond `needed` finds there
    is nothing more to gain.
    """
    gains = [gold.grades.get(place, 0.0) for place in ranking[:k]]
    left = gold.needed
    for index, gain in enumerate(gains):
        if gain > 0:
            gains[index] = gain if left > 0 else 0.0
            left -= 1
    ideal = sorted(gold.grades.values(), reverse=True)[: min(gold.needed, k)]
    return _dcg(gains) / _dcg(ideal)


def rank(ranking: Sequence[Place], gold: Gold) -> int | None:
    """The rank (1-based) of the first right place; None when there is none."""
    return next((i for i, place in enumerate(ranking, 1) if place in gold.grades), None)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains, 1))
