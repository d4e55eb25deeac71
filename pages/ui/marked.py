"""Text of documents as HTML: escaped, so that it shows what was written and does nothing. Pure."""

from __future__ import annotations

from html import escape

_MARK = "background:#ffe27a;color:#1d1d1b"
"""The yellow of the page images, in both themes."""

AROUND = 600
"""Characters shown before and after a quote: the quote is then in view without scrolling."""


def quote(text: str) -> str:
    return f'<q style="{_MARK}">{escape(text)}</q>'


def whole(text: str) -> str:
    """All of a page's text, line breaks kept."""
    return _block(escape(text))


def around(text: str, start: int, end: int) -> str:
    """`text[start:end]` marked, with what surrounds it."""
    first, last = _stretch(text, start, end)
    return _block(
        ("… " if first else "")
        + escape(text[first:start])
        + f'<mark style="{_MARK}">{escape(text[start:end])}</mark>'
        + escape(text[end:last])
        + (" …" if last < len(text) else "")
    )


def _stretch(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole paragraphs where they fit."""
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    if first and (paragraph := text.find("\n\n", first, start)) >= 0:
        first = paragraph + 2
    if last < len(text) and (paragraph := text.rfind("\n\n", end, last)) >= 0:
        last = paragraph
    return first, last


def _block(html: str) -> str:
    return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{html}</div>'
