"""Offsets in a page's text -> where they stand: marked on the rendered PDF page, or in an excerpt.

Nothing is searched for: the words of a page carry their offsets and their rectangles.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag.errors import FileError, FootnoteError, NotFound
from rag.types import Word

PYMUPDF_LOCK = threading.Lock()
"""PyMuPDF is not thread-safe: hold this around every use of it in the app's process."""

MAX_PIXELS = 4_000_000
"""A poster at the usual zoom would take hundreds of megabytes."""

_YELLOW = np.array([255, 226, 64], dtype=np.float32)
_LONG_WORD = 20
"""A longer word is a line of CJK or an address: it is marked in part, others as a whole."""

Bar = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points, in the page as displayed."""


def render(
    path: Path,
    number: int,
    words: Sequence[Word],
    start: int,
    end: int,
    *,
    zoom: float = 2.0,
    password: str = "",
) -> bytes:
    """PNG of page `number` (1-based) of a PDF, the words of `[start, end)` marked in yellow.

    `zoom` 1 is 72 dots per inch; it is lowered for a page that would exceed MAX_PIXELS. An empty
    span marks nothing. Raises NotFound for the page, FileError for the file.
    """
    import pymupdf

    bars = rects(words, start, end)
    with PYMUPDF_LOCK:
        pymupdf.TOOLS.mupdf_display_errors(False)  # they are raised as well
        pymupdf.TOOLS.mupdf_display_warnings(False)
        try:
            return _draw(path, number, bars, zoom, password)
        except FootnoteError:
            raise
        except Exception as error:  # RuntimeError, ValueError and a dozen of MuPDF's own
            raise FileError(
                "corrupt", f"Page {number} of {path.name!r} cannot be drawn: {error}."
            ) from error
        finally:
            # MuPDF takes a font of an earlier file for one of another that is described alike.
            pymupdf.TOOLS.store_shrink(100)


def _draw(path: Path, number: int, bars: Sequence[Bar], zoom: float, password: str) -> bytes:
    import pymupdf

    with pymupdf.open(path, filetype="pdf") as file:
        if file.needs_pass and not file.authenticate(password):
            raise FileError("password_required", f"{path.name!r} needs its password to be drawn.")
        if not 1 <= number <= file.page_count:
            raise NotFound(f"{path.name!r} has {file.page_count} pages, none is {number}.")
        page = file[number - 1]
        area = max(1.0, page.rect.width * page.rect.height)
        zoom = min(zoom, math.sqrt(MAX_PIXELS / area))
        image = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csRGB)
        size = (image.h, image.w, 3)
        pixels = np.frombuffer(image.samples, dtype=np.uint8).reshape(size)
        marked = _mark(pixels, np.array(bars) * zoom)
        drawn = pymupdf.Pixmap(pymupdf.csRGB, image.w, image.h, marked.tobytes(), False)
        png: bytes = drawn.tobytes("png")
        return png


def rects(words: Sequence[Word], start: int, end: int) -> list[Bar]:
    """The words of `[start, end)`; neighbours on a line become one bar.

    Only words that follow each other in the text are joined, and no gap wider than the line is
    high, so that columns and table cells stay apart.
    """
    bars: list[Bar] = []
    for word in words:
        if word.start >= end or word.end <= start:
            continue
        bar = _part(word, start, end)
        if bars and _adjacent(bars[-1], bar):
            last = bars.pop()
            bar = (
                min(last[0], bar[0]),
                min(last[1], bar[1]),
                max(last[2], bar[2]),
                max(last[3], bar[3]),
            )
        bars.append(bar)
    return bars


def excerpt(text: str, start: int, end: int, around: int = 800) -> tuple[str, str, str]:
    """What stands before, the quote, what stands after; at most `around` characters a side.

    Cut at word borders. For formats without a page image.
    """
    before = text[max(0, start - around) : start]
    if start > around:
        cut = re.match(r"\S*\s+", before)  # the first word may be half a word
        before = before[cut.end() :] if cut else before
    after = text[end : end + around]
    if end + around < len(text):
        cut = re.search(r"\s+\S*$", after)
        after = after[: cut.start()] if cut else after
    return before, text[start:end], after


def paragraph_number(text: str, start: int) -> int:
    """The 1-based paragraph that holds offset `start`; paragraphs end at an empty line."""
    return 1 + len(re.findall(r"\n[ \t]*\n\s*", text[:start].lstrip()))


def _part(word: Word, start: int, end: int) -> Bar:
    length = word.end - word.start
    if length <= _LONG_WORD:
        return word.x0, word.y0, word.x1, word.y1
    width = (word.x1 - word.x0) / length
    left = max(0, start - word.start)
    right = max(0, word.end - end)
    return word.x0 + left * width, word.y0, word.x1 - right * width, word.y1


def _adjacent(last: Bar, bar: Bar) -> bool:
    height = min(last[3] - last[1], bar[3] - bar[1])
    shared = min(last[3], bar[3]) - max(last[1], bar[1])
    gap = max(bar[0] - last[2], last[0] - bar[2])  # either side: right-to-left text
    return shared > height / 2 and gap <= max(last[3] - last[1], bar[3] - bar[1])


def _mark(pixels: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Multiplies the bars by yellow, like a text marker; light text on dark ground is tinted."""
    marked = pixels.copy()
    # Bars of one quote may overlap (accents, tight lines): every pixel is marked once.
    mask = np.zeros(pixels.shape[:2], dtype=bool)
    dark = np.zeros_like(mask)
    for x0, y0, x1, y1 in bars:
        area = (
            slice(max(0, math.floor(y0)), max(0, math.ceil(y1))),
            slice(max(0, math.floor(x0) - 1), max(0, math.ceil(x1) + 1)),
        )
        mask[area] = True
        if pixels[area].size and pixels[area].mean() < 110:
            dark[area] = True
    light = mask & ~dark
    marked[light] = (pixels[light] * (_YELLOW / 255)).astype(np.uint8)
    marked[dark] = (pixels[dark] * 0.55 + _YELLOW * 0.45).astype(np.uint8)
    return marked
