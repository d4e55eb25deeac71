"""Lines of positioned words -> page text in reading order, and the offset of every word. Pure.

Columns are found by recursive cuts (in the manner of the X-Y cut of Nagy and Seth, 1984) with
one addition: a gutter only separates columns where both sides are set as prose. In a table the
same gutter separates cells, and rows are read across.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rag.types import Word

_PROSE_FILL = 0.6
"""Share of its column's width that a full line of prose fills."""
_PROSE_WORDS = 4
_PROSE_SHARE = 0.3
"""Share of a column's lines that are full; the rest are headings, lists, cells of a table."""
SOFT_HYPHEN = "\u00ad"
_WORD_HYPHEN = re.compile(r"(?<=[^\W_])[-\u2010]$")


@dataclass(frozen=True, slots=True)
class Glyphs:
    """A run of glyphs without a gap, in points, as displayed."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Line:
    """Words that MuPDF found on one base line without a wide gap."""

    words: list[Glyphs]
    block: int
    size: float
    bold: bool
    vertical: bool = False

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    @property
    def x0(self) -> float:
        return min(w.x0 for w in self.words)

    @property
    def x1(self) -> float:
        return max(w.x1 for w in self.words)

    @property
    def y0(self) -> float:
        return min(w.y0 for w in self.words)

    @property
    def y1(self) -> float:
        return max(w.y1 for w in self.words)


@dataclass(slots=True)
class _Box:
    """A line with its extent worked out once."""

    line: Line
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def height(self) -> float:
        return self.y1 - self.y0


def compose(
    lines: Sequence[Line], vocabulary: set[str]
) -> tuple[str, list[Word], list[tuple[int, Line]]]:
    """Page text, its words with rectangles, and each line with its start offset.

    `vocabulary` holds the words of the pages before and takes this page's: it decides whether a
    hyphen at a line's end belongs to the word.
    """
    boxes = [_Box(n, n.x0, n.y0, n.x1, n.y1) for n in _once(lines)]
    rows = _order(boxes)
    vocabulary |= {w.text.strip(".,;:()").lower() for box in boxes for w in box.line.words[:-1]}
    text = ""
    words: list[Word] = []
    placed: list[tuple[int, Line]] = []
    previous: list[_Box] = []
    for row in rows:
        text = _join(text, previous, row, words, vocabulary)
        for box in row:
            if box is not row[0]:
                text += "  "  # a gap wide enough to be a cell's border
            placed.append((len(text), box.line))
            for i, glyphs in enumerate(box.line.words):
                if i:
                    text += " "
                start = len(text)
                ends_line = i == len(box.line.words) - 1
                text += glyphs.text if ends_line else glyphs.text.rstrip(SOFT_HYPHEN)
                words.append(Word(start, len(text), glyphs.x0, glyphs.y0, glyphs.x1, glyphs.y1))
        previous = row
    return _unhyphened(text, words), words, placed


def _once(lines: Sequence[Line]) -> list[Line]:
    """Without the copies that fake bold and fake shadows draw a point or two apart."""
    seen: dict[str, list[Glyphs]] = {}
    kept: list[Line] = []
    for line in lines:
        words = []
        for word in line.words:
            twins = seen.setdefault(word.text, [])
            height = word.y1 - word.y0
            if any(
                abs(t.x0 - word.x0) < 0.3 * height and abs(t.y0 - word.y0) < 0.3 * height
                for t in twins
            ):
                continue
            twins.append(word)
            words.append(word)
        if words:
            kept.append(Line(words, line.block, line.size, line.bold, line.vertical))
    return kept


def _order(boxes: list[_Box]) -> list[list[_Box]]:
    """Rows of boxes in reading order; a row holds one line of prose or the cells of a table."""
    turned = [[b] for b in boxes if b.line.vertical]
    return _cut([b for b in boxes if not b.line.vertical], 0) + turned


def _cut(boxes: list[_Box], depth: int) -> list[list[_Box]]:
    rows = _rows(boxes)
    gutter = _gutter(rows) if len(boxes) >= 6 and depth < 6 else None
    if gutter is None:
        return rows
    ordered: list[list[_Box]] = []
    for band, spanning in _bands(rows, gutter):
        for columns, run in _runs(band, gutter):
            left, right = _sides(run, gutter)
            if columns and left and right:
                ordered += _cut(left, depth + 1) + _cut(right, depth + 1)
            elif len(run) < len(boxes):
                ordered += _cut(run, depth + 1)
            else:
                ordered += _rows(run)
        ordered += spanning
    return ordered


def _runs(band: list[_Box], gutter: float) -> list[tuple[bool, list[_Box]]]:
    """The band cut where columns give way to a wide table and back: (columns?, its lines)."""
    slabs = _slabs(band)
    kinds = [_slab_kind(slab, gutter) for slab in slabs]
    for i, kind in enumerate(kinds):
        if kind == "pair" and kinds[i : i + 3] == ["pair"] * 3:
            kinds[i : i + 3] = ["table"] * 3
    # What could be either goes with a table beside it: a wrapped cell, a heading cell.
    tables = [
        kind == "table"
        or (
            kind != "columns"
            and "table" in (kinds[max(i - 1, 0)], kinds[min(i + 1, len(kinds) - 1)])
        )
        for i, kind in enumerate(kinds)
    ]
    return [
        (not table, [box for _, slab in group for box in slab])
        for table, group in groupby(zip(tables, slabs, strict=True), key=lambda pair: pair[0])
    ]


def _slabs(band: list[_Box]) -> list[list[_Box]]:
    """Lines between white stripes that run across the whole band."""
    slabs: list[list[_Box]] = []
    bottom = float("-inf")
    for box in sorted(band, key=lambda b: b.y0):
        if box.y0 > bottom + 0.1 * box.height:
            slabs.append([])
        slabs[-1].append(box)
        bottom = max(bottom, box.y1)
    return slabs


def _slab_kind(slab: list[_Box], gutter: float) -> Literal["columns", "table", "pair", "unclear"]:
    sides = _sides(slab, gutter)
    if any(len(_full(side)) >= 2 for side in sides):
        return "columns"
    if not all(sides):
        return "unclear"
    rows = _rows(slab)
    if max(len(row) for row in rows) >= 3:
        return "table"
    return "pair" if len(rows) == 1 else "unclear"


def _gutter(rows: list[list[_Box]]) -> float | None:
    """The x that parts the most lines of prose into two columns, in whichever bands of the page.

    Bands count, not the page: a page may hold a wide table, then columns, then a wide figure.
    """
    boxes = [box for row in rows for box in row]
    left, right = min(b.x0 for b in boxes), max(b.x1 for b in boxes)
    best: tuple[int, int] | None = None
    for x in sorted({round(b.x0) - 2 for b in boxes} | {round(b.x1) + 2 for b in boxes}):
        if not left + 0.1 * (right - left) < x < right - 0.1 * (right - left):
            continue
        parted = 0
        crossing = 0
        for band, spanning in _bands(rows, x):
            crossing += len(spanning)
            sides = _sides(band, x)
            if all(_is_prose(side) for side in sides):
                parted += len(band)
        candidate = (parted - crossing, x)
        if parted and (best is None or candidate > best):
            best = candidate
    return None if best is None else float(best[1])


def _bands(rows: list[list[_Box]], gutter: float) -> Iterator[tuple[list[_Box], list[list[_Box]]]]:
    """Top down: the lines beside the gutter, and the rows across it that end their band.

    A cell of a table may stand on the gutter: it takes its whole row across.
    """
    band: list[_Box] = []
    spanning: list[list[_Box]] = []
    for row in rows:
        if any(box.x0 < gutter - 1 and box.x1 > gutter + 1 for box in row):
            spanning.append(row)
        else:
            if spanning:
                yield band, spanning
                band, spanning = [], []
            band += row
    yield band, spanning


def _sides(band: list[_Box], gutter: float) -> tuple[list[_Box], list[_Box]]:
    middle = [(b, (b.x0 + b.x1) / 2) for b in band]
    return [b for b, x in middle if x <= gutter], [b for b, x in middle if x > gutter]


def _is_prose(side: list[_Box]) -> bool:
    """Whether at least three lines run on over most of the column's width."""
    full = len(_full(side))
    return full >= 3 and full >= _PROSE_SHARE * len(side)


