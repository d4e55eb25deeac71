"""A small typesetter: marked-up text in, laid-out PDF pages out.

The markup is a dialect of Markdown. `@page` starts a page, `@columns N` a band of N balanced
columns, `@figure NAME` draws a figure, `@toc` the table of contents; `!WARNING` opens a box,
`:` a caption. The number of dashes under a table's head is the relative width of the column.
A page that overflows is an error, never a cut-off line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pymupdf
from samples.canvas import BLACK, HEIGHT, WHITE, WIDTH, Canvas, Colour, rgb, text_width
from samples.lines import Line, Style, break_lines, draw_line, line_width

SIGNALS: Mapping[str, Colour] = {
    "DANGER": rgb("#b3261e"),
    "WARNING": rgb("#c75b12"),
    "CAUTION": rgb("#a67c00"),
    "NOTE": rgb("#2b6cb0"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """A piece that is never split. `before` is dropped at the top of a column."""

    height: float
    draw: Callable[[Canvas, float, float], None]
    before: float = 0.0
    keep: bool = False
    """Stays in the column of the next item."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents; `page` is 1-based."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Figure:
    """`draw(canvas, x, y, width)` fills a box of this height below `y`."""

    height: float
    draw: Callable[[Canvas, float, float, float], None]


Chrome = Callable[[Canvas, int, str], None]
"""Draws header and footer; gets the 1-based page and the title of its chapter."""
Label = Callable[[int], str]
"""The printed page number of a 1-based page."""


def typeset(
    markup: str, style: Style, figures: Mapping[str, Figure], chrome: Chrome, label: Label
) -> pymupdf.Document:
    """The document with its outline; set twice, so that the contents know the page numbers."""
    entries = _Typesetter(style, figures, chrome, label, ()).run(markup)[1]
    document, entries = _Typesetter(style, figures, chrome, label, entries).run(markup)
    document.set_toc([[entry.level, entry.title, entry.page] for entry in entries])
    return document


