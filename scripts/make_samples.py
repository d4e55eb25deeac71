"""Builds the sample documents from the sources in scripts/samples.

    python scripts/make_samples.py [folder]        rag/samples/documents without an argument

The Markdown guide and the questions are written by hand where they are. The same sources give
the same bytes, so a rebuild without a change leaves the checkout clean.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pymupdf
from samples import art, policy
from samples.canvas import WIDTH, Canvas, rgb
from samples.lines import Style, syllables
from samples.typeset import Figure, typeset

SOURCES = Path(__file__).parent / "samples"
TARGET = Path(__file__).parent.parent / "rag" / "samples" / "documents"
ROMAN = ("i", "ii", "iii", "iv")


def main(folder: Path) -> None:
    for name, document in {
        "dunnock-60-manual.pdf": manual(),
        "river-sorrel-report-2024.pdf": report(),
    }.items():
        # A random file identifier would make every build a different file.
        document.save(folder / name, garbage=4, deflate=True, no_new_id=True)
        print(f"{name}: {document.page_count} pages, {(folder / name).stat().st_size} bytes")
    target = folder / "travel-and-expenses-policy.docx"
    policy.build((SOURCES / "policy.txt").read_text("utf-8"), target)
    print(f"{target.name}: {target.stat().st_size} bytes")


def manual() -> pymupdf.Document:
    style = Style(
        body="helv", bold="hebo", italic="heit", head="hebo", accent=art.GREEN, tint=art.PALE_GREEN
    )

    def chrome(canvas: Canvas, page: int, chapter: str) -> None:
        if page == 1:
            return
        canvas.text(54, 44, "Dunnock 60 · Owner’s manual", "helv", 8.5, art.STEEL)
        canvas.text(WIDTH - 54, 44, chapter, "hebo", 8.5, art.GREEN, align="right")
        canvas.line([(54, 51), (WIDTH - 54, 51)], art.GREY, 0.5)
        canvas.text(54, 812, "Fennimore Cycle Works · Edition 3", "helv", 8, art.STEEL)
        canvas.text(WIDTH - 54, 812, str(page), "hebo", 9, art.GREEN, align="right")

    document = typeset(
        (SOURCES / "manual.txt").read_text("utf-8"),
        style,
        {"cover": Figure(0, art.manual_cover), "parts": Figure(240, art.bike_parts)},
        chrome,
        str,
    )
    document.set_metadata(
        {
            "title": "Dunnock 60: owner's manual",
            "author": "Fennimore Cycle Works",
            "subject": "Cargo e-bike, model year 2025",
            "creationDate": "D:20250110090000Z",
            "modDate": "D:20250110090000Z",
        }
    )
    return document


def report() -> pymupdf.Document:
    source = (SOURCES / "report.txt").read_text("utf-8")
    hyphens, markup = source.split("\n", 1)
    style = Style(
        body="tiro",
        bold="tibo",
        italic="tiit",
        head="hebo",
        accent=art.BLUE,
        tint=art.PALE_BLUE,
        size=10.2,
        leading=13.4,
        margin=60.0,
        justified=True,
        hyphens=syllables(hyphens),
    )

    def label(page: int) -> str:
        return ROMAN[page - 1] if page <= len(ROMAN) else str(page - len(ROMAN))

    def chrome(canvas: Canvas, page: int, chapter: str) -> None:
        if page == 1:
            return
        canvas.text(60, 46, "River Sorrel Water Quality Report 2024", "tiit", 9, art.STEEL)
        canvas.text(WIDTH - 60, 46, chapter, "tiit", 9, art.STEEL, align="right")
        canvas.line([(60, 53), (WIDTH - 60, 53)], art.GREY, 0.5)
        canvas.text(WIDTH / 2, 812, label(page), "tiro", 10, rgb("#1a1c21"), align="center")

    document = typeset(
        markup,
        style,
        {
            "cover": Figure(0, art.report_cover),
            "course": Figure(128, art.river_course),
            "phosphorus": Figure(176, art.phosphorus_chart),
        },
        chrome,
        label,
    )
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": len(ROMAN), "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    document.set_metadata(
        {
            "title": "River Sorrel Water Quality Report 2024",
            "author": "Sorrel Valley Rivers Trust",
            "subject": "Report No. 9",
            "creationDate": "D:20250310090000Z",
            "modDate": "D:20250310090000Z",
        }
    )
    return document


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
