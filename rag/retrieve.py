"""Question -> Hits: BM25 and dense over the same chunks, fused by reciprocal rank, re-ranked.

Fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and
individual rank learning methods", SIGIR 2009.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Protocol

from rag.catalog import Catalog
from rag.embed import Embedder
from rag.keyword import KeywordIndex, tokens
from rag.rerank import Reranker
from rag.store import VectorStore
from rag.types import Chunk, Hit, Search

RRF_K = 60
"""The constant of the paper: how much less the second rank counts than the first."""

_LONGEST_HEADER = 100
"""Characters of the document's name, and of the heading path."""


class Searcher(Protocol):
    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        """Best first. `documents` are document ids; empty means the whole library."""
        ...


def searched_text(name: str, heading: str, text: str) -> str:
    """What is embedded and indexed for a chunk: document name, heading path, then the text.

    Passages of near-identical documents can only be told apart by the name.
    """
    stem = PurePath(name).stem.replace("_", " ").replace("-", " ")
    # The innermost headings say most; a long path would push the text out of the model's input.
    head = (
        f"{stem[:_LONGEST_HEADER]} › {heading[-_LONGEST_HEADER:]}"
        if heading
        else stem[:_LONGEST_HEADER]
    )
    return f"{head}\n{' '.join(text.split())}"


def fuse(rankings: Sequence[Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """Reciprocal rank fusion: id -> sum of 1 / (k + rank), ranks from 1; best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


class Retriever:
    """Holds the BM25 index, which it rebuilds on the first search after `invalidate`."""

    def __init__(
        self,
        catalog: Catalog,
        store: VectorStore,
        embedder: Embedder,
        reranker: Reranker | None,
        *,
        top_k: int,
        candidates: int,
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._embedder = embedder
        self._reranker = reranker
        self._top_k = top_k
        self._candidates = candidates
        self._lock = threading.Lock()
        self._keyword: KeywordIndex | None = None
        self._tokens: dict[str, list[str]] = {}
        self._languages: set[str] = set()

    def invalidate(self) -> None:
        """Call when the set of searchable documents has changed."""
        with self._lock:
            self._keyword = None

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        wanted = top_k or self._top_k
        depth = max(self._candidates, wanted)
        seconds: dict[str, float] = {}

        clock = time.perf_counter()
        index = self._index()
        terms = [t for language in sorted(self._languages) for t in tokens(query, language)]
        keyword = index.search(terms, depth, documents)
        clock = _lap(seconds, "keyword", clock)

        vector = self._embedder.embed_query(query)
        clock = _lap(seconds, "embed", clock)
        dense = self._store.search(vector, depth, documents)
        clock = _lap(seconds, "dense", clock)

        fused = fuse([[i for i, _ in keyword], [i for i, _ in dense]])
        chunks = self._catalog.chunks_by_id(fused)
        hits = self._hits(chunks, fused, keyword, dense)
        clock = _lap(seconds, "fuse", clock)

        if self._reranker is not None:
            hits = self._rerank(self._reranker, query, hits)
            _lap(seconds, "rerank", clock)
        return Search(query, tuple(hits[:wanted]), seconds, tuple(documents))

    def _hits(
        self,
        chunks: Mapping[str, Chunk],
        fused: Mapping[str, float],
        keyword: Sequence[tuple[str, float]],
        dense: Sequence[tuple[str, float]],
    ) -> list[Hit]:
        keyword_at = {i: (rank, score) for rank, (i, score) in enumerate(keyword, start=1)}
        dense_at = {i: (rank, score) for rank, (i, score) in enumerate(dense, start=1)}
        documents = {d.id: d for d in self._catalog.documents()}
        labels = self._catalog.labels((c.document_id, c.page) for c in chunks.values())
        hits = []
        for i, score in fused.items():
            chunk = chunks.get(i)
            # A document deleted between the two stages, or vectors whose document is not
            # ready yet: neither may be shown.
            if chunk is None or chunk.document_id not in documents:
                continue
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
                    fused_score=score,
                )
            )
        return hits

    def _rerank(self, reranker: Reranker, query: str, hits: list[Hit]) -> list[Hit]:
        head = hits[: self._candidates]
        scores = reranker.score(
            query, [searched_text(h.name, h.chunk.heading, h.chunk.text) for h in head]
        )
        ranked = [replace(h, rerank_score=s) for h, s in zip(head, scores, strict=True)]
        ranked.sort(key=lambda h: -(h.rerank_score or 0.0))
        return ranked + hits[self._candidates :]

    def _index(self) -> KeywordIndex:
        with self._lock:
            if self._keyword is None:
                documents = {d.id: d for d in self._catalog.documents() if d.state == "ready"}
                kept: dict[str, list[str]] = {}
                entries = []
                for chunk in self._catalog.ready_chunks():
                    document = documents.get(chunk.document_id)
                    if document is None:
                        continue
                    words = self._tokens.get(chunk.id) or tokens(
                        searched_text(document.name, chunk.heading, chunk.text),
                        document.language,
                    )
                    kept[chunk.id] = words
                    entries.append((chunk.id, chunk.document_id, words))
                self._tokens = kept
                self._languages = {d.language for d in documents.values()} or {"en"}
                self._keyword = KeywordIndex(entries)
            return self._keyword


def _lap(seconds: dict[str, float], stage: str, since: float) -> float:
    now = time.perf_counter()
    seconds[stage] = now - since
    return now
