"""SQLite: documents, their pages, word rectangles and chunks. The source of truth.

Vectors can always be rebuilt from it. A document's pages and chunks become visible to readers
only when `publish` makes it `ready`, in the same transaction that removes the version it
replaces; a crash before that leaves every earlier document as it was.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rag.errors import NotFound
from rag.types import (
    Chunk,
    Document,
    Heading,
    Page,
    PageKind,
    PageRepair,
    PageReport,
    ParsedPage,
    Warning,
    Word,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, media_type TEXT NOT NULL, size INTEGER NOT NULL,
    added TEXT NOT NULL, state TEXT NOT NULL, unit TEXT NOT NULL, page_count INTEGER NOT NULL,
    language TEXT NOT NULL, warnings TEXT NOT NULL, error TEXT NOT NULL,
    error_code TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS pages (
    document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    number INTEGER NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL, kind TEXT NOT NULL,
    headings TEXT NOT NULL, words BLOB NOT NULL, repair TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (document_id, number)
);
CREATE TABLE IF NOT EXISTS chunks (
    id TEXT PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    page INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, heading TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS chunks_of ON chunks (document_id, page, start);
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

# Columns that data folders made by earlier versions lack; both ways they come last.
_ADDED = (
    ("documents", "error_code", "TEXT NOT NULL DEFAULT ''"),
    ("pages", "repair", "TEXT NOT NULL DEFAULT ''"),
)

# A chunk's text is not stored twice: it is a slice of its page.
_CHUNKS = """
SELECT c.id, c.document_id, c.page, c.start, c."end",
       substr(p.text, c.start + 1, c."end" - c.start) AS text, c.heading
