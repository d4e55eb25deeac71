"""Question -> an answer without any language model: the sentences that answer it, or a refusal.

Search, take the best passages apart into sentences, weigh each by meaning and by words, quote the
best. Every word of an answer is the documents' own, so nothing in it can be made up.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Protocol

from rag import cite
from rag.candidates import Candidate, Passage, candidates
from rag.computed import figure_rows
from rag.embed import Embedder
from rag.errors import NotFound
from rag.events import Event, Finished, SearchFinished, SearchStarted, TextDelta
from rag.keyword import tokens
from rag.ratios import figures_of, ratios
from rag.rerank import Reranker, score_pairs
from rag.retrieve import Searcher, searched_text
from rag.stop_words import content_words, spoken
from rag.support import (
    MOST_CHOSEN,
    THRESHOLD,
    choose,
    compare,
    coverage,
    relevance,
    specifics,
    support,
    unmentioned,
    word_weights,
)
from rag.types import Answer, Citation, Document, Page, Receipt, Rejection, Search, Turn
from rag.wording import COMPUTED, markdown, marked, plain, refusal

MOST_HITS = 8
"""Passages that are read."""
MOST_RERANKED = 16
"""Sentences that the re-ranker reads."""
MOST_SENTENCES = 30
"""Embedded for one question, in one batch. With 40 no set is answered better."""
LONGEST_EMBEDDED = 400
"""Characters of a candidate that are embedded; the length of the longest slows the whole batch."""
NEAREST = 3
"""Passages shown with a refusal."""
SHORT_QUESTION = 2
"""Content words up to which a question is a follow-up of the one before it."""

_WORD = re.compile(r"\w")


class Library(Protocol):
    def documents(self) -> list[Document]: ...

    def document(self, document_id: str) -> Document: ...

    def page(self, document_id: str, number: int) -> Page: ...


class Reader:
    """Answers in the documents' own sentences."""

    def __init__(
        self,
        searcher: Searcher,
        embedder: Embedder,
        library: Library,
        reranker: Reranker | None = None,
    ) -> None:
        self._searcher = searcher
        self._embedder = embedder
        self._library = library
        self._reranker = reranker

    def answer(
        self, question: str, documents: Sequence[str] = (), history: Sequence[Turn] = ()
    ) -> Iterator[Event]:
        """The last event is Finished. `documents` are ids; empty means the whole library."""
        started = time.perf_counter()
        searched = [
            document
            for document in self._library.documents()
            if document.state == "ready" and (not documents or document.id in documents)
        ]
        query = standalone(question, history)
        if excuse := _excuse(query, searched):
            yield TextDelta(excuse)
            yield Finished(Answer(excuse, (), Receipt("reader"), refused=True))
            return

        yield SearchStarted(query)
        search = self._searcher.search(query, documents)
        read = time.perf_counter()
        yield SearchFinished(search)

        everything = candidates(self._passages(search))
        lacking = _lacking(search, everything)
        chosen = [] if lacking else self._read(search, everything)
        citations: list[Citation] = []
        rejections: list[Rejection] = []
        text = ""
        if not lacking and (rows := self._computed_from(query, search, chosen)):
            chosen, text = rows, COMPUTED
            yield TextDelta(text)
        for group in chosen:
            outcome = _quote(group)
            if isinstance(outcome, Rejection):
                rejections.append(outcome)
                continue
            citations.append(outcome)
            said = marked(markdown(group), len(citations))
            if _compares(search):
                said = f"**{plain(outcome.name)}**:\n\n{said}"
            piece = ("\n\n" if text else "") + said
            text += piece
            yield TextDelta(piece)
        refused = not citations
        if refused:
            text = refusal(question, searched, bool(search.hits), lacking)
            yield TextDelta(text)
        done = time.perf_counter()
        receipt = Receipt(
            engine="reader",
            searches=(search,),
            seconds={"search": read - started, "read": done - read, "total": done - started},
            quotes_verified=len(citations),
            rejections=tuple(rejections),
        )
        nearest = search.hits[:NEAREST] if refused else ()
        yield Finished(Answer(text, tuple(citations), receipt, refused, nearest))

    def _read(self, search: Search, everything: Sequence[Candidate]) -> list[list[Candidate]]:
        """Runs of neighbouring sentences that answer, best first; none when nothing does."""
        found = everything
        asked = [search.asked_in(candidate.document.language) for candidate in found]
        shares = _shares(asked, found)
        # Those that share the most words with the question; the others are not embedded.
        order = sorted(range(len(found)), key=lambda i: -relevance(0.0, *shares[i]))
        kept = sorted(order[:MOST_SENTENCES])
        found, shares = [found[i] for i in kept], [shares[i] for i in kept]
        asked = [asked[i] for i in kept]
        if not found:
            return []
        vectors = self._embedder.embed([c.shown[:LONGEST_EMBEDDED] for c in found])
        queries = {version: self._embedder.embed_query(version) for version in set(asked)}
        cosines = [float(v @ queries[q]) for v, q in zip(vectors, asked, strict=True)]
        scores = [relevance(c, *share) for c, share in zip(cosines, shares, strict=True)]
        chances = self._chances(asked, found, scores)
        scores = [score + chance for score, chance in zip(scores, chances, strict=True)]
        best = scores.index(max(scores))
        supported = _support(asked[best], max(cosines), found[best], everything)
        # A word of a translation may be missing for no good reason.
        if asked[best] != search.query:
            supported = max(supported, support(max(cosines), None, False))
        if supported < THRESHOLD:
            return []
        if _compares(search):
            picked = compare(scores, [c.document.id for c in found], search.documents)
        else:
            picked = choose(scores, vectors, [candidate.place for candidate in found])
        return _runs([found[i] for i in picked])

    def _computed_from(
        self, query: str, search: Search, chosen: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """The figures of the ratios that the question names, unless what was chosen says them."""
        if not (asked := ratios(query)):
            return []
        said = _words([candidate for run in chosen for candidate in run])
        unsaid = [ratio for ratio in asked if not content_words(ratio.name, "en") <= said]
        return _runs(figure_rows(figures_of(unsaid), query, self._passages(search)))

    def _chances(
        self, asked: Sequence[str], found: Sequence[Candidate], scores: Sequence[float]
    ) -> list[float]:
        """For each candidate the re-ranker's probability that it answers; 0 without a re-ranker,
        and for those that are too far behind to be read by it."""
        chances = [0.0] * len(found)
        if self._reranker is None or not all(map(self._reranker.reads, set(asked))):
            return chances
        best = sorted(range(len(found)), key=lambda i: -scores[i])[:MOST_RERANKED]
        pairs = [
            (query, searched_text(c.document.name, c.heading, c.shown[:LONGEST_EMBEDDED]))
            for query, c in ((asked[i], found[i]) for i in best)
        ]
        for index, chance in zip(best, score_pairs(self._reranker, pairs), strict=True):
            chances[index] = chance
        return chances

    def _passages(self, search: Search) -> Iterator[Passage]:
        for rank, hit in enumerate(search.hits[:MOST_HITS]):
            try:
                document = self._library.document(hit.chunk.document_id)
                page = self._library.page(hit.chunk.document_id, hit.chunk.page)
            except NotFound:
                continue  # deleted since the search
            yield rank, hit, page, document


def standalone(question: str, history: Sequence[Turn]) -> str:
    """What to search for: a short follow-up ("and for children?") needs the question before it."""
    query = question.strip()
    for turn in reversed(history):
        if len(content_words(query)) > SHORT_QUESTION:
            break
        query = f"{turn.question.strip()} {query}"
    return query


def _compares(search: Search) -> bool:
    """Whether the question is about several documents, few enough to quote each."""
    return search.implied and 1 < len(search.documents) <= MOST_CHOSEN


def _shares(asked: Sequence[str], found: Sequence[Candidate]) -> list[tuple[float, float, int]]:
    """For each candidate: share of the question in it, in its passage, and the passage's rank.

    `asked` is the question as each candidate's document is asked it.
    """
    everything = [candidate.words | candidate.context for candidate in found]
    passages: dict[int, frozenset[str]] = {}
    for candidate, words in zip(found, everything, strict=True):
        passages[candidate.rank] = passages.get(candidate.rank, frozenset()) | words
    queries = {c.document.language: query for c, query in zip(found, asked, strict=True)}
    weights = {
        language: word_weights(content_words(query, language), everything)
        for language, query in queries.items()
    }
    return [
        (
            coverage(weights[c.document.language], c.words, c.context),
            coverage(weights[c.document.language], passages[c.rank]),
            c.rank,
        )
        for c in found
    ]


def _lacking(search: Search, everything: Sequence[Candidate]) -> str:
    """A year or code of the question that no passage has, nor its document's name; or ""."""
    names = {c.document.name for c in everything}
    known = _words(everything).union(*(tokens(name) for name in names))
    return unmentioned(search.query, known) if everything else ""


def _words(everything: Sequence[Candidate]) -> frozenset[str]:
    """All that the passages say, headings included."""
    return frozenset[str]().union(*(c.words | c.context for c in everything))


def _support(query: str, closest: float, best: Candidate, everything: Sequence[Candidate]) -> float:
    language = best.document.language
    if spoken(query, language) != language:
        return support(closest, None, False)
    asked = content_words(query, language)
    # "What does the pump manual say about geese?" asks about geese.
    words = asked - content_words(PurePath(best.document.name).stem, language) or asked
    found = len(words & (best.words | best.context)) / max(1, len(words))
    return support(closest, found, not specifics(query, language) <= _words(everything))


def _runs(chosen: Sequence[Candidate]) -> list[list[Candidate]]:
    """Neighbours on a page become one quote, in reading order; runs stay best first."""
    runs: list[list[Candidate]] = []
    for candidate in chosen:
        beside = [run for run in runs if run[0].place == candidate.place]
        if any(run[0].start < candidate.end and candidate.start < run[-1].end for run in beside):
            continue  # an item of a list that is quoted as a whole, or the other way round
        text = candidate.page.text
        for run in beside:
            if run[-1].end <= candidate.start and not _WORD.search(
                text, run[-1].end, candidate.start
            ):
                run.append(candidate)
                break
            if candidate.end <= run[0].start and not _WORD.search(
                text, candidate.end, run[0].start
            ):
                run.insert(0, candidate)
                break
        else:
            runs.append([candidate])
    return runs


def _quote(run: Sequence[Candidate]) -> Citation | Rejection:
    first, last = run[0], run[-1]
    return cite.verify(
        first.page.text[first.start : last.end],
        first.page,
        first.document,
        first.hit.chunk.heading,
        near=first.start,
    )


def _excuse(query: str, searched: Sequence[Document]) -> str:
    """Why nothing is searched, "" when it can be."""
    if not searched:
        return (
            "There is no document to search yet. Add files in the library, and ask again when "
            "they are indexed."
        )
    if not content_words(query):
        return (
            "The question has no word to search for. Name what you want to know, for example "
            "“How many days of leave are there?”"
        )
    return ""
