"""Blocks of a document -> text with headings -> sections, each of which becomes one page.

A section starts at a heading. One that is longer than about `LIMIT` characters is split at
paragraph borders; a heading with nothing below it stays with the section that follows.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag.parse.charset import clean
from rag.types import Heading, Unit, Warning

LIMIT = 4_000
"""Characters of a section; only text without any border is cut inside a word."""

PATH_SEPARATOR = " › "

_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_BORDERS = (
    _PARAGRAPH,
    re.compile(r"\n"),
    re.compile(r"[.!?…]+[\"'”’)\]]*\s|[。！？]"),
    re.compile(r"\s"),
    re.compile(r"[^\w\s](?=\w)"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading (`level` 1 to 6), list item, line of code or table."""

    text: str
    level: int = 0
    tight: bool = False
    """Stands under a tight neighbour without a blank line: list items, lines of code."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading inside a text; what it heads begins at `body`."""

    start: int
    body: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class PageText:
    """A page before it has a number. Offsets of `headings` count from the start of `text`."""

    label: str
    text: str
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader of one format returns."""

    unit: Unit
    pages: Iterable[PageText]
    """A list where the whole file is read at once, else an iterator that goes on reading."""
    warnings: tuple[Warning, ...] = ()


def compose(blocks: Iterable[Block]) -> tuple[str, list[Mark]]:
    """The clean text of the blocks, headings with their `#` marks; empty blocks are dropped."""
    parts: list[str] = []
    marks: list[Mark] = []
    length = 0
    tight_before = False
    for block in blocks:
        text = clean(block.text)
        text = text.rstrip() if block.tight else text.strip()
        if not text.strip():
            continue
        if block.level:
            title = " ".join(text.split())
            text = "#" * block.level + " " + title
        if parts:
            parts.append("\n" if tight_before and block.tight else "\n\n")
            length += len(parts[-1])
        if block.level:
            marks.append(Mark(length, length + len(text), block.level, title))
        parts.append(text)
        length += len(text)
        tight_before = block.tight
    return "".join(parts), marks


def sections(text: str, marks: Sequence[Mark]) -> list[PageText]:
    """Verbatim slices of `text` in order; between them only white space is left out."""
    pages: list[PageText] = []
    path: list[Mark] = []
    for start, end, group in _groups(text, marks):
        for mark in group:
            while path and path[-1].level >= mark.level:
                path.pop()
            path.append(mark)
        label = PATH_SEPARATOR.join(mark.title for mark in path)
        for low, high in _pieces(text, start, end):
            low, high = _trim(text, low, high)
            if low == high:
                continue
            inside = tuple(
                Heading(mark.start - low, mark.level, mark.title)
                for mark in group
                if low <= mark.start < high
            )
            pages.append(PageText(label, text[low:high], inside))
    return pages


def _groups(text: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int, list[Mark]]]:
    start = 0
    group: list[Mark] = []
    for mark in marks:
        body = group[-1].body if group else start
        if text[body : mark.start].strip():
            yield start, mark.start, group
            start, group = mark.start, []
        group.append(mark)
    yield start, len(text), group


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Pieces of similar length, so that no tiny rest is left at the end."""
    while end - start > LIMIT:
        remaining = end - start
        size = math.ceil(remaining / math.ceil(remaining / LIMIT))
        cut = _cut(text, start + size // 4, min(start + LIMIT, start + size + size // 8))
        yield start, cut
        start = cut
    yield start, end


def _cut(text: str, low: int, high: int) -> int:
    for border in _BORDERS:
        last = -1
        for found in border.finditer(text, low, high):
            last = found.end()
        if last > low:
            return last
    while high > low and unicodedata.combining(text[high]):
        high -= 1
    return high


def _trim(text: str, low: int, high: int) -> tuple[int, int]:
    """Leaves out white space at the borders, but keeps the indent of the first line."""
    piece = text[low:high]
    high = low + len(piece.rstrip())
    lead = len(piece) - len(piece.lstrip())
    if low + lead >= high:
        return low, low
    return low + piece.rfind("\n", 0, lead) + 1, high


def table(rows: Iterable[Sequence[str]], limit: int = LIMIT - 500) -> list[Block]:
    """A Markdown table whose first row is the header.

    One longer than `limit` characters becomes several blocks, each with the header again, so
    that every section says what its columns are. Empty rows and columns are dropped.
    """
    cells = [[cell(value) for value in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return []
    width = max(len(row) for row in cells)
    used = [i for i in range(width) if any(i < len(row) and row[i] for row in cells)]
    lines = [line([row[i] if i < len(row) else "" for i in used]) for row in cells]
    head = [lines[0], ruler(len(used))]
    blocks: list[Block] = []
    body: list[str] = []
    size = 0
    for text in lines[1:]:
        if body and size + len(text) > limit:
            blocks.append(Block("\n".join(head + body)))
            body, size = [], 0
        body.append(text)
        size += len(text) + 1
    return [*blocks, Block("\n".join(head + body))]


def cell(value: str) -> str:
    """One line, with the bars that would end the cell escaped."""
    return " ".join(value.split()).replace("|", "\\|")


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def ruler(width: int) -> str:
    return line(["---"] * width)