FROM chunks c JOIN pages p ON p.document_id = c.document_id AND p.number = c.page
"""
_DOCUMENTS = """
SELECT d.*, (SELECT count(*) FROM chunks c WHERE c.document_id = d.id) AS chunk_count
FROM documents d
"""


class Catalog:
    """Thread-safe: each thread has its own connection, writers wait for each other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._db.executescript(_SCHEMA)
        for table, column, kind in _ADDED:
            if column not in {
                row["name"] for row in self._db.execute(f"PRAGMA table_info({table})")
            }:
                self._db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    # Documents

    def documents(self) -> list[Document]:
        """Newest first, in any state."""
        rows = self._db.execute(_DOCUMENTS + "ORDER BY d.added DESC, d.name")
        return [_document(row) for row in rows]

    def document(self, document_id: str) -> Document:
        """Raises NotFound."""
        row = self._db.execute(_DOCUMENTS + "WHERE d.id = ?", (document_id,)).fetchone()
        if row is None:
            raise NotFound(f"There is no document {document_id!r} in the library.")
        return _document(row)

    def find(self, name_or_id: str) -> Document:
        """By id, by name, or by the start of an id (8 characters or more). Raises NotFound."""
        documents = self.documents()
        for matches in (
            [d for d in documents if d.id == name_or_id],
            [d for d in documents if d.name == name_or_id],
            [d for d in documents if len(name_or_id) >= 8 and d.id.startswith(name_or_id)],
        ):
            if matches:
                return next((d for d in matches if d.state == "ready"), matches[0])
        raise NotFound(
            f"There is no document {name_or_id!r} in the library. "
            "`python -m rag documents` lists what is there."
        )

    def add(self, document: Document) -> None:
        """Record a document whose bytes are kept; one with the same id is begun afresh."""
        with self._write() as db:
            db.execute("DELETE FROM documents WHERE id = ?", (document.id,))
            db.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    document.id, document.name, document.media_type, document.size,
                    document.added, document.state, document.unit, document.page_count,
                    document.language, _dump(document.warnings), document.error,
                    document.error_code,
                ),
            )  # fmt: skip

    def start(self, document_id: str, media_type: str, unit: str) -> None:
        """`queued` or interrupted -> `indexing`, with no pages."""
        with self._write() as db:
            db.execute("DELETE FROM chunks WHERE document_id = ?", (document_id,))
            db.execute("DELETE FROM pages WHERE document_id = ?", (document_id,))
            db.execute(
                "UPDATE documents SET state = 'indexing', media_type = ?, unit = ? WHERE id = ?",
                (media_type, unit, document_id),
            )

    def add_pages(self, pages: Sequence[ParsedPage], chunks: Sequence[Chunk]) -> None:
        with self._write() as db:
            _insert(db, pages, chunks)

    def publish(
        self, document_id: str, page_count: int, language: str, warnings: Sequence[Warning]
    ) -> list[str]:
        """Make a document `ready` and remove the others of its name; their ids are returned."""
        with self._write() as db:
            db.execute(
                "UPDATE documents SET state = 'ready', page_count = ?, language = ?, warnings = ?,"
                " error = '', error_code = '' WHERE id = ?",
                (page_count, language, _dump(warnings), document_id),
            )
            replaced = [
                row["id"]
                for row in db.execute(
                    "SELECT id FROM documents WHERE id != ?1"
                    " AND name = (SELECT name FROM documents WHERE id = ?1)",
                    (document_id,),
                )
            ]
            db.executemany("DELETE FROM documents WHERE id = ?", ((i,) for i in replaced))
        return replaced

    def fail(self, document_id: str, error: str, code: str) -> None:
        """Mark a document as one that cannot be indexed; its pages go."""
        with self._write() as db:
            db.execute("DELETE FROM pages WHERE document_id = ?", (document_id,))
            db.execute("DELETE FROM chunks WHERE document_id = ?", (document_id,))
            db.execute(
                "UPDATE documents SET state = 'failed', error = ?, error_code = ? WHERE id = ?",
                (error, code, document_id),
            )

    def rename(self, document_id: str, name: str) -> None:
        """Raises NotFound."""
        with self._write() as db:
            changed = db.execute(
                "UPDATE documents SET name = ? WHERE id = ?", (name, document_id)
            ).rowcount
            if not changed:
                raise NotFound(f"There is no document {document_id!r} in the library.")

    def delete(self, document_id: str) -> None:
        """Raises NotFound."""
        with self._write() as db:
            if not db.execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount:
                raise NotFound(f"There is no document {document_id!r} in the library.")

    # Pages and chunks

    def page(self, document_id: str, number: int) -> Page:
        """`number` is 1-based. Raises NotFound."""
        row = self._db.execute(
            "SELECT document_id, number, label, text, kind, headings FROM pages"
            " WHERE document_id = ? AND number = ?",
            (document_id, number),
        ).fetchone()
        if row is None:
            document = self.document(document_id)
            raise NotFound(
                f"{document.name!r} has no {document.unit} {number}: it has {document.page_count}."
            )
        return _page(row)

    def pages(self, document_id: str) -> list[Page]:
        rows = self._db.execute(
            "SELECT document_id, number, label, text, kind, headings FROM pages"
            " WHERE document_id = ? ORDER BY number",
            (document_id,),
        )
        return [_page(row) for row in rows]

    def report(self, document_id: str) -> PageReport:
        """How each page was read; empty for a document without pages."""
        kinds: dict[PageKind, list[int]] = {}
        tables: list[int] = []
        repairs: dict[PageRepair, list[int]] = {}
        rows = self._db.execute(
            "SELECT number, kind, repair, text LIKE '%| --- |%' AS has_table FROM pages"
            " WHERE document_id = ? ORDER BY number",
            (document_id,),
        )
        for row in rows:
            kinds.setdefault(row["kind"], []).append(row["number"])
            if row["has_table"]:
                tables.append(row["number"])
            if row["repair"]:
                repairs.setdefault(row["repair"], []).append(row["number"])
        return PageReport(
            {kind: tuple(numbers) for kind, numbers in kinds.items()},
            tuple(tables),
            {repair: tuple(numbers) for repair, numbers in repairs.items()},
        )

    def words(self, document_id: str, number: int) -> tuple[Word, ...]:
        """Empty for formats without a layout."""
        row = self._db.execute(
            "SELECT words FROM pages WHERE document_id = ? AND number = ?", (document_id, number)
        ).fetchone()
        return _unpack(row["words"]) if row else ()

    def chunks(self, document_id: str) -> list[Chunk]:
        rows = self._db.execute(
            _CHUNKS + 'WHERE c.document_id = ? ORDER BY c.page, c.start, c."end"', (document_id,)
        )
        return [Chunk(**dict(row)) for row in rows]

    def ready_chunks(self) -> Iterator[Chunk]:
        """The chunks of every searchable document."""
        rows = self._db.execute(
            _CHUNKS + "JOIN documents d ON d.id = c.document_id WHERE d.state = 'ready'"
        )
        return (Chunk(**dict(row)) for row in rows)

    def ready_pages(self) -> Iterator[tuple[str, int, str]]:
        """(document id, page number, text) of every searchable document."""
        rows = self._db.execute(
            "SELECT p.document_id, p.number, p.text FROM pages p"
            " JOIN documents d ON d.id = p.document_id WHERE d.state = 'ready'"
        )
        return ((row["document_id"], row["number"], row["text"]) for row in rows)

    def chunks_by_id(self, ids: Iterable[str]) -> dict[str, Chunk]:
        """Unknown ids, and those of documents that are not `ready`, are left out."""
        wanted = list(ids)
        marks = ",".join("?" * len(wanted))
        rows = self._db.execute(
            f"{_CHUNKS} JOIN documents d ON d.id = c.document_id"
            f" WHERE d.state = 'ready' AND c.id IN ({marks})",
            wanted,
        )
        return {row["id"]: Chunk(**dict(row)) for row in rows}

    def labels(self, pages: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """(document id, page number) -> label."""
        found: dict[tuple[str, int], str] = {}
        for document_id, number in set(pages):
            row = self._db.execute(
                "SELECT label FROM pages WHERE document_id = ? AND number = ?",
                (document_id, number),
            ).fetchone()
            if row is not None:
                found[document_id, number] = row["label"]
        return found

    # Settings that are not secret

    def setting(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row["value"])

    def save_setting(self, key: str, value: str | None) -> None:
        """None forgets it."""
        with self._write() as db:
            if value is None:
                db.execute("DELETE FROM settings WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, value))

    # Connections

    @property
    def _db(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # Not checked, because `close` runs on the thread that ends the workspace.
            connection = sqlite3.connect(
                self._path, timeout=60, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._local.connection = connection
            self._connections.append(connection)
        return connection

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def _insert(db: sqlite3.Connection, pages: Sequence[ParsedPage], chunks: Sequence[Chunk]) -> None:
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                p.page.document_id, p.page.number, p.page.label, p.page.text, p.page.kind,
                json.dumps([asdict(h) for h in p.page.headings]), _pack(p.words),
                "due" if p.due else "",
            )
            for p in pages
        ),
    )  # fmt: skip
    db.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
        ((c.id, c.document_id, c.page, c.start, c.end, c.heading) for c in chunks),
    )


def _document(row: sqlite3.Row) -> Document:
    fields = dict(row)
    fields["warnings"] = tuple(Warning(**w) for w in json.loads(fields["warnings"]))
    return Document(**fields)


def _page(row: sqlite3.Row) -> Page:
    fields = dict(row)
    fields["headings"] = tuple(Heading(**h) for h in json.loads(fields["headings"]))
    return Page(**fields)


def _dump(warnings: Sequence[Warning]) -> str:
    return json.dumps([asdict(w) for w in warnings])


def _pack(words: Sequence[Word]) -> bytes:
    """Six float32 a word, compressed: about 10 bytes. Offsets stay exact up to 2**24."""
    flat = array("f")
    for w in words:
        flat.extend((w.start, w.end, w.x0, w.y0, w.x1, w.y1))
    return zlib.compress(flat.tobytes(), 6) if flat else b""


def _unpack(blob: bytes) -> tuple[Word, ...]:
    if not blob:
        return ()
    flat = array("f")
    flat.frombytes(zlib.decompress(blob))
    return tuple(
        Word(int(flat[i]), int(flat[i + 1]), *flat[i + 2 : i + 6]) for i in range(0, len(flat), 6)
    )
