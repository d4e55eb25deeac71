"""Markdown and plain text -> sections that are verbatim slices of the file's clean text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from rag.errors import FileError
from rag.parse.charset import decode
from rag.parse.sections import Mark, Reading, sections
from rag.types import Warning

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"^[\w-]+[ \t]*:", re.M)


def read_markdown(path: Path, name: str) -> Reading:
    text, warnings = _decode(path, name)
    return Reading("section", sections(text, headings(text)), warnings)


def read_text(path: Path, name: str) -> Reading:
    text, warnings = _decode(path, name)
    return Reading("section", sections(text, []), warnings)


def _decode(path: Path, name: str) -> tuple[str, tuple[Warning, ...]]:
    text, warnings = decode(path.read_bytes())
    if not text.strip():
        raise FileError("empty_file", f"{name!r} is empty: there is nothing to index.")
    return text, warnings


def headings(text: str) -> list[Mark]:
    """CommonMark's headings, not those inside lists and quotes, code, or YAML front matter."""
    inline_parser = MarkdownIt("commonmark")
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["block"])  # the text inside paragraphs does not matter here
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    skipped = front_matter(text)
    body = "\n" * skipped.count("\n") + text[len(skipped) :]
    marks = []
    tokens = parser.parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.level or opening.map is None:
            continue
        title = plain(inline.content, inline_parser)
        if title:
            first, last = opening.map
            marks.append(Mark(starts[first], starts[last], int(opening.tag[1]), title))
    return marks


def front_matter(text: str) -> str:
    """The YAML block between `---` lines at the very start, "" when there is none."""
    found = _FRONT_MATTER.match(text)
    return found.group() if found and _KEY.search(found.group()) else ""


def plain(title: str, parser: MarkdownIt) -> str:
    """A heading as it is read: without emphasis, code and link marks."""
    tokens = parser.parseInline(title)[0].children or []
    words = "".join(
        token.content if token.type in ("text", "code_inline") else " " * (token.tag == "br")
        for token in tokens
    )
    return " ".join(words.split())
