"""Files -> searchable documents, on a background thread: keep the bytes, parse, chunk, embed.

The order makes it crash-safe: the bytes and a `queued` row first, so that an interrupted batch
can be resumed; vectors before `publish`, so that no half document is ever searched; the version
that is replaced goes last.
"""

from __future__ import annotations

import hashlib
import queue
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rag.catalog import Catalog
from rag.chunk import chunk
from rag.embed import Embedder
from rag.errors import Cancelled, FileError, FootnoteError, NotFound
from rag.job import Job
from rag.language import detect_language
from rag.parse.worker import ParseWorker
from rag.retrieve import Retriever, searched_text
from rag.store import VectorStore
from rag.types import Chunk, Document, PageKind, ParsedPage, Warning

_PAGES_A_BATCH = 16
_CHUNKS_A_BATCH = 64
_LONGEST_NAME = 200
_HEADER_TOKENS = 40
"""Room in the embedder's input for the document's name and the heading path."""


class Source(Protocol):
    """Bytes that are read when their turn comes, such as a file inside an archive."""

    @property
    def size(self) -> int: ...

    def read(self) -> bytes:
        """Raises FileError, which then is the file's failure."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to index. `name` is shown and searched, and never becomes a path."""

    name: str
    source: bytes | Path | Source
    password: str | None = None
    """Opens an encrypted PDF. It is used once and kept nowhere: the decrypted bytes are kept."""


@dataclass(frozen=True, slots=True)
class Engines:
    """What embedding needs; loaded on first use, off the caller's thread."""

    embedder: Embedder
    store: VectorStore
    retriever: Retriever


