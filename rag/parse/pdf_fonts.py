"""Fonts of a PDF that do not say which letters they draw -> letters, as far as they can be known.

The file then only has the numbers of glyphs. An embedded font often still knows which characters
they stand for; without that, the order of the glyphs in the common fonts is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

UNKNOWN = "\ufffd"

_FROM_ASCII = 29
"""Glyph numbers of fonts in the order of Windows' own are those of ASCII less this."""
_SPACES = (0.08, 0.3)
"""Share of spaces in text that is set in such a font."""
_FEWEST = 12
"""Glyphs that are needed to try it."""

Letters = dict[int, str]
"""Glyph number -> character."""


class Fonts:
    """The fonts of one open file, each looked into once."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._letters: dict[int, Letters] = {}

    def named(self, page: Any) -> dict[str, Letters]:
        """By the name that MuPDF's spans give; of two fonts of one name, what both agree on."""
        named: dict[str, Letters] = {}
        for xref, _, _, name, *_ in page.get_fonts(full=True):
            base = name.partition("+")[2] or name
            if xref not in self._letters:
                self._letters[xref] = self._read(xref)
            other, letters = named.get(base, {}), self._letters[xref]
            named[base] = {
                glyph: char
                for glyph, char in (other | letters).items()
                if other.get(glyph, char) == char
            }
        return named

    def _read(self, xref: int) -> Letters:
        import pymupdf

        try:
            program = self._file.extract_font(xref)[3]
            if not program:  # not embedded: PyMuPDF would take another font's word for it
                return {}
            font = pymupdf.Font(fontbuffer=program)
            # The lowest of several characters of one glyph is the common one.
            codes = sorted(font.valid_codepoints(), reverse=True)
            letters: Letters = {font.has_glyph(code): chr(code) for code in codes if code >= 32}
        except Exception:  # a damaged font knows nothing
            return {}
        letters.pop(0, None)  # the glyph for what is missing
        return letters


def known(glyphs: Sequence[int], letters: Letters) -> Letters:
    """The letters of the glyphs that a page shows in a font; `letters` is what its program says.

    Where that is little, they are guessed, if the guess makes words with spaces between them.
    """
    if sum(glyph in letters for glyph in glyphs) * 2 > len(glyphs) or len(glyphs) < _FEWEST:
        return letters
    guess = {glyph: chr(glyph + _FROM_ASCII) for glyph in glyphs if 3 <= glyph <= 97}
    text = [guess.get(glyph, UNKNOWN) for glyph in glyphs]
    is_text = sum(char.isalpha() for char in text) > len(text) / 2
    return guess if is_text and _SPACES[0] <= text.count(" ") / len(text) <= _SPACES[1] else letters
