"""Documents that are searchable outside the library: passages of a benchmark, other chunk sizes.

Chunking, embedding, BM25, fusion, re-ranking and answers are the app's own; only the parsing is
done before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from rag.answering import Answering
from rag.catalog import Catalog
from rag.chunk import chunk, largest
from rag.embed import Embedder
from rag.events import Event
from rag.ingest import Engines
from rag.job import Job
from rag.language import detect_language
from rag.rerank import Reranker
from rag.retrieve import Retriever, searched_text
from rag.settings import Settings
from rag.store import VectorStore
from rag.types import Chunk, Document, Page, ParsedPage, Turn

Cut = Callable[[Iterable[ParsedPage]], Iterator[Chunk]]
OnProgress = Callable[[int, int], None]
"""How much is done, of how much."""

_BATCH = 64
_SAMPLE_PAGES = 50
_SAMPLE_CHARACTERS = 2000


class Index:
    """A catalog and vectors of its own, or those of another library under other settings."""

    job: Job | None = None
    """Nothing is ever added in the background."""

    def __init__(
        self,
        catalog: Catalog,
        store: VectorStore,
        settings: Settings,
        embedder: Embedder,
        reranker: Reranker | None,
        cut: Cut | None = None,
    ) -> None:
        """`cut` makes the chunks; by default the app's own chunker, with the settings' sizes."""
        self.catalog = catalog
        self.settings = settings
        self._store = store
        self._embedder = embedder
        self._cut = cut or self._chunks
        self.retriever = Retriever(
            catalog,
            store,
            embedder,
            reranker,
            top_k=settings.top_k,
            candidates=settings.candidates,
        )

    @classmethod
    def create(
        cls,
        folder: Path,
        settings: Settings,
        embedder: Embedder,
        reranker: Reranker | None,
        cut: Cut | None = None,
    ) -> Index:
        """In a folder that is made if need be; what is in it already is searchable at once."""
        folder.mkdir(parents=True, exist_ok=True)
        catalog = Catalog(folder / "catalog.db")
        store = VectorStore(folder / "vectors", embedder.fingerprint, embedder.dimension)
        return cls(catalog, store, settings, embedder, reranker, cut)

    def close(self) -> None:
        self._store.close()
        self.catalog.close()

    def add(
        self,
        document: Document,
        pages: Sequence[ParsedPage],
        on_progress: OnProgress = lambda done, total: None,
    ) -> None:
        """Searchable when it returns. Counts and the language, unless it is known, are found out.

        `on_progress` tells the chunks embedded.
        """
        self.catalog.add(document)
        self.catalog.start(document.id, document.media_type, document.unit)
        chunks = list(self._cut(pages))
        self.catalog.add_pages(pages, chunks)
        chunks.sort(key=lambda c: len(c.text))  # batches of like length waste no padding
        for at in range(0, len(chunks), _BATCH):
            part = chunks[at : at + _BATCH]
            texts = [searched_text(document.name, c.heading, c.text) for c in part]
            self._store.upsert(document.id, [c.id for c in part], self._embedder.embed(texts))
            on_progress(at + len(part), len(chunks))
        read = [
            p.page.text[:_SAMPLE_CHARACTERS]
            for p in pages
            if p.page.kind not in ("empty", "suspect")
        ]
        language = document.language or detect_language("\n".join(read[:_SAMPLE_PAGES]))
        self.catalog.publish(document.id, len(pages), language, document.warnings)
        self.retriever.invalidate()

    def copy(
        self,
        documents: Sequence[Document],
        source: Catalog,
        on_progress: OnProgress = lambda done, total: None,
    ) -> None:
        """Documents of another catalog, cut and embedded anew; `on_progress` tells the pages."""
        total = sum(document.page_count for document in documents)
        before = 0
        for document in documents:
            tell = _within(on_progress, before, document.page_count, total)
            self.add(document, stored_pages(source, document.id), tell)
            before += document.page_count

    def documents(self) -> list[Document]:
        return self.catalog.documents()

    def page(self, document_id: str, number: int) -> Page:
        """`number` is 1-based. Raises NotFound."""
        return self.catalog.page(document_id, number)

    def engines(self) -> Engines:
        return Engines(self._embedder, self._store, self.retriever)

    def ask(
        self,
        question: str,
        documents: Sequence[str],
        history: Sequence[Turn],
        engine: Literal["reader", "agent"],
    ) -> Iterator[Event]:
        """As `Workspace.ask` does."""
        answering = Answering(self.settings, self.catalog, self.engines)
        return answering.ask(question, documents, history, engine, web=False)

    def _chunks(self, pages: Iterable[ParsedPage]) -> Iterator[Chunk]:
        size = largest(self.settings.chunk_tokens, self._embedder.max_tokens)
        return chunk(pages, self._embedder.count_tokens, size, self.settings.chunk_overlap)


def stored_pages(catalog: Catalog, document_id: str) -> list[ParsedPage]:
    """A document's pages as they were before chunking, without the rectangles of their words.

    The catalog does not keep which parts are furniture. The chunks tell: they hold every word of a
    page that is searched, so what lies before the first and behind the last is furniture.
    """
    bodies: dict[int, tuple[int, int]] = {}
    for piece in catalog.chunks(document_id):
        start, end = bodies.get(piece.page, (piece.start, piece.end))
        bodies[piece.page] = min(start, piece.start), max(end, piece.end)
    pages = []
    for page in catalog.pages(document_id):
        size = len(page.text)
        start, end = bodies.get(page.number, (size, size))
        furniture = tuple(span for span in ((0, start), (end, size)) if span[0] < span[1])
        pages.append(ParsedPage(page, furniture=furniture))
    return pages


def _within(on_progress: OnProgress, before: int, size: int, whole: int) -> OnProgress:
    """Progress of a part that is `size` of the `whole`, as progress of the whole."""
    return lambda done, total: on_progress(before + size * done // total, whole)
