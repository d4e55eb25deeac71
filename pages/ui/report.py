"""How the pages of a document were read: counts, which pages, and a choice of those to look at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.words import many
from rag.types import Document, PageKind, PageReport, Unit

Category = PageKind | str
_TABLE = "table"

_NAMES = {
    "text": "Text",
    "repaired": "Repaired",
    "ocr": "From its picture",
    "noisy": "Many errors",
    "suspect": "Suspicious",
    "empty": "No text",
    _TABLE: "With a table",
}
_MEANINGS = {
    "text": "The words that the file gives.",
    "repaired": "The file does not say its letters; they were worked out from its fonts.",
    "ocr": "Words recognised in the picture of the page (OCR).",
    "noisy": "Recognised from a picture by another program, with many errors. It is searched, but "
    "quotes may differ from what the page shows.",
    "suspect": "Words that cannot be what the page shows. They are not searched.",
    "empty": "Blank, or a picture without words. There is nothing to search.",
    _TABLE: "At least one table; its rows are searched with their column headings.",
}
_COLORS = {
    "text": "gray",
    "repaired": "blue",
    "ocr": "blue",
    "noisy": "orange",
    "suspect": "red",
    "empty": "orange",
    _TABLE: "gray",
}


def draw_report(document: Document, report: PageReport) -> tuple[int, ...]:
    """The counts and a choice among them; returns the pages to leaf through, all by default."""
    found = categories(report)
    everything = tuple(range(1, document.page_count + 1))
    if set(found) == {"text"}:
        return everything
    with st.expander(headline(report, document.unit)):
        st.table(rows(report, document.unit), border="horizontal", width="content")
    if len(found) == 1:
        return everything
    chosen = st.pills(
        "Show only",
        list(found),
        format_func=lambda kind: f"{_NAMES[kind]} {len(found[kind]):,}",
        key=f"kinds_{document.id}",
    )
    return found[chosen] if chosen else everything


def draw_badges(report: PageReport, number: int) -> None:
    """What one page is, beside its heading."""
    for kind, numbers in categories(report).items():
        if number in numbers and kind != "text":
            st.badge(_NAMES[kind], color=_COLORS[kind], help=_MEANINGS[kind])


def categories(report: PageReport) -> dict[str, tuple[int, ...]]:
    """Page numbers of each kind that there is, in the order in which they are told.

    A page with a table is also in the group of how its text was read.
    """
    groups: dict[str, tuple[int, ...]] = {**report.kinds, _TABLE: report.tables}
    return {kind: groups[kind] for kind in _NAMES if groups.get(kind)}


def headline(report: PageReport, unit: Unit) -> str:
    """The counts on one line."""
    total = sum(len(numbers) for numbers in report.kinds.values())
    counts = [f"{_NAMES[kind].lower()} {len(n):,}" for kind, n in categories(report).items()]
    return " · ".join([f"**{many(total, unit)}**", *counts])


def rows(report: PageReport, unit: Unit) -> list[dict[str, str]]:
    """A table: each kind, how many pages, which, and what it means."""
    return [
        {
            "Kind": _NAMES[kind],
            "How many": f"{len(numbers):,}",
            f"{unit.capitalize()}s": ranges(numbers),
            "Meaning": _MEANINGS[kind],
        }
        for kind, numbers in categories(report).items()
    ]


def ranges(numbers: Sequence[int], most: int = 12) -> str:
    """ "1–4, 7, 9–10"; after `most` parts the rest is counted. `numbers` ascend."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = ", ".join("–".join(f"{n:,}" for n in run) for run in runs[:most])
    rest = sum(run[-1] - run[0] + 1 for run in runs[most:])
    return f"{shown} and {rest:,} more" if rest else shown
