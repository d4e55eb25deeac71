"""Lines of positioned words -> lines in reading order. Pure.

The page is cut recursively at white stripes (the X-Y cut of Nagy and Seth, 1984). Where it could
be cut across or down, the order in which the file draws its text decides: a cut that this order
confirms (all of one part drawn before all of the next) is taken first. Tables are mostly drawn row
by row and columns of prose one after the other, though both look alike. Geometry alone decides
only where the file draws its text in no order at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag.parse.lines import PROSE_LINES, Line, Row, Table, columns, is_prose, level, slabs, stacked
from rag.parse.tables import aligned

Piece = Row | Table

_SHUFFLED = 0.34
"""Changes of side per line, from which the drawing order says nothing about a cut."""


def read(lines: Sequence[Line]) -> list[Piece]:
    """In reading order. Lines of one frame only."""
    return _read(list(lines))


def _read(lines: list[Line]) -> list[Piece]:
    if len(lines) == 1:
        return [lines[0].table or Row(lines)]
    across = slabs(lines)
    whole = _whole(across)
    strips = _confirmed(whole)
    if len(strips) == 1:
        strips = _edged(whole) or strips
    if len(strips) > 1:
        return _down(strips)
    down = columns(lines)
    parts = _confirmed(down)
    by_column = len(down) in (len(parts), len(_confirmed(down[::-1])))
    if len(down) > 1 and by_column and (found := aligned([lines], 0)):
        return [found[0]]
    if len(parts) > 1:
        if len(across) > 1 and _is_beside_a_line(parts):
            return _down(across)
        return _beside(parts)
    cut = _least_shuffled(whole, down)
    if cut is not None:
        first, second = cut
        return _read(first) + _read(second)
    if len(down) > 1 and (len(across) == 1 or all(is_prose(c) for c in down)):
        return _beside(down)
    if len(across) > 1:
        return _down(across)
    return _drawn(lines)


def _down(strips: list[list[Line]]) -> list[Piece]:
    """Strips one below the other, some of which make a table."""
    pieces: list[Piece] = []
    at = 0
    while at < len(strips):
        if len(strips[at]) > 1:
            pairs = _interleaved(strips, at)
            if pairs > at:
                lines = [line for strip in strips[at:pairs] for line in strip]
                pieces += [piece for column in columns(lines) for piece in _read(column)]
                at = pairs
                continue
            found = aligned(strips, at)
            if found is not None:
                table, at = found
                pieces.append(table)
                continue
        pieces += _read(strips[at])
        at += 1
    return pieces


def _beside(parts: list[list[Line]]) -> list[Piece]:
    """One row where every part is a line, else the parts one after the other."""
    parts = _sided(parts)
    if all(len(part) == 1 and not part[0].table for part in parts):
        return [Row([part[0] for part in parts])]
    return [piece for part in parts for piece in _read(part)]


def _is_beside_a_line(parts: list[list[Line]]) -> bool:
    """Whether a single line stands beside one of several that are no prose: a field's value.

    What is filled into a form is drawn last of all.
    """
    alone = [part[0] for part in parts if len(part) == 1]
    others = [n for part in parts if len(part) > 1 for n in part]
    return (
        bool(others)
        and any(level(line, n) for line in alone for n in others)
        and not any(is_prose(part) for part in parts)
    )


def _sided(parts: list[list[Line]]) -> list[list[Line]]:
    """Parts from left to right, turned round where most of the text runs from right to left."""
    rtl = sum(len(n.words) for part in parts for n in part if n.rtl)
    all_words = sum(len(n.words) for part in parts for n in part)
    return parts[::-1] if rtl * 2 > all_words else parts


def _confirmed(parts: list[list[Line]]) -> list[list[Line]]:
    """Neighbours joined until each part is drawn wholly before the next."""
    first = [min(n.order for n in part) for part in parts]
    for i in range(len(parts) - 2, -1, -1):  # now: of this part and all after it
        first[i] = min(first[i], first[i + 1])
    joined: list[list[Line]] = []
    drawn = -1
    for part, start in zip(parts, first, strict=True):
        if joined and start < drawn:
            joined[-1] = joined[-1] + part
        else:
            joined.append(part)
        drawn = max(drawn, *(n.order for n in part))
    return joined


def _edged(strips: list[list[Line]]) -> list[list[Line]]:
    """The strips in two, if the first or the last is one line drawn before or after all others.

    Headers and footers are: a page's number would else be read with the column it stands below.
    """
    for first in (True, False):
        alone, others = (strips[0], strips[1:]) if first else (strips[-1], strips[:-1])
        rest = [n for strip in others for n in strip]
        if not rest or any(not level(alone[0], n) for n in alone):
            continue
        orders = [n.order for n in rest]
        if all(n.order < min(orders) for n in alone) or all(n.order > max(orders) for n in alone):
            return [alone, rest] if first else [rest, alone]
    return []


def _whole(strips: list[list[Line]]) -> list[list[Line]]:
    """Strips joined where a cut beside other text goes through a cell, a note or a column."""
    joined: list[list[Line]] = []
    for strip in strips:
        if joined and len(columns(joined[-1])) > 1:
            above = {n.order: n for n in joined[-1]}
            if any(n.order - 1 in above and stacked(above[n.order - 1], n) for n in strip):
                joined[-1] = joined[-1] + strip
                continue
        joined.append(strip)
    return joined


def _least_shuffled(
    across: list[list[Line]], down: list[list[Line]]
) -> tuple[list[Line], list[Line]] | None:
    """The cut in two, across or down, whose sides are drawn with the fewest changes between them.

    A side may be drawn first though it is read last: headers and footers often are.
    """
    best: tuple[float, tuple[list[Line], list[Line]]] | None = None
    for parts in (across, down):
        lines = sorted((n for part in parts for n in part), key=lambda n: n.order)
        for i in range(1, len(parts)):
            head = [n for part in parts[:i] for n in part]
            inside = {n.order for n in head}
            changes = sum((a.order in inside) != (b.order in inside) for a, b in pairwise(lines))
            swapped = lines[0].order not in inside
            score = (changes - 1 + 0.5 * swapped) / len(lines)
            if best is None or score < best[0]:
                best = score, (head, [n for part in parts[i:] for n in part])
    return best[1] if best is not None and best[0] <= _SHUFFLED else None


def _drawn(lines: list[Line]) -> list[Piece]:
    """As drawn, neighbours on one base line as one row: for text that no stripe divides."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda n: n.order):
        last = rows[-1][-1] if rows else None
        alone = line.table or (last is not None and last.table)
        if last is not None and not alone and level(last, line) and line.x0 >= last.x1:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [row[0].table or Row(row) for row in rows]


