"""Question -> Hits: BM25 and dense over the same chunks, and BM25 over pages; the ranks are fused
by reciprocal rank, weighed by how well the document's name and opening fit, then re-ranked.

Fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and
individual rank learning methods", SIGIR 2009.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from rag.catalog import Catalog
from rag.embed import Embedder
from rag.keyword import KeywordIndex, tokens
from rag.mention import asked_pages, meant, named
from rag.rerank import Reranker
from rag.stop_words import content_words
from rag.store import VectorStore
from rag.types import Document, Hit, Search

if TYPE_CHECKING:
    import numpy as np

Ranking = Sequence[tuple[str, float]]
"""(id, score), best first."""

RRF_K = 10
"""How much less the second rank counts than the first: the paper's constant is 60, for rankings a
thousand deep; on four sets of questions 10 was as good or better in MRR@5."""

RERANKED = 20
"""Hits that the re-ranker reads; its time grows with them. Mean page MRR@5 on five sets: 0.75 with
8, 0.76 with 16, 20 and 24."""

RERANK_K = 20
"""Of the re-ranker's reciprocal ranks. Mean page MRR@5 on four sets: without it 0.84; by its
probability instead of its rank 0.86; by rank 0.86 with 10, 0.87 with 20."""

MOST_APART = 6
"""Documents that are meant by one question and are each searched for it."""

OPENING = 1_500
"""Characters at the beginning of a document, where it says what it is."""

DOCUMENT_WEIGHT = 0.5
"""How much more a chunk counts in the document whose name and opening fit the question best.

Page MRR@5 with and without: handbooks 0.80 and 0.79, French rules 0.83 and 0.80, quarterly
reports 0.26 and 0.22. With 1 the French one falls."""

_LONGEST_HEADER = 100
"""Characters of the document's name, and of the heading path."""
_TABLE_MARKS = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)*")


class Searcher(Protocol):
    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        """Best first. `documents` are document ids; empty means the whole library, or the documents
        that the query names (`Search.implied`).
        """
        ...


def searched_text(name: str, heading: str, text: str) -> str:
    """What is embedded and indexed for a chunk: document name, heading path, then the text.

    Passages of near-identical documents can only be told apart by the name. The marks of tables
    are left out: with them, dense page MRR@5 on the mixed evaluation PDFs is 0.73, without 0.76.
    """
    stem = PurePath(name).stem.replace("_", " ").replace("-", " ")
    # The innermost headings say most; a long path would push the text out of the model's input.
    head = (
        f"{stem[:_LONGEST_HEADER]} › {heading[-_LONGEST_HEADER:]}"
        if heading
        else stem[:_LONGEST_HEADER]
    )
    return f"{head}\n{' '.join(_TABLE_MARKS.sub(' ', text).split())}"


