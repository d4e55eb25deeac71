"""Word files -> sections, as Word shows them: numbers of headings and lists, footnotes, text boxes.

Left out: deleted and moved-away words, comments, hidden text (with a warning), the field codes and
page numbers. Headers and footers come once each, as a first page of their own, so that they stand
under no heading. A footnote follows the paragraph or table that refers to it.

The XML is read directly: mammoth, tried first, knows no headers, no list numbers, no hidden text.
Tags are compared without their namespaces, which makes Strict files the same as others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rag.parse import drawing, html
from rag.parse.archive import Archive, Element, attribute, child, local
from rag.parse.charset import decode
from rag.parse.docx_styles import (
    Numbering,
    Style,
    flag,
    integer,
    monospaced,
    outline,
    read_styles,
    value,
)
from rag.parse.docx_text import math, symbol
from rag.parse.opc import main_part, relationships
from rag.parse.sections import Block, PageText, Reading, compose, sections, table

_IGNORED = {
    "annotationRef", "commentReference", "del", "delInstrText", "delText", "docPr", "fldData",
    "footnoteRef", "instrText", "moveFrom", "pPr", "rPr", "sdtEndPr", "sdtPr", "sectPr",
    "tblGrid", "tblPr", "tcPr", "trPr",
}  # fmt: skip
_FIXED = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_PAGE_FIELDS = {"PAGE", "NUMPAGES", "SECTIONPAGES"}


def read(path: Path, name: str) -> Reading:
    with Archive(path, name) as archive:
        part = main_part(archive)[0]
        document = _Document(archive, part)
        text, marks = compose(document.body(part))
        margins = compose(document.margins())[0]
    pages = sections(text, marks)
    if margins:
        pages.insert(0, PageText("", margins))
    return Reading("section", pages, html.hidden_warning(document.hidden))


class _Document:
    def __init__(self, archive: Archive, part: str) -> None:
        self._archive = archive
        self._relations = relationships(archive, part)
        self._styles = read_styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"))
        self._notes = {kind: self._read_notes(kind) for kind in ("footnotes", "endnotes")}
        self._margins: dict[str, None] = {}  # an ordered set of relationship ids
        self._in_margins = False
        self._fields: list[str] = []
        self._carried = ""
        """Text of a paragraph whose end was deleted: it belongs to the next one."""
        self._boxes: list[Block] = []
        self._pending_notes: list[Block] = []
        self._note_labels: dict[tuple[str, str], str] = {}
        self.hidden = 0

    def body(self, part: str) -> Iterator[Block]:
        for element in self._archive.children(part, "body"):
            yield from self._blocks([element])
            yield from self._pending_notes
            self._pending_notes.clear()
        if self._carried:
            yield Block(self._carried)

    def margins(self) -> Iterator[Block]:
        """Headers and footers that the body refers to, each text once. Call after `body`."""
        self._in_margins = True
        seen: set[str] = set()
        for key in self._margins:
            member = self._relations.get(key, ("", ""))[1]
            if member in self._archive:
                self._relations = relationships(self._archive, member) | self._relations
                for block in self._blocks(self._archive.xml(member)):
                    if block.text.strip() not in seen:
                        seen.add(block.text.strip())
                        yield Block(block.text, tight=block.tight)

    def _part(self, kind: str) -> Element | None:
        member = next((m for k, m in self._relations.values() if k == kind), "")
        return self._archive.xml(member) if member in self._archive else None

    def _read_notes(self, kind: str) -> dict[str, Element]:
        root = self._part(kind)
        return {attribute(e, "id"): e for e in (() if root is None else root)}

    def _blocks(self, elements: Iterable[Element]) -> Iterator[Block]:
        for element in elements:
            name = local(element)
            if name == "p":
                yield from self._paragraph(element)
            elif name == "tbl":
                yield from self._table(element)
            elif name == "altChunk":
                yield from self._foreign(attribute(element, "id"))
            elif name == "sectPr":
                self._remember_margins(element)
            elif name == "AlternateContent":
                yield from self._blocks(_alternative(element))
            elif name not in _IGNORED and not _placeholder(element):
                yield from self._blocks(element)

    def _paragraph(self, element: Element) -> Iterator[Block]:
        properties = child(element, "pPr")
        self._remember_margins(child(properties, "sectPr"))
        style = self._styles.get(value(child(properties, "pStyle")), Style())
        outer, self._boxes = self._boxes, []
        runs = _Runs(style)
        self._inline(element, runs)
        boxes, self._boxes = self._boxes, outer
        self.hidden += runs.hidden
        text = self._carried + "".join(runs.parts)
        self._carried = ""
        if child(properties, "rPr", "del") is not None:
            self._carried = text
            return
        label, depth = self._label(properties, style)
        level = outline(properties, style.level)
        if not text.strip():
            pass
        elif level:
            yield Block(f"{label} {text}".strip(), level)
        elif label:
            yield Block("  " * depth + f"{label} {text.strip()}", tight=True)
        else:
            yield Block(text, tight=runs.mono)
        yield from boxes

    def _label(self, properties: Element | None, style: Style) -> tuple[str, int]:
        numbering = child(properties, "numPr")
        number = value(child(numbering, "numId")) or style.number
        level = integer(value(child(numbering, "ilvl")), style.number_level)
        return self._numbering.label(number, level) if number else "", level

    def _inline(self, element: Element, runs: _Runs) -> None:
        for part in element:
            name = local(part)
            if name in _IGNORED:
                if name == "instrText" and self._fields:
                    self._fields[-1] += part.text or ""
            elif name == "r":
                self._run(part, runs)
            elif name == "t":
                if "wordprocessingml" in str(part.tag) and not self._page_number():
                    runs.add(part.text or "")
            elif name in _FIXED:
                runs.add(_FIXED[name])
            elif name == "sym":
                runs.add(symbol(attribute(part, "font"), attribute(part, "char")))
            elif name == "fldChar":
                self._field(attribute(part, "fldCharType"))
            elif name == "fldSimple":
                self._fields.append(attribute(part, "instr"))
                self._inline(part, runs)
                self._fields.pop()
            elif name in ("footnoteReference", "endnoteReference"):
                runs.add(self._note(name.removesuffix("Reference") + "s", attribute(part, "id")))
            elif name == "AlternateContent":
                for shown in _alternative(part):
                    self._inline(shown, runs)
            elif name == "txbxContent":
                self._boxes.extend(self._blocks(part))
            elif name in ("chart", "relIds"):
                self._boxes.extend(self._drawing(part, name))
            elif name in ("oMath", "oMathPara"):
                runs.add(math(part))
            elif name == "ruby":
                base = child(part, "rubyBase")
                if base is not None:
                    self._inline(base, runs)
            elif not _placeholder(part):
                self._inline(part, runs)

    def _run(self, run: Element, runs: _Runs) -> None:
        properties = child(run, "rPr")
        character = self._styles.get(value(child(properties, "rStyle")), Style())
        style = runs.style
        hidden = flag(child(properties, "vanish"), style.hidden or character.hidden)
        if hidden and not runs.in_hidden:
            inner = _Runs(style, in_hidden=True)
            self._inline(run, inner)
            runs.hidden += bool("".join(inner.parts).strip())
            return
        before = len(runs.parts)
        self._inline(run, runs)
        if "".join(runs.parts[before:]).strip():
            runs.mono = runs.mono and monospaced(properties, style.mono or character.mono)

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append("")
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _page_number(self) -> bool:
        """Whether this text is a page number in a header or footer, which says nothing here."""
        if not self._in_margins:
            return False
        return any(field.split()[:1] and field.split()[0] in _PAGE_FIELDS for field in self._fields)

    def _note(self, kind: str, key: str) -> str:
        """The mark `[^1]`; the note itself waits for the end of the paragraph or table."""
        if (kind, key) in self._note_labels:
            return self._note_labels[kind, key]
        count = sum(k == kind for k, _ in self._note_labels) + 1
        label = f"[^{count}]" if kind == "footnotes" else f"[^e{count}]"
        self._note_labels[kind, key] = label
        note = self._notes[kind].get(key)
        if note is not None:
            text = " ".join(block.text.strip() for block in self._blocks(note))
            self._pending_notes.append(Block(f"{label}: {text}"))
        return label

    def _drawing(self, element: Element, name: str) -> list[Block]:
        readers: dict[str, tuple[str, Callable[[Element], list[Block]]]] = {
            "chart": ("id", drawing.chart),
            "relIds": ("dm", drawing.diagram),
        }
        key, reader = readers[name]
        member = self._relations.get(attribute(element, key), ("", ""))[1]
        return reader(self._archive.xml(member)) if member in self._archive else []

    def _foreign(self, key: str) -> list[Block]:
        """An altChunk: another document that Word merges in when it opens the file."""
        member = self._relations.get(key, ("", ""))[1]
        if member not in self._archive:
            return []
        data = self._archive.read(member)
        text = decode(data, html.declared_charset(data))[0]
        if "<" in text[:1000]:
            converter = html.convert(text)
            self.hidden += converter.hidden
            return converter.blocks
        return [Block(paragraph) for paragraph in text.split("\n\n")]

    def _table(self, element: Element) -> list[Block]:
        rows = [[self._cell(cell) for cell in _cells(row)] for row in _rows(element)]
        blocks = [block for row in rows for cell, _ in row for block in cell]
        if any(block.level for block in blocks) or max(map(len, rows), default=0) < 2:
            return blocks  # it only lays out the page
        return table(
            [
                text
                for cell, span in row
                for text in (" ".join(block.text for block in cell), *[""] * (span - 1))
            ]
            for row in rows
        )

    def _cell(self, cell: Element) -> tuple[list[Block], int]:
        """The cell's blocks, a table inside it flattened to one, and the columns it spans."""
        properties = child(cell, "tcPr")
        span = min(max(integer(value(child(properties, "gridSpan")), 1), 1), 100)
        blocks: list[Block] = []
        for part in cell:
            if local(part) != "tbl":
                blocks.extend(self._blocks([part]))
                continue
            rows = [
                ", ".join(" ".join(block.text for block in self._cell(c)[0]) for c in _cells(row))
                for row in _rows(part)
            ]
            blocks.append(Block("; ".join(rows)))
        return blocks, span

    def _remember_margins(self, section: Element | None) -> None:
        for reference in () if section is None else section:
            if local(reference) in ("headerReference", "footerReference"):
                self._margins.setdefault(attribute(reference, "id"))


class _Runs:
    """The text of one paragraph as it grows."""

    def __init__(self, style: Style, in_hidden: bool = False) -> None:
        self.style = style
        self.in_hidden = in_hidden
        self.parts: list[str] = []
        self.mono = True
        self.hidden = 0

    def add(self, text: str) -> None:
        self.parts.append(text)


def _placeholder(control: Element) -> bool:
    """A content control that still shows its "Click here to enter text"."""
    return child(control, "sdtPr", "showingPlcHdr") is not None


def _alternative(element: Element) -> list[Element]:
    """The first of several representations; the others repeat it for older programs."""
    choices = [part for part in element if local(part) in ("Choice", "Fallback")]
    return choices[:1]


def _rows(element: Element) -> Iterator[Element]:
    for part in element:
        if local(part) == "tr":
            if child(part, "trPr", "del") is None:
                yield part
        elif local(part) not in _IGNORED:
            yield from _rows(part)


def _cells(row: Element) -> Iterator[Element]:
    for part in row:
        if local(part) == "tc":
            yield part
        elif local(part) not in _IGNORED:
            yield from _cells(part)
