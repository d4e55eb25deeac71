"""Making cases: from an answer, from a quote, from what a person typed.

What is kept as evidence has gone through the same check as an answer's quotes: it is the page's
own text. Slides and pages are kept by number; a section or a part of a sheet is not, because it
is cut anew when its document is read anew, and the quote finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rag.cite import verify
from rag.evaluate.cases import Case, Evidence
from rag.evaluate.metrics.text import without_markers
from rag.language import detect_language
from rag.types import Answer, Citation, Document, Page, Turn, Unit

NUMBERED: tuple[Unit, ...] = ("page", "slide")
"""Units whose number is the document's own."""


class Documents(Protocol):
    def document(self, name: str) -> Document | None:
        """None when it is not in the library."""
        ...

    def page(self, document: Document, number: int) -> Page: ...

    def pages(self, document: Document) -> list[Page]: ...


@dataclass(frozen=True, slots=True)
class Quoted:
    """One line of evidence as a person gave it; without `text` it names a page only."""

    doc: str
    page: int | None = None
    text: str = ""


def from_answer(
    question: str,
    answer: Answer,
    *,
    good: bool,
    document: str = "",
    history: Sequence[Turn] = (),
) -> Case:
    """A case from what was asked, prefilled with what is known; its id is still "".

    A good answer is the reference, and what it cites is the evidence. What a bad one cites is
    prefilled too, to be corrected. A refusal that was right means that there is no answer.
    `document`: the name of the one document that was asked in.
    """
    tag = f"{'right' if good else 'wrong'} refusal" if answer.refused else ""
    case = Case(
        id="",
        question=question,
        answers=(without_markers(answer.text).strip(),) if good and not answer.refused else (),
        doc=document,
        scope="document" if document else "corpus",
        language=detect_language(question),
        answerable=not (answer.refused and good),
        tags=(tag or f"{'good' if good else 'bad'} answer",),
        # A set keeps no more of a turn than this, and equal cases must be told to be equal.
        history=tuple(Turn(turn.question, turn.answer) for turn in history),
    )
    return with_evidence(case, [quoted(citation) for citation in answer.citations])


def from_quote(citation: Citation) -> Case:
    """A case about words on a page; its question is still to be written."""
    return with_evidence(Case(id="", question=""), [quoted(citation)])


def quoted(citation: Citation) -> Quoted:
    page = citation.page if citation.unit in NUMBERED else None
    return Quoted(citation.name, page, citation.quote)


def lines(case: Case) -> list[Quoted]:
    """The evidence of a case as a person edits it: quotes, then pages without one."""
    found = [Quoted(e.doc, e.page, e.text) for e in case.evidence]
    shown = {(e.doc, e.page) for e in case.evidence}
    return found + [Quoted(doc, page) for doc, page in case.pages if (doc, page) not in shown]


def with_evidence(case: Case, given: Iterable[Quoted]) -> Case:
    """The case with this evidence, its documents and pages named accordingly."""
    known = {(e.doc, e.page, e.text): e for e in case.evidence}
    given = list(dict.fromkeys(given))
    evidence = [
        known.get((q.doc, q.page, q.text)) or Evidence(q.doc, q.text, q.page)
        for q in given
        if q.text
    ]
    docs = tuple(dict.fromkeys(q.doc for q in given))
    pages = tuple(dict.fromkeys((q.doc, q.page) for q in given if q.page is not None))
    doc = docs[0] if len(docs) == 1 else ""
    return replace(
        case,
        doc=case.doc if case.scope == "document" else doc,
        docs=docs,
        pages=pages,
        also_pages=tuple(place for place in case.also_pages if place[0] in docs),
        pages_needed=case.pages_needed if len(given) > 1 else "all",
        evidence=tuple(evidence),
    )


def settle(
    case: Case, given: Sequence[Quoted], documents: Documents
) -> tuple[Case, tuple[str, ...]]:
    """The case with evidence that is on its page, and what is wrong, in words for the user.

    What the case held before is not checked again: tables are kept that no quote can name word
    for word. With anything wrong the case is not to be kept.
    """
    before = set(lines(case))
    found, problems = [], []
    if not case.question.strip():
        problems.append("Write the question.")
    for number, line in enumerate(given, 1):
        checked = line if line in before else check(line, documents)
        if isinstance(checked, str):
            problems.append(f"Evidence {number}: {checked}")
        else:
            found.append(checked)
    if case.answerable and not (found or case.answers):
        problems.append(
            "Give the answer or a quote that holds it, or say that the documents do not answer."
        )
    if not case.answerable and found:
        problems.append("Take the evidence out, or do not say that the documents give no answer.")
    return with_evidence(case, found), tuple(problems)


def confirm(text: str, pages: Sequence[Page], document: Document) -> Citation | str:
    """The quote on the first page that has it, or why it is not on the first page."""
    reasons = []
    for page in pages:
        found = verify(text, page, document)
        if isinstance(found, Citation):
            return found
        reasons.append(found.reason)
    return reasons[0] if reasons else "The document has no text."


def check(line: Quoted, documents: Documents) -> Quoted | str:
    """The line with the page's own words, or what is wrong with it, in words for the user."""
    document = documents.document(line.doc)
    if document is None:
        return f"{line.doc!r} is not in the library." if line.doc else "Choose a document."
    number = line.page if document.unit in NUMBERED else None
    if number is not None and not 1 <= number <= document.page_count:
        return f"{line.doc!r} has {document.page_count} {document.unit}s, not {number}."
    if not line.text.strip():
        if number is not None:
            return Quoted(line.doc, number)
        return f"Quote the words in {line.doc!r} that hold the answer."
    pages = documents.pages(document) if number is None else [documents.page(document, number)]
    found = confirm(line.text, pages, document)
    return found if isinstance(found, str) else quoted(replace(found, name=line.doc))
