"""The arguments of `finish`, while they arrive -> the answer's text with markers, and its sources.

Pure but for `verify`. The text of a growing answer is always the beginning of the next one, so that
it can be streamed: what might still change at its end is held back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic_core import from_json

from rag.types import Citation, Rejection

UNVERIFIED = "(unverified)"
"""Stands where a claim's markers would, when none of its quotes was found."""

Verify = Callable[[str, str], Citation | Rejection]
"""(source id, quote) -> the outcome."""

_MARKER = re.compile(r"\s*\[(?:S?\d+[,;\s]*)+\]")
_MARKER_BEGUN = re.compile(r"\s*\[[S\d,;\s]*$")
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*$")
_LIST_ITEM = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s")
_LONGEST_BULLET = 4


@dataclass(frozen=True, slots=True)
class Draft:
    """What an answer looks like so far."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    refusal: str = ""
    """What the documents do not say; part of `text` too."""


def without_markers(text: str) -> str:
    """`text` without `[1]`, `[S2]`, ...: a number of the model's own would name a false source."""
    return _MARKER.sub("", text).strip()


def draft(arguments: str, verify: Verify, *, growing: bool = False, whole: bool = False) -> Draft:
    """The answer that `arguments` (JSON, perhaps cut off) hold.

    `growing`: more will follow. `whole`: leave out the claim or refusal at which they end.
    Anything that does not fit the schema is left out.
    """
    try:
        value = from_json(arguments, allow_partial="trailing-strings")
    except ValueError:
        return Draft()
    fields = value if isinstance(value, dict) else {}
    claims = [claim for claim in _list(fields.get("claims")) if isinstance(claim, dict)]
    refusal = without_markers(_string(fields.get("refusal")))
    ends_at = next(reversed(fields), "")
    if whole and ends_at == "claims":
        claims = claims[:-1]
    if whole and ends_at == "refusal":
        refusal = ""
    text = ""
    citations: list[Citation] = []
    for index, claim in enumerate(claims):
        last = growing and ends_at == "claims" and index == len(claims) - 1
        sentence = without_markers(_string(claim.get("text")))
        if not sentence or (last and len(sentence) <= _LONGEST_BULLET):
            continue
        gap = _gap(text, sentence)
        body, end = _split(sentence, growing=last)
        text += gap + body if last else gap + body + _markers(claim, verify, citations) + end
    if refusal:
        body, end = _split(refusal, growing=growing)
        text += ("\n\n" if text else "") + body + ("" if growing else end)
    return Draft(text, tuple(citations), refusal)


def _markers(claim: Mapping[str, object], verify: Verify, citations: list[Citation]) -> str:
    """The claim's markers; new sources are added to `citations`."""
    numbers: list[int] = []
    for quote in _list(claim.get("quotes")):
        if not isinstance(quote, dict):
            continue
        citation = verify(str(quote.get("source", "")), _string(quote.get("quote")))
        if isinstance(citation, Rejection):
            continue
        if citation not in citations:
            citations.append(citation)
        number = citations.index(citation) + 1
        if number not in numbers:
            numbers.append(number)
    return "".join(f" [{number}]" for number in numbers) or f" {UNVERIFIED}"


def _split(sentence: str, *, growing: bool) -> tuple[str, str]:
    """Body and closing punctuation, between which the markers go."""
    if growing:
        sentence = _MARKER_BEGUN.sub("", sentence)
    end = _SENTENCE_END.search(sentence)
    cut = end.start() if end else len(sentence)
    body = sentence[:cut].rstrip()
    return body, sentence[cut:]


def _gap(before: str, sentence: str) -> str:
    """White space between two claims; a list item starts a line, a list a paragraph."""
    if not before:
        return ""
    after_item = _LIST_ITEM.match(before.rpartition("\n")[2]) is not None
    if _LIST_ITEM.match(sentence):
        return "\n" if after_item else "\n\n"
    return "\n\n" if after_item else " "


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
