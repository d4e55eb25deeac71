"""A page of a PDF whose text is of no use -> the same page, read from its picture.

Its words carry rectangles like all others, so they are searched, quoted and highlighted alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rag.errors import FileError
from rag.parse.flow import Flow
from rag.parse.glyphs import Box, is_rtl
from rag.parse.lines import Glyphs, Line, columns, framed, is_prose, slabs
from rag.parse.mend import clean, is_garbled
from rag.parse.pdf_headings import outline, outlined, sized
from rag.parse.pdf_page import pieces
from rag.parse.pdf_words import Drawn
from rag.parse.scripts import CJK
from rag.types import Heading, Page, PageKind, ParsedPage, Word

if TYPE_CHECKING:
    from rag.parse.recognise import Quad, Recogniser, SeenLine

_ZOOM = 150 / 72
"""200 dots per inch instead of 150: word recall on scanned pages 0.957 against 0.953, in 1.3 times
the time."""
_SHORTEST, _LONGEST = 1200, 2000
"""Pixels of the longer side; posters are drawn smaller, labels larger."""
_SKEWED = 0.003
"""Radians, from which a page is set upright before its reading order is looked for."""
_UNEVEN = 0.35
"""Share by which the height of a line differs with its letters: "sees" is lower than "fog"."""
_MARGIN = 0.12
"""Share of a line's height, above and below, that detection adds around it."""


def read_page(path: Path, name: str, document_id: str, number: int, language: str) -> ParsedPage:
    """Page `number` (1-based). `language`: "auto", or ISO 639-1 codes parted by commas.

    Its kind is `ocr`, `empty` without words, `suspect` where the words cannot be right. Raises
    FileError `corrupt` for a page that cannot be drawn.
    """
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.TOOLS.store_shrink(100)
    try:
        with pymupdf.open(path, filetype="pdf") as file:
            page = file[number - 1]
            image, zoom = _drawn(page)
            size = page.rect.width, page.rect.height
            bookmarks = outline(file).get(number, [])
    except Exception as error:  # RuntimeError, ValueError and a dozen of MuPDF's own
        raise FileError(
            "corrupt", f"Page {number} of {name!r} cannot be drawn: {error}."
        ) from error
    seen = _recogniser().read(image, _alphabet_only(language))
    text, words, titles = arranged(seen, zoom, *size)
    kind: PageKind = "ocr" if words else "empty"
    if is_garbled([text[w.start : w.end] for w in words]):
        kind = "suspect"
    headings = outlined(text, 0, bookmarks) if bookmarks else titles
    return ParsedPage(Page(document_id, number, "", text, kind, tuple(headings)), words)


def arranged(
    seen: Sequence[SeenLine], zoom: float, width: float, height: float
) -> tuple[str, tuple[Word, ...], list[Heading]]:
    """Text in reading order, the place of each word in points of the displayed page, and the lines
    that are much larger than the others."""
    skew = _skew(seen)
    # Reading order is looked for on the upright page; the words stay where they are displayed.
    places: dict[Box, Box] = {}
    lines = []
    for found in seen:
        glyphs = []
        for word in found.words:
            if text := clean(word.text):
                displayed = _box(word.quad, zoom)
                upright = _box(word.quad, zoom, -skew, (width / 2, height / 2))
                places[upright] = displayed
                glyphs.append(Glyphs(text, *upright))
        if glyphs:
            lines.append(_line(glyphs, found.turn))
    if not lines:
        return "", (), []
    usual = median(line.size for line in lines)
    for order, line in enumerate(by_column(lines)):
        line.order = line.block = order
        if abs(line.size - usual) < _UNEVEN * usual:
            line.size = usual
    flow = Flow(set())
    flow.add(pieces(Drawn(lines, [], [], height)))
    words = tuple(
        Word(w.start, w.end, *places.get((w.x0, w.y0, w.x1, w.y1), (w.x0, w.y0, w.x1, w.y1)))
        for w in flow.words
    )
    return flow.text, words, sized(flow.placed, usual)


