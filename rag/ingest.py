"""Files -> searchable documents, in the background: keep the bytes, read, embed, publish.

Two threads: one keeps and reads (`intake`, `reading`), the other embeds and publishes (`indexing`)
what was read meanwhile. Between them waits a bounded number of pages.

The order makes it crash-safe: the bytes and a `queued` row first, so that an interrupted batch
can be resumed; vectors before a document is published; the version that is replaced goes last.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rag.catalog import Catalog
from rag.errors import Cancelled
from rag.indexing import Engines, Indexing
from rag.intake import Source, Upload, keep, shown
from rag.job import Job
from rag.reading import Reading
from rag.stages import Broken, JobOver, Part, Passages, Task
from rag.types import Document

__all__ = ["Engines", "Ingester", "Source", "Upload", "shown"]

_WAITING = 32
"""Parts that are read ahead, of 16 pages each at most."""
_TOGETHER = 512
"""Passages that are sorted by length and embedded together, at least, if they are there."""


class Ingester:
    """Takes batches one after another."""

    def __init__(
        self,
        catalog: Catalog,
        files: Path,
        engines: Callable[[], Engines],
        *,
        chunk_tokens: int,
        chunk_overlap: int,
        max_file_mb: int,
        recognises: bool = False,
        on_ready: Callable[[str], None] = lambda document_id: None,
    ) -> None:
        """`recognises`: text recognition is on; `on_ready` is told the id of each document that
        became searchable and has pages for it."""
        self._catalog = catalog
        self._files = files
        self._engines = engines
        self._max_bytes = max_file_mb * 2**20
        self._jobs: queue.Queue[tuple[Job, list[Upload | Document]] | None] = queue.Queue()
        self._parts: queue.Queue[Part | None] = queue.Queue(_WAITING)
        self._unfinished: list[Job] = []
        self._counting = threading.Lock()
        self.idle = threading.Event()
        """Set while there is nothing to do."""
        self.idle.set()
        self._closing = False
        self._passwords: dict[str, str] = {}
        self._reading = Reading(
            catalog, files, chunk_tokens=chunk_tokens, chunk_overlap=chunk_overlap
        )
        self._indexing = Indexing(
            catalog,
            files,
            engines,
            recognises=recognises,
            on_ready=on_ready,
            closing=lambda: self._closing,
        )
        self._threads = [
            threading.Thread(target=self._read_jobs, name="read", daemon=True),
            threading.Thread(target=self._embed_parts, name="embed", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def add(self, uploads: Sequence[Upload]) -> Job:
        """Returns at once; `Job.progress` tells how it goes. No file's failure stops the rest."""
        return self._queue(list(uploads))

    def resume(self, documents: Sequence[Document]) -> Job:
        """Finish documents that never became `ready`, and those that lack vectors."""
        return self._queue(list(documents))

    def unlock(self, document: Document, password: str) -> Job:
        """Try a document again that failed because it needs a password."""
        self._passwords[document.id] = password
        return self._queue([document])

    def close(self) -> None:
        """Stops; what is unfinished stays marked and is resumed by the next start."""
        self._closing = True
        with self._counting:
            for job in self._unfinished:
                job.cancel()
        self._jobs.put(None)
        for thread in self._threads:
            thread.join(timeout=30)
        self._reading.close()

    def _queue(self, items: list[Upload | Document]) -> Job:
        job = Job([shown(i.name) for i in items])
        with self._counting:
            self._unfinished.append(job)
            self.idle.clear()
        self._jobs.put((job, items))
        return job

    def _read_jobs(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, items = entry
            # All bytes are kept before any is read: a crash then loses no file of the batch.
            kept = [self._keep(job, index, item) for index, item in enumerate(items)]
            items.clear()  # uploads lie on disk now: gigabytes of them may still be in memory
            for index, document in enumerate(kept):
                if document is not None and not self._closing:
                    self._read(Task(job, index, document))
            self._parts.put(JobOver(job))
            # The next batch may hold the same files: it looks for them when these are indexed.
            job.wait()
            with self._counting:
                self._unfinished.remove(job)
                if not self._unfinished:
                    self.idle.set()
        self._parts.put(None)

    def _keep(self, job: Job, index: int, item: Upload | Document) -> Document | None:
        if isinstance(item, Document):
            job.update(index, document_id=item.id)
            return item
        try:
            document = keep(self._catalog, self._files, self._max_bytes, job, index, item)
        except Exception as error:  # disk full, say: the thread must live on for the next file
            message = f"{shown(item.name)!r} could not be kept: {error}."
            job.update(index, state="failed", message=message, error_code="unreadable")
            return None
        if document is not None and item.password is not None:
            self._passwords[document.id] = item.password
        return document

    def _read(self, task: Task) -> None:
        document = task.document
        try:
            if task.job.cancelled:
                raise Cancelled(f"Indexing {document.name!r} was cancelled.")
            engines = self._engines()
            if document.state == "ready":
                self._reading.find(task, engines.store, self._parts.put)
            else:
                password = self._passwords.pop(document.id, None)
                self._reading.read(task, engines.embedder, engines.store, self._parts.put, password)
        except Exception as error:  # told at its place in the order of documents
            self._parts.put(Broken(task, error))

    def _embed_parts(self) -> None:
        over = False
        while not over:
            parts: list[Part] = []
            part = self._parts.get()
            with suppress(queue.Empty):
                while part is not None:
                    parts.append(part)
                    if _passages(parts) >= _TOGETHER:
                        break
                    part = self._parts.get_nowait()
            over = part is None
            self._indexing.take(parts)


def _passages(parts: Sequence[Part]) -> int:
    return sum(len(part.chunks) for part in parts if isinstance(part, Passages))
