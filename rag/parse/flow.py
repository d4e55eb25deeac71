"""Rows and tables in reading order -> page text, and the place of every word. Pure.

Every character of a word has that word's rectangle; what is added between words (spaces, line
ends, the marks of a table) has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.parse.layout import Piece
from rag.parse.lines import Cell, Line, Row, Table
from rag.parse.mend import SOFT_HYPHEN
from rag.types import Word

_WORD_HYPHEN = re.compile(r"(?<=[^\W_])[-\u2010]$")
_FRONT = re.compile(r"\S*$")
_BACK = re.compile(r"\w*")
_COMPOUNDING = re.compile(
    r"(?:well|self|high|low|long|short|half|full|hard|cross|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|first|second|third|so|large|small|year|cost|user|state)$"
)
"""Words that are mostly followed by a hyphen of their own: "well-known", "self-test"."""


class Flow:
    """The text of one page as it grows.

    `vocabulary` holds the words of the pages before and takes this page's: it decides whether a
    hyphen at a line's end belongs to the word.
    """

    def __init__(self, vocabulary: set[str]) -> None:
        self.words: list[Word] = []
        self.placed: list[tuple[int, Line]] = []
        """Each line outside tables with the offset at which it begins."""
        self._vocabulary = vocabulary
        self._parts: list[str] = []
        self._length = 0
        self._above: Piece | None = None
        self._parted = False

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def add(self, pieces: Sequence[Piece]) -> tuple[int, int]:
        """Appends them; where their text begins and ends."""
        start = -1
        for piece in pieces:
            for line in _lines(piece):
                self._vocabulary.update(w.text.strip(".,;:()").lower() for w in line.words[:-1])
        for piece in pieces:
            if isinstance(piece, Table):
                self._between("\n\n" if self._above else "")
                start = self._length if start < 0 else start
                self._table(piece)
            else:
                self._between(self._gap(piece))
                start = self._length if start < 0 else start
                self._row(piece)
            self._above = piece
        self._end_word()
        return max(start, 0), self._length

    def part(self) -> None:
        """What is added next begins a paragraph."""
        self._parted = True

    def _row(self, row: Row) -> None:
        for i, line in enumerate(row.lines):
            if i:
                self._between("  ")  # a gap wide enough to be a cell's border
            self.placed.append((self._length, line))
            self._line(line)

    def _table(self, table: Table) -> None:
        width = len(table.rows[0])
        empty: list[list[Cell]] = [] if table.header else [[[] for _ in range(width)]]
        for i, row in enumerate([*empty, *table.rows]):
            self._write("|")
            for cell in row:
                self._write(" ")
                for j, line in enumerate(cell):
                    if j:
                        self._between(self._joint(line) if cell[j - 1].words else " ", " ")
                    self._line(line)
                self._end_word()
                self._write(" |" if cell else "|")
            if i == 0:
                self._write("\n|" + " --- |" * width)
            if i < len(empty) + len(table.rows) - 1:
                self._write("\n")

    def _line(self, line: Line) -> None:
        for i, glyphs in enumerate(line.words):
            if i:
                self._write(" ")
            ends_line = i == len(line.words) - 1
            text = glyphs.text if ends_line else glyphs.text.rstrip(SOFT_HYPHEN)
            start = self._length
            self._write(text)
            self.words.append(Word(start, self._length, glyphs.x0, glyphs.y0, glyphs.x1, glyphs.y1))

    def _gap(self, row: Row) -> str:
        """A line end or a paragraph's end, or nothing where a word goes on."""
        above, parted = self._above, self._parted
        self._parted = False
        if above is None:
            return ""
        if parted or isinstance(above, Table):
            return "\n\n"
        last, first = above.lines[-1], row.lines[0]
        gap = first.y0 - last.y1
        same_column = first.y0 >= last.y0 and first.x0 < last.x1
        height = max(last.height, 1.0)
        apart = gap > 0.75 * height if same_column else not self._goes_on(first)
        bigger = abs(first.size - last.size) > 0.12 * max(first.size, 1.0)
        if apart or (bigger and len(above.lines) == 1):
            return "\n\n"
        if len(above.lines) == 1 and len(row.lines) == 1:
            return self._joint(first)
        return "\n"

    def _goes_on(self, first: Line) -> bool:
        """Whether the next column's first line carries on a sentence."""
        return self._last()[-1:] not in ".!?:" and first.words[0].text[:1].islower()

    def _joint(self, line: Line) -> str:
        """What joins a line to the one before: "" where a hyphen splits a word, else a line end.

        A hyphen that only splits the word is taken back.
        """
        last, head = self._last(), line.words[0].text
        if last.endswith(SOFT_HYPHEN) and head[:1].isalpha():
            self._cut()
            return ""
        if not (_WORD_HYPHEN.search(last) and head[:1].isalnum()):
            return "\n"
        front, back = _FRONT.search(last[:-1]), _BACK.match(head)
        assert front is not None and back is not None
        if _is_split(front.group(), back.group(), self._vocabulary):
            self._cut()
        return ""

    def _last(self) -> str:
        return self._parts[-1] if self._parts else ""

    def _between(self, joint: str, line_end: str = "\n") -> None:
        if joint:
            self._end_word()
        self._write(line_end if joint == "\n" else joint)

    def _end_word(self) -> None:
        """A soft hyphen that splits no word is not shown."""
        if self._last().endswith(SOFT_HYPHEN):
            self._cut()

    def _cut(self) -> None:
        self._parts[-1] = self._parts[-1][:-1]
        self._length -= 1
        word = self.words[-1]
        self.words[-1] = Word(word.start, self._length, word.x0, word.y0, word.x1, word.y1)

    def _write(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)


def _lines(piece: Piece) -> list[Line]:
    if isinstance(piece, Row):
        return piece.lines
    return [line for row in piece.rows for cell in row for line in cell]


def _is_split(front: str, back: str, vocabulary: set[str]) -> bool:
    """Whether "front-" / "back" is one word that a line's end has split."""
    head = front.strip("(\"'“‘")
    if not (head[-1:].isalpha() and back[:1].isalpha()) or "-" in head:
        return False
    if len(head) == 1 or (back[0].isupper() and not head.isupper()):
        return False  # "X-ray", "Anglo-Saxon"
    head, back = head.lower(), back.lower()
    if head + back in vocabulary:
        return True
    if f"{head}-{back}" in vocabulary or _COMPOUNDING.match(head):
        return False
    # Two words that both stand alone elsewhere keep their hyphen.
    return not (head in vocabulary and back in vocabulary)
