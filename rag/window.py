"""Passage -> the part of it that says most about a question. Pure."""

from __future__ import annotations

from collections.abc import Collection

from rag.keyword import tokens

WORDS = 100
"""Shorter ones leave out context, longer ones cost time."""
_STEP = 8


def window(text: str, terms: Collection[str], language: str) -> str:
    """The `WORDS` words in a row that hold the most of the different terms, the most often.

    The first of those that are alike; a text that is not longer is returned as it is. Finding
    "the best passage" of a document by the query words in it: Callan, "Passage-level evidence in
    document retrieval", SIGIR 1994.
    """
    words = text.split()
    if len(words) <= WORDS:
        return text
    wanted = set(terms)
    held = [wanted.intersection(tokens(word, language)) for word in words]
    last = len(words) - WORDS

    def worth(first: int) -> tuple[int, int]:
        inside = held[first : first + WORDS]
        return len(set().union(*inside)), sum(map(bool, inside))

    best = max((*range(0, last, _STEP), last), key=worth)
    return " ".join(words[best : best + WORDS])
