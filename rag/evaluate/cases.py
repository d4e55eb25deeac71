"""The values of a question set. Ground truth is document, page and quote, never a chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag.types import Turn

Scope = Literal["corpus", "document"]
PagesNeeded = Literal["all", "any"]
PageRef = tuple[str, int]
"""A document's file name and a 1-based page."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Verbatim text that supports the answer.

    With `page` it is on that page. With `start` and `end` it is `file text[start:end]`, for
    documents without pages. The text alone is enough where it is unique.
    """

    doc: str
    text: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    question: str
    answers: tuple[str, ...] = ()
    """The reference first, then its aliases; empty when the source has none."""
    facts: tuple[tuple[str, ...], ...] = ()
    """Each fact as its wordings, any of which will do."""
    doc: str = ""
    docs: tuple[str, ...] = ()
    pages: tuple[PageRef, ...] = ()
    also_pages: tuple[PageRef, ...] = ()
    pages_needed: PagesNeeded = "all"
    evidence: tuple[Evidence, ...] = ()
    relevant: Mapping[str, float] = field(default_factory=dict)
    corpus: str = ""
    category: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    answerable: bool = True
    scope: Scope = "corpus"
    history: tuple[Turn, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    line: int = field(default=0, compare=False)
    """Where it stands in its file, 1-based; 0 when it was not read from one."""

    @property
    def named_documents(self) -> tuple[str, ...]:
        """Every document that the case names, each once."""
        names = [self.doc, *self.docs, *(doc for doc, _ in (*self.pages, *self.also_pages))]
        names += [evidence.doc for evidence in self.evidence]
        return tuple(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a set. `fatal`: this line cannot be asked at all."""

    line: int
    """1-based line of the file; 0 when it concerns the whole set."""
    case_id: str
    code: str
    message: str
    fatal: bool = False

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line else "set"
        name = f" ({self.case_id})" if self.case_id else ""
        return f"{place}{name}: {self.message}"
