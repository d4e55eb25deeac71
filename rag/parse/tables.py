"""Strips of lines side by side -> tables, where their cells stand in columns. Pure.

For tables without a full grid of rules: the columns are found from where the cells stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rag.parse.lines import MARKER, Cell, Line, Table, columns, in_order, is_prose, part, slabs

_APART = 2.2
"""Line heights of white between two rows of one table, at most."""
_TALLEST_CELL = 15
_MOST_WORDS = 8
"""Rows of words alone that columns drawn one after the other may have, to be a table."""
_MOST_COLUMNS = 25
_LONE_ROWS = 2
"""Rows of one cell that may follow each other inside a table."""
_MISFITS = 0.2
"""Share of the rows whose cells may stand across columns."""
_HEADER_ROWS = 4
_CONTENTS = 5
"""Rows whose last numbers only grow, from which they are a table of contents."""
_FILLED = 0.55
"""Share of the cells that hold text, in rows of more than one; scattered labels are no table."""

_BEFORE = frozenset("$€£¥(")
_AFTER = frozenset(")%")
_AMOUNT = re.compile(r"[$€£¥(]*[-−–+]?[.,]?\d[\d.,]*[%)]*$|[-−–—]$")
_LEADER = re.compile(r"(?:^| )…(?: |$)")
_YEAR = re.compile(r"(?:FY|Q[1-4]|[1-4]Q)?[ ’']*(?:19|20)\d\d[AE*]?$|Q[1-4]$")
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\d\d?[./]\d\d?[./]\d\d",
    re.IGNORECASE,
)

Span = tuple[float, float]


def aligned(strips: Sequence[Sequence[Line]], at: int) -> tuple[Table, int] | None:
    """The table whose first row is in `strips[at]`, and the index after its last strip."""
    rows: list[list[Cell]] = []
    ends: list[int] = []  # how many rows there are after each strip
    lone = 0
    for strip in strips[at:]:
        cells = _cells(strip)
        if not cells or not _follows(rows, cells):
            break
        lone = lone + 1 if len(cells) == 1 else 0
        if lone > _LONE_ROWS or (not rows and lone):
            break
        rows += [[cell for cell in row if cell] for row in _split(cells)]
        ends.append(len(rows))
    while ends:
        del rows[ends[-1] :]
        if len(rows[-1]) == 1:
            ends.pop()
            continue
        spans = _columns(rows)
        if not 2 <= len(spans) <= _MOST_COLUMNS:
            return None
        good = _good(rows, spans)
        if good == len(rows):
            break
        while ends and ends[-1] > good:
            ends.pop()
    if not ends or not _is_table(rows) or _is_contents(rows):
        return None
    placed = [_placed(row, spans) for row in rows]
    filled = [sum(bool(cell) for cell in row) for row in placed]
    wide = [count for count in filled if count > 1]
    if sum(wide) < _FILLED * len(wide) * len(spans):
        return None
    return tidied(placed), at + len(ends)


def ruled(rows: list[list[Cell]]) -> Table:
    """The table of a grid's cells, whose lines may stand in any order."""
    ordered = [[in_order(cell) for cell in row] for row in rows]
    return tidied([part for row in ordered for part in _split(row)])


def _good(rows: Sequence[Sequence[Cell]], spans: Sequence[Span]) -> int:
    """How many rows there are before those that do not fit the columns become too many."""
    fit = [_fits(row, spans) for row in rows]
    good = misfits = 0
    for i, fits in enumerate(fit):
        misfits += not fits
        if misfits <= max(1, _MISFITS * (i + 1)):
            good = i + 1
    while good and not fit[good - 1]:
        good -= 1
    return good


def tidied(rows: list[list[Cell]]) -> Table:
    """Wrapped labels and cells put into one row, the rows that name the columns into one."""
    rows = _unwrapped(rows)
    kept = [c for c in range(len(rows[0])) if any(row[c] for row in rows)]
    rows = [[row[c] for c in kept] for row in rows]
    header = _header(rows)
    if header > 1:
        names = [[line for row in rows[:header] for line in row[c]] for c in range(len(kept))]
        rows = [names, *rows[header:]]
    return Table(rows, min(header, 1))


def _cells(strip: Sequence[Line]) -> list[Cell]:
    """From left to right; none where the strip can be no row of a table."""
    if any(n.table or _LEADER.search(n.text) for n in strip):
        return []
    cells: list[Cell] = []
    before = False
    for cell in columns([piece for line in strip for piece in _pieces(line)]):
        text = set("".join(n.text for n in cell))
        if cells and (before or text <= _AFTER):
            cells[-1] = cells[-1] + cell
        else:
            cells.append(cell)
        before = text <= _BEFORE
    if sum(is_prose(cell) for cell in cells) > 1 or any(len(c) > _TALLEST_CELL for c in cells):
        return []
    return [in_order(cell) for cell in cells]


