"""File -> pages, the only text extractor. `open_file` looks at the content, then the name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.errors import FileError
from rag.parse import detect
from rag.parse.sections import PageText, Reading
from rag.types import Page, PageKind, ParsedPage, Unit, Warning


@dataclass(frozen=True, slots=True)
class Parsed:
    media_type: str
    unit: Unit
    page_count: int
    """0 when it is unknown before iterating: workbooks."""
    warnings: tuple[Warning, ...]
    pages: Iterator[ParsedPage]


def open_file(path: Path, name: str, document_id: str) -> Parsed:
    """The pages of a file of any supported type; `name` is what the user calls it.

    Raises FileError, and so may iterating over the pages. No network, nothing is unpacked.
    """
    with _translated(name):
        media_type = detect.detect(path, name)
        if media_type == detect.PDF:
            from rag.parse.pdf import open_pdf

            return open_pdf(path, name, document_id)
        reading = _reader(media_type)(path, name)
    count = 0
    if isinstance(reading.pages, list):
        count = len(reading.pages)
        if not any(page.text.strip() for page in reading.pages):
            raise _no_text(name)
    pages = _numbered(reading.pages, name, document_id)
    return Parsed(media_type, reading.unit, count, reading.warnings, pages)


def _numbered(pages: Iterable[PageText], name: str, document_id: str) -> Iterator[ParsedPage]:
    empty = True
    with _translated(name):
        for number, page in enumerate(pages, start=1):
            kind: PageKind = "text" if page.text.strip() else "empty"
            empty = empty and kind == "empty"
            yield ParsedPage(Page(document_id, number, page.label, page.text, kind, page.headings))
    if empty:
        raise _no_text(name)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """The libraries raise nearly anything on damaged files: KeyError, RecursionError, ..."""
    try:
        yield
    except (FileError, MemoryError):
        raise
    except Exception as error:
        raise FileError(
            "unreadable",
            f"{name!r} could not be read ({type(error).__name__}: {error}). Open it in the "
            "program that made it, save it anew and add it again.",
        ) from error


def _no_text(name: str) -> FileError:
    return FileError("no_text", f"{name!r} has no text: there is nothing to index.")


def _reader(media_type: str) -> Callable[[Path, str], Reading]:
    """Imported on demand: a text file needs neither lxml nor openpyxl."""
    if media_type == detect.MARKDOWN:
        from rag.parse.markdown import read_markdown as read
    elif media_type == detect.HTML:
        from rag.parse.html import read
    elif media_type == detect.DOCX:
        from rag.parse.docx import read
    elif media_type == detect.PPTX:
        from rag.parse.pptx import read
    elif media_type == detect.XLSX:
        from rag.parse.sheets import read_workbook as read
    elif media_type in (detect.CSV, detect.TSV):
        from rag.parse.sheets import read_delimited as read
    elif media_type == detect.EPUB:
        from rag.parse.epub import read
    elif media_type == detect.EMAIL:
        from rag.parse.mail import read
    else:
        from rag.parse.markdown import read_text as read
    return read
