"""What each tool does: its arguments in, the work to be done out.

The work comes in two halves. The first looks things up, touches no state, and may run beside
others; what it returns shows the result, in turn: it numbers the sources and tells the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from functools import partial

from rag import naming, tongue
from rag.agent_tools import (
    BadCall,
    FindArguments,
    ListArguments,
    Lookup,
    ReadPageArguments,
    SearchArguments,
    WebArguments,
)
from rag.events import Event, PageRead, SearchFinished, WebSearched, WordsFound
from rag.find import Span, excerpt, find_words
from rag.pack import Block, CountTokens, around
from rag.retrieve import Searcher
from rag.sources import Library, Sources
from rag.types import Document, Hit, Page, Search
from rag.weak import weak
from rag.web import LONGEST_QUERY, WebPage, WebSearcher

PAGE_TOKENS = 3_000
"""The most that is shown of one page."""
MOST_NEIGHBOURS = 2
EXCERPTS = 8
PLACES = 6
"""Of the question's words on a long page that no search found."""

WEAK = (
    "These are weak: none is close to your query. If they do not answer the question, search "
    "with other words, such as the documents' own terms or language."
)

Shown = tuple[list[Block], str]
"""What the model gets, and what the trace says."""
Show = Callable[[], Generator[Event, None, Shown]]
Work = Callable[[], Show]


