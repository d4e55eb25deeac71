"""The tools that the model is offered: their schemas, and their arguments checked.

The schemas are written out, not derived: some providers refuse `$ref`, and every word of them is a
part of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, StringConstraints, TypeAdapter, ValidationError

from rag.llm import Tool

SEARCH = Tool(
    "search",
    "Search the documents. Returns passages as sources.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the fewest words."},
            "documents": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Names of the documents to search. Leave out to search all.",
            },
        },
        "required": ["query"],
    },
)
READ_PAGE = Tool(
    "read_page",
    "Read one whole page, slide, sheet or section of a document as a source.",
    {
        "type": "object",
        "properties": {
            "document": {"type": "string", "description": "The document's name."},
            "page": {"type": "integer", "description": "Its number, from 1."},
            "neighbours": {
                "type": "integer",
                "description": "Pages to read before and after it as well: 0 (default), 1 or 2.",
            },
        },
        "required": ["document", "page"],
    },
)
FIND_IN_DOCUMENT = Tool(
    "find_in_document",
    "Find every place of exact words in one document: a name, a number, a term. "
    "Returns the pages, and excerpts as sources.",
    {
        "type": "object",
        "properties": {
            "document": {"type": "string", "description": "The document's name."},
            "words": {"type": "string", "description": "The words as they are written there."},
        },
        "required": ["document", "words"],
    },
)
LIST_DOCUMENTS = Tool(
    "list_documents",
    "List the documents that can be searched.",
    {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "Leave out, or list only names with these."}
        },
    },
)
WEB_SEARCH = Tool(
    "web_search",
    "Search the web, for what the documents cannot say. Returns pages as sources W1, W2, ...",
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "A few general words; never text from the documents.",
            }
        },
        "required": ["query"],
    },
)
FINISH = Tool(
    "finish",
    "Give the answer, refuse, or ask back. Ends the conversation.",
    {
        "type": "object",
        "properties": {
            "claims": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "One sentence of the answer."},
                        "quotes": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "source": {"type": "string", "description": "Such as S1."},
                                    "quote": {
                                        "type": "string",
                                        "description": "Copied exactly from that source.",
                                    },
                                },
                                "required": ["source", "quote"],
                            },
                        },
                    },
                    "required": ["text", "quotes"],
                },
            },
            "refusal": {
                "type": "string",
                "description": "Only if the documents do not answer all of the question.",
            },
            "clarification": {
                "type": "string",
                "description": "Only if the question is too open to answer: a question back.",
            },
        },
        "required": ["claims"],
    },
)


def tools(*, web: bool) -> tuple[Tool, ...]:
    """Those that the model is offered."""
    documents = (SEARCH, READ_PAGE, FIND_IN_DOCUMENT, LIST_DOCUMENTS)
    return (*documents, WEB_SEARCH, FINISH) if web else (*documents, FINISH)


def _names(value: object) -> object:
    """Small models send one name, or null, where a list is asked for."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _none(value: object) -> object:
    return 0 if value is None else value


def _text(value: object) -> object:
    return "" if value is None else value


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


@dataclass(frozen=True, slots=True)
class SearchArguments:
    query: Words
    documents: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()


@dataclass(frozen=True, slots=True)
class ReadPageArguments:
    document: str
    page: int
    neighbours: Annotated[int, BeforeValidator(_none)] = 0


@dataclass(frozen=True, slots=True)
class FindArguments:
    document: str
    words: Words


@dataclass(frozen=True, slots=True)
class WebArguments:
    query: Words


@dataclass(frozen=True, slots=True)
class ListArguments:
    words: Annotated[str, BeforeValidator(_text)] = ""


@dataclass(frozen=True, slots=True)
class Quote:
    source: str | int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class FinishArguments:
    claims: tuple[Claim, ...] = ()
    refusal: str | None = None
    clarification: str | None = None

    @property
    def says_something(self) -> bool:
        texts = [
            *(claim.text for claim in self.claims),
            self.refusal or "",
            self.clarification or "",
        ]
        return any(text.strip() for text in texts)


Lookup = SearchArguments | ReadPageArguments | FindArguments | WebArguments | ListArguments
"""What a tool is asked for that looks something up."""
Arguments = Lookup | FinishArguments

_ARGUMENTS: Mapping[str, TypeAdapter[Arguments]] = {
    "search": TypeAdapter(SearchArguments),
    "read_page": TypeAdapter(ReadPageArguments),
    "find_in_document": TypeAdapter(FindArguments),
    "web_search": TypeAdapter(WebArguments),
    "list_documents": TypeAdapter(ListArguments),
    "finish": TypeAdapter(FinishArguments),
}


class BadCall(Exception):
    """The message is for the model: what is wrong with its call, and what would be right."""


def parse_arguments(name: str, arguments: str, offered: Sequence[Tool]) -> Arguments:
    """The arguments that the model wrote as JSON, for one of the tools `offered`.

    Raises BadCall.
    """
    names = [tool.name for tool in offered]
    if name not in names:
        raise BadCall(f"There is no tool {name!r}. The tools are: {', '.join(names)}.")
    try:
        fitting = _ARGUMENTS[name].validate_json(arguments.strip() or "{}")
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]
            for fault in error.errors(include_url=False, include_context=False)[:5]
        )
        raise BadCall(
            f"The arguments of {name} do not fit: {faults}. Call {name} again with valid JSON."
        ) from error
    if isinstance(fitting, FinishArguments) and not fitting.says_something:
        raise BadCall("finish needs claims or a refusal.")
    return fitting
