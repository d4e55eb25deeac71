"""Answer text -> a tree of plain values that the browser turns into elements.

Documents and models write this text, so it is data. Only the tags below can come out; a link, an
image or HTML stays the characters it was written with, so nothing here can load or run anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypedDict

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from rag.draft import UNVERIFIED
from rag.place import citation_place
from rag.types import Citation, WebCitation

TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "code", "strong", "em"),
}

_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.disable(["html_inline", "html_block", "image", "link", "autolink", "reference", "entity"])
_MARKER = re.compile(rf"\[(W?)(\d{{1,3}})\]|{re.escape(UNVERIFIED)}")


class Element(TypedDict):
    tag: str
    children: list[Node]


class Marker(TypedDict):
    """`[number]`, or `[Wnumber]` for the web, which opens a source; `label` names it, for tooltips
    and screen readers."""

    kind: SourceKind
    number: int
    label: str


class Badge(TypedDict):
    """Stands after a sentence that no quote supports; `label` says what that means."""

    badge: str
    label: str


Node = Element | Marker | Badge | str

SourceKind = Literal["citation", "web"]

_UNSUPPORTED = Badge(badge="no source", label="No quote that supports this was found.")


@dataclass(frozen=True, slots=True)
class _Sources:
    citations: tuple[Citation, ...]
    web: tuple[WebCitation, ...]

    def marker(self, kind: SourceKind, number: int) -> Marker | None:
        if kind == "web" and 1 <= number <= len(self.web):
            page = self.web[number - 1]
            label = f"From the web: {page.title or page.url}"
            return Marker(kind=kind, number=number, label=label)
        if kind == "citation" and 1 <= number <= len(self.citations):
            citation = self.citations[number - 1]
            label = f"{citation.name}, {citation_place(citation)}"
            return Marker(kind=kind, number=number, label=label)
        return None


def tree(
    text: str, citations: tuple[Citation, ...], web: tuple[WebCitation, ...] = ()
) -> list[Node]:
    """A `[n]` without a citation stays text."""
    return list(_nodes(SyntaxTreeNode(_PARSER.parse(text)), _Sources(citations, web)))


def _nodes(parent: SyntaxTreeNode, sources: _Sources) -> Iterator[Node]:
    for node in parent.children:
        if node.type == "text":
            yield from _text(node.content, sources)
        elif node.type == "softbreak":
            yield " "
        elif node.type == "code_inline":
            yield Element(tag="code", children=[node.content])
        elif node.type in ("fence", "code_block"):
            yield Element(tag="pre", children=[node.content])
        elif node.type == "inline":
            yield from _nodes(node, sources)
        elif node.tag in TAGS:
            yield Element(tag=node.tag, children=list(_nodes(node, sources)))
        else:
            yield node.content


def _text(text: str, sources: _Sources) -> Iterator[Node]:
    end = 0
    for match in _MARKER.finditer(text):
        node: Node | None = _UNSUPPORTED
        if match[2]:
            node = sources.marker("web" if match[1] else "citation", int(match[2]))
        if node is None:
            continue
        if before := text[end : match.start()]:
            yield before
        yield node
        end = match.end()
    if rest := text[end:]:
        yield rest
