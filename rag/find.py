"""Exact words in a page's text -> where they stand, and what stands around them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

RADIUS = 300
"""Characters shown before and after the words."""

Span = tuple[int, int]
"""Start and end, in characters."""


def find_words(words: str, texts: Sequence[str]) -> list[list[Span]]:
    """For each text, every place of `words`: case does not count, nor the kind of white space.

    Whole words are looked for first, and parts of words only where no text has whole ones: so
    "cat" is not found in "category", and words of scripts without spaces are found all the same.
    """
    parts = [re.escape(part) for part in words.split()]
    if not parts:
        return [[] for _ in texts]
    pattern = r"\s+".join(parts)
    for wanted in (rf"(?<!\w){pattern}(?!\w)", pattern):
        found = [[m.span() for m in re.finditer(wanted, text, re.IGNORECASE)] for text in texts]
        if any(found):
            return found
    return found


def excerpt(text: str, spans: Sequence[Span]) -> Span:
    """A stretch around the first of the spans and those close after it, from line or sentence
    start to line or sentence end where one is near."""
    start, end = spans[0]
    for following in spans[1:]:
        if following[1] - start > 2 * RADIUS:
            break
        end = following[1]
    return _outwards(text, max(0, start - RADIUS), start), _outwards_end(text, end)


def _outwards(text: str, low: int, start: int) -> int:
    """The first sentence or line that begins between `low` and `start`, else the first word."""
    if low == 0:
        return 0
    begins = re.compile(r"(?<=[.!?。！？])\s+(?=\S)|\n+(?=\S)").search(text, low, start)
    if begins is None:
        begins = re.compile(r"\s+(?=\S)").search(text, low, start)
    return begins.end() if begins else start


def _outwards_end(text: str, end: int) -> int:
    high = min(len(text), end + RADIUS)
    if high == len(text):
        return high
    ends = [m.end() for m in re.compile(r"[.!?。！？](?=\s)|(?=\n)").finditer(text, end, high)]
    if not ends:
        ends = [m.start() for m in re.compile(r"\s").finditer(text, end, high)]
    return ends[-1] if ends else high
