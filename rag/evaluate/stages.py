"""The ranking of each retrieval stage, from one search: its hits keep every score.

So one search serves all ablations: BM25 over chunks alone, BM25 over pages alone, dense alone,
fused, and re-ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.evaluate.metrics.retrieval import Gold, Place, distinct, rank

Stage = Literal["keyword", "pages", "dense", "fused", "reranked"]
STAGE_NAMES: Mapping[Stage, str] = {
    "keyword": "BM25 only",
    "pages": "BM25 pages only",
    "dense": "dense only",
    "fused": "fused",
    "reranked": "fused + re-ranker",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A hit without its text, which the catalog still has: where it is, every score."""

    doc: str
    page: int
    start: int
    end: int
    keyword_rank: int | None = None
    keyword_score: float | None = None
    dense_rank: int | None = None
    dense_score: float | None = None
    page_rank: int | None = None
    document_fit: float = 0.0
    fused_score: float = 0.0
    rerank_score: float | None = None

    @property
    def place(self) -> Place:
        return self.doc, self.page


def ranking(found: Sequence[Found]) -> list[Place]:
    """Distinct places in the order in which the search returned them."""
    return distinct(hit.place for hit in found)


def stage_rankings(found: Sequence[Found]) -> dict[Stage, list[Place]]:
    """Distinct places in the order of each stage; `reranked` only where a re-ranker ran.

    A stage's ranking ends where the search cut it off (its `candidates` setting), so recall far
    down a single stage is a lower bound.
    """
    stages: dict[Stage, list[Place]] = {
        "keyword": _ordered(found, lambda h: h.keyword_rank),
        "pages": _page_ranking(found),
        "dense": _ordered(found, lambda h: h.dense_rank),
        # Equal fused scores stay in the order of the search, which is the order of fusion.
        "fused": _ordered(found, lambda h: -h.fused_score if h.fused_score else None),
    }
    if any(hit.rerank_score is not None for hit in found):
        stages["reranked"] = ranking(found)
    return stages


def stage_ranks(found: Sequence[Found], gold: Gold) -> dict[Stage, int | None]:
    """The rank of the first right place in each stage; None where the stage does not have it."""
    return {stage: rank(places, gold) for stage, places in stage_rankings(found).items()}


def _ordered(found: Sequence[Found], key: Callable[[Found], float | None]) -> list[Place]:
    keyed = [(value, hit) for hit in found if (value := key(hit)) is not None]
    return distinct(hit.place for _, hit in sorted(keyed, key=lambda pair: pair[0]))


def _page_ranking(found: Sequence[Found]) -> list[Place]:
    """By BM25 over pages. A page of which no chunk was found is no hit; its rank stays a gap."""
    places = {hit.page_rank: hit.place for hit in found if hit.page_rank is not None}
    return [places.get(n, ("", -n)) for n in range(1, max(places, default=0) + 1)]