def _split(cells: list[Cell]) -> list[list[Cell]]:
    """A row, or the rows that it is where columns were drawn one after the other.

    Cells of one line each are rows; of longer ones, a row begins where every column leaves white
    above it. A label that stands beside several rows goes to the first.
    """
    long = [cell for cell in cells if len(cell) > 1]
    if len(long) < 2:
        return [cells]
    steps = slabs([n for cell in long for n in cell])
    tops = [min(n.y0 for n in step) for step in steps]
    if not _is_grid(long, len(steps)):
        tops = [
            top
            for top, step in zip(tops, steps, strict=True)
            if top == tops[0] or (len(step) > 1 and all(_is_parted(cell, top) for cell in long))
        ]
    if len(tops) < 2:
        return [cells]
    rows: list[list[Cell]] = [[[] for _ in cells] for _ in tops]
    for c, cell in enumerate(cells):
        for line in cell:
            row = 0 if len(cell) == 1 else sum(top <= line.middle for top in tops[1:])
            rows[row][c].append(line)
    return rows


def _is_parted(cell: Cell, top: float) -> bool:
    """Whether no two neighbouring lines stand close together across the height `top`."""
    return all(
        not (above.middle < top <= below.middle) or below.y0 - above.y1 > 0.5 * below.height
        for above, below in pairwise(cell)
    )


def _is_grid(cells: Sequence[Cell], height: int) -> bool:
    """Whether every line of these cells is a row: short ones, all level with the longest cell's.

    Wrapped cells differ in length. A list or an index set in columns has no column of numbers,
    and many lines.
    """
    lines = [n for cell in cells for n in cell]
    numeric = any(_is_numeric(cell) for cell in cells)
    if height != max(len(cell) for cell in cells):
        return False
    if numeric:
        return len(lines) >= 1.4 * height and sum(len(n.words) for n in lines) < 4 * len(lines)
    full = len(lines) == height * len(cells)
    return full and 3 <= height <= _MOST_WORDS and all(len(n.words) <= 2 for n in lines)


def _is_numeric(cell: Cell) -> bool:
    return sum(_is_value([n]) for n in cell) * 2 > len(cell)


def _pieces(line: Line) -> list[Line]:
    """Cut where two amounts stand wider apart than words; a last sign belongs to the next one."""
    cuts = [
        i
        for i, (left, right) in enumerate(pairwise(line.words), start=1)
        if right.text in _BEFORE
        or (
            _AMOUNT.match(left.text)
            and _AMOUNT.match(right.text)
            and right.x0 - left.x1 > 0.4 * line.height
        )
    ]
    if not cuts or line.turn or line.rtl:
        return [line]
    edges = [0, *cuts, len(line.words)]
    return [part(line, line.words[a:b]) for a, b in pairwise(edges)]


def _follows(rows: Sequence[Sequence[Cell]], cells: Sequence[Cell]) -> bool:
    if not rows:
        return True
    above = [n for cell in rows[-1] for n in cell]
    below = [n for cell in cells for n in cell]
    height = min(min(n.height for n in above), max(n.height for n in below))
    gap = min(n.y0 for n in below) - max(n.y1 for n in above)
    if gap > _APART * height:
        return False
    if len(cells) > 1:
        return True
    left = min(n.x0 for row in rows for cell in row for n in cell)
    right = max(n.x1 for row in rows for cell in row for n in cell)
    line = cells[0][0]
    return len(cells[0]) == 1 and not (
        line.x1 - line.x0 > 0.6 * (right - left) and len(line.words) >= 8
    )


def _columns(rows: Sequence[Sequence[Cell]]) -> list[Span]:
    """Where the columns stand: from the rows with the most cells, widened by the others'."""
    spans: list[Span] = []
    for row in sorted((r for r in rows if len(r) > 1), key=len, reverse=True):
        for cell in row:
            x0, x1 = _span(cell)
            met = [i for i, (a, b) in enumerate(spans) if x0 < b and x1 > a]
            if not met:
                spans.append((x0, x1))
            elif len(met) == 1:
                a, b = spans[met[0]]
                spans[met[0]] = (min(a, x0), max(b, x1))
        spans.sort()
    return spans


def _span(cell: Cell) -> Span:
    return min(n.x0 for n in cell), max(n.x1 for n in cell)


def _met(cell: Cell, spans: Sequence[Span]) -> list[int]:
    x0, x1 = _span(cell)
    return [i for i, (a, b) in enumerate(spans) if x0 < b and x1 > a]


def _fits(row: Sequence[Cell], spans: Sequence[Span]) -> bool:
    """Whether each cell stands in a column of its own; one that stands alone may stand across."""
    if len(row) == 1:
        return True
    met = [_met(cell, spans) for cell in row]
    taken = [i for places in met for i in places]
    return len(taken) == len(set(taken)) and sum(len(p) == 1 for p in met) * 2 > len(met)


