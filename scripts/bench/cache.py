"""What does not change with the ranking is computed once: vectors of texts, pages of documents."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import rag
from rag.embed import Embedder
from rag.rerank import BUNDLED, Reranker
from rag.settings import BUNDLED_RERANKER

_BATCH = 64
_MOST_KEYS = 500
"""SQLite takes so many in one statement everywhere."""


class Vectors:
    """An Embedder that keeps every vector in a file: by the model's fingerprint and the text.

    While `live`, it computes everything anew and keeps nothing, so that times are true.
    """

    def __init__(self, path: Path, inner: Embedder) -> None:
        self.live = False
        self.fingerprint = inner.fingerprint
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        self._inner = inner
        # Ingestion embeds on a thread of its own; one thread at a time uses it.
        self._db = sqlite3.connect(path, timeout=600, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.live:
            return self._inner.embed(texts)
        keys = [self._key("", text) for text in texts]
        known = self._known(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        waiting = sorted(new.items(), key=lambda item: len(item[1]))
        for at in range(0, len(waiting), _BATCH):
            part = waiting[at : at + _BATCH]
            found = self._inner.embed([text for _, text in part])
            known |= self._keep([key for key, _ in part], found)
        return np.stack([known[key] for key in keys]) if keys else self._inner.embed([])

    def embed_query(self, text: str) -> np.ndarray:
        if self.live:
            return self._inner.embed_query(text)
        key = self._key("query", text)
        known = self._known([key]) or self._keep([key], [self._inner.embed_query(text)])
        return known[key]

    def reads(self, language: str) -> bool:
        return self._inner.reads(language)

    def _key(self, kind: str, text: str) -> bytes:
        return hashlib.sha256(f"{self.fingerprint}\0{kind}\0{text}".encode()).digest()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        found = {}
        for at in range(0, len(keys), _MOST_KEYS):
            part = keys[at : at + _MOST_KEYS]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", part)
            found |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return found

    def _keep(
        self, keys: Sequence[bytes], vectors: Sequence[np.ndarray]
    ) -> dict[bytes, np.ndarray]:
        rows = [
            (k, np.asarray(v, np.float32).tobytes()) for k, v in zip(keys, vectors, strict=True)
        ]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        return {key: np.frombuffer(vector, np.float32) for key, vector in rows}


class Scores:
    """A Reranker that keeps every score in a file, by the model, its weights, query and passage."""

    def __init__(self, path: Path, inner: Reranker, weights: str) -> None:
        """`weights` tells two versions of a model of one name apart."""
        self.name = inner.name
        self._inner = inner
        self._weights = weights
        self._db = sqlite3.connect(path, timeout=600, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, score REAL)")

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        keys = [self._key(query, passage) for passage in passages]
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(f"SELECT * FROM scores WHERE key IN ({marks})", keys)
        known: dict[bytes, float] = dict(rows)
        new = {k: p for k, p in zip(keys, passages, strict=True) if k not in known}
        if new:
            found = dict(zip(new, self._inner.score(query, list(new.values())), strict=True))
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", found.items())
            known |= found
        return [known[key] for key in keys]

    def reads(self, query: str) -> bool:
        return self._inner.reads(query)

    def _key(self, query: str, passage: str) -> bytes:
        text = f"{self.name}\0{self._weights}\0{query}\0{passage}"
        return hashlib.sha256(text.encode()).digest()


def weights_version(model: str) -> str:
    """12 hex digits of a re-ranker's weights; "" for a hub name, which stands for one version."""
    total = hashlib.sha256()
    folder = BUNDLED if model == BUNDLED_RERANKER else Path(model)
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".safetensors", ".onnx"))
    for path in files:
        total.update(path.read_bytes())
    return total.hexdigest()[:12] if files else ""


def parser_version() -> str:
    """12 hex digits of the code that makes pages out of files."""
    folder = Path(rag.__file__).parent
    total = hashlib.sha256()
    for path in sorted([*(folder / "parse").rglob("*.py"), *folder.glob("ocr*.py")]):
        total.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return total.hexdigest()[:12]
