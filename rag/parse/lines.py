"""Positioned lines of words, the rows and tables made of them, and where white space parts them.

Pure. Coordinates are in points, y grows downwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

_CORE = 0.2
"""Share of a line's height, at its top and bottom, that may overlap with its neighbours."""
_WORD_GAP = 0.35
_DRAWN_GAP = 1.1
"""Gaps, in line heights, up to which two pieces on one base line are one line: at any place in
the file, and drawn one after the other."""
_RAISED_GAP = 0.15
"""The same for pieces of unlike size, as raised signs are."""
_FULL = 0.6
"""Share of its column's width that a full line of prose fills."""
_PROSE_WORDS = 4
PROSE_LINES = 3
"""Full lines, at least, that make prose."""
_MARKER_GAP = 4.0
"""The same between a list item's mark and its text."""
MARKER = re.compile(
    r"(?:[•·▪▫◦‣●○■□❑➢➤►✓✔§–—*\-\uf0b7\uf0a7\uf0d8]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{2,4})[.)])(?:\s|$)"
)
"""What a list item begins with."""
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_DIGIT = re.compile(r"\d[%)]*$")


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
    """Words on one base line without a wide gap, in the order in which they are read.

    `x0` to `y1` are in the frame in which its text runs from left to right and down: for text
    that is turned on the page, they are not what is displayed.
    """

    words: list[Glyphs]
    order: int
    """Its place among the lines in the order in which they are drawn."""
    size: float
    bold: bool
    block: int
    """Lines of one paragraph share it."""
    x0: float
    y0: float
    x1: float
    y1: float
    turn: int = 0
    """Quarter turns, clockwise, from its frame to the displayed page."""
    rtl: bool = False
    table: Table | None = None
    """What it stands for where a whole table takes part in the reading order like a line."""

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


Cell = list[Line]


@dataclass(slots=True)
class Row:
    """Lines side by side, from the first to the last that is read; of prose there is one."""

    lines: list[Line]


@dataclass(slots=True)
class Table:
    """Rows of equally many cells; the first `header` rows name the columns."""

    rows: list[list[Cell]]
    header: int = 0


def framed(box: tuple[float, float, float, float], turn: int) -> tuple[float, float, float, float]:
    """A displayed rectangle in the frame of text that is turned by so many quarters."""
    x0, y0, x1, y1 = box
    return ((x0, y0, x1, y1), (y0, -x1, y1, -x0), (-x1, -y1, -x0, -y0), (-y1, x0, -y0, x1))[turn]


def part(line: Line, words: list[Glyphs]) -> Line:
    """The line with only these words of it."""
    boxes = [framed((w.x0, w.y0, w.x1, w.y1), line.turn) for w in words]
    return Line(
        words=words,
        order=line.order,
        size=line.size,
        bold=line.bold,
        block=line.block,
        x0=min(b[0] for b in boxes),
        y0=min(b[1] for b in boxes),
        x1=max(b[2] for b in boxes),
        y1=max(b[3] for b in boxes),
        turn=line.turn,
        rtl=line.rtl,
    )


