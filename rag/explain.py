"""Why a hit is there, in words: for people, computed only for the hits that are shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.keyword import tokens
from rag.ratios import figures
from rag.retrieve import searched_text
from rag.stop_words import content_words, spoken
from rag.types import Hit, Search

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")


def matched_words(search: Search, hit: Hit) -> tuple[str, ...]:
    """The content words of the query that stand in the hit's searched text, in any inflection.

    As the query writes them, or what they were translated to, each once.
    """
    found: dict[str, None] = {}
    for query in (search.query, *search.glosses.values()):
        language = spoken(query, "en")
        there = _stems(hit, language)
        words = _WORD.findall(query)
        found |= dict.fromkeys(word for word in words if content_words(word, language) & there)
    return tuple(found)


def reasons(search: Search, hit: Hit) -> list[str]:
    """Short sentences, the strongest reason first."""
    found = []
    if words := matched_words(search, hit):
        found.append(f"It holds {_listed(words)}.")
    if asked := figures(search.query):
        there = _stems(hit, "en")
        if parts := [part for part in asked if content_words(part, "en") <= there]:
            found.append(f"It holds {_listed(parts)}, of which what you ask is computed.")
    if hit.rerank_score is not None:
        found.append(f"The re-ranker gives it a chance of {hit.rerank_score:.0%} to answer.")
    ranks = [
        (hit.keyword_rank, "by its words"),
        (hit.page_rank, "by its page's words"),
        (hit.dense_rank, "by meaning"),
    ]
    placed = [f"{_ordinal(rank)} {how}" for rank, how in ranks if rank is not None]
    if placed:
        found.append(f"Found {', '.join(placed)}.")
    if hit.document_fit == 1:
        found.append("Its document's name and opening fit the question best.")
    return found


def _stems(hit: Hit, language: str) -> set[str]:
    return set(tokens(searched_text(hit.name, hit.chunk.heading, hit.chunk.text), language))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _ordinal(rank: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{'th' if rank % 100 in (11, 12, 13) else ending}"