class Ingester:
    """Takes batches one after another on a thread of its own."""

    def __init__(
        self,
        catalog: Catalog,
        files: Path,
        engines: Callable[[], Engines],
        *,
        chunk_tokens: int,
        chunk_overlap: int,
        max_file_mb: int,
    ) -> None:
        self._catalog = catalog
        self._files = files
        self._engines = engines
        self._chunk_tokens = chunk_tokens
        self._chunk_overlap = chunk_overlap
        self._max_bytes = max_file_mb * 2**20
        self._jobs: queue.Queue[tuple[Job, list[Upload | Document]] | None] = queue.Queue()
        self._current: Job | None = None
        self._closing = False
        self._passwords: dict[str, str] = {}
        self._worker = ParseWorker()
        self._thread = threading.Thread(target=self._run, name="ingest", daemon=True)
        self._thread.start()

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
        if self._current is not None:
            self._current.cancel()
        self._jobs.put(None)
        self._thread.join(timeout=30)
        self._worker.close()

    def _queue(self, items: list[Upload | Document]) -> Job:
        job = Job([shown(i.name) for i in items])
        self._jobs.put((job, items))
        return job

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, items = entry
            self._current = job
            # All bytes are kept before any is read: a crash then loses no file of the batch.
            kept = [self._keep(job, index, item) for index, item in enumerate(items)]
            for index, document in enumerate(kept):
                if document is not None and not self._closing:
                    self._index(job, index, document)
            self._current = None
            job.close()

    def _keep(self, job: Job, index: int, item: Upload | Document) -> Document | None:
        """The document to index, or None when there is nothing to do for this file."""
        if isinstance(item, Document):
            job.update(index, document_id=item.id)
            return item
        name = shown(item.name)
        if job.cancelled:
            job.update(index, state="cancelled", message="Cancelled before it was read.")
            return None
        try:
            data = self._bytes(item.source, name)
        except FileError as error:
            job.update(index, state="failed", message=str(error), error_code=error.code)
            return None
        document_id = hashlib.sha256(data).hexdigest()
        known: Document | None = None
        with suppress(NotFound):
            known = self._catalog.document(document_id)
        taken = any(f.document_id == document_id for f in job.progress.files)
        if taken or (known is not None and known.state == "ready"):
            earlier = known.name if known else name
            same = "" if earlier == name else f" as {earlier!r}"
            job.update(
                index,
                state="duplicate",
                document_id=document_id,
                pages_total=known.page_count if known else 0,
                pages_done=known.page_count if known else 0,
                chunks_total=known.chunk_count if known else 0,
                chunks_done=known.chunk_count if known else 0,
                message=f"Already in the library{same}; nothing was added.",
            )
            return None
        self._files.mkdir(parents=True, exist_ok=True)
        target = self._files / document_id
        partial = target.with_suffix(".part")
        partial.write_bytes(data)
        partial.replace(target)
        document = Document(
            id=document_id,
            name=name,
            media_type="",
            size=len(data),
            added=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        self._catalog.add(document)
        if item.password is not None:
            self._passwords[document_id] = item.password
        job.update(index, document_id=document_id)
        return document

    def _bytes(self, source: bytes | Path | Source, name: str) -> bytes:
        try:
            if isinstance(source, bytes):
                size = len(source)
            else:
                size = source.stat().st_size if isinstance(source, Path) else source.size
            if size > self._max_bytes:
                raise FileError(
                    "too_large",
                    f"{name!r} is larger than {self._max_bytes // 2**20} MB. Split it, or raise "
                    "FOOTNOTE_MAX_FILE_MB.",
                )
            if isinstance(source, bytes):
                data = source
            else:
                data = source.read_bytes() if isinstance(source, Path) else source.read()
        except OSError as error:
            raise FileError("unreadable", f"{name!r} could not be opened: {error}.") from error
        if not data:
            raise FileError("empty_file", f"{name!r} is empty (0 bytes).")
        return data

    def _index(self, job: Job, index: int, document: Document) -> None:
        try:
            if document.state == "ready":
                self._embed_again(job, index, document)
            else:
                self._read(job, index, document)
        except Cancelled:
            if not self._closing:  # closing is not the user's wish to drop the file
                self._forget(document.id)
            job.update(index, state="cancelled", message="Cancelled; nothing of it was kept.")
        except FileError as error:
            self._catalog.fail(document.id, str(error), error.code)
            if error.code not in ("password_required", "wrong_password"):
                self._discard(document.id)  # an encrypted one waits for its password
            job.update(index, state="failed", message=str(error), error_code=error.code)
        except FootnoteError as error:
            job.update(index, state="failed", message=str(error), error_code="unreadable")
        except Exception as error:  # disk full, say: the thread must live on for the next file
            job.update(
                index,
                state="failed",
                error_code="unreadable",
                message=f"{document.name!r} could not be indexed: {error}. Its bytes are kept; "
                "it is tried again at the next start.",
            )

    def _read(self, job: Job, index: int, document: Document) -> None:
        def stop() -> None:
            if job.cancelled:
                raise Cancelled(f"Indexing {document.name!r} was cancelled.")

        stop()
        job.update(index, state="reading")
        engines = self._engines()
        parsed = self._worker.open(
            self._files / document.id,
            document.name,
            document.id,
            lambda: job.cancelled,
            self._passwords.pop(document.id, None),
        )
        self._catalog.start(document.id, parsed.media_type, parsed.unit)
        job.update(index, pages_total=parsed.page_count)

        pages: list[ParsedPage] = []
        fresh: list[Chunk] = []
        chunks: list[Chunk] = []
        kinds: dict[PageKind, list[int]] = {}
        sample: list[str] = []
        done = 0

        def save() -> None:
            stop()
            self._catalog.add_pages(pages, fresh)
            chunks.extend(fresh)
            pages.clear()
            fresh.clear()
            total = max(done, parsed.page_count)
            job.update(index, pages_done=done, pages_total=total, chunks_total=len(chunks))

        def reading() -> Iterator[ParsedPage]:
            """Saves a batch whenever the chunker, done with its pages, asks for the next."""
            nonlocal done
            for page in parsed.pages:
                if len(pages) == _PAGES_A_BATCH:
                    save()
                done += 1
                pages.append(page)
                kinds.setdefault(page.page.kind, []).append(page.page.number)
                if page.page.kind not in ("empty", "suspect") and len(sample) < 50:
                    sample.append(page.page.text[:2000])
                yield page

        size = min(self._chunk_tokens, engines.embedder.max_tokens - _HEADER_TOKENS)
        for piece in chunk(reading(), engines.embedder.count_tokens, size, self._chunk_overlap):
            fresh.append(piece)
        save()
        warnings = (*parsed.warnings, *_missing_text(parsed.unit, done, kinds, chunks))
        job.update(index, state="embedding", pages_total=done, warnings=warnings)
        self._embed(job, index, document, chunks, engines, stop)
        replaced = self._catalog.publish(
            document.id, done, detect_language("\n".join(sample)), warnings
        )
        engines.store.delete(replaced)
        for old in replaced:
            self._discard(old)
        engines.retriever.invalidate()
        job.update(
            index,
            state="replaced" if replaced else "indexed",
            message=f"Replaced the earlier version of {document.name!r}." if replaced else "",
        )

    def _embed_again(self, job: Job, index: int, document: Document) -> None:
        """From stored text, for a document that lacks vectors (another embedder, say)."""
        chunks = self._catalog.chunks(document.id)
        job.update(
            index,
            state="embedding",
            pages_done=document.page_count,
            pages_total=document.page_count,
            chunks_total=len(chunks),
        )
        self._embed(job, index, document, chunks, self._engines(), lambda: None)
        job.update(index, state="indexed", message="Embedded again from its stored text.")

    def _embed(
        self,
        job: Job,
        index: int,
        document: Document,
        chunks: list[Chunk],
        engines: Engines,
        stop: Callable[[], None],
    ) -> None:
        # An interrupted run may have written some already: the ids say which.
        written = set() if document.state == "queued" else engines.store.ids(document.id)
        missing = [c for c in chunks if c.id not in written]
        done = len(chunks) - len(missing)
        # Batches of like length waste no padding.
        missing.sort(key=lambda c: len(c.text))
        for at in range(0, len(missing), _CHUNKS_A_BATCH):
            stop()
            part = missing[at : at + _CHUNKS_A_BATCH]
            vectors = engines.embedder.embed(
                [searched_text(document.name, c.heading, c.text) for c in part]
            )
            engines.store.upsert(document.id, [c.id for c in part], vectors)
            done += len(part)
            job.update(index, chunks_done=done)
        job.update(index, chunks_done=done)

    def _forget(self, document_id: str) -> None:
        self._catalog.delete(document_id)
        self._engines().store.delete([document_id])
        self._discard(document_id)

    def _discard(self, document_id: str) -> None:
        (self._files / document_id).unlink(missing_ok=True)


def shown(name: str) -> str:
    """A file's name as it is shown: no way up, no control characters, one Unicode form."""
    parts = re.split(r"[\\/]", unicodedata.normalize("NFC", name))
    safe = "/".join(p for p in parts if p.strip() not in ("", ".", ".."))
    printable = "".join(c for c in safe if c.isprintable())
    return printable[-_LONGEST_NAME:] or "unnamed"


def _missing_text(
    unit: str, page_count: int, kinds: Mapping[PageKind, Sequence[int]], chunks: Sequence[Chunk]
) -> Iterator[Warning]:
    if unit != "page":
        if not chunks:
            yield Warning("no_text", "It holds no text. There is nothing to search in it.")
        return
    empty, suspect, noisy = (kinds.get(k, ()) for k in ("empty", "suspect", "noisy"))
    if not chunks and not suspect:
        yield Warning(
            "no_text_layer",
            f"None of its {page_count} pages has any text: they are pictures (a scan) or "
            "blank. The document can be looked at, not searched.",
        )
    elif empty:
        yield Warning(
            "pages_without_text",
            f"{_of(empty, page_count)} have no text (pictures or blank). They cannot be searched.",
            empty[0],
        )
    if suspect:
        yield Warning(
            "suspect_text_layer",
            f"{_of(suspect, page_count)} hold text that is no text: their fonts do not say which "
            "letters they draw. They can be looked at, not searched.",
            suspect[0],
        )
    if noisy:
        yield Warning(
            "suspect_text_layer",
            f"{_of(noisy, page_count)} hold text that was recognised from a picture, with many "
            "errors. It is searched, but quotes of it may differ from what the page shows.",
            noisy[0],
        )


def _of(pages: Sequence[int], page_count: int) -> str:
    shown = ", ".join(map(str, pages[:10])) + (", …" if len(pages) > 10 else "")
    return f"{len(pages)} of {page_count} pages ({shown})"
