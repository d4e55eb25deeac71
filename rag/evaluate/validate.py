"""Whether the cases fit the documents: every misfit is listed with its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rag.evaluate.cases import Case, Evidence, Problem
from rag.evaluate.evidence import PageSpan, on_page
from rag.types import Document


class Documents(Protocol):
    def document(self, name: str) -> Document | None: ...

    def page_text(self, document: Document, page: int) -> str: ...

    def located(self, evidence: Evidence, document: Document) -> list[PageSpan]: ...


def check(cases: Sequence[Case], documents: Documents) -> list[Problem]:
    """Missing documents, pages out of range, evidence that is not on its page.

    None is fatal: the case is asked, and counts as missed where its page cannot be found.
    """
    return [problem for case in cases for problem in _check(case, documents)]


def _check(case: Case, documents: Documents) -> Iterator[Problem]:
    for name in case.named_documents:
        if documents.document(name) is None:
            message = f"the document {name!r} is not among the documents, or has no text"
            yield Problem(case.line, case.id, "missing_document", message)
    for name, page in (*case.pages, *case.also_pages):
        document = documents.document(name)
        if document is not None and page > document.page_count:
            message = f"page {page} of {name!r}, which has {document.page_count}"
            yield Problem(case.line, case.id, "page_out_of_range", message)
    for evidence in case.evidence:
        if not _stands(evidence, documents):
            start = " ".join(evidence.text.split())[:60]
            place = f"on page {evidence.page} of" if evidence.page else "in"
            message = f"the evidence {start!r} is not {place} {evidence.doc!r}"
            yield Problem(case.line, case.id, "evidence_not_found", message)
    if case.answerable and not (case.pages or case.evidence or case.relevant or case.answers):
        message = "it says neither an answer nor where one is, so only its cost can be measured"
        yield Problem(case.line, case.id, "nothing_to_check", message)


def _stands(evidence: Evidence, documents: Documents) -> bool:
    """Whether the evidence is where it should be; what is reported already is not again."""
    document = documents.document(evidence.doc)
    if document is None:
        return True
    if evidence.page is None:
        return bool(documents.located(evidence, document))
    if evidence.page > document.page_count:
        return True
    return on_page(evidence, documents.page_text(document, evidence.page))
