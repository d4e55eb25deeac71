"""What is told while a question is being answered, as it happens: what a `Generator[Event, ...]`
yields. The last one is `Finished`, which carries the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag.types import Answer, Search


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextReplaced:
    """The text of the answer so far, in place of all that was streamed before."""

    text: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A follow-up as it was understood: this is what is searched for."""

    query: str


@dataclass(frozen=True, slots=True)
class SearchStarted:
    query: str


@dataclass(frozen=True, slots=True)
class SearchFinished:
    search: Search


@dataclass(frozen=True, slots=True)
class PageRead:
    name: str
    page: int


@dataclass(frozen=True, slots=True)
class WordsFound:
    """Exact words were looked up in one document."""

    name: str
    words: str
    pages: tuple[int, ...]
    """Where they stand; empty when they do not."""


@dataclass(frozen=True, slots=True)
class WebSearched:
    query: str
    urls: tuple[str, ...]
    """The pages that were fetched."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing new for a moment, because the model is silent: a chance to stop.

    `reason` says why when it is not just thinking, such as "asked again in 4 s".
    """

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should see at once, such as "the model did not answer: ..."."""

    message: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event. `answer.text` is authoritative: it replaces the text streamed before."""

    answer: Answer


Event = (
    TextDelta
    | TextReplaced
    | Rewritten
    | SearchStarted
    | SearchFinished
    | PageRead
    | WordsFound
    | WebSearched
    | Waiting
    | Notice
    | Finished
)
