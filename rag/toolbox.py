"""Searches, reads pages and lists documents for the model: calls in, text for the model out.

A `Toolbox` lives for one answer. It remembers every source that the model was shown, since only
those can be quoted, and answers mistakes (an unknown document, a page out of range) in words that
let the model mend them.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag import cite
from rag.agent_tools import BadCall, NoArguments, ReadPageArguments, SearchArguments
from rag.errors import NotFound
from rag.retrieve import Searcher
from rag.types import (
    Citation,
    Document,
    Event,
    Hit,
    Page,
    PageRead,
    Rejection,
    Search,
    SearchFinished,
    SearchStarted,
)

PAGE_CHARACTERS = 12_000
"""The most that is shown of one page, about 3,000 tokens: a sheet's rows can be longer."""

NAMES_LISTED = 200


Lookup = SearchArguments | ReadPageArguments | NoArguments


class Library(Protocol):
    def documents(self) -> list[Document]: ...

    def document(self, document_id: str) -> Document:
        """Raises NotFound."""
        ...

    def page(self, document_id: str, number: int) -> Page:
        """Raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage that the model was shown comes from."""

    id: str
    document_id: str
    page: int
    start: int = 0
    heading: str = ""


class Toolbox:
    """`documents` are the ids that may be searched and read; empty means the whole library."""

    def __init__(self, searcher: Searcher, library: Library, documents: Sequence[str]) -> None:
        self.boundary = secrets.token_hex(8)
        """Stands in every delimiter. Text written before it was drawn cannot hold it."""
        self.searches: list[Search] = []
        self.seconds = 0.0
        """Spent searching."""
        self._searcher = searcher
        self._library = library
        self._scope = tuple(documents)
        self._names = _distinct_names(
            document
            for document in library.documents()
            if document.state == "ready" and (not documents or document.id in documents)
        )
        self._sources: dict[tuple[object, ...], Source] = {}
        self._made: set[Lookup] = set()
        self._verified: dict[tuple[str, str], Citation | Rejection] = {}

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """Every quote that was claimed and not found."""
        return tuple(v for v in self._verified.values() if isinstance(v, Rejection))

    def nearest(self, count: int) -> tuple[Hit, ...]:
        """The best hits, those of the question's own search first."""
        hits: dict[str, Hit] = {}
        for search in self.searches:
            for hit in search.hits:
                hits.setdefault(hit.chunk.id, hit)
        return tuple(hits.values())[:count]

    def verify(self, source: str, quote: str) -> Citation | Rejection:
        """The quote as it stands on the page of a source that was shown.

        `source` is as the model wrote it: "S1", "[s1]" and "1" are the same.
        """
        number = re.search(r"\d+", source)
        key = (f"S{int(number[0])}" if number else source, quote)
        if key not in self._verified:
            self._verified[key] = self._verify(*key)
        return self._verified[key]

    def run(self, lookup: Lookup) -> Generator[Event, None, str]:
        """Make one call; the text returned is for the model. Raises BadCall."""
        key = lookup
        if isinstance(lookup, SearchArguments):
            query = " ".join(lookup.query.casefold().split())
            key = SearchArguments(query, tuple(sorted(lookup.documents)))
        if key in self._made:
            return (
                "You made this same call before, and its result still stands above. "
                "Search with other words, read a page, or call finish."
            )
        match lookup:
            case SearchArguments(query, documents):
                result = yield from self._search(query, documents)
            case ReadPageArguments(document, page):
                result = yield from self._read_page(document, page)
            case NoArguments():
                result = self._list_documents()
        self._made.add(key)
        return result

    def _search(self, query: str, names: Sequence[str]) -> Generator[Event, None, str]:
        documents = tuple(dict.fromkeys(self._find(name) for name in names)) or self._scope
        yield SearchStarted(query)
        started = time.perf_counter()
        search = self._searcher.search(query, documents)
        self.seconds += time.perf_counter() - started
        self.searches.append(search)
        yield SearchFinished(search)
        return self._passages(search)

    def _passages(self, search: Search) -> str:
        if not search.hits:
            return "Nothing was found. Search with other words, or refuse."
        new: list[str] = []
        seen: list[str] = []
        for hit in search.hits:
            chunk = hit.chunk
            known = ("chunk", chunk.id) in self._sources
            source = self._source(
                ("chunk", chunk.id), chunk.document_id, chunk.page, chunk.start, chunk.heading
            )
            if known:
                seen.append(source.id)
            else:
                new.append(self._shown(source, hit.name, hit.unit, hit.label, chunk.text))
        parts = [f"Passages found for {json.dumps(search.query, ensure_ascii=False)}:", *new]
        if seen:
            parts.append(f"Found again, shown above: {', '.join(seen)}.")
        if all(hit.keyword_rank is None or hit.dense_rank is None for hit in search.hits):
            parts.append(
                "These are weak: none holds the words of your query. If they do not answer the "
                "question, search with other words, such as the documents' own terms or language."
            )
        return "\n\n".join(parts)

    def _read_page(self, name: str, number: int) -> Generator[Event, None, str]:
        document = self._library.document(self._find(name))
        try:
            page = self._library.page(document.id, number)
        except NotFound as error:
            raise BadCall(str(error)) from error
        yield PageRead(document.name, number)
        if not page.text.strip():
            return f"{document.unit.capitalize()} {number} has no text."
        source = self._source(("page", document.id, number), document.id, number)
        text = self._shown(source, document.name, document.unit, page.label, page.text)
        if len(page.text) > PAGE_CHARACTERS:
            text += "\n\nOnly the beginning is shown. Search for what else it may hold."
        return text

    def _list_documents(self) -> str:
        lines = []
        for name, document in list(self._names.items())[:NAMES_LISTED]:
            plural = "" if document.page_count == 1 else "s"
            lines.append(
                f"{json.dumps(name, ensure_ascii=False)}: "
                f"{document.page_count} {document.unit}{plural}"
                + (f", language {document.language}" if document.language else "")
            )
        if len(self._names) > NAMES_LISTED:
            lines.append(f"and {len(self._names) - NAMES_LISTED} more")
        tag = f"documents-{self.boundary}"
        return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])

    def _find(self, name: str) -> str:
        """The id of the document that the model means; case and extension may be left out."""
        wanted = name.strip().casefold()
        owns = {own.casefold(): document.id for own, document in self._names.items()}
        if wanted in owns:
            return owns[wanted]
        ids = [own_id for own, own_id in owns.items() if own.rpartition(".")[0] == wanted]
        if len(ids) == 1:
            return ids[0]
        raise BadCall(f"No document is called {name!r}. These are:\n{self._list_documents()}")

    def _source(
        self,
        key: tuple[object, ...],
        document_id: str,
        page: int,
        start: int = 0,
        heading: str = "",
    ) -> Source:
        """The source under this key, numbered when it is new."""
        if key not in self._sources:
            number = f"S{len(self._sources) + 1}"
            self._sources[key] = Source(number, document_id, page, start, heading)
        return self._sources[key]

    def _shown(self, source: Source, name: str, unit: str, label: str, text: str) -> str:
        """The source between delimiters. Names and headings are the document's too: quoted."""
        own = next((own for own, d in self._names.items() if d.id == source.document_id), name)
        fields = {"id": source.id, "document": own, unit: str(source.page)}
        fields |= {"label": label} if label else {}
        fields |= {"heading": source.heading} if source.heading else {}
        inside = " ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in fields.items())
        tag = f"source-{self.boundary}"
        return f"<{tag} {inside}>\n{text.strip()[:PAGE_CHARACTERS]}\n</{tag}>"

    def _verify(self, source_id: str, quote: str) -> Citation | Rejection:
        source = next((s for s in self._sources.values() if s.id == source_id), None)
        if source is None:
            return Rejection(quote, f"There is no source {source_id!r}.")
        try:
            page = self._library.page(source.document_id, source.page)
            document = self._library.document(source.document_id)
        except NotFound as error:
            return Rejection(quote, str(error))
        return cite.verify(quote, page, document, source.heading, near=source.start)


def _distinct_names(documents: Iterable[Document]) -> dict[str, Document]:
    """Name -> document; of several with one name, each gets the start of its id added."""
    listed = list(documents)
    names = [document.name for document in listed]
    return {d.name if names.count(d.name) == 1 else f"{d.name} ({d.id[:8]})": d for d in listed}
