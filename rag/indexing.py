"""Passages -> vectors; a document whose passages all have one -> searchable.

Vectors come before `Catalog.publish`, so that no half document is ever searched; the version that
is replaced goes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.catalog import Catalog
from rag.embed import Embedder
from rag.errors import Cancelled, FileError, FootnoteError, NotFound
from rag.page_notes import page_notes
from rag.retrieve import Retriever, searched_text
from rag.stages import Broken, FoundWhole, JobOver, Part, Passages, ReadWhole, Task
from rag.store import VectorStore
from rag.types import Chunk, Warning

_BATCH = 64
_SPECIAL_TOKENS = 2
"""That the embedder adds to every text."""


@dataclass(frozen=True, slots=True)
class Engines:
    """What embedding needs; loaded on first use, off the caller's thread."""

    embedder: Embedder
    store: VectorStore
    retriever: Retriever


class Indexing:
    """The second stage, on a thread of its own."""

    def __init__(
        self,
        catalog: Catalog,
        files: Path,
        engines: Callable[[], Engines],
        *,
        recognises: bool,
        on_ready: Callable[[str], None],
        closing: Callable[[], bool],
    ) -> None:
        """`on_ready` is told the id of each document that became searchable. While `closing`, what
        is cancelled stays marked, so that the next start resumes it."""
        self._catalog = catalog
        self._files = files
        self._engines = engines
        self._recognises = recognises
        self._on_ready = on_ready
        self._closing = closing

    def take(self, parts: Sequence[Part]) -> None:
        """Parts of one or more documents, in order; their passages are embedded together."""
        batches = [p for p in parts if isinstance(p, Passages) and not _is_off(p.task)]
        try:
            self._embed([(batch.task, chunk) for batch in batches for chunk in batch.chunks])
        except Exception as error:  # disk full, say: it is told at the end of each document
            for batch in batches:
                batch.task.error = error
        for part in parts:
            if isinstance(part, JobOver):
                part.job.close()
            elif not isinstance(part, Passages):
                self._end(part)

    def _end(self, part: ReadWhole | FoundWhole | Broken) -> None:
        task = part.task
        error = part.error if isinstance(part, Broken) else task.error
        try:
            if error is not None:
                raise error
            if task.job.cancelled:
                raise Cancelled(f"Indexing {task.document.name!r} was cancelled.")
            if isinstance(part, ReadWhole):
                self._publish(part)
            else:
                text = "Embedded again from its stored text."
                task.job.update(task.index, state="indexed", message=text)
        except Exception as raised:  # the thread must live on for the next file
            try:
                self._fail(task, raised)
            except Exception as second:  # disk full: not even that can be written
                task.job.update(
                    task.index, state="failed", message=str(second), error_code="unreadable"
                )

    def _fail(self, task: Task, error: Exception) -> None:
        document = task.document
        message, code = str(error), "unreadable"
        if isinstance(error, Cancelled):
            message = "Cancelled; nothing of it was kept."
            if document.state == "ready":  # its vectors were missing, and the rest still is
                message = "Cancelled; it goes on at the next start."
            elif not self._closing():  # closing is not the user's wish to drop the file
                self._forget(document.id)
            task.job.update(task.index, state="cancelled", message=message)
            return
        if isinstance(error, FileError):
            code = error.code
            self._catalog.fail(document.id, message, code)
            self._engines().store.delete([document.id])
            if code not in ("password_required", "wrong_password"):
                self._discard(document.id)  # an encrypted one waits for its password
        elif not isinstance(error, FootnoteError):
            message = (
                f"{document.name!r} could not be indexed: {error}. Its bytes are kept; it is "
                "tried again at the next start."
            )
        task.job.update(task.index, state="failed", message=message, error_code=code)

    def _publish(self, part: ReadWhole) -> None:
        task, document = part.task, part.task.document
        engines = self._engines()
        chunks = self._catalog.chunk_ids(document.id)
        report = self._catalog.report(document.id)
        notes = page_notes(
            report,
            self._catalog.document(document.id).unit,
            part.page_count,
            has_text=bool(chunks),
            recognises=self._recognises,
        )
        warnings = (*part.warnings, *notes)
        if task.truncated:
            text = f"{task.truncated} of its passages are longer than the search model reads."
            warnings += (Warning("passages_cut", text),)
        engines.store.delete_chunks(task.written - chunks)
        with engines.retriever.changing():
            replaced = self._catalog.publish(document.id, part.page_count, part.language, warnings)
        engines.store.delete(replaced)
        for old in replaced:
            self._discard(old)
        task.job.update(
            task.index,
            state="replaced" if replaced else "indexed",
            warnings=warnings,
            message=f"Replaced the earlier version of {document.name!r}." if replaced else "",
        )
        if report.repairs.get("due"):
            self._on_ready(document.id)

    def _embed(self, passages: Sequence[tuple[Task, Chunk]]) -> None:
        """No text twice: not one whose vector is stored, nor one that several passages share."""
        if not passages:
            return
        engines = self._engines()
        todo: _Owners = {}
        for task, chunk in passages:
            if chunk.id in task.written:
                _count(task, 1)
            else:
                text = searched_text(task.document.name, chunk.heading, chunk.text)
                todo.setdefault(text, []).append((task, chunk.id))
        earlier = {
            text: task.reusable[text]
            for text, owners in todo.items()
            for task, _ in owners
            if text in task.reusable
        }
        stored = engines.store.vectors(list(earlier.values()))
        known = {text: stored[i] for text, i in earlier.items() if i in stored}
        self._write(engines.store, todo, known)
        # Batches of like length waste no padding.
        texts = sorted(todo.keys() - known.keys(), key=len)
        for at in range(0, len(texts), _BATCH):
            batch = [t for t in texts[at : at + _BATCH] if not all(_is_off(o[0]) for o in todo[t])]
            if batch:
                self._count_truncated(engines.embedder, batch, todo)
                vectors = engines.embedder.embed(batch)
                self._write(engines.store, todo, dict(zip(batch, vectors, strict=True)))

    def _count_truncated(self, embedder: Embedder, texts: Sequence[str], todo: _Owners) -> None:
        limit = embedder.max_tokens - _SPECIAL_TOKENS
        for text, size in zip(texts, embedder.count_tokens(texts), strict=True):
            if size > limit:
                for task, _ in todo[text]:
                    task.truncated += 1

    def _write(self, store: VectorStore, todo: _Owners, vectors: Mapping[str, np.ndarray]) -> None:
        tasks: dict[Task, list[tuple[str, np.ndarray]]] = {}
        for text, vector in vectors.items():
            for task, chunk_id in todo[text]:
                tasks.setdefault(task, []).append((chunk_id, vector))
        for task, points in tasks.items():
            store.upsert(task.document.id, [i for i, _ in points], np.stack([v for _, v in points]))
            _count(task, len(points))

    def _forget(self, document_id: str) -> None:
        with suppress(NotFound):
            self._catalog.delete(document_id)
        self._engines().store.delete([document_id])
        self._discard(document_id)

    def _discard(self, document_id: str) -> None:
        (self._files / document_id).unlink(missing_ok=True)


_Owners = dict[str, list[tuple[Task, str]]]
"""Searched text -> the passages that have it, by task and id."""


def _is_off(task: Task) -> bool:
    return task.error is not None or task.job.cancelled


def _count(task: Task, chunks: int) -> None:
    task.job.advance(task.index, chunks)
