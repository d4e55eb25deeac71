"""How far a batch of files is: frozen snapshots that a page can draw while a thread works."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag.types import Warning

FileState = Literal[
    "waiting", "reading", "embedding", "indexed", "duplicate", "replaced", "failed", "cancelled"
]


@dataclass(frozen=True, slots=True)
class FileProgress:
    name: str
    state: FileState = "waiting"
    pages_done: int = 0
    pages_total: int = 0
    """0 while unknown."""
    chunks_done: int = 0
    chunks_total: int = 0
    document_id: str = ""
    message: str = ""
    """One line for the user: why it failed, what it replaced, what it duplicates."""
    warnings: tuple[Warning, ...] = ()
    error_code: str = ""

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "reading", "embedding")


@dataclass(frozen=True, slots=True)
class Progress:
    files: tuple[FileProgress, ...]
    cancelled: bool = False

    @property
    def finished(self) -> bool:
        return all(f.over for f in self.files)


RepairState = Literal["waiting", "running", "done", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class Repair:
    """Pages of one document that are read by text recognition in the background.

    The document can be searched meanwhile; each page is replaced as soon as it has been read.
    """

    document_id: str
    name: str
    state: RepairState
    """`waiting`: for other documents, or for an upload to be indexed first. `cancelled`: by the
    user, or because the document was deleted or replaced. `failed`: `message` says why."""
    pages_done: int
    pages_total: int
    pages_read: int = 0
    """Of those done, the ones on which words were found."""
    message: str = ""

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "running")


class Job:
    """One batch. `progress` is a snapshot that is replaced, never changed."""

    def __init__(self, names: Sequence[str]) -> None:
        self.progress = Progress(tuple(FileProgress(n) for n in names))
        self.skipped: tuple[str, ...] = ()
        """Names of hidden and system files that came along and are no documents."""
        self._lock = threading.Lock()
        """Reading and embedding both report, each on a thread of its own."""
        self._cancel = threading.Event()
        self._done = threading.Event()
        if not names:
            self._done.set()

    def cancel(self) -> None:
        """Stops after the page or batch in hand; files already indexed stay."""
        self._cancel.set()

    @property
    def cancelled(self) -> bool:
        return self._cancel.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """True when the batch is over."""
        return self._done.wait(timeout_s)

    def update(self, index: int, **changes: object) -> None:
        with self._lock:
            files = list(self.progress.files)
            files[index] = replace(files[index], **changes)  # type: ignore[arg-type]
            self.progress = Progress(tuple(files), self.cancelled)

    def advance(self, index: int, chunks: int) -> None:
        """So many more passages of the file are embedded."""
        with self._lock:
            files = list(self.progress.files)
            files[index] = replace(files[index], chunks_done=files[index].chunks_done + chunks)
            self.progress = Progress(tuple(files), self.cancelled)

    def close(self) -> None:
        self._done.set()
