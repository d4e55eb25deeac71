"""Answer text -> a tree of plain values that the browser turns into elements.

Documents and models write this text, so it is data. Only the tags below can come out; a link, an
image or HTML stays the characters it was written with, so nothing here can load or run anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from rag.place import citation_place
from rag.types import Citation

TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "code", "strong", "em"),
}

_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.disable(["html_inline", "html_block", "image", "link", "autolink", "reference", "entity"])
_MARKER = re.compile(r"\[(\d{1,3})\]")


class Element(TypedDict):
    tag: str
    children: list[Node]


class Marker(TypedDict):
    """`[number]`, which opens a source; `label` names it, for tooltips and screen readers."""

    number: int
    label: str


Node = Element | Marker | str


def tree(text: str, citations: tuple[Citation, ...]) -> list[Node]:
    """A `[n]` without a citation stays text."""
    return list(_nodes(SyntaxTreeNode(_PARSER.parse(text)), citations))


def _nodes(parent: SyntaxTreeNode, citations: tuple[Citation, ...]) -> Iterator[Node]:
    for node in parent.children:
        if node.type == "text":
            yield from _text(node.content, citations)
        elif node.type == "softbreak":
            yield " "
        elif node.type == "code_inline":
            yield Element(tag="code", children=[node.content])
        elif node.type in ("fence", "code_block"):
            yield Element(tag="pre", children=[node.content])
        elif node.type == "inline":
            yield from _nodes(node, citations)
        elif node.tag in TAGS:
            yield Element(tag=node.tag, children=list(_nodes(node, citations)))
        else:
            yield node.content


def _text(text: str, citations: tuple[Citation, ...]) -> Iterator[Node]:
    end = 0
    for match in _MARKER.finditer(text):
        number = int(match[1])
        if not 1 <= number <= len(citations):
            continue
        if before := text[end : match.start()]:
            yield before
        citation = citations[number - 1]
        yield Marker(number=number, label=f"{citation.name}, {citation_place(citation)}")
        end = match.end()
    if rest := text[end:]:
        yield rest
