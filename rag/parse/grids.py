"""Drawn rules -> the grids that they make -> tables of the lines inside. Pure.

Every cell is found by its borders: two neighbouring fields without a rule between them are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag.parse.lines import Cell, Glyphs, Line, Table, columns, framed, part

_NEAR = 3.0
"""Points: rules closer than that meet, and are one if they are parallel."""
THIN = 3.0
"""Points: a rectangle that is thinner is a rule."""
_SMALLEST = 4.0
"""Points: a rule that is shorter is none."""
_MOST_RULES = 4000
"""More are a drawing, such as a map."""
_FILLED = 0.4
"""Share of the cells that must hold text; a chart's grid is empty."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line, at `at` from `start` to `end`: y and x if it lies, else x and y."""

    lies: bool
    at: float
    start: float
    end: float


def rules_of(box: tuple[float, float, float, float]) -> list[Rule]:
    """A thin rectangle is one rule, another one four."""
    x0, y0, x1, y1 = box
    lying = Rule(True, (y0 + y1) / 2, x0, x1)
    standing = Rule(False, (x0 + x1) / 2, y0, y1)
    if y1 - y0 < THIN:
        return [lying] if x1 - x0 >= _SMALLEST else []
    if x1 - x0 < THIN:
        return [standing] if y1 - y0 >= _SMALLEST else []
    return [Rule(True, y0, x0, x1), Rule(True, y1, x0, x1),
            Rule(False, x0, y0, y1), Rule(False, x1, y0, y1)]  # fmt: skip


def with_grids(lines: Sequence[Line], rules: Sequence[Rule]) -> list[Line]:
    """The lines; those of a ruled table are replaced by one line that stands for it."""
    if len(rules) > _MOST_RULES:
        return list(lines)
    rest = list(lines)
    for grid in _grids(rules):
        found = _tabulated(rest, grid)
        if found is not None:
            rest = found
    return rest


