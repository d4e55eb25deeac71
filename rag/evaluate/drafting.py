"""Questions that a language model proposes for pages; a person approves each before it counts.

A draft without a quote that is on its page word for word is dropped, and told.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from rag.cite import verify
from rag.evaluate.cases import Case
from rag.evaluate.making import from_quote
from rag.language import detect_language
from rag.llm import LLM, Message, TextPiece
from rag.types import Document, Page, Rejection

TAG = "drafted"
PAGE_CHARACTERS = 12_000
"""The most that is shown of one page, about 3,000 tokens."""
_PROMPT = Path(__file__).resolve().parent.parent / "prompts" / "draft_questions.md"


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of one page."""

    page: Page
    cases: tuple[Case, ...]
    """Without ids; each has one quote as its evidence."""
    dropped: tuple[str, ...]
    """Why each of the other proposals was not kept."""


def draft(llm: LLM, document: Document, pages: Sequence[Page], each: int) -> Iterator[Drafted]:
    """At most `each` questions a page, one model call a page with text. Raises LLMError.

    What was drafted before an error has been handed out by then.
    """
    for page in pages:
        if page.text.strip():
            yield read(_reply(llm, document, page, each), page, document, each)


def read(reply: str, page: Page, document: Document, each: int) -> Drafted:
    """The drafts in a model's reply."""
    cases: dict[str, Case] = {}
    dropped = []
    for proposal in _proposals(reply):
        question, quote = proposal.get("question", ""), proposal.get("quote", "")
        if not question:
            continue
        found = verify(quote, page, document)
        if isinstance(found, Rejection):
            dropped.append(f"{question} {found.reason}")
            continue
        answer = proposal.get("answer", "")
        cases.setdefault(
            question.casefold(),
            replace(
                from_quote(found),
                question=question,
                answers=(answer,) if answer else (),
                category=proposal.get("category", ""),
                language=detect_language(question),
                tags=(TAG,),
            ),
        )
    return Drafted(page, tuple(cases.values())[:each], tuple(dropped))


def _reply(llm: LLM, document: Document, page: Page, each: int) -> str:
    # Text that was written before the boundary was drawn cannot hold it.
    boundary = secrets.token_hex(8)
    rules = Template(_PROMPT.read_text(encoding="utf-8")).substitute(boundary=boundary, count=each)
    title = f"{document.name}, {document.unit} {page.number}"
    content = f"{title}\n\n<page-{boundary}>\n{page.text[:PAGE_CHARACTERS]}\n</page-{boundary}>"
    with closing(llm.stream([Message("system", rules), Message("user", content)])) as pieces:
        return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def _proposals(reply: str) -> Iterator[dict[str, str]]:
    """Every JSON object in the reply, whatever stands around it: a list, a code fence, chatter."""
    decoder, at = json.JSONDecoder(), reply.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(reply, at)
        except json.JSONDecodeError:
            end = at + 1
        else:
            yield {key: str(value).strip() for key, value in found.items() if value is not None}
        at = reply.find("{", end)
