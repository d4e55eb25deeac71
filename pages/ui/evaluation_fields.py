"""A case as the fields of a form, and back. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rag.evaluate.cases import Case


@dataclass(frozen=True, slots=True)
class Fields:
    """What is typed; the evidence has widgets of its own."""

    question: str = ""
    answer: str = ""
    others: str = ""
    """Other wordings of the answer, one a line."""
    facts: str = ""
    """One fact a line; "a | b" when either wording will do."""
    unanswerable: bool = False
    any_page: bool = False
    """Each piece of evidence is enough alone."""
    follow_up: bool = False
    """The earlier turns belong to the question."""
    category: str = ""
    language: str = ""
    tags: str = ""
    """Separated by commas."""


def fields(case: Case) -> Fields:
    return Fields(
        question=case.question,
        answer=case.answers[0] if case.answers else "",
        others="\n".join(case.answers[1:]),
        facts="\n".join(" | ".join(wordings) for wordings in case.facts),
        unanswerable=not case.answerable,
        any_page=case.pages_needed == "any",
        # A new case has no id yet: whether it builds on earlier turns is for the user to say.
        follow_up=bool(case.id and case.history),
        category=case.category,
        language=case.language,
        tags=", ".join(case.tags),
    )


def filled(case: Case, given: Fields) -> Case:
    """The case with these fields; what a form does not show stays as it is."""
    answers = [given.answer.strip(), *_lines(given.others)]
    return replace(
        case,
        question=" ".join(given.question.split()),
        answers=tuple(dict.fromkeys(a for a in answers if a)) if not given.unanswerable else (),
        facts=tuple(
            tuple(w.strip() for w in line.split("|") if w.strip()) for line in _lines(given.facts)
        )
        if not given.unanswerable
        else (),
        answerable=not given.unanswerable,
        pages_needed="any" if given.any_page else "all",
        category=given.category.strip(),
        language=given.language.strip().lower(),
        tags=tuple(dict.fromkeys(t.strip() for t in given.tags.split(",") if t.strip())),
        history=case.history if given.follow_up else (),
    )


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a page that can be quoted: those of some words, in order."""
    found = (" ".join(part.split()) for part in text.split("\n\n"))
    return list(dict.fromkeys(part for part in found if len(part.split()) >= 3))


def _lines(text: str) -> Iterable[str]:
    return (line.strip() for line in text.splitlines() if line.strip())