def _full(side: list[_Box]) -> list[_Box]:
    """Lines that fill most of the column's width, as prose does."""
    if not side:
        return []
    width = max(b.x1 for b in side) - min(b.x0 for b in side)
    return [
        b for b in side if b.x1 - b.x0 >= _PROSE_FILL * width and len(b.line.words) >= _PROSE_WORDS
    ]


def _rows(boxes: list[_Box]) -> list[list[_Box]]:
    """Boxes that stand on one line, top to bottom and left to right."""
    rows: list[list[_Box]] = []
    for box in sorted(boxes, key=lambda b: ((b.y0 + b.y1) / 2, b.x0)):
        row = rows[-1] if rows else None
        centre = (box.y0 + box.y1) / 2
        # Compared with the row's first box, so that a slanted scan does not chain rows together.
        if row and row[0].y0 + 0.25 * row[0].height < centre < row[0].y1 - 0.25 * row[0].height:
            row.append(box)
        else:
            rows.append([box])
    for row in rows:
        row.sort(key=lambda b: b.x0)
    return rows


def _join(
    text: str, previous: list[_Box], row: list[_Box], words: list[Word], vocabulary: set[str]
) -> str:
    """`text` ready for `row`: a space, a line end or a paragraph's end, hyphens joined."""
    if not previous:
        return text
    last, first = previous[-1], row[0]
    gap = first.y0 - last.y1
    same_column = first.y0 >= last.y0 and first.x0 < last.x1
    height = max(last.height, 1.0)
    apart = gap > 0.75 * height if same_column else not _goes_on(text, first)
    bigger = abs(first.line.size - last.line.size) > 0.12 * max(first.line.size, 1.0)
    if apart or (bigger and len(previous) == 1):
        return _unhyphened(text, words) + "\n\n"
    if len(previous) == 1 and len(row) == 1:
        head = first.line.words[0].text
        if text.endswith(SOFT_HYPHEN) and head[:1].isalpha():
            return _unhyphened(text, words)
        if _WORD_HYPHEN.search(text) and head[:1].isalnum():
            start = max(text.rfind(" "), text.rfind("\n")) + 1
            tail = re.match(r"\w*", head)
            assert tail is not None
            if _is_split(text[start:-1], tail.group(), vocabulary):
                words[-1] = _shorter(words[-1], len(text) - 1)
                return text[:-1]
            return text
    return _unhyphened(text, words) + "\n"


def _goes_on(text: str, first: _Box) -> bool:
    """Whether the next column's first line carries on a sentence."""
    head = first.line.words[0].text[:1]
    return bool(text) and text[-1] not in ".!?:" and head.islower()


def _is_split(front: str, back: str, vocabulary: set[str]) -> bool:
    """Whether "front-" / "back" is one word that a line's end has split."""
    front, back = front.strip("(\"'“‘").lower(), back.lower()
    if not (front[-1:].isalpha() and back[:1].isalpha()) or "-" in front:
        return False
    if front + back in vocabulary:
        return True
    if f"{front}-{back}" in vocabulary:
        return False
    # Two words that both stand alone elsewhere ("well-known") keep their hyphen.
    return not (front in vocabulary and back in vocabulary)


def _unhyphened(text: str, words: list[Word]) -> str:
    if not text.endswith(SOFT_HYPHEN):
        return text
    words[-1] = _shorter(words[-1], len(text) - 1)
    return text[:-1]


def _shorter(word: Word, end: int) -> Word:
    return Word(word.start, end, word.x0, word.y0, word.x1, word.y1)
