"""Lines of positioned words -> page text in reading order, and the offset of every word. Pure.

Columns are found by recursive cuts (in the manner of the X-Y cut of Nagy and Seth, 1984) with
one addition: a gutter only separates columns where both sides are set as prose. In a table the
same gutter separates cells, and rows are read across.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rag.types import Word

_PROSE_FILL = 0.6
"""Share of its column's width that the median line of prose fills."""
_MOST_CROSSING = 0.34
"""Share of lines (titles, figures) that may cross a gutter."""
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
    if len(boxes) < 4 or depth > 8:
        return _rows(boxes)
    gutter = _gutter(boxes)
    if gutter is None:
        return _rows(boxes)
    crossing = sorted(
        (b for b in boxes if b.x0 < gutter - 1 and b.x1 > gutter + 1), key=lambda b: b.y0
    )
    rest = [b for b in boxes if not (b.x0 < gutter - 1 and b.x1 > gutter + 1)]
    ordered: list[list[_Box]] = []
    for spanning in [*_rows(crossing), None]:
        top = min(b.y0 for b in spanning) if spanning else float("inf")
        band = [b for b in rest if (b.y0 + b.y1) / 2 < top]
        rest = [b for b in rest if (b.y0 + b.y1) / 2 >= top]
        left = [b for b in band if b.x1 <= gutter + 1]
        right = [b for b in band if b.x1 > gutter + 1]
        if min(len(left), len(right)) >= 3 and not (_is_prose(left) or _is_prose(right)):
            ordered += _rows(band)  # a table whose cells happen to meet at the gutter
        else:
            ordered += _cut(left, depth + 1) + _cut(right, depth + 1)
        if spanning:
            ordered.append(spanning)
    return ordered


def _gutter(boxes: list[_Box]) -> float | None:
    """The x where fewest lines cross, if both sides of it are columns of prose."""
    left, right = min(b.x0 for b in boxes), max(b.x1 for b in boxes)
    width = right - left
    if width <= 0:
        return None
    best: tuple[int, float, float] | None = None
    middle = (left + right) / 2
    starts, ends = sorted(b.x0 for b in boxes), sorted(b.x1 for b in boxes)
    for x in {x - 2 for x in starts} | {x + 2 for x in ends}:
        if not left + 0.12 * width < x < right - 0.12 * width:
            continue
        crossing = bisect_left(starts, x - 1) - bisect_right(ends, x + 1)
        if crossing > _MOST_CROSSING * len(boxes):
            continue
        candidate = (crossing, abs(x - middle), x)
        if best is None or candidate < best:
            best = candidate
    if best is None:
        return None
    x = best[2]
    sides = ([b for b in boxes if b.x1 <= x + 1], [b for b in boxes if b.x0 >= x - 1])
    return x if all(_is_prose(side) for side in sides) else None


def _is_prose(side: list[_Box]) -> bool:
    if len(side) < 3:
        return False
    width = max(b.x1 for b in side) - min(b.x0 for b in side)
    fills = sorted((b.x1 - b.x0) / width for b in side if width > 0)
    wordy = sorted(len(b.line.words) for b in side)
    return bool(fills) and fills[len(fills) // 2] >= _PROSE_FILL and wordy[len(wordy) // 2] >= 3


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
