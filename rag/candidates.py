"""Hits -> the sentences that could be quoted, each with what it says out of its page. Pure.

"It ends at 26." says nothing alone: the words of the document's name and of the headings above
count for it, and a table row is read with its header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.cite import MIN_CHARACTERS
from rag.keyword import tokens
from rag.sentences import cells, is_title, split
from rag.types import Document, Hit, Page

LONGEST_LIST = 900
"""Characters of a list that are quoted together with the line that introduces it."""

_SHORTEST_PROSE = 50
_LONGEST_CAPTION = 120
_LONGEST_NAME = 40
_MARKS = re.compile(r"[ \t]*#{1,6}\s+")
_NUMBERED = re.compile(r"\(?\w{1,3}[.)]\s")


Passage = tuple[int, Hit, Page, Document]
"""A hit with its rank from 0, its page and its document."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`page.text[start:end]`, a sentence, a list item, a list with its first line, or a row."""

    hit: Hit
    rank: int
    """Of the hit, from 0."""
    page: Page
    document: Document
    start: int
    end: int
    shown: str
    """Folded to one line, a row as "header: cell; ..."; a list keeps its lines."""
    heading: str
    """The last heading above it, or ""."""
    words: frozenset[str]
    """Stems of what is quoted."""
    context: frozenset[str]
    """Stems, as those of `words`: of the document's name, the headings and a table's header."""

    @property
    def place(self) -> tuple[str, int]:
        return self.document.id, self.page.number

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]

    @property
    def is_row(self) -> bool:
        return "\n" not in self.shown and len(cells(self.text)) > 1


def candidates(passages: Iterable[Passage]) -> list[Candidate]:
    """Those that lie in the chunks at least by half, in the order of the hits, each once."""
    found: list[Candidate] = []
    seen: set[tuple[str, int, int]] = set()
    units: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for rank, hit, page, document in passages:
        at = (document.id, page.number)
        if at not in units:
            units[at] = split(page.text, _headings(page))
        spans = units[at]
        for index, (start, end) in enumerate(spans):
            inside = min(end, hit.chunk.end) - max(start, hit.chunk.start)
            if inside * 2 < end - start or (*at, start) in seen:
                continue
            seen.add((*at, start))
            if sum(map(str.isalnum, page.text[start:end])) < MIN_CHARACTERS:
                continue  # too short to be quoted
            if _is_heading(page, spans[index:]) or _is_header(page.text, start, end):
                continue
            found.append(_candidate(rank, hit, page, document, spans[index:]))
    return found


def row_text(header: str, row: str) -> str:
    """A table row as a sentence: "Plan: Basic; Cost: 5"; without names that are none.

    Lines of two columns of prose look like a table on a PDF page.
    """
    names, values = cells(header), cells(row)
    if len(names) != len(values) or max(map(len, names)) > _LONGEST_NAME:
        names = [""] * len(values)
    named = zip(names, values, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _candidate(
    rank: int, hit: Hit, page: Page, document: Document, spans: Sequence[tuple[int, int]]
) -> Candidate:
    start, end = spans[0]
    text = page.text[start:end]
    language = document.language or "en"
    above = [h for h in page.headings if h.start <= start]
    heading = above[-1].title if above else hit.chunk.heading.rpartition(" › ")[2]
    context = f"{document.name} {hit.chunk.heading} {heading}"
    if len(cells(text)) > 1 and "\n" not in text:
        caption, header = _table(page.text, start)
        shown = row_text(header, text)
        context += f" {caption} {header}"
    elif text.endswith((":", "：")):
        end = _list_end(page, spans)
        shown = _list(page.text, spans, end)
    else:
        shown = " ".join(text.split())
    return Candidate(
        hit=hit,
        rank=rank,
        page=page,
        document=document,
        start=start,
        end=end,
        shown=shown,
        heading=heading,
        words=frozenset(tokens(page.text[start:end], language)),
        context=frozenset(tokens(context, language)),
    )


def _headings(page: Page) -> list[tuple[int, int]]:
    spans = []
    for heading in page.headings:
        marks = _MARKS.match(page.text, heading.start)
        begun = marks.end() if marks else heading.start
        spans.append((heading.start, begun + max(1, len(heading.title))))
    return spans


def _is_heading(page: Page, spans: Sequence[tuple[int, int]]) -> bool:
    """Of the first span: known to be one, or a title with a sentence after it."""
    start, end = spans[0]
    line = page.text.rfind("\n", 0, start) + 1
    if any(first <= start < last for first, last in _headings(page)):
        return True
    if _MARKS.match(page.text, line):
        return True
    text = page.text[start:end]
    followed = len(spans) > 1 and spans[1][1] - spans[1][0] >= _SHORTEST_PROSE
    return is_title(text) and (text.isupper() or followed)


def _is_header(text: str, start: int, end: int) -> bool:
    """A table's first row: above the rule in Markdown, else without a number and a row below."""
    row = text[start:end]
    below = text[end : end + 200].lstrip(" |").lstrip("\n").partition("\n")[0]
    if row.startswith("|"):
        return "---" in below and set(below) <= set("|:- ")
    return (
        len(cells(row)) > 1
        and len(cells(below)) > 1
        and _table(text, start)[1] == ""
        and not re.search(r"\d", row)
    )


def _table(text: str, start: int) -> tuple[str, str]:
    """The caption above the table that the row at `start` belongs to, and the table's first row.

    Each is "" when there is none.
    """
    lines = text[: text.rfind("\n", 0, start) + 1].split("\n")[:-1]
    header = ""
    while lines and len(cells(lines[-1])) > 1:
        header = lines.pop()
    while lines and not lines[-1].strip():
        lines.pop()
    caption = lines[-1].strip() if lines else ""
    return caption if len(caption) <= _LONGEST_CAPTION else "", header


def _list_end(page: Page, spans: Sequence[tuple[int, int]]) -> int:
    """Where the list ends that the first span introduces; its own end when no list follows."""
    start, end = spans[0]
    for index, span in enumerate(spans[1:], start=1):
        more = _is_item(page.text, end, span[0]) or (
            index > 1 and "\n" not in page.text[end : span[0]]  # the item's next sentence
        )
        if not more or span[1] - start > LONGEST_LIST or _is_heading(page, spans[index:]):
            break
        end = span[1]
    return end


def _is_item(text: str, last: int, start: int) -> bool:
    """Whether the unit at `start` is a list item; bullets stand between the units."""
    return bool(text[last:start].strip()) or _NUMBERED.match(text, start) is not None


def _list(text: str, spans: Sequence[tuple[int, int]], end: int) -> str:
    shown = ""
    last = spans[0][0]
    for start, stop in spans:
        if stop > end:
            break
        if shown:
            shown += "\n- " if _is_item(text, last, start) else " "
        shown += " ".join(text[start:stop].split())
        last = stop
    return shown
