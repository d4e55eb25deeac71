"""The tools that the model is offered: their schemas, and their arguments checked.

The schemas are written out, not derived: some providers refuse `$ref`, and every word of them is a
part of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        },
        "required": ["document", "page"],
    },
)
LIST_DOCUMENTS = Tool(
    "list_documents",
    "List the documents that can be searched.",
    {"type": "object", "properties": {}},
)
FINISH = Tool(
    "finish",
    "Give the answer, or refuse. Ends the conversation.",
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
        },
        "required": ["claims"],
    },
)
TOOLS = (SEARCH, READ_PAGE, LIST_DOCUMENTS, FINISH)


def _names(value: object) -> object:
    """Small models send one name, or null, where a list is asked for."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class SearchArguments:
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    documents: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()


@dataclass(frozen=True, slots=True)
class ReadPageArguments:
    document: str
    page: int


@dataclass(frozen=True, slots=True)
class NoArguments:
    pass


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


Arguments = SearchArguments | ReadPageArguments | NoArguments | FinishArguments

_ARGUMENTS: Mapping[str, TypeAdapter[Arguments]] = {
    "search": TypeAdapter(SearchArguments),
    "read_page": TypeAdapter(ReadPageArguments),
    "list_documents": TypeAdapter(NoArguments),
    "finish": TypeAdapter(FinishArguments),
}


class BadCall(Exception):
    """The message is for the model: what is wrong with its call, and what would be right."""


def parse_arguments(name: str, arguments: str) -> Arguments:
    """The arguments that the model wrote as JSON. Raises BadCall."""
    if name not in _ARGUMENTS:
        raise BadCall(f"There is no tool {name!r}. The tools are: {', '.join(_ARGUMENTS)}.")
    try:
        return _ARGUMENTS[name].validate_json(arguments.strip() or "{}")
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]
            for fault in error.errors(include_url=False, include_context=False)[:5]
        )
        raise BadCall(
            f"The arguments of {name} do not fit: {faults}. Call {name} again with valid JSON."
        ) from error