def fuse(rankings: Sequence[Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """Reciprocal rank fusion: id -> sum of 1 / (k + rank), ranks from 1; best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


@dataclass(frozen=True, slots=True)
class _Words:
    """BM25 over chunks, over whole pages, and over the names and openings of the documents."""

    chunks: KeywordIndex
    pages: KeywordIndex
    openings: KeywordIndex
    documents: dict[str, Document]
    """The searchable ones, by id."""
    identities: dict[str, frozenset[str]]
    """The words of a document's name and opening, by its id."""


class Retriever:
    """Holds the BM25 indexes, which it rebuilds on the first search after `invalidate`."""

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
        self.reranker = reranker
        self._top_k = top_k
        self._candidates = candidates
        self._lock = threading.Lock()
        self._change = threading.Lock()
        self._changes = 0
        self._words: _Words | None = None
        self._tokens: dict[tuple[str, str, int], list[str]] = {}
        self._languages: set[str] = set()

    def invalidate(self) -> None:
        """Call when the set of searchable documents has changed."""
        with self._lock:
            self._words = None

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a change of what is searchable: a search sees all of it, or nothing.

        For the moment of the transaction only, as searches wait for it.
        """
        with self._change:
            try:
                yield
            finally:
                self._changes += 1
                self.invalidate()

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        wanted = top_k or self._top_k
        found = self._search(query, documents, max(self._candidates, wanted))
        return replace(found, hits=found.hits[:wanted])

    def search_all(self, query: str, documents: Sequence[str] = ()) -> Search:
        """Every candidate of `search` in its order, for measuring what each stage found."""
        return self._search(query, documents, self._candidates)

    def _search(self, query: str, documents: Sequence[str], depth: int) -> Search:
        """Again from the start when the library has changed under it, three times at most."""
        for _ in range(3):
            changes = self._changes_now()
            found = self._search_once(query, documents, depth)
            if changes == self._changes_now():
                break
        return found

    def _changes_now(self) -> int:
        with self._change:
            return self._changes

    def _search_once(self, query: str, documents: Sequence[str], depth: int) -> Search:
        seconds: dict[str, float] = {}

        clock = time.perf_counter()
        words = self._indexes()
        asked = [] if documents else self._implied(query, words)
        documents = documents or [i for together in asked for i in together]
        clock = _lap(seconds, "keyword", clock)
        vector = self._embedder.embed_query(query)
        clock = _lap(seconds, "embed", clock)

        # What is asked of several documents is looked for in each, and taken from each in turn.
        scopes = asked if 1 < len(asked) <= MOST_APART else [documents]
        found = [self._found(words, query, vector, scope, depth, seconds) for scope in scopes]
        if self.reranker is not None and self.reranker.reads(query):
            clock = time.perf_counter()
            count = RERANKED // len(found)
            found = [self._rerank(self.reranker, query, hits, count) for hits in found]
            _lap(seconds, "rerank", clock)
        hits = [hit for turn in zip_longest(*found) for hit in turn if hit is not None]
        return Search(query, tuple(hits), seconds, tuple(documents), bool(asked))

    @staticmethod
    def _implied(query: str, words: _Words) -> list[list[str]]:
        """The documents that the query means: together those that are searched together."""
        library = list(words.documents.values())
        if len(library) < 2:
            return []
        return [[i] for i in named(query, library)] or meant(query, library, words.identities)

    def _found(
        self,
        words: _Words,
        query: str,
        vector: np.ndarray,
        documents: Sequence[str],
        depth: int,
        seconds: dict[str, float],
    ) -> list[Hit]:
        """The fused hits in these documents; `seconds` of the stages are added to."""
        clock = time.perf_counter()
        terms = self._terms(query)
        keyword = words.chunks.search(terms, depth, documents)
        pages = words.pages.search(terms, depth, documents)
        fitting = words.openings.search(terms, len(words.openings), documents)
        clock = _lap(seconds, "keyword", clock)
        dense = self._store.search(vector, depth, documents)
        clock = _lap(seconds, "dense", clock)
        scope = list(documents or words.documents)
        asked = [
            chunk_id
            for page in (asked_pages(query) if len(scope) == 1 else ())
            for chunk_id in self._catalog.chunks_on(scope[0], page)
        ]
        hits = self._fused(words.documents, keyword, dense, pages, fitting, asked)
        _lap(seconds, "fuse", clock)
        return hits

    def _terms(self, query: str) -> list[str]:
        """The query's content words in every language of the library; all words if it has none."""
        languages = sorted(self._languages)
        content = {term for language in languages for term in content_words(query, language)}
        return sorted(content) or [t for language in languages for t in tokens(query, language)]

    def _fused(
        self,
        documents: Mapping[str, Document],
        keyword: Ranking,
        dense: Ranking,
        pages: Ranking,
        fitting: Ranking,
        asked: Sequence[str],
    ) -> list[Hit]:
        """Hits by the fused rank of their page and their own, added, and weighed by document.

        A page is ranked by its best chunk in BM25, by its best chunk in dense, and by BM25 over
        its whole text, which finds what a question's words are spread over. `asked` are the chunks
        on the pages that the question names by their number.
        """
        # Documents that are deleted or not ready yet have no chunks here, and are not shown.
        found = self._catalog.chunks_by_id([*(i for i, _ in (*keyword, *dense)), *asked])
        chunks = {i: c for i, c in found.items() if c.document_id in documents}
        place = {i: _place(c.document_id, c.page) for i, c in chunks.items()}
        rankings = [[i for i, _ in ranking if i in chunks] for ranking in (keyword, dense)]
        rankings.append([i for i in asked if i in chunks])
        by_chunk = fuse(rankings)
        by_page = fuse(
            [list(dict.fromkeys(place[i] for i in ranking)) for ranking in rankings]
            + [[i for i, _ in pages]]
        )
        labels = self._catalog.labels((c.document_id, c.page) for c in chunks.values())
        keyword_at, dense_at, page_at = _ranks(keyword), _ranks(dense), _ranks(pages)
        best_fit = max((score for _, score in fitting), default=1.0)
        fit = {i: score / best_fit for i, score in fitting}
        fused = {
            i: (by_page[place[i]] + score)
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
                    page_rank=page_at.get(place[i], (None, None))[0],
                    fused_score=fused[i],
                    document_fit=fit.get(document.id, 0.0),
                )
            )
        return hits

    def _rerank(self, reranker: Reranker, query: str, hits: list[Hit], count: int) -> list[Hit]:
        """The best `count` hits by their fused score, as a share of the best one's, plus the mean
        of the reciprocal ranks that the re-ranker gives the passage and its page.

        Alone the re-ranker tells documents that are nearly alike apart less well than their names
        and words do: on the handbooks, page MRR@5 0.72, against 0.83 before it and 0.84 together.
        """
        head = hits[:count]
        scores = reranker.score(
            query, [searched_text(h.name, h.chunk.heading, h.chunk.text) for h in head]
        )
        read = [replace(h, rerank_score=s) for h, s in zip(head, scores, strict=True)]
        judged = sorted(read, key=lambda h: -(h.rerank_score or 0.0))
        chunk_rank = _ranking(h.chunk.id for h in judged)
        page_rank = _ranking(_place(h.chunk.document_id, h.chunk.page) for h in judged)
        best = max((h.fused_score for h in head), default=1.0)

        def merged(hit: Hit) -> float:
            page = page_rank[_place(hit.chunk.document_id, hit.chunk.page)]
            ranks = (chunk_rank[hit.chunk.id], page)
            reciprocal = sum((1 + RERANK_K) / (rank + RERANK_K) for rank in ranks) / len(ranks)
            return hit.fused_score / best + reciprocal

        return sorted(read, key=merged, reverse=True) + hits[count:]

    def _indexes(self) -> _Words:
        """Tokens of what has not changed are kept."""
        with self._lock:
            if self._words is None:
                documents = {d.id: d for d in self._catalog.documents() if d.state == "ready"}
                kept: dict[tuple[str, str, int], list[str]] = {}

                def words(item: str, document: Document, text: str) -> list[str]:
                    key = (item, document.language, hash(text))  # a page may be read again
                    kept[key] = self._tokens.get(key) or tokens(text, document.language)
                    return kept[key]

                chunks = [
                    (c.id, d.id, words(c.id, d, searched_text(d.name, c.heading, c.text)))
                    for c in self._catalog.ready_chunks()
                    if (d := documents.get(c.document_id))
                ]
                pages, openings = [], []
                for document_id, number, text in self._catalog.ready_pages():
                    if d := documents.get(document_id):
                        key = _place(document_id, number)
                        pages.append((key, d.id, words(key, d, text)))
                        if number == 1:
                            opening = searched_text(d.name, "", text[:OPENING])
                            openings.append((d.id, d.id, words(d.id, d, opening)))
                self._tokens = kept
                self._languages = {d.language for d in documents.values()} or {"en"}
                identities = {
                    i: frozenset(tokens(d.name, d.language)) for i, d in documents.items()
                }
                identities |= {i: frozenset(opening) for i, _, opening in openings}
                self._words = _Words(
                    KeywordIndex(chunks),
                    KeywordIndex(pages),
                    KeywordIndex(openings),
                    documents,
                    identities,
                )
            return self._words


def _ranking(items: Iterable[str]) -> dict[str, int]:
    """Item -> its rank from 1, by its first appearance."""
    return {item: rank for rank, item in enumerate(dict.fromkeys(items), start=1)}


def _place(document_id: str, page: int) -> str:
    return f"{document_id}/{page}"


def _ranks(ranking: Ranking) -> dict[str, tuple[int, float]]:
    return {i: (rank, score) for rank, (i, score) in enumerate(ranking, start=1)}


def _lap(seconds: dict[str, float], stage: str, since: float) -> float:
    """Adds to the stage what has passed since; the time it is now."""
    now = time.perf_counter()
    seconds[stage] = seconds.get(stage, 0.0) + now - since
    return now