@dataclass(slots=True)
class _Grid:
    xs: list[float]
    ys: list[float]
    lying: list[Rule]
    standing: list[Rule]

    def field(self, x: float, y: float) -> tuple[int, int] | None:
        """(row, column) of the field that holds a point."""
        row = _between(self.ys, y)
        column = _between(self.xs, x)
        return None if row is None or column is None else (row, column)

    def cells(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Field -> the first field of the cell that it belongs to."""
        height, width = len(self.ys) - 1, len(self.xs) - 1
        root = {(r, c): (r, c) for r in range(height) for c in range(width)}

        def find(field: tuple[int, int]) -> tuple[int, int]:
            while root[field] != field:
                field = root[field]
            return field

        for r in range(height):
            y = (self.ys[r] + self.ys[r + 1]) / 2
            for c in range(width):
                x = (self.xs[c] + self.xs[c + 1]) / 2
                for other, at, along, rules in (
                    ((r, c + 1), self.xs[c + 1], y, self.standing),
                    ((r + 1, c), self.ys[r + 1], x, self.lying),
                ):
                    if other in root and not _is_ruled(rules, at, along):
                        a, b = sorted((find((r, c)), find(other)))
                        root[b] = a
        return {field: find(field) for field in root}


def _between(borders: Sequence[float], value: float) -> int | None:
    return next((i for i, (a, b) in enumerate(pairwise(borders)) if a <= value < b), None)


def _is_ruled(rules: Sequence[Rule], at: float, along: float) -> bool:
    return any(
        abs(rule.at - at) <= _NEAR and rule.start - _NEAR <= along <= rule.end + _NEAR
        for rule in rules
    )


def _grids(rules: Sequence[Rule]) -> list[_Grid]:
    """Groups of rules that meet, if they make at least two rows and two columns."""
    lying = _merged([r for r in rules if r.lies])
    standing = _merged([r for r in rules if not r.lies])
    groups: list[tuple[list[Rule], list[Rule]]] = []
    for rule in standing:
        met = [r for r in lying if _meets(r, rule)]
        if not met:
            continue
        joined = (met, [rule])
        rest = []
        for group in groups:
            if any(r in group[0] for r in met):
                joined = (
                    joined[0] + [r for r in group[0] if r not in joined[0]],
                    joined[1] + group[1],
                )
            else:
                rest.append(group)
        groups = [*rest, joined]
    grids = []
    for across, down in groups:
        xs = _places([r.at for r in down] + [x for r in across for x in (r.start, r.end)])
        ys = _places([r.at for r in across] + [y for r in down for y in (r.start, r.end)])
        if len(xs) >= 3 and len(ys) >= 3:
            grids.append(_Grid(xs, ys, across, down))
    return grids


def _meets(lying: Rule, standing: Rule) -> bool:
    return (
        lying.start - _NEAR <= standing.at <= lying.end + _NEAR
        and standing.start - _NEAR <= lying.at <= standing.end + _NEAR
    )


def _merged(rules: Sequence[Rule]) -> list[Rule]:
    """Pieces of one rule, drawn cell by cell, as one."""
    tracks: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda r: r.at):
        if tracks and rule.at - tracks[-1][0].at <= _NEAR:
            tracks[-1].append(rule)
        else:
            tracks.append([rule])
    merged: list[Rule] = []
    for track in tracks:
        last: Rule | None = None
        for rule in sorted(track, key=lambda r: r.start):
            if last and rule.start <= last.end + _NEAR:
                last = merged[-1] = replace(last, end=max(last.end, rule.end))
            else:
                last = rule
                merged.append(rule)
    return merged


def _places(values: Sequence[float]) -> list[float]:
    """Sorted, with those that are near each other taken for one."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > 2 * _NEAR:
            places.append(value)
    return places


def _tabulated(lines: list[Line], grid: _Grid) -> list[Line] | None:
    """The lines with one for the grid's table, or None when the grid holds no table."""
    roots = grid.cells()
    if len(set(roots.values())) < 4:
        return None
    inside: dict[tuple[int, int], Cell] = {}
    outside: list[Line] = []
    for line in lines:
        for words, cell in _by_cell(line, grid, roots):
            piece = line if len(words) == len(line.words) else part(line, words)
            if cell is None:
                outside.append(piece)
            else:
                inside.setdefault(cell, []).append(piece)
    if len(inside) < _FILLED * len(set(roots.values())) or len(inside) < 4:
        return None
    # Rules that part only groups of columns say nothing about what stands beside each other.
    coarse = sum(_is_divided(cell) for cell in inside.values())
    if coarse > 0.3 * len(inside):
        return None
    width = range(len(grid.xs) - 1)
    rows = [
        [inside.get((r, c), []) for c in width]
        for r in range(len(grid.ys) - 1)
        if any((r, c) in inside for c in width)
    ]
    kept = [c for c in width if any(row[c] for row in rows)]
    rows = [[row[c] for c in kept] for row in rows]
    if len(rows) < 2 or len(kept) < 2:
        return None
    first = min((n for cell in inside.values() for n in cell), key=lambda n: n.order)
    outside.append(
        Line(
            words=[w for row in rows for cell in row for n in cell for w in n.words],
            order=first.order,
            size=first.size,
            bold=False,
            block=first.block,
            x0=grid.xs[0],
            y0=grid.ys[0],
            x1=grid.xs[-1],
            y1=grid.ys[-1],
            turn=first.turn,
            table=Table(rows),
        )
    )
    return outside


def _by_cell(
    line: Line, grid: _Grid, roots: dict[tuple[int, int], tuple[int, int]]
) -> list[tuple[list[Glyphs], tuple[int, int] | None]]:
    """The line's words by the cell in which their middle lies; mostly it is one cell."""
    if line.table or not (grid.ys[0] < line.middle < grid.ys[-1]):
        return [(line.words, None)]
    groups: list[tuple[list[Glyphs], tuple[int, int] | None]] = []
    for word in line.words:
        x0, _, x1, _ = framed((word.x0, word.y0, word.x1, word.y1), line.turn)
        field = grid.field((x0 + x1) / 2, line.middle)
        cell = None if field is None else roots[field]
        if groups and groups[-1][1] == cell:
            groups[-1][0].append(word)
        else:
            groups.append(([word], cell))
    return groups


def _is_divided(cell: Cell) -> bool:
    """Whether a cell holds columns of its own, as wide apart as those of a table are."""
    return len(cell) > 1 and any(
        min(n.x0 for n in right) - max(n.x1 for n in left) > cell[0].height
        for left, right in pairwise(columns(cell))
    )
