"""Rankings of one question -> hits in one order: reciprocal rank fusion, and the re-ranker's say.

Fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and
individual rank learning methods", SIGIR 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag.catalog import Catalog
from rag.types import Document, Hit

Ranking = Sequence[tuple[str, float]]
"""(id, score), best first."""

RRF_K = 10
"""How much less the second rank counts than the first: the paper's constant is 60, for rankings a
thousand deep; on four sets of questions 10 was as good or better in MRR@5."""

RERANK_K = 20
RERANK_WEIGHT = 2.0
"""Of the re-ranker's reciprocal ranks. Page MRR@5 with weight 1 and 2: handbooks 0.86, 0.86; French
rules 0.90, 0.95; manuals 0.83, 0.84; quarterly filings 0.46, 0.51; filings in the document 0.75,
0.73; Markdown 0.86, 0.86."""

UNREAD_WEIGHT = 0.25
"""Of the dense ranks where the embedder does not read the documents' language.

The bundled one reads English. Without the re-ranker, hit@1 on the same paragraphs in eleven other
languages and MRR@5 on French rules with weights 1, 0.5, 0.25 and 0: 0.69, 0.82, 0.89, 0.91 and
0.81, 0.90, 0.91, 0.86."""

DOCUMENT_WEIGHT = 0.5
"""How much more a chunk counts in the document whose name and opening fit the question best.

Page MRR@5 with and without: handbooks 0.80 and 0.79, French rules 0.83 and 0.80, quarterly
reports 0.26 and 0.22. With 1 the French one falls."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """What each search found for one question, best first."""

    keyword: Ranking
    """Of chunks."""
    dense: Ranking
    """Of chunks."""
    pages: Ranking
    """Of places (`place`), by their whole text."""
    documents: Ranking
    """By the words of their name and opening."""
    asked: Sequence[str]
    """Ids of the chunks on the pages that the question names by their number."""
    dense_weight: float = 1.0


def fuse(
    rankings: Sequence[Sequence[str]], k: int = RRF_K, weights: Sequence[float] = ()
) -> dict[str, float]:
    """Reciprocal rank fusion: id -> sum of weight / (k + rank), ranks from 1; best first.

    Rankings without a weight of their own count 1.
    """
    scores: dict[str, float] = {}
    for number, ranking in enumerate(rankings):
        weight = weights[number] if number < len(weights) else 1.0
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def place(document_id: str, page: int) -> str:
    """The id of a page in a ranking of pages."""
    return f"{document_id}/{page}"


def fused_hits(catalog: Catalog, documents: Mapping[str, Document], found: Rankings) -> list[Hit]:
    """Hits by the fused rank of their page and their own, added, and weighed by document.

    A page is ranked by its best chunk in BM25, by its best chunk in dense, and by BM25 over
    its whole text, which finds what a question's words are spread over. `documents` are the
    searchable ones, by id.
    """
    # Documents that are deleted or not ready yet have no chunks here, and are not shown.
    known = catalog.chunks_by_id([*(i for i, _ in (*found.keyword, *found.dense)), *found.asked])
    chunks = {i: c for i, c in known.items() if c.document_id in documents}
    places = {i: place(c.document_id, c.page) for i, c in chunks.items()}
    rankings = [[i for i, _ in ranking if i in chunks] for ranking in (found.keyword, found.dense)]
    rankings.append([i for i in found.asked if i in chunks])
    weights = [1.0, found.dense_weight]
    by_chunk = fuse(rankings, weights=weights)
    by_page = fuse(
        [list(dict.fromkeys(places[i] for i in ranking)) for ranking in rankings]
        + [[i for i, _ in found.pages]],
        weights=weights,
    )
    labels = catalog.labels((c.document_id, c.page) for c in chunks.values())
    keyword_at, dense_at, page_at = _ranks(found.keyword), _ranks(found.dense), _ranks(found.pages)
    best_fit = max((score for _, score in found.documents), default=1.0)
    fit = {i: score / best_fit for i, score in found.documents}
    fused = {
        i: (by_page[places[i]] + score)
        * (1 + DOCUMENT_WEIGHT * fit.get(chunks[i].document_id, 0.0))
        for i, score in by_chunk.items()
    }
    hits = []
    for i in sorted(fused, key=lambda i: -fused[i]):
        chunk = chunks[i]
        document = documents[chunk.document_id]
        keyword_rank, keyword_score = keyword_at.get(i, (None, None))
        dense_rank, dense_score = dense_at.get(i, (None, None))
        hits.append(
            Hit(
                chunk=chunk,
                name=document.name,
                label=labels.get((chunk.document_id, chunk.page), ""),
                unit=document.unit,
                dense_rank=dense_rank,
                dense_score=dense_score,
                keyword_rank=keyword_rank,
                keyword_score=keyword_score,
                page_rank=page_at.get(places[i], (None, None))[0],
                fused_score=fused[i],
                document_fit=fit.get(document.id, 0.0),
            )
        )
    return hits


def reranked(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    """The hits, which the re-ranker gave these scores, by their fused score, as a share of the best
    one's, plus twice the mean of the reciprocal ranks that it gives the passage and its page.

    Alone the re-ranker tells documents that are nearly alike apart less well than their names
    and words do: on the handbooks, page MRR@5 0.78, against 0.84 before it and 0.85 together.
    """
    read = [replace(h, rerank_score=s) for h, s in zip(hits, scores, strict=True)]
    judged = sorted(read, key=lambda h: -(h.rerank_score or 0.0))
    chunk_rank = _ranking(h.chunk.id for h in judged)
    page_rank = _ranking(place(h.chunk.document_id, h.chunk.page) for h in judged)
    best = max((h.fused_score for h in hits), default=1.0)

    def merged(hit: Hit) -> float:
        page = page_rank[place(hit.chunk.document_id, hit.chunk.page)]
        ranks = (chunk_rank[hit.chunk.id], page)
        reciprocal = sum((1 + RERANK_K) / (rank + RERANK_K) for rank in ranks) / len(ranks)
        return hit.fused_score / best + RERANK_WEIGHT * reciprocal

    return sorted(read, key=merged, reverse=True)


def _ranking(items: Iterable[str]) -> dict[str, int]:
    """Item -> its rank from 1, by its first appearance."""
    return {item: rank for rank, item in enumerate(dict.fromkeys(items), start=1)}


def _ranks(ranking: Ranking) -> dict[str, tuple[int, float]]:
    return {i: (rank, score) for rank, (i, score) in enumerate(ranking, start=1)}
