"""More to search for than the question itself, written by the model: HyDE, or other wordings.

HyDE: Gao, Ma, Lin and Callan, "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022: a
passage that would answer the question, true or not, is closer to the passages that do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag import prompt
from rag.fuse import fuse
from rag.llm import Message
from rag.settings import Expand
from rag.types import Hit, Search

MOST_QUERIES = 3
LONGEST = 600
"""Characters of a query or a passage that are searched for."""

_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s*")


def request(mode: Expand, question: str, languages: str) -> list[Message]:
    """What the model is asked."""
    rules = prompt.render(f"agent_{mode}", languages=languages, count=str(MOST_QUERIES))
    return [Message("system", rules), Message("user", question)]


def wordings(mode: Expand, reply: str) -> list[str]:
    """What is searched for besides the question; none when the reply is of no use."""
    if mode == "hyde":
        passage = " ".join(reply.split())[:LONGEST]
        return [passage] if passage else []
    lines = [_MARK.sub("", line).strip(' "') for line in reply.splitlines()]
    return list(dict.fromkeys(line[:LONGEST] for line in lines if line))[:MOST_QUERIES]


def merged(searches: Sequence[Search]) -> list[Hit]:
    """The passages of all, by reciprocal rank over the searches, as many as the first found.

    A passage keeps the scores of the first search that found it.
    """
    hits: dict[str, Hit] = {}
    for search in searches:
        for hit in search.hits:
            hits.setdefault(hit.chunk.id, hit)
    order = fuse([[hit.chunk.id for hit in search.hits] for search in searches])
    return [hits[i] for i in order][: max(len(search.hits) for search in searches)]
