"""The arguments of `finish`, while they arrive -> the answer's text with markers, and its sources.

Pure but for `verify`. The text of a growing answer is always the beginning of the next one, so that
it can be streamed: what might still change at its end is held back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic_core import from_json

from rag.settings import Unsupported
from rag.types import Citation, Rejection, WebCitation

T = TypeVar("T")

UNVERIFIED = "(unverified)"
"""Stands where a claim's markers would, when none of its quotes was found."""

LONGEST_REFUSAL = 600
"""Characters of a refusal or of a question back: no place for an answer without sources."""

Verify = Callable[[str, str], Citation | WebCitation | Rejection]
"""(source id, quote) -> the outcome."""

_MARKER = re.compile(r"\s*\[(?:[SW]?\d+[,;\s]*)+\]")
_MARKER_BEGUN = re.compile(r"\s*\[[SW\d,;\s]*$")
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*$")
_LIST_ITEM = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s")
_LONGEST_BULLET = 4


@dataclass(frozen=True, slots=True)
class Draft:
    """What an answer looks like so far."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    web: tuple[WebCitation, ...] = ()
    refusal: str = ""
    """What the documents do not say; part of `text` too."""
    clarification: str = ""
    """A question back to the user; part of `text` too."""
    unsupported: int = 0
    """Claims of which no quote was found, marked or removed."""

    @property
    def grounded(self) -> bool:
        return bool(self.citations or self.web)


def without_markers(text: str) -> str:
    """`text` without `[1]`, `[S2]`, ...: a number of the model's own would name a false source."""
    return _MARKER.sub("", text).strip()


def quotes(arguments: str, *, whole: bool = False) -> list[tuple[str, str]]:
    """(source, quote) of every claim, in order; `whole` as in `draft`."""
    fields = _fields(arguments)
    claims = _claims(fields)
    if whole and next(reversed(fields), "") == "claims":
        claims = claims[:-1]
    return [
        (str(quote.get("source", "")), _string(quote.get("quote")))
        for claim in claims
        for quote in _list(claim.get("quotes"))
        if isinstance(quote, dict)
    ]


def draft(
    arguments: str,
    verify: Verify,
    *,
    growing: bool = False,
    whole: bool = False,
    unsupported: Unsupported = "mark",
) -> Draft:
    """The answer that `arguments` (JSON, perhaps cut off) hold.

    `growing`: more will follow. `whole`: leave out what they end in the middle of. `unsupported`:
    what becomes of claims without a quote that was found. Anything that does not fit the schema is
    left out.
    """
    fields = _fields(arguments)
    claims = _claims(fields)
    ends_at = next(reversed(fields), "")
    if whole and ends_at == "claims":
        claims = claims[:-1]
    said = {
        name: without_markers(_string(fields.get(name)))[:LONGEST_REFUSAL].strip()
        for name in ("refusal", "clarification")
        if not (whole and ends_at == name)
    }
    text = ""
    lacking = 0
    sources = _Numbers()
    for index, claim in enumerate(claims):
        last = growing and ends_at == "claims" and index == len(claims) - 1
        sentence = without_markers(_string(claim.get("text")))
        if not sentence or (last and (len(sentence) <= _LONGEST_BULLET or unsupported == "remove")):
            continue
        body, end = _split(sentence, growing=last)
        if not last:
            markers = sources.markers(claim, verify)
            lacking += not markers
            if not markers and unsupported == "remove":
                continue
            body += (markers or f" {UNVERIFIED}") + end
        text += _gap(text, sentence) + body
    for sentences in filter(None, said.values()):
        body, end = _split(sentences, growing=growing)
        text += ("\n\n" if text else "") + body + ("" if growing else end)
    return Draft(
        text,
        tuple(sources.citations),
        tuple(sources.web),
        said.get("refusal", ""),
        said.get("clarification", ""),
        lacking,
    )


class _Numbers:
    """Numbers the sources of an answer, those from documents and those from the web apart."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self.web: list[WebCitation] = []

    def markers(self, claim: Mapping[str, object], verify: Verify) -> str:
        """The markers of the claim's quotes that are found; "" when none is."""
        names: list[str] = []
        for quote in _list(claim.get("quotes")):
            if not isinstance(quote, dict):
                continue
            source = verify(str(quote.get("source", "")), _string(quote.get("quote")))
            if isinstance(source, Rejection):
                continue
            if isinstance(source, WebCitation):
                names.append(f"W{_number(source, self.web)}")
            else:
                names.append(str(_number(source, self.citations)))
        return "".join(f" [{name}]" for name in dict.fromkeys(names))


def _number(source: T, sources: list[T]) -> int:
    """1-based place of the source, which is added when it is new."""
    if source not in sources:
        sources.append(source)
    return sources.index(source) + 1


def _fields(arguments: str) -> dict[str, object]:
    try:
        value = from_json(arguments, allow_partial="trailing-strings")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _claims(fields: Mapping[str, object]) -> list[dict[str, object]]:
    return [claim for claim in _list(fields.get("claims")) if isinstance(claim, dict)]


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