class _Typesetter:
    def __init__(
        self,
        style: Style,
        figures: Mapping[str, Figure],
        chrome: Chrome,
        label: Label,
        contents: Sequence[Entry],
    ) -> None:
        self.style, self.figures, self.chrome, self.label = style, figures, chrome, label
        self.contents = contents
        self.entries: list[Entry] = []
        self.links: list[tuple[int, pymupdf.Rect, int]] = []
        self.overflows: list[str] = []

    def run(self, markup: str) -> tuple[pymupdf.Document, list[Entry]]:
        document = pymupdf.open()
        chapter = ""
        for number, source in enumerate(re.split(r"^@page\n", markup, flags=re.M)[1:], start=1):
            canvas = Canvas(document)
            title = re.search(r"^# (.+)$", source, re.M)
            chapter = title.group(1) if title else chapter
            self._page(canvas, number, source)
            self.chrome(canvas, number, chapter)
            canvas.close()
        if self.overflows:
            raise ValueError("too much text: " + ", ".join(self.overflows))
        for page, area, target in self.links:
            document[page - 1].insert_link(
                {
                    "kind": pymupdf.LINK_GOTO,
                    "from": area,
                    "page": target - 1,
                    "to": pymupdf.Point(0, 0),
                }
            )
        return document, self.entries

    def _page(self, canvas: Canvas, number: int, source: str) -> None:
        style = self.style
        y = style.top
        bands = re.split(r"^@columns (\d)\n", "@columns 1\n" + source, flags=re.M)[1:]
        for count, blocks in zip(map(int, bands[::2]), bands[1::2], strict=True):
            width = (WIDTH - 2 * style.margin - style.gap * (count - 1)) / count
            items = [
                item for block in _blocks(blocks) for item in self._items(block, width, number)
            ]
            if not items:
                continue
            if y > style.top:
                y += items[0].before
            columns = _balance(items) if count == 2 else [items]
            for column, pieces in enumerate(columns):
                x = style.margin + column * (width + style.gap)
                cursor = y
                for position, item in enumerate(pieces):
                    cursor += item.before if position else 0
                    item.draw(canvas, x, cursor)
                    cursor += item.height
            y += max(map(_height, columns))
        overflow = y - (HEIGHT - style.bottom)
        if overflow > 0:
            self.overflows.append(f"page {number} by {overflow:.0f} points")

    def _items(self, block: str, width: float, number: int) -> Iterator[Item]:
        if block.startswith("#"):
            yield self._heading(block, width, number)
        elif block.startswith("@figure "):
            figure = self.figures[block.removeprefix("@figure ")]
            yield Item(
                figure.height, lambda c, x, y: figure.draw(c, x, y, width), before=8, keep=True
            )
        elif block == "@toc":
            yield from self._toc(width, number)
        elif block.startswith("@space "):
            yield Item(float(block.split()[1]), lambda c, x, y: None)
        elif block.startswith("|"):
            yield self._table(block, width)
        elif block.startswith("!"):
            yield self._box(block, width)
        elif block.startswith(": "):
            yield self._caption(block.removeprefix(": "), width)
        elif re.match(r"- |\d+\. ", block):
            for entry in re.split(r"\n(?=- |\d+\. )", block):
                yield from self._list_entry(entry, width)
        else:
            yield from self._paragraph(block, width, before=5)

    def _heading(self, block: str, width: float, number: int) -> Item:
        style = self.style
        marks, title = block.split(" ", 1)
        level = len(marks)
        if level < 3:
            self.entries.append(Entry(level, title, number))
        size = {1: 21.0, 2: 11.6, 3: 9.8}[level]
        lines = break_lines(title, width, style.head, size, style)
        leading = size * 1.2

        def draw(canvas: Canvas, x: float, y: float) -> None:
            for row, line in enumerate(lines):
                draw_line(canvas, x, y + size + row * leading, line, size, style, style.accent)
            if level == 1:
                below = y + leading * len(lines) + 6
                canvas.line([(x, below), (x + width, below)], style.accent, 1.2)

        extra = {1: 16.0, 2: 3.0, 3: 1.0}[level]
        before = {1: 0.0, 2: 13.0, 3: 8.0}[level]
        return Item(leading * len(lines) + extra, draw, before=before, keep=True)

    def _paragraph(
        self, text: str, width: float, *, before: float, indent: float = 0.0, mark: str = ""
    ) -> Iterator[Item]:
        style = self.style
        lines = break_lines(text, width - indent, style.body, style.size, style)
        for row, line in enumerate(lines):
            last = row == len(lines) - 1

            def draw(
                canvas: Canvas, x: float, y: float, line: Line = line, row: int = row,
                last: bool = last,
            ) -> None:  # fmt: skip
                base = y + style.size
                if mark and row == 0:
                    canvas.text(x, base, mark, style.bold, style.size, style.accent)
                stretch = width - indent if style.justified and not last else None
                draw_line(canvas, x + indent, base, line, style.size, style, fit=stretch)

            # No widows, no orphans: two lines at least on either side of a column break.
            keep = (row == 0 and len(lines) > 1) or row == len(lines) - 2
            yield Item(style.leading, draw, before=0 if row else before, keep=keep)

    def _list_entry(self, entry: str, width: float) -> Iterator[Item]:
        mark, text = entry.split(" ", 1)
        bullet = mark == "-"
        return self._paragraph(
            text,
            width,
            before=2.5,
            indent=10 if bullet else 16,
            mark="•" if bullet else mark,
        )

    def _caption(self, text: str, width: float) -> Item:
        style = self.style
        size, leading = style.size - 0.9, style.leading - 1.4
        lines = break_lines(text, width, style.body, size, style)

        def draw(canvas: Canvas, x: float, y: float) -> None:
            for row, line in enumerate(lines):
                draw_line(canvas, x, y + size + row * leading, line, size, style)

        return Item(leading * len(lines) + 3, draw, before=9, keep=True)

    def _box(self, block: str, width: float) -> Item:
        style = self.style
        head, text = block[1:].split("\n", 1)
        signal, _, title = head.partition(" ")
        colour = SIGNALS[signal]
        lines = break_lines(text, width - 24, style.body, style.size, style)
        height = 30 + style.leading * len(lines)
        pale = tuple(1 - (1 - part) * 0.10 for part in colour)

        def draw(canvas: Canvas, x: float, y: float) -> None:
            canvas.rect(x, y, width, height, (pale[0], pale[1], pale[2]))
            canvas.rect(x, y, 3.5, height, colour)
            top = y + 8
            canvas.polygon([(x + 12, top + 9), (x + 22, top + 9), (x + 17, top)], colour)
            canvas.text(x + 17, top + 8.2, "!", "hebo", 7, WHITE, align="center")
            end = canvas.text(x + 27, top + 8.6, signal, "hebo", 8.6, colour)
            canvas.text(end + 6, top + 8.6, title, style.bold, 9, colour)
            for row, line in enumerate(lines):
                base = y + 22 + style.size + row * style.leading
                draw_line(canvas, x + 12, base, line, style.size, style)

        return Item(height, draw, before=9)

    def _table(self, block: str, width: float) -> Item:
        style = self.style
        size, leading, pad = style.size - 0.9, style.leading - 1.9, 5.5
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.split("\n")]
        rules = rows.pop(1)
        total = sum(rule.count("-") for rule in rules)
        widths = [width * rule.count("-") / total for rule in rules]
        right = [rule.endswith(":") for rule in rules]
        cells = [
            [
                break_lines(cell, room - 2 * pad, style.body if number else style.bold, size, style)
                for cell, room in zip(row, widths, strict=True)
            ]
            for number, row in enumerate(rows)
        ]
        heights = [max(map(len, row)) * leading + 6.5 for row in cells]

        def draw(canvas: Canvas, x: float, y: float) -> None:
            for number, row in enumerate(cells):
                if number == 0:
                    canvas.rect(x, y, width, heights[0], style.accent)
                elif number % 2 == 0:
                    canvas.rect(x, y, width, heights[number], style.tint)
                left = x
                for cell, room, flush in zip(row, widths, right, strict=True):
                    for position, line in enumerate(cell):
                        base = y + 3 + size + position * leading
                        shift = room - pad - line_width(line, size, style) if flush else pad
                        colour = BLACK if number else WHITE
                        draw_line(canvas, left + shift, base, line, size, style, colour)
                    left += room
                y += heights[number]
            canvas.line([(x, y), (x + width, y)], style.accent, 0.8)

        return Item(sum(heights) + 3, draw, before=5)

    def _toc(self, width: float, number: int) -> Iterator[Item]:
        style = self.style
        for entry in self.contents:
            if entry.page == number:
                continue  # the contents do not list themselves
            top = entry.level == 1
            font, size = (style.bold, 9.8) if top else (style.body, 9.0)

            def draw(
                canvas: Canvas, x: float, y: float, entry: Entry = entry, top: bool = top,
                font: str = font, size: float = size,
            ) -> None:  # fmt: skip
                base = y + 10
                label = self.label(entry.page)
                end = canvas.text(x + (0 if top else 14), base, entry.title, font, size)
                edge = x + width - text_width(label, font, size)
                if not top:
                    canvas.line([(end + 5, base - 1), (edge - 5, base - 1)], (0.6, 0.6, 0.6), 0.5,
                                dash=(0.5, 3))  # fmt: skip
                canvas.text(x + width, base, label, font, size, align="right")
                area = pymupdf.Rect(x, y, x + width, y + 12.6)
                self.links.append((number, area, entry.page))

            yield Item(12.6, draw, before=5 if top else 0, keep=top)


def _blocks(source: str) -> list[str]:
    source = re.sub(r"^(#+ .+|: .+|@.+)$", r"\1\n", source, flags=re.M)  # a block of one line
    return [block.strip("\n") for block in re.split(r"\n\s*\n", source) if block.strip()]


def _height(items: Sequence[Item]) -> float:
    return sum(item.height + (item.before if row else 0) for row, item in enumerate(items))


def _balance(items: list[Item]) -> list[list[Item]]:
    """Two columns as equal as the items allow, the left one the longer."""
    cuts = [cut for cut in range(1, len(items)) if not items[cut - 1].keep] or [len(items)]
    best = min(cuts, key=lambda cut: max(_height(items[:cut]), _height(items[cut:]) + 0.1))
    return [items[:best], items[best:]]
