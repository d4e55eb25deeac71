"""Other ways to cut pages than the app's. Each gives chunks of which `text` is what is embedded;
some return more than they embed, which `widened` tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag.chunk import chunk_id
from rag.embed import Embedder
from rag.evaluate.index import Cut
from rag.evaluate.stages import Found
from rag.sentences import split
from rag.types import Chunk, Heading, Page, ParsedPage

_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\|)|(?<=\|)\n")
"""Between paragraphs, and between the rows of a table."""
_FEWEST_LETTERS = 20
"""Of a small unit: page numbers and bullets alone are none."""
_BESIDE = 2
"""Sentences returned on either side of the one that was embedded."""

Span = tuple[int, int]
Widen = Callable[[Found, Page], Span]


@dataclass(frozen=True, slots=True)
class Way:
    name: str
    cut: Cut | None
    """None: the app's own."""
    widened: Widen | None = None
    """What is returned for a hit, where that is more than was embedded."""


def ways(embedder: Embedder, tokens: int) -> list[Way]:
    """`tokens`: the size that paragraphs are packed to."""
    return [
        Way("by structure (the app's)", None),
        Way("fixed, 512 characters with 100 overlap", _cut(lambda text, a, b: _fixed(a, b))),
        Way("paragraphs packed", _cut(lambda text, a, b: _packed(text, a, b, embedder, tokens))),
        Way("small units, page returned", _cut(_small), lambda hit, page: (0, len(page.text))),
        Way("sentences, window returned", _cut(_sentences), _window),
    ]


def _cut(spans: Callable[[str, int, int], Iterable[Span]]) -> Cut:
    """Chunks from spans of a page's text, with the heading above and no furniture."""

    def cut(pages: Iterable[ParsedPage]) -> Iterator[Chunk]:
        path: list[Heading] = []
        for parsed in pages:
            page = parsed.page
            if page.kind == "suspect":
                continue
            start, end = _body(parsed)
            waiting = sorted(page.headings, key=lambda h: h.start)
            for first, b in spans(page.text, start, end):
                a = first + len(page.text[first:b]) - len(page.text[first:b].lstrip())
                if a == b:
                    continue
                while waiting and waiting[0].start <= a:
                    heading = waiting.pop(0)
                    path = [h for h in path if h.level < heading.level] + [heading]
                yield Chunk(
                    id=chunk_id(page, a, b),
                    document_id=page.document_id,
                    page=page.number,
                    start=a,
                    end=b,
                    text=page.text[a:b],
                    heading=" › ".join(h.title for h in path),
                )

    return cut


def _fixed(start: int, end: int, size: int = 512, overlap: int = 100) -> Iterator[Span]:
    at = start
    while at < end:
        yield at, min(at + size, end)
        if at + size >= end:
            return
        at += size - overlap


def _packed(text: str, start: int, end: int, embedder: Embedder, tokens: int) -> Iterator[Span]:
    """Whole paragraphs up to the size; a longer one alone, cut between words."""
    parts = [p for a, b in _paragraphs(text, start, end) for p in _pieces(text, a, b, tokens * 3)]
    sizes = embedder.count_tokens([text[a:b] for a, b in parts])
    first, total = 0, 0
    for i, size in enumerate(sizes):
        if total + size > tokens and i > first:
            yield parts[first][0], parts[i - 1][1]
            first, total = i, 0
        total += size
    if parts:
        yield parts[first][0], parts[-1][1]


def _small(text: str, start: int, end: int) -> Iterator[Span]:
    for a, b in _paragraphs(text, start, end):
        if sum(map(str.isalnum, text[a:b])) >= _FEWEST_LETTERS:
            yield from _pieces(text, a, b, 1000)


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    for a, b in split(text[start:end]):
        if sum(map(str.isalnum, text[start + a : start + b])) >= _FEWEST_LETTERS:
            yield start + a, start + b


def _window(hit: Found, page: Page) -> Span:
    spans = [span for span in split(page.text) if span[1] > hit.start - 1]
    before = [span for span in split(page.text) if span[1] <= hit.start][-_BESIDE:]
    after = [span for span in spans if span[0] >= hit.end][:_BESIDE]
    return (before or [(hit.start, 0)])[0][0], (after or [(0, hit.end)])[-1][1]


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for border in [*_PARAGRAPH.finditer(text, start, end), None]:
        last = border.start() if border else end
        yield from _trimmed(text, at, last)
        at = border.end() if border else end


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[Span]:
    """A span cut between words into pieces of at most `size` characters."""
    while end - start > size:
        at = max(text.rfind(" ", start, start + size), text.rfind("\n", start, start + size))
        at = at if at > start else start + size
        yield from _trimmed(text, start, at)
        start = at
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    stripped = text[start:end].strip()
    if stripped:
        begun = text.index(stripped, start, end)
        yield begun, begun + len(stripped)


def _body(parsed: ParsedPage) -> Span:
    start, end = 0, len(parsed.page.text)
    for a, b in parsed.furniture:
        if not parsed.page.text[start:a].strip():
            start = b
        else:
            end = min(end, a)
    return start, max(start, end)


def widen(found: Sequence[Found], way: Way, page: Callable[[str, int], Page]) -> list[Found]:
    """The hits as they are returned; what was returned already is not again."""
    if way.widened is None:
        return list(found)
    wide: dict[tuple[str, int, int, int], Found] = {}
    for hit in found:
        start, end = way.widened(hit, page(hit.doc, hit.page))
        wide.setdefault((hit.doc, hit.page, start, end), replace(hit, start=start, end=end))
    return list(wide.values())
