"""What a ratio is computed from -> the table rows that print it, one for each figure. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rag.candidates import Candidate, Passage, candidates
from rag.keyword import tokens
from rag.stop_words import content_words

LEAST_SHARE = 0.6
"""Of a figure's words that its row must have: "total stockholders' equity" is shareholders' too."""

_BRACKETS = re.compile(r"\([^()]*\)")
_DIGIT = re.compile(r"\d")


def figure_rows(
    figures: Sequence[str], question: str, passages: Iterable[Passage]
) -> list[Candidate]:
    """For each figure the row that says it in one piece and with the fewest other words, in the
    figures' order; a figure without one is left out.

    Rows are looked for on the whole pages of the passages: a statement is longer than a chunk.
    Among rows that say the same, the one whose headings share most words with the question.
    """
    asked = content_words(question, "en")
    rows = [c for c in candidates(_pages(passages)) if c.is_row and _DIGIT.search(c.text)]
    found: dict[tuple[tuple[str, int], int], Candidate] = {}
    for figure in figures:
        fits = [(fit, row) for row in rows if (fit := _fit(figure, row, asked)) is not None]
        if fits:
            best = max(fits, key=lambda pair: pair[0])[1]
            found.setdefault((best.place, best.start), best)
    return list(found.values())


def _fit(figure: str, row: Candidate, asked: frozenset[str]) -> tuple[float, ...] | None:
    """How well a row says a figure, to be compared; None for another figure's row.

    Words between those of the figure make another figure, as in "total deferred tax assets",
    unless they take the place of one that is missing.
    """
    words = content_words(figure, "en")
    missing = words - row.words
    share = 1 - len(missing) / len(words)
    if share < LEAST_SHARE:
        return None
    together = _stems(figure) in _stems(_BRACKETS.sub(" ", row.text))
    others = sum(word[0].isalpha() for word in row.words - words)
    if not together and others > len(missing):
        return None
    return share, together, -others, len(asked & (row.words | row.context)), -row.rank


def _stems(text: str) -> str:
    content = content_words(text, "en")
    return f" {' '.join(token for token in tokens(text, 'en') if token in content)} "


def _pages(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The pages of the passages, each once, as if they were found whole."""
    seen: set[tuple[str, int]] = set()
    for rank, hit, page, document in passages:
        if (place := (document.id, page.number)) not in seen:
            seen.add(place)
            whole = replace(hit, chunk=replace(hit.chunk, start=0, end=len(page.text)))
            yield rank, whole, page, document
