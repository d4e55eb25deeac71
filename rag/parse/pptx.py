"""PowerPoint files -> one page per slide: title, shapes from top to bottom, notes.

Hidden slides keep their number but not their text, with a warning. Slide numbers and dates are
left out; a footer that stands on every slide is kept on the first one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.parse import drawing
from rag.parse.archive import Archive, attribute, child, local, parse
from rag.parse.opc import transitional
from rag.parse.sections import Block, PageText, Reading, compose, table
from rag.types import Heading, Warning

_PLACED_BY_MASTER = {"DATE (16)", "SLIDE_NUMBER (13)"}
_BULLETED = {"BODY (2)", "OBJECT (7)", "VERTICAL_BODY (5)", "VERTICAL_OBJECT (17)"}
"""Placeholders whose paragraphs are list items unless they say otherwise."""


def read(path: Path, name: str) -> Reading:
    import pptx

    with Archive(path, name) as archive:
        presentation = pptx.Presentation(transitional(archive))
    pages = []
    hidden = []
    footers: set[str] = set()
    for number, slide in enumerate(presentation.slides, start=1):
        if attribute(slide._element, "show") == "0":
            hidden.append(Warning("hidden_slide", f"Hidden slide {number} left out.", number))
            pages.append(PageText("", ""))
            continue
        text, marks = compose(_slide(slide, footers))
        title = marks[0].title if marks else ""
        headings = tuple(Heading(mark.start, mark.level, mark.title) for mark in marks)
        pages.append(PageText(title, text, headings))
    return Reading("slide", pages, tuple(hidden))


def _slide(slide: Any, footers: set[str]) -> Iterator[Block]:  # python-pptx has no types
    _unwrap(slide.shapes._spTree)
    title = slide.shapes.title
    if title is not None and not _invisible(title):
        yield Block(title.text_frame.text.replace("\v", " "), 1)
    body = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    yield from _shapes(body, footers)
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        notes = frame.text.strip() if frame is not None else ""
        if notes:
            yield Block(f"Notes: {notes}")


def _shapes(shapes: Iterable[Any], footers: set[str]) -> Iterator[Block]:
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if _invisible(shape):
            continue
        kind = str(shape.placeholder_format.type) if shape.is_placeholder else ""
        if kind in _PLACED_BY_MASTER:
            continue
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, footers)
        elif getattr(shape, "has_table", False):
            rows = shape.table.rows
            yield from table([[_cell(cell) for cell in row.cells] for row in rows])
        elif shape.has_text_frame:
            text = shape.text_frame.text
            if kind == "FOOTER (15)":
                if text in footers:
                    continue
                footers.add(text)
            yield from _paragraphs(shape.text_frame, kind in _BULLETED)
        else:
            yield from _graphic(shape)


def _cell(cell: Any) -> str:
    """A merged cell's text stands in its first place only."""
    return "" if cell.is_spanned else str(cell.text_frame.text)


def _paragraphs(frame: Any, bulleted: bool) -> Iterator[Block]:
    for paragraph in frame.paragraphs:
        text = paragraph.text.replace("\v", "\n").strip()
        level = paragraph.level
        item = _bullet(paragraph, bulleted or level > 0) and bool(text)
        yield Block("  " * level + "- " + text if item else text, tight=item)


def _bullet(paragraph: Any, default: bool) -> bool:
    properties = child(paragraph._p, "pPr")
    if child(properties, "buNone") is not None:
        return False
    return default or any(child(properties, kind) is not None for kind in ("buChar", "buAutoNum"))


def _unwrap(shapes: Any) -> None:
    """Puts the first choice of each mc:AlternateContent, which python-pptx skips, in its place."""
    for element in [e for e in shapes.iter() if local(e) == "AlternateContent"]:
        choice = child(element, "Choice")
        for shape in () if choice is None else list(choice):
            element.addprevious(shape)


def _graphic(shape: Any) -> list[Block]:
    """The words of a chart or a SmartArt picture; none for pictures."""
    for element in shape._element.iter():
        if local(element) == "chart" and attribute(element, "id"):
            part = shape.part.related_part(attribute(element, "id"))
            return drawing.chart(part._element)
        if local(element) == "relIds":
            part = shape.part.related_part(attribute(element, "dm"))
            return drawing.diagram(parse(part.blob))
    return []


def _invisible(shape: Any) -> bool:
    return any(
        local(element) == "cNvPr" and attribute(element, "hidden") in ("1", "true")
        for element in shape._element[0]
    )