def slabs(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut at every white stripe that runs across."""
    return _cut(
        lines, lambda n: n.y0 + _CORE * (n.y1 - n.y0), lambda n: n.y1 - _CORE * (n.y1 - n.y0), 0.0
    )


def columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut at every white stripe that runs down."""
    gap = 0.3 * min(line.height for line in lines)
    return _cut(lines, lambda n: n.x0, lambda n: n.x1, gap)


def _cut(
    lines: Sequence[Line],
    start: Callable[[Line], float],
    end: Callable[[Line], float],
    gap: float,
) -> list[list[Line]]:
    parts: list[list[Line]] = []
    reach = float("-inf")
    for line in sorted(lines, key=start):
        if start(line) >= reach + gap:
            parts.append([])
        parts[-1].append(line)
        reach = max(reach, end(line))
    return parts


def in_order(cell: Sequence[Line]) -> list[Line]:
    """The lines of a table's cell from top to bottom, those on one base line from left to right."""
    return [
        line
        for slab in slabs(cell)
        for line in sorted(slab, key=lambda n: -n.x1 if n.rtl else n.x0)
    ]


def level(a: Line, b: Line) -> bool:
    """Whether two lines share a base line, more or less."""
    shared = min(a.y1, b.y1) - max(a.y0, b.y0)
    return shared > 0.6 * min(a.height, b.height)


def stacked(above: Line, below: Line) -> bool:
    """Whether two lines drawn in a row look like lines of one paragraph."""
    shared = min(above.x1, below.x1) - max(above.x0, below.x0)
    return (
        below.middle > above.y1
        and below.y0 - above.y1 < 0.5 * min(above.height, below.height)
        and shared > 0.5 * min(above.x1 - above.x0, below.x1 - below.x0)
    )


def is_prose(lines: Sequence[Line]) -> bool:
    """Whether at least three lines, and a third of all, run over most of the column's width."""
    if len(lines) < PROSE_LINES:
        return False
    width = max(n.x1 for n in lines) - min(n.x0 for n in lines)
    full = sum(n.x1 - n.x0 >= _FULL * width and len(n.words) >= _PROSE_WORDS for n in lines)
    return full >= PROSE_LINES and full * 3 >= len(lines)


def fused(lines: Sequence[Line]) -> list[Line]:
    """Pieces of one line, torn apart by a wide space or by another font, put together.

    In the order in which they are drawn, numbered anew.
    """
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda n: (n.middle, n.x0)):
        # Compared with the row's first line, so that a slanted scan does not chain rows together.
        if rows and level(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    whole: list[Line] = []
    for row in rows:
        row.sort(key=lambda n: n.x0)
        last = row[0]
        for line in row[1:]:
            if _fills_a_gap(last, line):
                last = _filled(last, line)
            elif _continues(last, line):
                last = _together(last, line)
            else:
                whole.append(last)
                last = line
        whole.append(last)
    whole.sort(key=lambda n: n.order)
    for order, line in enumerate(whole):
        line.order = order
    return whole


def _continues(left: Line, right: Line) -> bool:
    if left.table or right.table:
        return False
    height = min(left.height, right.height)
    gap = right.x0 - left.x1
    if gap < -0.5 * height:
        return False
    follows = abs(right.order - left.order) == 1
    if follows and len(left.words) == 1 and MARKER.match(left.words[0].text):
        return gap < _MARKER_GAP * max(left.height, right.height)
    if gap > _RAISED_GAP * height and not left.height * 0.6 < right.height < left.height * 1.7:
        return False
    amounts = _DIGIT.search(left.words[-1].text) and right.words[0].text[:1] in "0123456789($€£¥-−"
    return gap < (_DRAWN_GAP if follows and not amounts else _WORD_GAP) * height


def _fills_a_gap(around: Line, line: Line) -> bool:
    """Whether a line is a piece of another that was drawn by itself, as raised signs are."""
    if around.table or line.table or around.rtl or len(line.words) > 1:
        return False
    slack = _WORD_GAP * line.height
    inside = around.x0 < line.x0 and line.x1 < around.x1
    return inside and not any(
        min(word.x1, line.x1) - max(word.x0, line.x0) > slack for word in _across(around)
    )


def _across(line: Line) -> list[Glyphs]:
    """Its words in the frame in which it runs from left to right."""
    boxes = [framed((w.x0, w.y0, w.x1, w.y1), line.turn) for w in line.words]
    return [Glyphs(w.text, *box) for w, box in zip(line.words, boxes, strict=True)]


def _filled(around: Line, line: Line) -> Line:
    at = sum(word.x0 < line.x0 for word in _across(around))
    return replace(around, words=[*around.words[:at], *line.words, *around.words[at:]])


def _together(left: Line, right: Line) -> Line:
    wider = left if left.x1 - left.x0 >= right.x1 - right.x0 else right
    return Line(
        words=right.words + left.words if wider.rtl else _joined(left.words, right.words),
        order=wider.order,
        size=max(left.size, right.size),
        bold=left.bold and right.bold,
        block=wider.block,
        x0=left.x0,
        y0=min(left.y0, right.y0),
        x1=max(left.x1, right.x1),
        y1=max(left.y1, right.y1),
        turn=wider.turn,
        rtl=wider.rtl,
    )


def _joined(left: list[Glyphs], right: list[Glyphs]) -> list[Glyphs]:
    """Words of both; signs of a script without spaces, drawn one by one, become one word."""
    a, b = left[-1], right[0]
    if not (_UNSPACED.match(a.text[-1]) and _UNSPACED.match(b.text[0])):
        return left + right
    box = (min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1))
    return [*left[:-1], Glyphs(a.text + b.text, *box), *right[1:]]
