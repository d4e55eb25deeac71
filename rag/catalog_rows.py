"""How documents, pages and chunks lie in the catalog's tables, and how they become values again."""

from __future__ import annotations

import json
import sqlite3
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import asdict

from rag.types import Chunk, Document, Heading, Page, ParsedPage, Warning, Word

SCHEMA = """
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
ADDED = (
    ("documents", "error_code", "TEXT NOT NULL DEFAULT ''"),
    ("pages", "repair", "TEXT NOT NULL DEFAULT ''"),
)

# A chunk's text is not stored twice: it is a slice of its page.
CHUNKS = """
SELECT c.id, c.document_id, c.page, c.start, c."end",
       substr(p.text, c.start + 1, c."end" - c.start) AS text, c.heading
FROM chunks c JOIN pages p ON p.document_id = c.document_id AND p.number = c.page
"""
DOCUMENTS = """
SELECT d.*, (SELECT count(*) FROM chunks c WHERE c.document_id = d.id) AS chunk_count
FROM documents d
"""


def insert(db: sqlite3.Connection, pages: Sequence[ParsedPage], chunks: Sequence[Chunk]) -> None:
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                p.page.document_id, p.page.number, p.page.label, p.page.text, p.page.kind,
                dump(p.page.headings), pack(p.words),
                "due" if p.due else "",
            )
            for p in pages
        ),
    )  # fmt: skip
    db.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
        ((c.id, c.document_id, c.page, c.start, c.end, c.heading) for c in chunks),
    )


def document_of(row: sqlite3.Row) -> Document:
    fields = dict(row)
    fields["warnings"] = tuple(Warning(**w) for w in json.loads(fields["warnings"]))
    return Document(**fields)


def page_of(row: sqlite3.Row) -> Page:
    fields = dict(row)
    fields["headings"] = tuple(Heading(**h) for h in json.loads(fields["headings"]))
    return Page(**fields)


def dump(values: Sequence[Warning] | Sequence[Heading]) -> str:
    return json.dumps([asdict(value) for value in values])


def pack(words: Sequence[Word]) -> bytes:
    """Six float32 a word, compressed: about 10 bytes. Offsets stay exact up to 2**24."""
    flat = array("f")
    for w in words:
        flat.extend((w.start, w.end, w.x0, w.y0, w.x1, w.y1))
    return zlib.compress(flat.tobytes(), 6) if flat else b""


def unpack(blob: bytes) -> tuple[Word, ...]:
    if not blob:
        return ()
    flat = array("f")
    flat.frombytes(zlib.decompress(blob))
    return tuple(
        Word(int(flat[i]), int(flat[i + 1]), *flat[i + 2 : i + 6]) for i in range(0, len(flat), 6)
    )
