"""A kept file -> its pages and passages in the catalog, handed over for their vectors meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from rag.catalog import Catalog
from rag.chunk import chunk, largest
from rag.embed import Embedder
from rag.errors import Cancelled
from rag.language import detect_language
from rag.parse.worker import ParseWorker
from rag.retrieve import searched_text
from rag.stages import FoundWhole, Part, Passages, ReadWhole, Task
from rag.store import VectorStore
from rag.types import Chunk, ParsedPage

_PAGES_A_BATCH = 16
_CHUNKS_A_BATCH = 256
_SAMPLE_PAGES = 50
_SAMPLE_CHARACTERS = 2000


class Reading:
    """The first stage. It reads on while the passages before get their vectors."""

    def __init__(
        self, catalog: Catalog, files: Path, *, chunk_tokens: int, chunk_overlap: int
    ) -> None:
        self._catalog = catalog
        self._files = files
        self._chunk_tokens = chunk_tokens
        self._chunk_overlap = chunk_overlap
        self._worker = ParseWorker()

    def close(self) -> None:
        self._worker.close()

    def read(
        self,
        task: Task,
        embedder: Embedder,
        store: VectorStore,
        hand_over: Callable[[Part], None],
        password: str | None = None,
    ) -> None:
        """Raises FileError, and Cancelled between batches. `hand_over` may block."""
        job, index, document = task.job, task.index, task.document
        job.update(index, state="reading")
        parsed = self._worker.open(
            self._files / document.id,
            document.name,
            document.id,
            lambda: job.cancelled,
            password,
        )
        if document.state != "queued":  # an interrupted run may have got some way
            task.written = store.ids(document.id)
        task.reusable = self._earlier(task)
        self._catalog.start(document.id, parsed.media_type, parsed.unit)
        job.update(index, pages_total=parsed.page_count)

        pages: list[ParsedPage] = []
        fresh: list[Chunk] = []
        sample: list[str] = []
        done = chunks = 0

        def save() -> None:
            nonlocal chunks
            if job.cancelled:
                raise Cancelled(f"Indexing {document.name!r} was cancelled.")
            self._catalog.add_pages(pages, fresh)
            chunks += len(fresh)
            total = max(done, parsed.page_count)
            job.update(index, pages_done=done, pages_total=total, chunks_total=chunks)
            hand_over(Passages(task, tuple(fresh)))
            pages.clear()
            fresh.clear()

        def reading() -> Iterator[ParsedPage]:
            """Saves a batch whenever the chunker, done with its pages, asks for the next."""
            nonlocal done
            for page in parsed.pages:
                if len(pages) == _PAGES_A_BATCH:
                    save()
                done += 1
                pages.append(page)
                if page.page.kind not in ("empty", "suspect") and len(sample) < _SAMPLE_PAGES:
                    sample.append(page.page.text[:_SAMPLE_CHARACTERS])
                yield page

        size = largest(self._chunk_tokens, embedder.max_tokens)
        for piece in chunk(reading(), embedder.count_tokens, size, self._chunk_overlap):
            fresh.append(piece)
        save()
        job.update(index, state="embedding", pages_total=done)
        hand_over(ReadWhole(task, done, detect_language("\n".join(sample)), parsed.warnings))

    def find(self, task: Task, store: VectorStore, hand_over: Callable[[Part], None]) -> None:
        """The passages of a searchable document, from the catalog: another embedder, say."""
        job, index, document = task.job, task.index, task.document
        chunks = self._catalog.chunks(document.id)
        task.written = store.ids(document.id)
        job.update(
            index,
            state="embedding",
            pages_done=document.page_count,
            pages_total=document.page_count,
            chunks_total=len(chunks),
        )
        for at in range(0, len(chunks), _CHUNKS_A_BATCH):
            hand_over(Passages(task, chunks[at : at + _CHUNKS_A_BATCH]))
        hand_over(FoundWhole(task))

    def _earlier(self, task: Task) -> dict[str, str]:
        name = task.document.name
        return {
            searched_text(name, c.heading, c.text): c.id
            for version in self._catalog.versions(task.document.id)
            for c in self._catalog.chunks(version)
        }