class Lookups:
    """`documents` are the ids that may be searched and read; empty means the whole library.

    `question`: the user's own words, which may be looked up in the web. `room`: tokens of sources
    that one result may hold.
    """

    def __init__(
        self,
        searcher: Searcher,
        library: Library,
        question: str,
        documents: Sequence[str],
        count: CountTokens,
        room: int,
        web: WebSearcher | None,
    ) -> None:
        self.searches: list[Search] = []
        """Every search that was shown."""
        self.documents = [
            document
            for document in library.documents()
            if document.state == "ready" and (not documents or document.id in documents)
        ]
        self.sources = Sources(library, self.documents)
        self.web_allowed = web is not None
        self._question = question
        self._searcher = searcher
        self._library = library
        self._scope = tuple(documents)
        self._count = count
        self._room = room
        self._web = web

    def work(self, asked: Lookup, timeout_s: float) -> tuple[Lookup, Work]:
        """The lookup with ids for names, by which it is known again, and its work.

        `timeout_s` bounds a search of the web. Raises BadCall; the work raises NotFound for a page
        deleted meanwhile, and WebError.
        """
        match asked:
            case SearchArguments(query, names):
                ids = (
                    tuple(dict.fromkeys(naming.find(name, self.sources) for name in names))
                    or self._scope
                )
                same = " ".join(query.casefold().split())
                return SearchArguments(same, ids), lambda: self._search(query, ids)
            case ReadPageArguments(name, number, neighbours):
                document = self._library.document(naming.find(name, self.sources))
                if not 1 <= number <= document.page_count:
                    raise BadCall(
                        f"{document.name!r} has no {document.unit} {number}: "
                        f"it has {document.page_count}."
                    )
                beside = max(0, min(neighbours, MOST_NEIGHBOURS))
                low, high = max(1, number - beside), min(document.page_count, number + beside)
                order = sorted(range(low, high + 1), key=lambda n: (abs(n - number), n))
                known = ReadPageArguments(document.id, number, beside)
                return known, lambda: self._read(document, order)
            case FindArguments(name, words):
                document = self._library.document(naming.find(name, self.sources))
                same = " ".join(words.casefold().split())
                return FindArguments(document.id, same), lambda: self._look(document, words)
            case WebArguments(query):
                safe = self._web_query(query)
                return WebArguments(safe.casefold()), lambda: self._browse(safe, timeout_s)
            case ListArguments(words):
                return ListArguments(words.casefold()), lambda: partial(self._list, words)

    def found(self, query: str, hits: Sequence[Hit]) -> list[Block]:
        """The passages of a search, new ones as sources, best first."""
        if not hits:
            return [Block("Nothing was found. Search with other words, or refuse.")]
        old = [self.sources.id_of(hit) for hit in hits if self.sources.knows(hit)]
        new = [hit for hit in hits if not self.sources.knows(hit)]
        blocks = [Block(f"Passages found for {self.sources.quoted(query)}:")]
        texts = [around(hit.chunk.text, (), self._page_tokens, self._count)[0] for hit in new]
        fitting = self._fitting(texts)
        for rank, (hit, text) in enumerate(zip(new[:fitting], texts, strict=False)):
            blocks.append(self.sources.passage(hit, text, rank))
        if fitting < len(new):
            blocks.append(Block(f"{len(new) - fitting} more, less relevant, are not shown."))
        if old:
            blocks.append(Block(f"Found again, shown above: {', '.join(old)}."))
        if weak(hits):
            blocks.append(Block(WEAK + tongue.spoken_by(self.documents)))
        return blocks

    @property
    def _page_tokens(self) -> int:
        return min(PAGE_TOKENS, self._room)

    def _fitting(self, texts: Sequence[str]) -> int:
        """How many of the texts, best first, one message can hold; one at least."""
        left = self._room
        for index, text in enumerate(texts):
            left -= self._count(text)
            if index and left < 0:
                return index
        return len(texts)

    def _list(self, words: str) -> Generator[Event, None, Shown]:
        yield from ()
        names = naming.holding(words, self.sources)
        return [Block(naming.listed(names, self.sources))], f"{len(names)} documents"

    # Search

    def _search(self, query: str, ids: tuple[str, ...]) -> Show:
        return partial(self._show_search, self._searcher.search(query, ids))

    def search(self, query: str) -> Search:
        """All that may be searched, not yet shown."""
        return self._searcher.search(query, self._scope)

    def _show_search(self, search: Search) -> Generator[Event, None, Shown]:
        self.searches.append(search)
        yield SearchFinished(search)
        return self.found(search.query, search.hits), summary(search)

    # Pages

    def _read(self, document: Document, numbers: Sequence[int]) -> Show:
        pages = [self._library.page(document.id, number) for number in numbers]
        return partial(self._show_pages, document, pages)

    def _show_pages(
        self, document: Document, pages: Sequence[Page]
    ) -> Generator[Event, None, Shown]:
        """The page asked for comes first: its neighbours are left out before it is."""
        for page in pages:
            yield PageRead(document.name, page.number)
        blocks = [
            self._page(document, page, rank, self._page_tokens // len(pages))
            for rank, page in enumerate(pages)
        ]
        numbers = sorted(page.number for page in pages)
        return blocks, f"{document.unit} {', '.join(map(str, numbers))}"

    def _page(self, document: Document, page: Page, rank: int, tokens: int) -> Block:
        if not page.text.strip():
            return Block(f"{document.unit.capitalize()} {page.number} has no text.")
        text, cut = around(page.text, self._evidence(page), tokens, self._count)
        block = self.sources.part(page, document.unit, text, rank)
        if not cut:
            return block
        said = "Only a part is shown; […] stands for the rest. Search for what else it may hold."
        return Block(f"{block.text}\n{said}", block.source, rank, block.name)

    def _evidence(self, page: Page) -> list[Span]:
        """Where a page probably answers, the best place first: what was found on it, last search
        first; else the question's words, the rarest first."""
        found = [
            (hit.chunk.start, hit.chunk.end)
            for search in reversed(self.searches)
            for hit in search.hits
            if (hit.chunk.document_id, hit.chunk.page) == (page.document_id, page.number)
        ]
        if found:
            return found
        words = set(re.findall(r"\w{4,}", self._question.casefold()))
        places = [find_words(word, [page.text])[0] for word in sorted(words)]
        rarest = sorted((spans for spans in places if spans), key=len)
        return [span for spans in rarest for span in spans][:PLACES]

    # Words

    def _look(self, document: Document, words: str) -> Show:
        return partial(self._show_words, document, words, self._library.pages(document.id))

    def _show_words(
        self, document: Document, words: str, pages: Sequence[Page]
    ) -> Generator[Event, None, Shown]:
        places = find_words(words, [page.text for page in pages])
        found = [(page, spans) for page, spans in zip(pages, places, strict=True) if spans]
        numbers = tuple(page.number for page, _ in found)
        yield WordsFound(document.name, words, numbers)
        said = f"on {len(found)} of {len(pages)} {document.unit}s"
        if not found:
            text = "These words do not stand there. Search for what they mean, or try other words."
            return [Block(text)], said
        listed = ", ".join(f"{page.number} ({len(spans)}x)" for page, spans in found[:100])
        blocks = [Block(f"Found on {document.unit} {listed}.")]
        for rank, (page, spans) in enumerate(found[:EXCERPTS]):
            start, end = excerpt(page.text, spans)
            blocks.append(self.sources.part(page, document.unit, page.text[start:end], rank, start))
        if len(found) > EXCERPTS:
            blocks.append(Block("Excerpts of the first are shown; read_page shows the others."))
        return blocks, said

    # The web

    def _web_query(self, query: str) -> str:
        """The query, unless it would carry the documents' text out of the house."""
        if len(query) > LONGEST_QUERY or self.sources.covers(query, self._question):
            raise BadCall(
                "A query for the web may not carry text of the documents, and no more than "
                f"{LONGEST_QUERY} characters. Use a few general words."
            )
        return query.replace(self.sources.boundary, "")

    def _browse(self, query: str, timeout_s: float) -> Show:
        assert self._web is not None, "the tool is offered only when the web may be searched"
        return partial(self._show_web, query, self._web.search(query, timeout_s))

    def _show_web(self, query: str, pages: Sequence[WebPage]) -> Generator[Event, None, Shown]:
        yield WebSearched(query, tuple(page.url for page in pages))
        new = [page for page in pages if not self.sources.knows_web(page)]
        said = f"{len(pages)} web pages"
        if not new:
            return [Block("The web has nothing new on this.")], said
        fitting = new[: self._fitting([page.text for page in new])]
        head = Block(f"From the web, for {self.sources.quoted(query)}:")
        return [head, *(self.sources.web_page(p, rank) for rank, p in enumerate(fitting))], said


def summary(search: Search) -> str:
    """A search in the trace: "8 passages, weak"."""
    count = len(search.hits)
    text = f"{count} passage" + ("" if count == 1 else "s")
    return text + ", weak" if weak(search.hits) else text
