"""Verbatim evidence -> where it stands in the library: page and characters.

Pure but for reading pages. A quote goes through the same verification as an answer's quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rag.cite import verify
from rag.evaluate.cases import Evidence
from rag.evaluate.metrics.text import words
from rag.types import Citation, Document, Page

PageSpan = tuple[int, int, int]
"""A 1-based page and a half-open range of characters on it."""

ENOUGH = 0.8
"""The share of an evidence's words that must be on its page for the page to be believed: tables
are read in another order by every reader, so word for word would be too much."""


class Pages(Protocol):
    def page(self, document_id: str, number: int) -> Page: ...

    def pages(self, document_id: str) -> list[Page]: ...


def locate(evidence: Evidence, document: Document, library: Pages) -> list[PageSpan]:
    """Empty when it cannot be located word for word.

    File offsets count from the start of the text file; they are mapped to the sections that the
    file was divided into, so one evidence may have a range in each of several.
    """
    if evidence.page is not None:
        pages = [evidence.page] if evidence.page <= document.page_count else []
        candidates = [library.page(document.id, number) for number in pages]
    else:
        candidates = library.pages(document.id)
        if evidence.start is not None and evidence.end is not None and document.unit != "page":
            found = list(_by_offset(evidence, candidates))
            if found:
                return found
    for page in candidates:
        citation = verify(evidence.text, page, document)
        if isinstance(citation, Citation):
            return [(page.number, citation.start, citation.end)]
    return []


def on_page(evidence: Evidence, text: str) -> bool:
    """Whether enough of the evidence's words are on the page to believe the page number."""
    wanted = words(evidence.text)
    there = set(words(text))
    return not wanted or sum(word in there for word in wanted) / len(wanted) >= ENOUGH


def _by_offset(evidence: Evidence, sections: Sequence[Page]) -> Iterator[PageSpan]:
    """The ranges of `[start, end)` of the file in each section that has a part of it.

    Sections lose nothing but white space at their borders, so characters other than white space
    are counted alike in the file and in the sections; the text itself confirms the place.
    """
    wanted = "".join(evidence.text.split())
    if not wanted:
        return
    flat = "".join("".join(section.text.split()) for section in sections)
    at = _nearest(flat, wanted, evidence.start or 0)
    if at is None:
        return
    seen = 0
    for section in sections:
        size = sum(map(len, section.text.split()))
        first, last = max(at - seen, 0), min(at + len(wanted) - seen, size)
        if first < last:
            places = [i for i, character in enumerate(section.text) if not character.isspace()]
            yield section.number, places[first], places[last - 1] + 1
        seen += size


def _nearest(flat: str, wanted: str, start: int) -> int | None:
    """Where `wanted` stands in the text without white space: the place nearest to `start`.

    `start` counts white space too, about 1 character in 6, which is enough to tell copies apart.
    """
    guess = start * 5 // 6
    found: list[int] = []
    at = flat.find(wanted)
    while at >= 0:
        found.append(at)
        at = flat.find(wanted, at + 1)
    return min(found, key=lambda place: abs(place - guess), default=None)
