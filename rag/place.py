"""Where a passage stands, in words a reader can follow: "p. iii · file page 3"."""

from __future__ import annotations

from rag.types import Citation, Hit, Page, Unit


def place(unit: Unit, number: int, label: str = "", heading: str = "") -> str:
    """The printed label where there is one, and the file page where the two differ.

    Sections have no number printed anywhere, so the longer heading path names them; a bare ordinal
    is the last resort and is called a section, never a page.
    """
    if unit == "page":
        same = label in ("", str(number))
        return f"p. {number}" if same else f"p. {label} · file page {number}"
    if unit == "slide":
        return f"slide {number} · {label}" if label else f"slide {number}"
    if unit == "sheet":
        return f"sheet {label}" if label else f"sheet {number}"
    return (label if label.startswith(heading) else heading) or f"section {number}"


def citation_place(citation: Citation) -> str:
    return place(citation.unit, citation.page, citation.label, citation.heading)


def hit_place(hit: Hit) -> str:
    return place(hit.unit, hit.chunk.page, hit.label, hit.chunk.heading)


def page_place(page: Page, unit: Unit) -> str:
    return place(unit, page.number, page.label)