def _drawn(page: Any) -> tuple[Any, float]:
    """Pixels, blue first, and how many of them are one point."""
    import numpy as np
    import pymupdf

    longest = max(page.rect.width, page.rect.height, 1.0)
    zoom = min(max(_ZOOM, _SHORTEST / longest), _LONGEST / longest)
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB)
    image = np.frombuffer(pixels.samples, dtype=np.uint8).reshape(pixels.h, pixels.w, 3)
    return np.ascontiguousarray(image[:, :, ::-1]), zoom


@lru_cache(maxsize=1)
def _recogniser() -> Recogniser:
    from rag.parse.recognise import Recogniser

    return Recogniser()


def _alphabet_only(language: str) -> bool | None:
    return None if language == "auto" else not CJK & set(language.split(","))


def _skew(seen: Sequence[SeenLine]) -> float:
    """Radians by which the page is turned clockwise, quarter turns aside; 0 if hardly."""
    angles = []
    for line in seen:
        (x0, y0), (x1, y1), *_ = line.quad.corners
        angle = math.atan2(y1 - y0, x1 - x0) - line.turn * math.pi / 2
        angle = math.remainder(angle, 2 * math.pi)
        # Only long lines tell; a short one is as skewed as its letters are unlike.
        angles += [angle] * (len(line.words) // 4)
    skew = median(angles) if angles else 0.0
    return skew if abs(skew) > _SKEWED else 0.0


def _box(
    quad: Quad, zoom: float, angle: float = 0.0, centre: tuple[float, float] = (0.0, 0.0)
) -> Box:
    """The rectangle around it in points, turned by `angle` about `centre` before."""
    cos, sin = math.cos(angle), math.sin(angle)
    points = [(x / zoom - centre[0], y / zoom - centre[1]) for x, y in quad.corners]
    xs = [centre[0] + x * cos - y * sin for x, y in points]
    ys = [centre[1] + x * sin + y * cos for x, y in points]
    x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
    (ax, ay), _, _, (dx, dy) = quad.corners
    if abs(dy - ay) >= abs(dx - ax):
        trim = _MARGIN * (y1 - y0)
        return x0, y0 + trim, x1, y1 - trim
    trim = _MARGIN * (x1 - x0)
    return x0 + trim, y0, x1 - trim, y1


def by_column(lines: Sequence[Line]) -> list[Line]:
    """In the order in which a writer would draw them: prose column by column, all else by rows.

    The reading order leans on the order in which a file draws its text, and a picture has none.
    """
    ordered: list[Line] = []
    for turn in sorted({line.turn for line in lines}):
        strips = slabs([line for line in lines if line.turn == turn])
        at = 0
        while at < len(strips):
            end, parts = at + 1, [sorted(strips[at], key=lambda n: n.x0)]
            band = list(strips[at])
            for i in range(at + 1, len(strips)):
                band += strips[i]
                found = columns(band)
                if len(found) < 2:
                    break
                if all(is_prose(part) for part in found):
                    end = i + 1
            while end - at > 1 and _stands_apart(strips[end - 1], strips[end - 2]):
                end -= 1
            if end - at > 1:
                band = [line for strip in strips[at:end] for line in strip]
                parts = [sorted(part, key=lambda n: n.middle) for part in columns(band)]
            ordered += [line for part in parts for line in part]
            at = end
    return ordered


def _stands_apart(strip: Sequence[Line], above: Sequence[Line]) -> bool:
    """Whether a line below columns belongs to none of them: a footer, a heading of what follows."""
    gap = strip[0].y0 - max(line.y1 for line in above)
    return len(strip) == 1 and gap > 0.5 * strip[0].height


def _line(words: list[Glyphs], turn: int) -> Line:
    frames = [framed((w.x0, w.y0, w.x1, w.y1), turn) for w in words]
    y0, y1 = min(f[1] for f in frames), max(f[3] for f in frames)
    return Line(
        words=words,
        order=0,
        size=y1 - y0,
        bold=False,
        block=0,
        x0=min(f[0] for f in frames),
        y0=y0,
        x1=max(f[2] for f in frames),
        y1=y1,
        turn=turn,
        rtl=sum(is_rtl(w.text) for w in words) * 2 > len(words),
    )
