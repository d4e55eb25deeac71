"""Question -> Hits: BM25 and dense over the same chunks, and BM25 over pages, in the documents that
the question means. Their ranks are fused (`fuse.py`), and the re-ranker reads the best."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePath
from typing import Protocol

import numpy as np

from rag.catalog import Catalog
from rag.embed import Embedder
from rag.fuse import UNREAD_WEIGHT, Ranking, Rankings, fused_hits, place, reranked
from rag.gloss import gloss
from rag.keyword import KeywordIndex, tokens
from rag.mention import asked_pages, meant, named
from rag.ratios import figures
from rag.rerank import Reranker, score_pairs
from rag.stop_words import clearly_in, content_words
from rag.store import VectorStore
from rag.types import Document, Hit, Search
from rag.window import window

RERANKED = 20
"""Hits that the re-ranker reads; its time grows with them. Mean page MRR@5 on five sets: 0.75 with
8, 0.76 with 16, 20 and 24."""

FEEDBACK = 3
FEEDBACK_WEIGHT = 0.5
"""Hits towards whose mean the query is moved, and how far, for a second dense search:
pseudo-relevance feedback (Rocchio 1971; Li et al., "Pseudo Relevance Feedback with Deep Language
Models and Dense Retrievers", TOIS 2023).

Page MRR@5 without and with: handbooks 0.830, 0.836; manuals 0.800, 0.818; filings 0.676, 0.683;
Markdown 0.827, 0.842; nDCG@10 of abstracts 0.413, 0.425. Words of the best hits added to BM25
made the first two worse: 0.813, 0.764."""

FIGURES_WEIGHT = 0.5
"""How far the query is moved towards the figures that a ratio is computed from; BM25 is asked for
their words too. Page hit@5 and MRR@5 on filings: 0.83 / 0.68 without, 0.91 / 0.72 with the words,
0.92 / 0.74 with both; moved by 1 0.92 / 0.73."""

MOST_APART = 6
"""Documents that are meant by one question and are each searched for it."""

OPENING = 1_500
"""Characters at the beginning of a document, where it says what it is."""

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
    vocabulary: dict[str, frozenset[str]]
    """The stems in the documents of a language."""

    def known(self, language: str) -> Callable[[str], bool]:
        """Whether the documents in the language hold every word of a text."""
        there = self.vocabulary.get(language, frozenset())
        return lambda text: there.issuperset(tokens(text, language))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, as the searches need it."""

    texts: Mapping[str, str]
    """The question in each language of the documents, as far as it can be translated."""
    terms: Sequence[str]
    vector: np.ndarray
    read: bool
    """Whether the embedder reads the language of some of the documents."""
    pages: Sequence[str]
    """Numbers or labels of those that it names."""


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
        implied = [] if documents else self._implied(query, words)
        documents = documents or [i for together in implied for i in together]
        parts = figures(query)
        question = self._asked(query, parts, words, documents)
        clock = _lap(seconds, "embed", clock)

        # What is asked of several documents is looked for in each, and taken from each in turn.
        scopes = implied if 1 < len(implied) <= MOST_APART else [documents]
        found = [self._found(words, question, scope, depth, seconds) for scope in scopes]
        # The re-ranker knows what answers in words, not which rows a ratio is computed from.
        reads = self.reranker is not None and all(map(self.reranker.reads, question.texts.values()))
        if reads and not parts:
            clock = time.perf_counter()
            count = RERANKED // len(found)
            found = [self._reranked(words, question, hits, count) for hits in found]
            _lap(seconds, "rerank", clock)
        hits = [hit for turn in zip_longest(*found) for hit in turn if hit is not None]
        glosses = {i: text for i, text in question.texts.items() if text != query}
        return Search(query, tuple(hits), seconds, tuple(documents), bool(implied), glosses)

    def _asked(
        self, query: str, parts: Sequence[str], words: _Words, documents: Sequence[str]
    ) -> _Asked:
        """`parts` are figures that are looked for too; `documents` are searched, or all."""
        scope = [words.documents[i] for i in documents or words.documents if i in words.documents]
        texts = {document.language: query for document in scope} or {"en": query}
        others, embedded = dict.fromkeys(texts, ""), dict(texts)
        for language in texts:
            if translated := gloss(query, language, words.known(language)):
                texts[language], others[language] = translated.text, translated.others
                if not self._embedder.reads(translated.source):
                    embedded[language] = translated.text
        terms = {t for i, text in texts.items() for t in content_words(f"{text} {others[i]}", i)}
        every = sorted(terms) or [t for language in texts for t in tokens(query, language)]
        every += sorted(content_words(" ".join(parts), "en"))
        # Documents in several languages share one vector: the mean of the question in each.
        versions = sorted(set(embedded.values()))
        vector = np.mean([self._embedder.embed_query(text) for text in versions], axis=0)
        if parts:
            vector = vector + FIGURES_WEIGHT * self._embedder.embed_query(", ".join(parts))
        # A table of English words and figures is taken for many a language: the question tells.
        languages = {clearly_in(query) or i if texts[i] == query else i for i in texts}
        read = any(map(self._embedder.reads, languages))
        return _Asked(texts, every, vector / np.linalg.norm(vector), read, asked_pages(query))

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
        question: _Asked,
        documents: Sequence[str],
        depth: int,
        seconds: dict[str, float],
    ) -> list[Hit]:
        """The fused hits in these documents; `seconds` of the stages are added to."""
        clock = time.perf_counter()
        keyword = words.chunks.search(question.terms, depth, documents)
        pages = words.pages.search(question.terms, depth, documents)
        fitting = words.openings.search(question.terms, len(words.openings), documents)
        clock = _lap(seconds, "keyword", clock)
        dense = self._store.search(question.vector, depth, documents)
        clock = _lap(seconds, "dense", clock)
        scope = list(documents or words.documents)
        asked = [
            chunk_id
            for page in (question.pages if len(scope) == 1 else ())
            for chunk_id in self._catalog.chunks_on(scope[0], page)
        ]
        weight = 1.0 if question.read else UNREAD_WEIGHT
        found = Rankings(keyword, dense, pages, fitting, asked, weight)
        hits = fused_hits(self._catalog, words.documents, found)
        clock = _lap(seconds, "fuse", clock)
        nearer = self._fed_back(question.vector, hits[:FEEDBACK], depth, documents)
        found = replace(found, dense=nearer)
        clock = _lap(seconds, "dense", clock)
        hits = fused_hits(self._catalog, words.documents, found)
        _lap(seconds, "fuse", clock)
        return hits

    def _reranked(self, words: _Words, question: _Asked, hits: list[Hit], count: int) -> list[Hit]:
        """The best `count` are read, each under the question in its language, where it holds the
        most words of it."""
        assert self.reranker is not None
        best = hits[:count]
        pairs = []
        for hit in best:
            whole = searched_text(hit.name, hit.chunk.heading, hit.chunk.text)
            header, text = whole.split("\n", 1)
            language = words.documents[hit.chunk.document_id].language
            pairs.append(
                (question.texts[language], f"{header}\n{window(text, question.terms, language)}")
            )
        return reranked(best, score_pairs(self.reranker, pairs)) + hits[count:]

    def _fed_back(
        self, vector: np.ndarray, best: Sequence[Hit], depth: int, documents: Sequence[str]
    ) -> Ranking:
        """The dense ranking for the query moved towards the best hits; scores are the cosines
        with the query itself."""
        vectors = self._store.vectors([hit.chunk.id for hit in best])
        moved = vector + sum(FEEDBACK_WEIGHT / len(vectors) * v for v in vectors.values())
        found = [i for i, _ in self._store.search(moved, depth, documents)]
        vectors = self._store.vectors(found)
        return [(i, float(vectors[i] @ vector)) for i in found if i in vectors]

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
                vocabulary: dict[str, set[str]] = {}
                for document_id, number, text in self._catalog.ready_pages():
                    if d := documents.get(document_id):
                        key = place(document_id, number)
                        pages.append((key, d.id, words(key, d, text)))
                        vocabulary.setdefault(d.language, set()).update(pages[-1][2])
                        if number == 1:
                            opening = searched_text(d.name, "", text[:OPENING])
                            openings.append((d.id, d.id, words(d.id, d, opening)))
                self._tokens = kept
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
                    {language: frozenset(stems) for language, stems in vocabulary.items()},
                )
            return self._words


def _lap(seconds: dict[str, float], stage: str, since: float) -> float:
    """Adds to the stage what has passed since; the time it is now."""
    now = time.perf_counter()
    seconds[stage] = seconds.get(stage, 0.0) + now - since
    return now
