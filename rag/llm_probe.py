"""What a model can do: four short questions, each answer one line for the settings page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from pydantic_core import from_json

from rag.errors import LLMError
from rag.llm import LLM, CallPiece, Message, TextPiece, Tool
from rag.llm_plain import Plain

PATIENCE_S = 30.0
"""For each question; a local model may have to be loaded for the first."""

_COUNT = [Message("user", "Count from 1 to 20. Write the numbers, separated by spaces.")]
_REPORT = [Message("user", "Use the tool to report that the word is: ready")]
_TOOL = Tool(
    "report",
    "Report a word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried, and what came of it, in a sentence for the user."""

    what: Literal["Chat", "Streaming", "Tools", "JSON"]
    works: bool
    words: str


def probe(llm: LLM) -> Iterator[Check]:
    """Each check as soon as it is made. Without chat there is no other."""
    try:
        pieces = _texts(llm)
    except LLMError as error:
        yield Check("Chat", False, str(error))
        return
    if not "".join(pieces).strip():
        yield Check("Chat", False, f"The model {llm.model} sent an empty reply.")
        return
    yield Check("Chat", True, "It answers.")
    several = len(pieces) > 1
    at_once = "The reply came all at once: an answer appears when it is complete."
    yield Check("Streaming", several, "Answers appear as they are written." if several else at_once)
    problem = _report(llm)
    yield Check("Tools", not problem, problem or "It can search and read as often as it needs to.")
    problem = _report(Plain(llm))
    yield Check("JSON", not problem, problem or "It can answer in JSON, should tool calls fail.")


def _texts(llm: LLM) -> list[str]:
    with closing(llm.stream(_COUNT, timeout_s=PATIENCE_S)) as pieces:
        return [piece.text for piece in pieces if isinstance(piece, TextPiece)]


def _report(llm: LLM) -> str:
    """Has it called the tool with arguments that fit? The problem in words, or ""."""
    names = arguments = text = ""
    try:
        with closing(llm.stream(_REPORT, [_TOOL], timeout_s=PATIENCE_S)) as pieces:
            for piece in pieces:
                if isinstance(piece, CallPiece):
                    names += piece.name
                    arguments += piece.arguments
                elif isinstance(piece, TextPiece):
                    text += piece.text
    except LLMError as error:
        return str(error)
    if not names:
        return "It wrote plain text instead." if text.strip() else "It sent an empty reply."
    try:
        given = from_json(arguments)
    except ValueError:
        return "It wrote arguments that are not valid JSON."
    if names != _TOOL.name or not isinstance(given, dict) or "word" not in given:
        return "It called something else than it was asked to."
    return ""
