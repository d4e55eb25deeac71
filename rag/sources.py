"""What the model was shown, between delimiters that cannot be forged, and what it may quote.

A `Sources` lives for one answer. Only what was shown through it can become a source: quotes are
looked up on the pages of these sources and in the web pages among them, and nowhere else.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag import cite
from rag.errors import NotFound
from rag.pack import Block
from rag.repair import nearest
from rag.types import Citation, Document, Hit, Page, QuoteCheck, Rejection, WebCitation
from rag.web import WebPage

Verdict = Citation | WebCitation | Rejection

CONTEXT = 200
"""Characters of a web page kept before and after a quote."""

_HIDDEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]")
"""Invisible characters that can carry or reorder text: a person who reads the page sees none."""


class Library(Protocol):
    def documents(self) -> list[Document]: ...

    def document(self, document_id: str) -> Document:
        """Raises NotFound."""
        ...

    def page(self, document_id: str, number: int) -> Page:
        """Raises NotFound."""
        ...

    def pages(self, document_id: str) -> list[Page]:
        """In order; none when there is no such document."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage that the model was shown comes from."""

    id: str
    document_id: str
    page: int
    start: int = 0
    heading: str = ""


class Sources:
    """`documents` are those that may be shown."""

    def __init__(self, library: Library, documents: Iterable[Document]) -> None:
        self.boundary = secrets.token_hex(8)
        """Stands in every delimiter. Text written before it was drawn cannot hold it."""
        self.names = _distinct_names(documents)
        """The name that the model knows a document by -> the document."""
        self._name_of = {document.id: name for name, document in self.names.items()}
        self._library = library
        self._documents: dict[tuple[object, ...], Source] = {}
        self._web: dict[str, tuple[str, WebPage]] = {}
        self._verdicts: dict[tuple[str, str], Verdict] = {}

    # Showing

    def passage(self, hit: Hit, text: str, rank: int) -> Block:
        """A search's passage as a source; `text` is what is shown of it."""
        chunk = hit.chunk
        key = ("chunk", chunk.id)
        source = self._add(key, chunk.document_id, chunk.page, chunk.start, chunk.heading)
        return self._block(source, hit.unit, hit.label, text, rank)

    def knows(self, hit: Hit) -> bool:
        """True when the passage was shown."""
        return ("chunk", hit.chunk.id) in self._documents

    def part(self, page: Page, unit: str, text: str, start: int = 0, rank: int = 0) -> Block:
        """A page, or the part of it that begins at `start`, as a source."""
        key = ("page", page.document_id, page.number, start, text)
        source = self._add(key, page.document_id, page.number, start)
        return self._block(source, unit, page.label, text, rank)

    def knows_web(self, page: WebPage) -> bool:
        """True when the page was shown."""
        return page.url in self._web

    def web_page(self, page: WebPage, rank: int) -> Block:
        """A page from the web as a source, which it must not be yet."""
        number = f"W{len(self._web) + 1}"
        self._web[page.url] = number, page
        fields = {"id": number, "url": page.url, "title": page.title}
        return Block(self.delimited("web", fields, page.text), number, rank, page.url)

    def id_of(self, hit: Hit) -> str:
        """The id of a passage that was shown."""
        return self._documents["chunk", hit.chunk.id].id

    def delimited(self, kind: str, fields: dict[str, str], text: str) -> str:
        """Text between delimiters. Names and headings are the document's too: quoted."""
        tag = f"{kind}-{self.boundary}"
        inside = "".join(f" {k}={self.quoted(v)}" for k, v in fields.items())
        return f"<{tag}{inside}>\n{self._harmless(text).strip()}\n</{tag}>"

    def quoted(self, text: str) -> str:
        return json.dumps(self._harmless(text), ensure_ascii=False)

    def _add(
        self, key: tuple[object, ...], document_id: str, page: int, start: int, heading: str = ""
    ) -> Source:
        if key not in self._documents:
            number = f"S{len(self._documents) + 1}"
            self._documents[key] = Source(number, document_id, page, start, heading)
        return self._documents[key]

    def _block(self, source: Source, unit: str, label: str, text: str, rank: int) -> Block:
        own = self._name_of.get(source.document_id, "")
        fields = {"id": source.id, "document": own, unit: str(source.page)}
        fields |= {"label": label} if label else {}
        fields |= {"heading": source.heading} if source.heading else {}
        left = f"{source.id}, {self.quoted(own)} {unit} {source.page}"
        return Block(self.delimited("source", fields, text), source.id, rank, left)

    def _harmless(self, text: str) -> str:
        return _HIDDEN.sub("", text).replace(self.boundary, "")

    # Quoting

    def verify(self, source: str, quote: str) -> Verdict:
        """The quote as it stands on the page of a source that was shown.

        `source` is as the model wrote it: "S1", "[s1]" and "1" are the same. A quote that stands
        word for word in another source is that source's: models mix up ids.
        """
        key = _id(source), quote
        if key not in self._verdicts:
            self._verdicts[key] = self._verify(*key)
        return self._verdicts[key]

    def check(self, source: str, quote: str) -> QuoteCheck:
        """What `verify` found, for the receipt."""
        verdict = self.verify(source, quote)
        if isinstance(verdict, Rejection):
            return QuoteCheck(quote, source, "rejected", verdict.reason)
        return QuoteCheck(quote, source, "verified")

    def near(self, source: str, quote: str) -> str:
        """What the source says that is most like a quote that was not found; "" for nothing."""
        text = self._text(_id(source))
        return nearest(quote, text) if text else ""

    def covers(self, text: str, known: str, run: int = 8) -> bool:
        """True if `run` words in a row of `text` stand in a document and not in `known`."""
        words = _words(text)
        runs = [words[at : at + run] for at in range(len(words) - run + 1)]
        own = _spaced(_words(known))
        secret = [_spaced(words) for words in runs if _spaced(words) not in own]
        if not secret:
            return False
        pages = [_spaced(_words(self._text(number))) for number in self._document_ids()]
        return any(words in page for words in secret for page in pages)

    def _verify(self, source: str, quote: str) -> Verdict:
        verdict = self._on(source, quote)
        if not isinstance(verdict, Rejection) or len(quote) < cite.MIN_CHARACTERS:
            return verdict
        tried = {self._text(source)}
        for other in [*self._document_ids(), *(number for number, _ in self._web.values())]:
            text = self._text(other)
            if text not in tried and isinstance(cite.find(quote, text), tuple):
                return self._on(other, quote)
            tried.add(text)
        return verdict

    def _on(self, source: str, quote: str) -> Verdict:
        if (found := self._found(source)) is not None:
            return _on_web(quote, found)
        known = next((s for s in self._documents.values() if s.id == source), None)
        if known is None:
            return Rejection(quote, f"There is no source {source!r}.")
        try:
            page = self._library.page(known.document_id, known.page)
            document = self._library.document(known.document_id)
        except NotFound as error:
            return Rejection(quote, str(error))
        return cite.verify(quote, page, document, known.heading, near=known.start)

    def _document_ids(self) -> list[str]:
        return [source.id for source in self._documents.values()]

    def _found(self, source: str) -> WebPage | None:
        return next((page for number, page in self._web.values() if number == source), None)

    def _text(self, source: str) -> str:
        """All that may be quoted from a source: the whole page that it stands on."""
        if (found := self._found(source)) is not None:
            return found.text
        known = next((s for s in self._documents.values() if s.id == source), None)
        if known is None:
            return ""
        try:
            return self._library.page(known.document_id, known.page).text
        except NotFound:
            return ""


def _id(source: str) -> str:
    found = re.search(r"(?i)\b(w)?[a-z]?(\d+)", source)
    return f"{'W' if found[1] else 'S'}{int(found[2])}" if found else source


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _on_web(quote: str, page: WebPage) -> WebCitation | Rejection:
    found = cite.find(quote, page.text)
    if isinstance(found, str):
        return Rejection(quote, found)
    start, end = found
    around = page.text[max(0, start - CONTEXT) : end + CONTEXT]
    return WebCitation(page.url, page.title, page.text[start:end], around, page.fetched)


def _distinct_names(documents: Iterable[Document]) -> dict[str, Document]:
    """Name -> document; of several with one name, each gets the start of its id added."""
    listed = list(documents)
    count = Counter(document.name for document in listed)
    return {d.name if count[d.name] == 1 else f"{d.name} ({d.id[:8]})": d for d in listed}
