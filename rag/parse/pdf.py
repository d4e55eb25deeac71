"""PDF -> pages, by PyMuPDF: positioned words in reading order make the text.

Because the text is built from the words, every character offset maps to a rectangle exactly.
Reading order and line joining are in `layout.py`; this module opens the file and names what is
wrong with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag.errors import FileError
from rag.parse import Parsed
from rag.parse.layout import SOFT_HYPHEN, Glyphs, Line, compose
from rag.types import Heading, Page, ParsedPage, Warning

_SAMPLED = 24
"""Pages that are looked at to learn the size of the body text."""
_HEADING_RATIO = 1.12
_LONGEST_HEADING = 120


def open_pdf(path: Path, name: str, document_id: str) -> Parsed:
    """Raises FileError: corrupt, password_required, no_pages; iterating may raise corrupt."""
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    damaged = FileError(
        "corrupt", f"{name!r} is damaged and could not be read. Try to open and re-save it."
    )
    try:
        file = pymupdf.open(path, filetype="pdf")
        # Before the page count, which is 0 for some files until they are unlocked.
        if file.needs_pass:
            raise FileError(
                "password_required",
                f"{name!r} is protected by a password. Save a copy without one and add that.",
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
    outline = _outline(file)
    vocabulary: set[str] = set()
    for index in range(file.page_count):
        try:
            page = file[index]
            lines = _lines(page)
        except Exception:  # a page that MuPDF cannot load is an empty page
            yield _empty(document_id, index + 1)
            continue
        text, words, kept = compose(lines, vocabulary)
        headings = _outlined(text, outline.get(index + 1, [])) if outline else _sized(kept, body)
        yield ParsedPage(
            Page(
                document_id=document_id,
                number=index + 1,
                label=_label(page),
                text=text,
                kind="text" if text else "empty",
                headings=tuple(headings),
            ),
            tuple(words),
        )


def _empty(document_id: str, number: int) -> ParsedPage:
    return ParsedPage(Page(document_id, number, "", "", "empty"))


def _lines(page: Any) -> list[Line]:
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    textpage = page.get_textpage(flags=flags)
    turn = page.rotation_matrix
    turned = page.rotation != 0
    styles = {
        (b, n): line
        for b, block in enumerate(textpage.extractDICT()["blocks"])
        for n, line in enumerate(block.get("lines", ()))
    }
    grouped: dict[tuple[int, int], list[Glyphs]] = {}
    for x0, y0, x1, y1, word, block, line, _ in textpage.extractWORDS():
        if text := _clean(word):
            box = (x0, y0, x1, y1)
            if turned:
                box = tuple(pymupdf.Rect(box) * turn)
            grouped.setdefault((block, line), []).append(Glyphs(text, *box))
    found = []
    for key, words in grouped.items():
        style = styles.get(key)
        spans = [s for s in style["spans"] if s["text"].strip()] if style else []
        found.append(
            Line(
                words=words,
                block=key[0],
                size=max((s["size"] for s in spans), default=0.0),
                bold=bool(spans) and all(s["flags"] & 16 for s in spans),
                vertical=style is not None and _is_vertical(style["dir"], turn),
            )
        )
    return found


def _is_vertical(direction: tuple[float, float], turn: Any) -> bool:
    """Whether a writing direction runs up or down the page once the page is turned."""
    return bool(abs(direction[0] * turn.b + direction[1] * turn.d) > 0.7)


_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
     "\u00a0": " ", "\u2028": " ", "\u2029": " "}
)  # fmt: skip
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060\ufeff\ud800-\udfff]")


def _clean(word: str) -> str:
    """Ligatures as letters, nothing invisible; a soft hyphen stays only at the end."""
    text = _INVISIBLE.sub("", word.translate(_LIGATURES)).strip()
    return text[:-1].replace(SOFT_HYPHEN, "") + text[-1:]


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


def _outline(file: Any) -> dict[int, list[tuple[int, str]]]:
    """Page number -> (level, title) of its bookmarks, in order; empty without an outline."""
    try:
        entries = file.get_toc()
    except Exception:  # a broken outline is none
        return {}
    found: dict[int, list[tuple[int, str]]] = {}
    for level, title, number, *_ in entries:
        if title := _clean(title.replace("\n", " ")):
            found.setdefault(number, []).append((level, title))
    return found


def _outlined(text: str, entries: list[tuple[int, str]]) -> list[Heading]:
    """Bookmarks placed where their title stands in the text, else at the top of the page."""
    headings = []
    at = 0
    for level, title in entries:
        pattern = r"\s+".join(re.escape(w) for w in title.split())
        match = re.compile(pattern, re.IGNORECASE).search(text, at)
        if match:
            at = match.start()
        headings.append(Heading(at, level, title))
    return headings


def _sized(lines: list[tuple[int, Line]], body: float) -> list[Heading]:
    """Lines set larger than the body text, or short and bold on their own, by their size."""
    headings: list[Heading] = []
    above: Line | None = None  # the line before, if it was a heading
    block = -1
    for start, line in lines:
        title = line.text
        larger = body > 0 and line.size >= body * _HEADING_RATIO
        alone = line.bold and line.block != block
        block = line.block
        wraps = above and (above.block, above.size, above.bold) == (
            line.block,
            line.size,
            line.bold,
        )
        if not (_is_title(title) and (larger or alone or wraps)):
            above = None
            continue
        # The level falls with the size: twice the body is 1, a bold line of body size is 4.
        ratio = line.size / body if body else 1.0
        level = 1 if ratio >= 1.8 else 2 if ratio >= 1.35 else 3 if larger else 4
        if wraps:
            wrapped = headings.pop()
            headings.append(replace(wrapped, title=f"{wrapped.title} {title}"))
        else:
            headings.append(Heading(start, level, title))
        above = line
    return headings


def _is_title(text: str) -> bool:
    return (
        3 <= len(text) <= _LONGEST_HEADING
        and sum(c.isalpha() for c in text) > len(text) / 2
        and not text.endswith((".", ",", ";", ":"))
    )
