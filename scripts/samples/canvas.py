"""One PDF page drawn as a content stream, with the standard fonts every viewer has.

Coordinates are points from the top left, y downwards. Nothing is embedded, so a page costs a
few kilobytes and the same input always gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import pymupdf

WIDTH, HEIGHT = 595.0, 842.0
"""A4."""

Colour = tuple[float, float, float]
Point = tuple[float, float]

BLACK: Colour = (0.10, 0.11, 0.13)
WHITE: Colour = (1.0, 1.0, 1.0)


def rgb(value: str) -> Colour:
    """`"#0b6e69"` as three numbers from 0 to 1."""
    red, green, blue = bytes.fromhex(value.lstrip("#"))
    return red / 255, green / 255, blue / 255


@cache
def text_width(text: str, font: str, size: float) -> float:
    """Width in points; `font` is one of PyMuPDF's short names ("helv", "tibo", ...)."""
    return float(_metrics(font).text_length(text, size))


@cache
def _metrics(font: str) -> pymupdf.Font:
    return pymupdf.Font(font)


class Canvas:
    """Collects drawing operators; `close` writes them to the page."""

    def __init__(self, document: pymupdf.Document) -> None:
        self.page = document.new_page(width=WIDTH, height=HEIGHT)
        self._document = document
        self._fonts: set[str] = set()
        self._ops: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        font: str,
        size: float,
        colour: Colour = BLACK,
        *,
        align: str = "left",
        word_space: float = 0.0,
    ) -> float:
        """Draws on the baseline `y`; returns the x where the text ends.

        Raises UnicodeEncodeError for a character outside Windows-1252, all the fonts have.
        """
        width = text_width(text, font, size) + word_space * text.count(" ")
        x -= {"left": 0.0, "center": width / 2, "right": width}[align]
        if font not in self._fonts:
            self.page.insert_font(fontname=font)
            self._fonts.add(font)
        self._ops.append(
            f"BT {_numbers(*colour)} rg /{font} {_numbers(size)} Tf {_numbers(word_space)} Tw "
            f"{_numbers(x, HEIGHT - y)} Td <{text.encode('cp1252').hex()}> Tj ET"
        )
        return x + width

    def rect(self, x: float, y: float, width: float, height: float, fill: Colour) -> None:
        """`x`, `y` is the top left corner."""
        self._ops.append(
            f"{_numbers(*fill)} rg {_numbers(x, HEIGHT - y - height, width, height)} re f"
        )

    def line(
        self,
        points: Sequence[Point],
        colour: Colour,
        width: float = 0.6,
        *,
        dash: Sequence[float] = (),
    ) -> None:
        self._path(points)
        self._ops.append(
            f"{_numbers(*colour)} RG {_numbers(width)} w 1 J 1 j [{_numbers(*dash)}] 0 d S [] 0 d"
        )

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        self._path(points)
        self._ops.append(f"{_numbers(*fill)} rg h f")

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: Colour | None = None,
        stroke: Colour | None = None,
        width: float = 0.6,
    ) -> None:
        points = [
            (x + radius * math.cos(step * math.pi / 36), y + radius * math.sin(step * math.pi / 36))
            for step in range(73)
        ]
        if fill is not None:
            self.polygon(points, fill)
        if stroke is not None:
            self.line(points, stroke, width)

    def close(self) -> None:
        xref = self._document.get_new_xref()
        self._document.update_object(xref, "<<>>")
        self._document.update_stream(xref, "\n".join(self._ops).encode("ascii"))
        self.page.set_contents(xref)

    def _path(self, points: Sequence[Point]) -> None:
        (x, y), *rest = points
        self._ops.append(f"{_numbers(x, HEIGHT - y)} m")
        self._ops.extend(f"{_numbers(x, HEIGHT - y)} l" for x, y in rest)


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.3f}".rstrip("0").rstrip(".") for value in values)
