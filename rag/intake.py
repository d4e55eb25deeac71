"""Uploads -> bytes kept in the data folder and a `queued` row: a crash then loses no file."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rag.catalog import Catalog
from rag.errors import FileError, NotFound
from rag.job import Job
from rag.types import Document

_LONGEST_NAME = 200


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


def shown(name: str) -> str:
    """A file's name as it is shown: no way up, no control characters, one Unicode form."""
    parts = re.split(r"[\\/]", unicodedata.normalize("NFC", name))
    safe = "/".join(p for p in parts if p.strip() not in ("", ".", ".."))
    printable = "".join(c for c in safe if c.isprintable())
    return printable[-_LONGEST_NAME:] or "unnamed"


def keep(
    catalog: Catalog, files: Path, max_bytes: int, job: Job, index: int, upload: Upload
) -> Document | None:
    """The document to index, or None when there is nothing to do for this file of the job.

    Bytes are named by their SHA-256. The same bytes are the same document, under any name.
    """
    name = shown(upload.name)
    if job.cancelled:
        job.update(index, state="cancelled", message="Cancelled before it was read.")
        return None
    try:
        content = _content(upload.source, name, max_bytes)
    except FileError as error:
        job.update(index, state="failed", message=str(error), error_code=error.code)
        return None
    document_id = hashlib.sha256(content).hexdigest()
    known: Document | None = None
    with suppress(NotFound):
        known = catalog.document(document_id)
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
    _write(files / document_id, content)
    document = Document(
        id=document_id,
        name=name,
        media_type="",
        size=len(content),
        added=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    catalog.add(document)
    job.update(index, document_id=document_id)
    return document


def _write(target: Path, content: bytes) -> None:
    """Whole or not at all, also when the power fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".part")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(target)


def _content(source: bytes | Path | Source, name: str, max_bytes: int) -> bytes:
    try:
        if isinstance(source, bytes):
            size = len(source)
        else:
            size = source.stat().st_size if isinstance(source, Path) else source.size
        if size > max_bytes:
            raise FileError(
                "too_large",
                f"{name!r} is larger than {max_bytes // 2**20} MB. Split it, or raise "
                "FOOTNOTE_MAX_FILE_MB.",
            )
        if isinstance(source, bytes):
            content = source
        else:
            content = source.read_bytes() if isinstance(source, Path) else source.read()
    except OSError as error:
        raise FileError("unreadable", f"{name!r} could not be opened: {error}.") from error
    if not content:
        raise FileError("empty_file", f"{name!r} is empty (0 bytes).")
    return content
