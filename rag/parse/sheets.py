"""Workbooks, CSV and TSV -> pages of Markdown table rows, each page with the header row again.

A blank row ends a table; the next one has its own header when its first row is all words. Rows are
numbered as a spreadsheet shows them. Hidden sheets are left out, with a warning.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rag.errors import FileError
from rag.parse.archive import Archive
from rag.parse.charset import clean, decode
from rag.parse.opc import transitional
from rag.parse.sections import LIMIT, PageText, Reading, cell, line, ruler
from rag.types import Warning

ROWS = 100
"""Rows of a page, unless `LIMIT` characters come first."""

_NUMBER = re.compile(r"[-+(]?[\d.,:/\s€$£¥%-]+\)?")
_NO_RESULT = re.compile(
    rb"""<(?:\w+:)?c\b(?![^>]*\bt="str")[^>]*>\s*          # a cell, not one with an empty text,
    <(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*   # its formula,
    (?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s* # no result or an empty one
    </(?:\w+:)?c>""",
    re.X,
)
_PERCENT = re.compile(r"0(?:\.(0+))?%")


def read_delimited(path: Path, name: str) -> Reading:
    text, notes = decode(path.read_bytes())
    if not text.strip():
        raise FileError("empty_file", f"{name!r} is empty: there is nothing to index.")
    csv.field_size_limit(2**31 - 1)  # a long cell is no reason to refuse a file
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, name))
    try:
        return Reading("sheet", list(pages("", enumerate(reader, start=1))), notes)
    except csv.Error as error:
        raise FileError(
            "corrupt", f"{name!r} is no valid CSV: {error}. Save it anew, or rename it to .txt."
        ) from error


def _delimiter(text: str, name: str) -> str:
    """The candidate that stands outside quotes equally often in most of the first lines."""
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    lines = [re.sub(r'"[^"]*"', "", row) for row in text[:20_000].split("\n")[:50] if row.strip()]

    def regularity(delimiter: str) -> tuple[int, int]:
        counts = [row.count(delimiter) for row in lines]
        usual = max(set(counts), key=lambda n: (counts.count(n) if n else 0, n))
        return (counts.count(usual), usual) if usual else (0, 0)

    return max(",;\t|", key=regularity)


def read_workbook(path: Path, name: str) -> Reading:
    """The pages are read while they are taken: a workbook can have millions of cells."""
    import openpyxl

    # openpyxl warns of what it leaves alone: data validation, headers, themes.
    warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
    with Archive(path, name) as archive:
        source = transitional(archive)
        incomplete = _uncalculated(archive)
    # It returns either results or formulas, so both are needed where results are missing: in
    # files that no spreadsheet program has calculated yet.
    results = openpyxl.load_workbook(source, read_only=True, data_only=True)
    formulas = openpyxl.load_workbook(source, read_only=True) if incomplete else None
    notes = [
        Warning("hidden_sheet", f"Hidden sheet {sheet.title!r} left out.")
        for sheet in results.worksheets
        if sheet.sheet_state != "visible"
    ]
    if incomplete:
        notes.append(
            Warning(
                "formula_without_result",
                "Some formulas have no stored result and are indexed as formulas. To have them "
                "calculated, open and save the file in a spreadsheet program.",
            )
        )
    return Reading("sheet", _workbook(results, formulas), tuple(notes))


def _workbook(results: Any, formulas: Any | None) -> Iterator[PageText]:  # openpyxl has no types
    for sheet in results.worksheets:
        if sheet.sheet_state == "visible":
            twin = formulas[sheet.title] if formulas else None
            yield from pages(clean(sheet.title), enumerate(_rows(sheet, twin), start=1))
    for workbook in (results, formulas):
        if workbook:
            workbook.close()


def _uncalculated(archive: Archive) -> bool:
    return any(
        _NO_RESULT.search(archive.read(member))
        for member in archive.members
        if "worksheets/" in member.lower() and member.lower().endswith(".xml")
    )


def _rows(results: Any, formulas: Any | None) -> Iterator[list[str]]:
    """Displayed texts; a formula without a stored result stands for itself."""
    results.reset_dimensions()  # what the file says about its size may be wrong
    if formulas is None:
        for row in results.iter_rows():
            yield [display(cell.value, cell.number_format) for cell in row]
        return
    formulas.reset_dimensions()
    for row, written in zip(results.iter_rows(), formulas.iter_rows(), strict=True):
        texts = []
        for result, formula in zip(row, written, strict=True):
            value = result.value
            # "str" without a value is a formula whose result is an empty text.
            if value is None and result.data_type != "str" and formula.data_type == "f":
                value = getattr(formula.value, "text", formula.value)
            texts.append(display(value, result.number_format))
        yield texts


def display(value: object, number_format: str | None) -> str:
    """A cell as a reader knows it: 12.5%, 2024-03-01, TRUE; other numbers without a format."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        percent = _PERCENT.search(number_format or "")
        if percent:
            return f"{value * 100:.{len(percent.group(1) or '')}f}%"
        return str(value) if isinstance(value, int) else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        if value.time() == datetime.time():
            return value.date().isoformat()
        return value.isoformat(" ", "seconds" if value.second else "minutes")
    return str(value)


def pages(title: str, rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[PageText]:
    """Numbered rows of one sheet -> its pages; only one that has several names their rows."""
    builder = _Builder()
    prefix = f"{title}, rows" if title else "rows"
    several = blank = False
    for number, row in rows:
        texts = [cell(clean(text)) for text in row]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            builder.add(number, texts, after_blank=blank)
        blank = not texts
        while len(builder.full) > 1:
            several = True
            yield _ranged(prefix, *builder.full.pop(0))
    builder.end_page()
    several = several or len(builder.full) > 1
    for first, last, text in builder.full:
        yield _ranged(prefix, first, last, text) if several else PageText(title, text)


def _ranged(prefix: str, first: int, last: int, text: str) -> PageText:
    return PageText(f"{prefix} {first}-{last}", text)


class _Builder:
    """Collects rows into pages, `full`: first row, last row, text.

    A row with a single cell above a table is its title, not its header.
    """

    def __init__(self) -> None:
        self.full: list[tuple[int, int, str]] = []
        self._header: list[str] = []
        self._header_shown = False
        self._lines: list[str] = []
        self._numeric = False
        self._after_title = False
        self._parts: list[str] = []
        self._size = self._count = self._first = self._last = 0

    def add(self, number: int, texts: list[str], after_blank: bool) -> None:
        filled = [text for text in texts if text]
        starts = after_blank or self._after_title or not self._header
        self._after_title = starts and len(filled) == 1
        if self._after_title:
            self._end_table()
            self._parts.append(filled[0])
        elif not self._header or (starts and self._is_header(texts)):
            self._end_table()
            self._header, self._header_shown, self._numeric = texts, False, False
        else:
            self._lines.append(line(texts + [""] * (len(self._header) - len(texts))))
            self._numeric = self._numeric or any(map(_NUMBER.fullmatch, filled))
        self._first = self._first or number
        self._last = number
        self._count += 1
        self._size += sum(len(text) + 3 for text in texts)
        if self._count >= ROWS or self._size >= LIMIT:
            self.end_page()

    def _is_header(self, texts: list[str]) -> bool:
        """All words, where the table above has numbers below its header or another width."""
        words = not any(_NUMBER.fullmatch(text) for text in texts if text)
        return words and (self._numeric or len(texts) != len(self._header))

    def _end_table(self) -> None:
        if self._lines or (self._header and not self._header_shown):
            lines = [line(self._header), ruler(len(self._header)), *self._lines]
            self._parts.append("\n".join(lines))
            self._header_shown = True
        self._lines = []

    def end_page(self) -> None:
        self._end_table()
        if self._parts:
            self.full.append((self._first, self._last, "\n\n".join(self._parts)))
        self._parts = []
        self._size = self._count = self._first = 0
