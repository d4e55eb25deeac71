"""A PDF page's lines and rules -> its rows and tables in reading order. Pure."""

from __future__ import annotations

from rag.parse.grids import rules_of, with_grids
from rag.parse.layout import Piece, read
from rag.parse.lines import Line, framed, fused
from rag.parse.pdf_words import Drawn
from rag.parse.tables import ruled


def pieces(page: Drawn) -> list[Piece]:
    """The upright text, then what is turned, each in reading order."""
    frames: dict[int, list[Line]] = {}
    for line in page.lines:
        frames.setdefault(line.turn, []).append(line)
    found: list[Piece] = []
    for turn in sorted(frames, key=lambda t: (t != 0, t)):
        lines = frames[turn]
        for boxes in (page.ruled, page.grounds):
            lines = with_grids(lines, [r for box in boxes for r in rules_of(framed(box, turn))])
        lines = fused(lines)
        for line in lines:
            if line.table:
                line.table = ruled([[fused(cell) for cell in row] for row in line.table.rows])
        found += read(lines)
    return found
