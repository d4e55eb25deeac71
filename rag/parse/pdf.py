"""PDF -> pages, by PyMuPDF: positioned words in reading order make the text.

Because the text is built from the words, every character offset maps to a rectangle exactly.
This module opens the file and names what is wrong with it. A page then goes through `pdf_words`
(what is drawn), `furniture` (what is left out of search), `pdf_page` (reading order, tables) and
`flow` (text).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag.errors import FileError
from rag.parse import Parsed
from rag.parse.flow import Flow
from rag.parse.furniture import AROUND, Edge, edges, repeated
from rag.parse.lines import Row
from rag.parse.mend import is_garbled, is_noisy
from rag.parse.pdf_fonts import Fonts
from rag.parse.pdf_headings import outline, outlined, sized
from rag.parse.pdf_page import pieces
from rag.parse.pdf_words import Drawn, drawn
from rag.types import Page, PageKind, ParsedPage, Warning

_STAMP_WORDS = 15
_SCAN_AREA = 0.5
"""Share of the page that one picture fills."""
_SAMPLED = 12
"""Pages that are looked at to learn the size of the body text."""


def open_pdf(path: Path, name: str, document_id: str) -> Parsed:
    """Raises FileError: corrupt, password_required, no_pages; iterating may raise corrupt."""
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # MuPDF takes a font of an earlier file for one of this file that is described alike.
    pymupdf.TOOLS.store_shrink(100)
    damaged = FileError(
        "corrupt", f"{name!r} is damaged and could not be read. Try to open and re-save it."
    )
    try:
        file = pymupdf.open(path, filetype="pdf")
        # Before the page count, which is 0 for some files until they are unlocked.
        if file.needs_pass:
            raise FileError(
                "password_required",
                f"{name!r} is protected by a password. Enter it, or add a copy without one.",
            )
        count = file.page_count
    except FileError:
        raise
    except Exception as error:  # RuntimeError, ValueError and a dozen of MuPDF's own
        raise damaged from error
    if count == 0:
        # MuPDF repairs what it can; a file without any page left was either empty or broken.
        if file.is_repaired:
            raise damaged
        raise FileError("no_pages", f"{name!r} has no pages.")
    warnings = []
    if attached := _attachments(file):
        warnings.append(
            Warning(
                "contains_embedded_documents",
                f"Other files are embedded in it and were not read: {', '.join(attached)}.",
            )
        )
    return Parsed("application/pdf", "page", count, tuple(warnings), _pages(file, document_id))


def _pages(file: Any, document_id: str) -> Iterator[ParsedPage]:
    body = _body_size(file)
    bookmarks = outline(file)
    vocabulary: set[str] = set()
    for number, read, furniture in _with_furniture(file, body):
        page = read.drawn
        flow = Flow(vocabulary)
        out = {id(n) for edge in furniture for n in edge.lines}
        spans = []
        if top := [Row(list(e.lines)) for e in furniture if not e.from_bottom]:
            spans.append(flow.add(top))
            flow.part()
        start = spans[0][1] if spans else 0
        flow.add(pieces(replace(page, lines=[n for n in page.lines if id(n) not in out])))
        placed = [(at, line) for at, line in flow.placed if at >= start]
        if bottom := [Row(list(e.lines)) for e in furniture[::-1] if e.from_bottom]:
            flow.part()
            spans.append(flow.add(bottom))
        text = flow.text
        if bookmarks:
            headings = outlined(text, start, bookmarks.get(number, []))
        else:
            headings = sized(placed, body)
        yield ParsedPage(
            Page(document_id, number, read.label, text, read.kind, tuple(headings)),
            tuple(flow.words),
            tuple(spans),
            read.due,
        )


@dataclass(frozen=True, slots=True)
class _Read:
    drawn: Drawn
    label: str = ""
    kind: PageKind = "empty"
    due: bool = False


def _with_furniture(file: Any, body: float) -> Iterator[tuple[int, _Read, list[Edge]]]:
    """Each page with its number and those of its lines that are furniture.

    Reads a few pages ahead, as furniture is what the neighbours have as well.
    """
    window: deque[tuple[int, _Read, list[Edge]]] = deque()
    count = file.page_count
    fonts = Fonts(file)
    ahead = 0
    for number in range(1, count + 1):
        while ahead < min(count, number + AROUND):
            read = _read(file, ahead, fonts)
            ahead += 1
            window.append((ahead, read, edges(read.drawn.lines, read.drawn.height, body)))
        while window[0][0] < number - AROUND:
            window.popleft()
        read, rows = next(entry[1:] for entry in window if entry[0] == number)
        others = [entry[2] for entry in window if entry[0] != number]
        yield number, read, repeated(rows, others, len(read.drawn.lines))


def _read(file: Any, index: int, fonts: Fonts) -> _Read:
    """A page that MuPDF cannot load is an empty page."""
    try:
        page = file[index]
        found = drawn(page, fonts)
        words = [w.text for line in found.lines for w in line.words]
        kind: PageKind = "text" if words else "empty"
        if is_garbled(words):
            kind = "suspect"
        elif is_noisy(words) and _is_invisible(page):
            kind = "noisy"
        elif found.mended:
            kind = "repaired"
        return _Read(found, _label(page), kind, _is_due(page, kind, len(words)))
    except Exception:  # RuntimeError, ValueError and a dozen of MuPDF's own
        return _Read(Drawn([], [], []))


def _is_due(page: Any, kind: PageKind, words: int) -> bool:
    """Whether the picture of the page may say more than its text.

    So it is for a scan that only a stamp is typed on, such as a page number of a court's files.
    """
    if kind == "empty":
        return bool(page.get_bboxlog())  # a page on which nothing is drawn is blank
    if kind in ("suspect", "noisy") or words > _STAMP_WORDS:
        return kind in ("suspect", "noisy")
    pictures: list[float] = [abs(page.rect & picture["bbox"]) for picture in page.get_image_info()]
    return bool(max(pictures, default=0.0) > _SCAN_AREA * abs(page.rect))


def _is_invisible(page: Any) -> bool:
    """Whether most of the text is of the kind that lies over a scan."""
    spans = page.get_texttrace()
    return sum(len(s["chars"]) * (1 if s["type"] == 3 else -1) for s in spans) > 0


def _label(page: Any) -> str:
    """The printed label; "" when the label tree is missing or malformed."""
    try:
        label = str(page.get_label())
    except Exception:  # a broken label tree is no label
        return ""
    return "" if not label.isprintable() or "<" in label else label


def _attachments(file: Any) -> list[str]:
    try:
        return [n for n in file.embfile_names() if not n.endswith((".mml", ".xml"))]
    except Exception:  # a broken name tree embeds nothing
        return []


def _body_size(file: Any) -> float:
    """The size in points that most characters of the document have."""
    sizes: Counter[float] = Counter()
    step = max(1, file.page_count // _SAMPLED)
    for index in range(0, file.page_count, step):
        try:
            blocks = file[index].get_text("dict", flags=0)["blocks"]
        except Exception:  # reported when its turn comes
            continue
        for block in blocks:
            for line in block.get("lines", ()):
                for span in line["spans"]:
                    sizes[round(span["size"] * 2) / 2] += len(span["text"].strip())
    return max(sizes, key=lambda s: sizes[s], default=0.0)
