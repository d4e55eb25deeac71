"""Which documents a question names, so that it is searched in them alone. Pure.

"What does the employee handbook say about leave?" is about one file, whatever others say; "What did
Apple earn in the first quarter of 2023?" is about `2023_Q1_AAPL.pdf`, in which Apple Inc. is named.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from rag.keyword import parted_years, tokens
from rag.stop_words import content_words
from rag.types import Document

_CODE = re.compile(r"\w*(?:\d|[a-z][A-Z])\w*")
"""A word that is no ordinary word: "PerksPlus", "A320"."""

_NAME = re.compile(r"\b[^\W\d_a-z][\w&]*")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_QUARTER = re.compile(
    r"\b[qt] ?([1-4])\b|\b([1-4])[qt]\b|\b(first|second|third|fourth) quarter\b"
    r"|\b([1-4])(?:st|nd|rd|th|er|e|º|\.)? ?(?:quarter|quartal|trimest\w+)\b"
)
_PAGE = re.compile(
    r"\b(?:pages?|pp?\.|seiten?|s\.|páginas?|pág\.|pagin[ae]|pag\.|sida|strona) ?(\d{1,4})\b"
    r"|(\d{1,4}) ?(?:頁|页|ページ|쪽|페이지)",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth")
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent|neueste\w*|dernier\w*|plus récent\w*|último\w*|última\w*"
    r"|más reciente\w*|mais recente\w*|ultim[oaie]|più recent[ei])\b"
)
_ALL_ALONG = re.compile(
    r"\b(?:over time|trends?|throughout|previous|prior|past|earlier"
    r"|(?:quarter|year|month)s? (?:to|by|over|after) (?:quarter|year|month)s?"
    r"|(?:each|every|all|these|across|report(?:ed|ing)) (?:\w+ )?"
    r"(?:quarter|year|period|report|filing|10-?[kq])s?"
    r"|developed|im laufe|entwickl\w+|au fil|évolu\w+|a lo largo|evoluci\w+|ao longo|nel tempo"
    r"|andament\w+)\b"
)
_NO_NAMES = frozenset(month.casefold() for month in calendar.month_name) | {"fy"}


@dataclass(frozen=True, slots=True)
class Period:
    """What a file's name or a question says of the time it is about; quarters are 1 to 4."""

    years: frozenset[int]
    quarter: int | None

    @property
    def end(self) -> tuple[int, int]:
        return max(self.years, default=0), self.quarter or 0


def named(question: str, documents: Sequence[Document]) -> list[str]:
    """Ids of the documents whose file names the question holds, in the order of `documents`.

    A name of one ordinary word ("notes.md") must be written with its ending; of another, every
    word must be in the question, in any order. Of "Report 2022" and "Report 2022 annex" a question
    that names the second does not name the first.
    """
    asked = {
        language: frozenset(tokens(question, language))
        for language in {d.language or "en" for d in documents}
    }
    found = {d.id: words for d in documents if (words := _mentioned(question, asked, d))}
    return [i for i, words in found.items() if not any(words < o for o in found.values())]


def _mentioned(
    question: str, asked: Mapping[str, frozenset[str]], document: Document
) -> frozenset[str]:
    """The words of its name; none when the question, `asked` by language, does not hold them."""
    language = document.language or "en"
    words, telling = _name_words(document.name, language)
    if document.name.casefold() in question.casefold():
        return words
    if len(telling) < 2 and not _CODE.fullmatch(PurePath(document.name).stem):
        return frozenset()
    return words if telling and telling <= asked[language] else frozenset()


@lru_cache(maxsize=10_000)
def _name_words(name: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """All words of a file's name, and the telling ones; every search asks for those of all."""
    stem = PurePath(name).stem
    return frozenset(tokens(stem, language)), content_words(stem, language)


def meant(
    question: str, documents: Sequence[Document], words: Mapping[str, frozenset[str]]
) -> list[list[str]]:
    """Ids of the documents that the question means by whom they are about and when: a list for
    each company that it asks about, or for each period if it asks about all; the newest first.

    `words` are those of each document's name and opening, by its id. Both are needed: a name in
    capitals that is among those words, and a year or quarter that is in the file's name. "The
    latest" and "over time" mean one or all of several whose names have a year. Where only the name
    fits nothing is meant: too many documents mention it in passing.
    """
    names = " ".join(n for n in _NAME.findall(question) if n.casefold() not in _NO_NAMES)
    asked = period(question)
    dated = bool(asked.years or asked.quarter)
    all_along = not dated and bool(_ALL_ALONG.search(question.casefold()))
    latest = not dated and not all_along and bool(_LATEST.search(question.casefold()))
    if not names or not (dated or all_along or latest):
        return []
    who = {
        language: content_words(names, language)
        for language in {d.language or "en" for d in documents}
    }
    shared = {
        d.id: frozenset(w for w in who[d.language or "en"] & words[d.id] if not w[-1].isdigit())
        for d in documents
    }
    # The most of the names: of two companies each has its own, and both are meant.
    kinds = set(shared.values())
    most = {kind for kind in kinds if kind and not any(kind < other for other in kinds)}
    about = [d for d in documents if shared[d.id] in most]
    periods = {d.id: period(PurePath(d.name).stem) for d in about}
    if latest:
        newest: dict[frozenset[str], tuple[int, int]] = {}
        for d in about:
            newest[shared[d.id]] = max(newest.get(shared[d.id], (1, 0)), periods[d.id].end)
        chosen = [d for d in about if periods[d.id].end == newest[shared[d.id]]]
    elif all_along:
        chosen = [d for d in about if periods[d.id].years]
    else:
        chosen = _of_period(asked, about, periods)
    if len(chosen) == len(documents) and not all_along:
        return []
    apart: dict[object, list[str]] = {}
    for d in sorted(chosen, key=lambda d: periods[d.id].end, reverse=True):
        # The report of a year also holds the year before, so two years alone are not set apart.
        apart.setdefault((shared[d.id], periods[d.id] if all_along else None), []).append(d.id)
    return list(apart.values())


def _of_period(
    asked: Period, about: Sequence[Document], periods: Mapping[str, Period]
) -> list[Document]:
    """Those of the years and the quarter; if none is of the quarter, the reports of the year."""
    in_years = [d for d in about if not asked.years or periods[d.id].years & asked.years]
    exact = [d for d in in_years if asked.quarter in (None, periods[d.id].quarter)]
    yearly = [d for d in in_years if asked.years and periods[d.id].quarter is None]
    return exact or yearly


@lru_cache(maxsize=10_000)
def period(text: str) -> Period:
    """The years and the first quarter in a file's name or a question: "2023Q4", "Q2 of FY2022"."""
    text = parted_years(re.sub(r"[_-]", " ", text.casefold()))
    years = frozenset(int(year) for year in _YEAR.findall(text))
    found = _QUARTER.search(text)
    if not found:
        return Period(years, None)
    quarter = next(group for group in found.groups() if group)
    return Period(years, int(quarter) if quarter.isdigit() else _ORDINALS.index(quarter) + 1)


def asked_pages(question: str) -> list[str]:
    """The page numbers that a question names ("on page 50"), as they are written."""
    return list(dict.fromkeys(before or after for before, after in _PAGE.findall(question)))