def _interleaved(strips: list[list[Line]], at: int) -> int:
    """Where a run of strips ends that are two columns of prose drawn line by line across both.

    Text recognition writes so. In a table rows stand further apart than the lines of a cell.
    """
    left: list[Line] = []
    right: list[Line] = []
    gutter = (float("-inf"), float("inf"))
    end = pairs = at
    for strip in strips[at:]:
        sides = columns(strip)
        if len(sides) > 2 or any(len(side) > 1 for side in sides):
            break
        lines = [side[0] for side in sides]
        if len(lines) == 2:
            gutter = (max(gutter[0], lines[0].x1), min(gutter[1], lines[1].x0))
        elif lines[0].x0 < gutter[0] and lines[0].x1 > gutter[1]:
            break
        if gutter[0] >= gutter[1] or (left and lines[0].y0 - left[-1].y1 > 2 * left[-1].height):
            break
        for line in lines:
            (left if line.x1 <= gutter[1] else right).append(line)
        end += 1
        if len(lines) == 2:
            pairs = end
    if pairs - at < 2 * PROSE_LINES or not right:
        return at
    even = all(_is_even(side) for side in (left, right))
    return end if even and is_prose(left) and is_prose(right) else at


def _is_even(lines: list[Line]) -> bool:
    """Whether the lines follow each other at one pitch, but for a few."""
    pitches = sorted(b.y0 - a.y0 for a, b in pairwise(lines))
    return pitches[len(pitches) * 7 // 10] <= 1.3 * pitches[len(pitches) // 10]
