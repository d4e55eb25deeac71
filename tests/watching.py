"""Helpers for the watched folder: a stand-in for indexing over a real catalog, look by look."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rag.catalog import Catalog
from rag.ingest import Upload
from rag.job import Job
from rag.types import Document
from rag.watch import Watcher

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Library:
    """Indexes at once; a file that begins with BROKEN fails, as a damaged one does."""

    def __init__(self, folder: Path) -> None:
        self.catalog = Catalog(folder / "catalog.db")
        self.batches: list[list[str]] = []
        self.held: list[Callable[[], None]] | None = None
        """A list keeps batches waiting until its functions are called."""

    def add(self, uploads: Sequence[Upload]) -> Job:
        job = Job([upload.name for upload in uploads])
        self.batches.append([upload.name for upload in uploads])

        def finish() -> None:
            for index, upload in enumerate(uploads):
                self._index(job, index, upload)
            job.close()

        if self.held is None:
            finish()
        else:
            self.held.append(finish)
        return job

    def _index(self, job: Job, index: int, upload: Upload) -> None:
        if job.cancelled:
            job.update(index, state="cancelled")
            return
        source = upload.source
        data = (
            source
            if isinstance(source, bytes)
            else (source.read_bytes() if isinstance(source, Path) else source.read())
        )
        document_id = hashlib.sha256(data).hexdigest()
        job.update(index, document_id=document_id)
        if any(d.id == document_id and d.state == "ready" for d in self.catalog.documents()):
            job.update(index, state="duplicate")
            return
        self.catalog.add(Document(document_id, upload.name, "", len(data), NOON.isoformat()))
        if data.startswith(b"BROKEN"):
            self.catalog.fail(document_id, "It is broken.", "corrupt")
            job.update(
                index, state="failed", message=f"{upload.name!r} is broken.", error_code="corrupt"
            )
            return
        replaced = self.catalog.publish(document_id, 1, "", ())
        job.update(index, state="replaced" if replaced else "indexed")

    @property
    def ready(self) -> dict[str, str]:
        """Name -> id of every document that can be searched."""
        return {d.name: d.id for d in self.catalog.documents() if d.state == "ready"}


def write(path: Path, text: str, at: int = 1_000) -> None:
    """`at` is the time of the change, in seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


def watching(library: Library, folder: Path) -> Watcher:
    return Watcher(
        folder,
        library.catalog,
        library.add,
        library.catalog.delete,
        library.catalog.rename,
        now=lambda: NOON,
    )


def look(watcher: Watcher, times: int = 4) -> None:
    """Enough for what is new to settle, to be indexed and to be noted."""
    for _ in range(times):
        watcher.look()
