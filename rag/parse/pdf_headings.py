"""Headings of a PDF page: from the document's bookmarks, or by the size and weight of its lines.

Pure, but for `outline`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rag.parse.lines import MARKER, Line
from rag.parse.mend import clean
from rag.types import Heading

_LARGER = 1.12
"""Size of a heading, at least, in sizes of the body text."""
_LONGEST = 160
"""Characters; more are a paragraph in large print."""
_MOST_LINES = 4
_NUMBERED = re.compile(
    r"(?:§ ?)?\d+((?:\.\d+)*)\.?(?:\s|$)|(?:chapter|article|section|art)\b", re.IGNORECASE
)
_DEEPEST = 6

Outline = dict[int, list[tuple[int, str]]]
"""Page number -> (level, title) of its bookmarks, in order."""
Placed = tuple[int, Line]
"""A line and the offset of its text."""


def outline(file: Any) -> Outline:
    """Empty when the file has none, or a broken one."""
    try:
        entries = file.get_toc()
    except Exception:  # a broken outline is none
        return {}
    found: Outline = {}
    for level, title, number, *_ in entries:
        if title := clean(" ".join(title.split())):
            found.setdefault(number, []).append((level, title))
    return found


def outlined(text: str, at: int, entries: Sequence[tuple[int, str]]) -> list[Heading]:
    """Bookmarks placed where their title stands in the text from `at` on, else there."""
    headings = []
    for level, title in entries:
        pattern = r"\s+".join(re.escape(w) for w in title.split())
        match = re.compile(pattern, re.IGNORECASE).search(text, at)
        if match:
            at = match.start()
        headings.append(Heading(at, level, title))
    return headings


def sized(lines: Sequence[Placed], body: float) -> list[Heading]:
    """Lines that are larger than the body text, or bold and by themselves.

    The level falls with the size: twice the body is 1, a bold line of body size is 4. Numbers
    tell more: "2.1" is one below "2".
    """
    headings = []
    block = -1
    for group in _groups(lines):
        start, first = group[0]
        larger = body > 0 and first.size >= body * _LARGER
        alone = first.bold and first.block != block
        block = group[-1][1].block
        title = " ".join(line.text for _, line in group)
        if not (larger or alone) or len(group) > _MOST_LINES or not _is_title(title):
            continue
        ratio = first.size / body if body else 1.0
        level = 1 if ratio >= 1.8 else 2 if ratio >= 1.35 else 3 if larger else 4
        number = _NUMBERED.match(title)
        depth = number[1].count(".") if number and number[1] else 0
        headings.append(Heading(start, min(level + depth, _DEEPEST), title))
    return headings


def _groups(lines: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Neighbouring lines in one print, such as those of a title that runs over several."""
    group: list[Placed] = []
    for start, line in lines:
        if group and not _goes_on(group[-1][1], line):
            yield group
            group = []
        group.append((start, line))
    if group:
        yield group


def _goes_on(above: Line, line: Line) -> bool:
    return (
        (above.size, above.bold) == (line.size, line.bold)
        and above.middle < line.middle
        and line.y0 - above.y1 < 0.6 * line.height
        and not MARKER.match(line.text)
        and not _NUMBERED.match(line.text)
    )


def _is_title(text: str) -> bool:
    return (
        3 <= len(text) <= _LONGEST
        and sum(c.isalpha() for c in text) > len(text) / 2
        and not text.endswith((".", ",", ";", ":"))
    )