def _is_table(rows: Sequence[Sequence[Cell]]) -> bool:
    wide = [row for row in rows if len(row) > 1]
    if len(wide) < 2 or (len(wide) < 3 and max(len(row) for row in wide) < 3):
        return False
    # Two columns of sentences are no table, whatever their lines' places.
    words = sum(len(n.words) for row in wide for cell in row for n in cell)
    return words <= 40 * sum(len(row) for row in wide)


def _is_contents(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the rows are titles with the numbers of the pages where they stand."""
    ends = [row[-1][-1].text for row in rows if len(row) > 1]
    if len(ends) < _CONTENTS or not all(re.fullmatch(r"\d{1,4}", end) for end in ends):
        return False
    numbers = [int(end) for end in ends]
    return max(len(row) for row in rows) <= 3 and numbers == sorted(numbers)


def _placed(row: Sequence[Cell], spans: Sequence[Span]) -> list[Cell]:
    placed: list[Cell] = [[] for _ in spans]
    for cell in row:
        met = _met(cell, spans)
        if len(met) > 1 and len(cell) == 1:
            for column, piece in _divided(cell[0], spans):
                placed[column].append(piece)
        else:
            placed[met[0] if met else 0] += cell
    return placed


def _divided(line: Line, spans: Sequence[Span]) -> list[tuple[int, Line]]:
    """The line's words by column, if the spaces between columns are wider than its others."""
    gaps = [b.x0 - a.x1 for a, b in pairwise(line.words)]
    usual = sorted(gaps)[len(gaps) // 2] if len(gaps) > 2 else 0.3 * line.height
    groups: list[tuple[int, list[int]]] = []
    for i, word in enumerate(line.words):
        middle = (word.x0 + word.x1) / 2
        column = min(
            range(len(spans)), key=lambda c: max(spans[c][0] - middle, middle - spans[c][1])
        )
        wide = i == 0 or gaps[i - 1] > max(1.4 * usual, 0.3 * line.height)
        if groups and (groups[-1][0] == column or not wide):
            groups[-1][1].append(i)
        else:
            groups.append((column, [i]))
    return [(column, part(line, [line.words[i] for i in words])) for column, words in groups]


def _unwrapped(rows: list[list[Cell]]) -> list[list[Cell]]:
    """Rows joined that are one row whose label or cells run over several lines."""
    labels = [n for row in rows for n in row[0]]
    edge = max((n.x1 for n in labels), default=0.0)
    joined: list[list[Cell]] = []
    for row in rows:
        if joined and _is_rest(joined[-1], row, edge):
            joined[-1] = [a + b for a, b in zip(joined[-1], row, strict=True)]
        else:
            joined.append(row)
    return joined


def _is_rest(above: list[Cell], row: list[Cell], edge: float) -> bool:
    """Whether a row only carries on with the cells of the row above it."""
    last = [cell[-1] for cell in above if cell]
    first = [cell[0] for cell in row if cell]
    gap = min(n.y0 for n in first) - max(n.y1 for n in last)
    if gap > 0.5 * min(n.height for n in first):
        return False
    if not row[0]:
        # Below an empty label, cells carry on only where there is text above every one.
        return bool(above[0]) and all(
            a and not _is_value(a) and not _is_value(b)
            for a, b in zip(above, row, strict=True)
            if b
        )
    if not above[0]:
        return False
    label, rest = above[0][-1], row[0][0]
    head = rest.words[0]
    if MARKER.match(label.text) and not MARKER.match(rest.text) and rest.x0 > label.x0:
        return not any(above[1:]) or not any(row[1:])
    full = label.x1 + (head.x1 - head.x0) + 0.3 * rest.height > edge
    if not full or label.text.endswith((":", ".")) or label.bold != rest.bold:
        return False
    alone = not any(above[1:]) or not any(row[1:])
    return alone and (head.text[:1].islower() or not any(above[1:]))


def _header(rows: Sequence[Sequence[Cell]]) -> int:
    """How many of the first rows name the columns; 0 when the first row is like the others."""
    values = [any(_is_value(cell) for cell in row[1:]) for row in rows]
    if any(values):
        header = values.index(True)
        while header and not any(rows[header - 1][1:]):
            header -= 1  # a label above the first rows is none of the columns' names
        return header if header <= _HEADER_ROWS else 0
    first, *others = rows
    bold = [n.bold for cell in first for n in cell]
    if all(bold) and not all(n.bold for row in others for cell in row for n in cell):
        return 1
    short = all(cell and sum(len(n.words) for n in cell) <= 4 for cell in first)
    return int(short and len(first) >= 3)


def _is_value(cell: Cell) -> bool:
    """An amount or a count, but no year or date, which may name a column."""
    text = " ".join(n.text for n in cell)
    if _YEAR.match(text) or _DATE.search(text):
        return False
    marks = [c for c in text if c.isalnum()]
    return bool(marks) and sum(c.isdigit() for c in marks) * 2 >= len(marks)
