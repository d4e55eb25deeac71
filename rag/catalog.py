"""SQLite: documents, their pages, word rectangles and chunks. The source of truth.

Vectors can always be rebuilt from it. A document's pages and chunks become visible to readers
only when `publish` makes it `ready`, in the same transaction that removes the version it
replaces; a crash before that leaves every earlier document as it was.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag.catalog_rows import (
    ADDED,
    CHUNKS,
    DOCUMENTS,
    SCHEMA,
    document_of,
    dump,
    insert,
    pack,
    page_of,
    unpack,
)
from rag.errors import NotFound
from rag.types import (
    Chunk,
    Document,
    Page,
    PageKind,
    PageRepair,
    PageReport,
    ParsedPage,
    Warning,
    Word,
)


class Catalog:
    """Thread-safe: each thread has its own connection, writers wait for each other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._db.executescript(SCHEMA)
        for table, column, kind in ADDED:
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
        rows = self._db.execute(DOCUMENTS + "ORDER BY d.added DESC, d.name")
        return [document_of(row) for row in rows]

    def document(self, document_id: str) -> Document:
        """Raises NotFound."""
        row = self._db.execute(DOCUMENTS + "WHERE d.id = ?", (document_id,)).fetchone()
        if row is None:
            raise NotFound(f"There is no document {document_id!r} in the library.")
        return document_of(row)

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
                    document.language, dump(document.warnings), document.error,
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
            insert(db, pages, chunks)

    def replace_page(self, parsed: ParsedPage, chunks: Sequence[Chunk]) -> list[str]:
        """Put a page that was read again in the place of the stored one, with its chunks.

        The page's repair is then done. Returns the ids of the chunks that went. Raises NotFound
        when the document is gone, or no longer searchable.
        """
        page = parsed.page
        place = (page.document_id, page.number)
        with self._write() as db:
            changed = db.execute(
                "UPDATE pages SET text = ?, kind = ?, headings = ?, words = ?, repair = 'done'"
                " WHERE document_id = ? AND number = ? AND EXISTS"
                " (SELECT 1 FROM documents d WHERE d.id = document_id AND d.state = 'ready')",
                (page.text, page.kind, dump(page.headings), pack(parsed.words), *place),
            ).rowcount
            if not changed:
                raise NotFound(f"Page {page.number} of {page.document_id!r} is gone.")
            old = db.execute("SELECT id FROM chunks WHERE document_id = ? AND page = ?", place)
            replaced = [row["id"] for row in old]
            db.execute("DELETE FROM chunks WHERE document_id = ? AND page = ?", place)
            insert(db, [], chunks)
        return replaced

    def mark_repairs(
        self, document_id: str, old: Sequence[PageRepair], new: PageRepair, page: int | None = None
    ) -> None:
        """Of one page, or of all pages, those that are `old` become `new`."""
        marks = ",".join("?" * len(old))
        with self._write() as db:
            db.execute(
                f"UPDATE pages SET repair = ? WHERE document_id = ? AND repair IN ({marks})"
                " AND number = coalesce(?, number)",
                (new, document_id, *old, page),
            )

    def due(self) -> dict[str, int]:
        """Searchable document -> how many of its pages wait for text recognition."""
        rows = self._db.execute(
            "SELECT p.document_id, count(*) AS pages FROM pages p"
            " JOIN documents d ON d.id = p.document_id"
            " WHERE p.repair = 'due' AND d.state = 'ready'"
            " GROUP BY p.document_id ORDER BY d.added"
        )
        return {row["document_id"]: row["pages"] for row in rows}

    def settle(self, document_id: str, language: str, warnings: Sequence[Warning]) -> None:
        """What is known of a document after its pages were read again."""
        with self._write() as db:
            db.execute(
                "UPDATE documents SET language = ?, warnings = ? WHERE id = ?",
                (language, dump(warnings), document_id),
            )

    def publish(
        self, document_id: str, page_count: int, language: str, warnings: Sequence[Warning]
    ) -> list[str]:
        """Make a document `ready` and remove the others of its name; their ids are returned."""
        with self._write() as db:
            db.execute(
                "UPDATE documents SET state = 'ready', page_count = ?, language = ?, warnings = ?,"
                " error = '', error_code = '' WHERE id = ?",
                (page_count, language, dump(warnings), document_id),
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
        return page_of(row)

    def pages(self, document_id: str) -> list[Page]:
        rows = self._db.execute(
            "SELECT document_id, number, label, text, kind, headings FROM pages"
            " WHERE document_id = ? ORDER BY number",
            (document_id,),
        )
        return [page_of(row) for row in rows]

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
        return unpack(row["words"]) if row else ()

    def chunks(self, document_id: str) -> list[Chunk]:
        rows = self._db.execute(
            CHUNKS + 'WHERE c.document_id = ? ORDER BY c.page, c.start, c."end"', (document_id,)
        )
        return [Chunk(**dict(row)) for row in rows]

    def chunk_ids(self, document_id: str) -> set[str]:
        rows = self._db.execute("SELECT id FROM chunks WHERE document_id = ?", (document_id,))
        return {row["id"] for row in rows}

    def versions(self, document_id: str) -> list[str]:
        """The searchable documents of the same name, which this one will replace."""
        rows = self._db.execute(
            "SELECT o.id FROM documents o JOIN documents d ON d.name = o.name"
            " WHERE d.id = ? AND o.id != d.id AND o.state = 'ready'",
            (document_id,),
        )
        return [row["id"] for row in rows]

    def ready_chunks(self) -> Iterator[Chunk]:
        """The chunks of every searchable document."""
        rows = self._db.execute(
            CHUNKS + "JOIN documents d ON d.id = c.document_id WHERE d.state = 'ready'"
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
            f"{CHUNKS} JOIN documents d ON d.id = c.document_id"
            f" WHERE d.state = 'ready' AND c.id IN ({marks})",
            wanted,
        )
        return {row["id"]: Chunk(**dict(row)) for row in rows}

    def chunks_on(self, document_id: str, page: str) -> list[str]:
        """Ids of the chunks on the page with that number or printed label, in reading order."""
        rows = self._db.execute(
            "SELECT c.id FROM chunks c"
            " JOIN pages p ON p.document_id = c.document_id AND p.number = c.page"
            " WHERE c.document_id = ? AND (p.number = ? OR p.label = ?) ORDER BY c.start",
            (document_id, page, page),
        )
        return [row["id"] for row in rows]

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
