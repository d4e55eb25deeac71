"""Lines at the edges of pages -> those that are running headers, footers and page numbers. Pure.

A line is one if the pages around it have the same at the same height, numbers aside. Only a few
pages to both sides are compared, so that a document can be read as a stream, and so that headers
which change with the chapter are found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.parse.lines import Line, level

AROUND = 5
"""Pages to either side that are compared."""
_SEEN = 2
"""Other pages that must have the line."""
_ROWS = 3
"""Rows at the top and at the bottom that are looked at."""
_ZONE = 0.16
"""Share of the page's height, at the top and at the bottom, where they stand."""
_DRIFT = 6.0
"""Points by which the height may differ."""
_MOST_CELLS = 3
"""More lines side by side are the head of a table."""
_TELLING = 8
"""Letters of a cell that repeats, beside one that changes with the chapter."""
_LARGE = 1.25
"""A line so much larger than the body text is a title."""

_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page |p\.? ?|seite |página )?(?:0(?: ?(?:of|/|von|sur|de) ?0)?|[ivxlc]+)\W*$"
)


@dataclass(frozen=True, slots=True)
class Edge:
    """A row of a page's first or last lines."""

    text: str
    """Every number is 0 in it."""
    y: float
    from_bottom: bool
    lines: tuple[Line, ...]


def edges(lines: Sequence[Line], height: float, body: float) -> list[Edge]:
    """The rows at a page's top and bottom that could be furniture, from the edge inwards."""
    upright = [n for n in lines if n.turn == 0]
    found = []
    for from_bottom in (False, True):
        zone = [
            n
            for n in upright
            if (n.y0 > height * (1 - _ZONE) if from_bottom else n.y1 < height * _ZONE)
        ]
        zone.sort(key=lambda n: -n.middle if from_bottom else n.middle)
        rows: list[list[Line]] = []
        for line in zone:
            if rows and level(rows[-1][0], line):
                rows[-1].append(line)
            else:
                rows.append([line])
        for row in rows[:_ROWS]:
            if len(row) > _MOST_CELLS or any(n.size > _LARGE * body for n in row):
                break
            row.sort(key=lambda n: n.x0)
            text = _NUMBER.sub("0", " ".join(n.text for n in row).lower())
            found.append(Edge(text, row[0].middle, from_bottom, tuple(row)))
    return found


def repeated(page: Sequence[Edge], others: Sequence[Sequence[Edge]], count: int) -> list[Edge]:
    """The rows of `page` that stand on the pages around it as well, from the edge inwards.

    A page's number at the very edge needs no other page. `count` is how many lines the page has:
    where nothing else would be left, only its number is furniture.
    """
    found = []
    for from_bottom in (False, True):
        for i, row in enumerate(e for e in page if e.from_bottom == from_bottom):
            seen = sum(any(_same(row, other) for other in rows) for rows in others)
            if seen < _SEEN and not (i == 0 and _is_number(row)):
                break
            found.append(row)
    if sum(len(row.lines) for row in found) >= count:
        return [row for row in found if _is_number(row)]
    return found


def _is_number(row: Edge) -> bool:
    return _PAGE_NUMBER.match(row.text) is not None


def _same(a: Edge, b: Edge) -> bool:
    if a.from_bottom != b.from_bottom or abs(a.y - b.y) > _DRIFT:
        return False
    # Left and right pages show the same with the number on the other side.
    if a.text == b.text or sorted(a.text.split()) == sorted(b.text.split()):
        return True
    # The document's name at one side, that of the chapter at the other.
    return bool(_names(a) & _names(b))


def _names(row: Edge) -> set[str]:
    """Its cells that are long enough to be recognised, where it has more than one."""
    if len(row.lines) < 2:
        return set()
    texts = {_NUMBER.sub("0", line.text.lower()) for line in row.lines}
    return {text for text in texts if sum(map(str.isalpha, text)) >= _TELLING}
