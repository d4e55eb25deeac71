"""Chunk vectors in Qdrant. The only user of qdrant_client.

Holds nothing that cannot be rebuilt from the catalog. Embedded Qdrant is not thread-safe and
lets one process in, so one lock guards every call.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import DataFolderError

_PAGE = 1000


class VectorStore:
    """One collection per embedder fingerprint. `place` is a folder, or the URL of a server."""

    def __init__(self, place: Path | str, fingerprint: str, dimension: int) -> None:
        """Raises DataFolderError when the folder or the server cannot be opened."""
        from qdrant_client import QdrantClient, models

        self._models = models
        self._lock = threading.RLock()
        self._embedded = isinstance(place, Path)
        self._chunks: dict[str, set[str]] | None = None
        self._collection = f"chunks-{fingerprint}"
        try:
            if isinstance(place, Path):
                self._client = QdrantClient(path=str(place))
            else:
                self._client = QdrantClient(url=place)
            if not self._client.collection_exists(self._collection):
                self._client.create_collection(
                    self._collection,
                    vectors_config=models.VectorParams(
                        size=dimension, distance=models.Distance.COSINE
                    ),
                )
            if isinstance(place, Path):
                self._write_ahead()
        except Exception as error:  # client, HTTP, lock and SQLite kinds, by mode
            raise DataFolderError(
                f"The vectors in {str(place)!r} could not be opened: {error}. If another program "
                "uses them, close it; the documents themselves are safe."
            ) from error

    def _write_ahead(self) -> None:
        """Embedded Qdrant commits every point by itself. Waiting for the disk each time it writes
        63 to 470 points/s, which is what the embedder makes; so it writes 1,200.

        A power failure may lose the last ones; `reconcile` then finds that they are missing.
        """
        file: Any = self._client._client
        points = file.collections[self._collection].storage.storage
        points.execute("PRAGMA journal_mode = WAL")
        points.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        with self._lock:
            self._client.close()

    def upsert(self, document_id: str, ids: Sequence[str], vectors: np.ndarray) -> None:
        """`vectors`: (len(ids), dimension). Writing the same ids again replaces them."""
        points = [
            self._models.PointStruct(id=i, vector=v.tolist(), payload={"document_id": document_id})
            for i, v in zip(ids, vectors, strict=True)
        ]
        with self._writing() as chunks:
            self._client.upsert(self._collection, points, wait=True)
            chunks.setdefault(document_id, set()).update(ids)

    def search(
        self, vector: np.ndarray, limit: int, documents: Sequence[str] = ()
    ) -> list[tuple[str, float]]:
        """(chunk id, cosine), best first; `documents` are ids, empty means all."""
        if documents and self._embedded:
            return self._search_each(vector, limit, documents)
        with self._lock:
            found = self._client.query_points(
                self._collection,
                query=vector.tolist(),
                limit=limit,
                query_filter=self._of(documents) if documents else None,
                with_payload=False,
            )
        return [(str(point.id), float(point.score)) for point in found.points]

    def _search_each(
        self, vector: np.ndarray, limit: int, documents: Sequence[str]
    ) -> list[tuple[str, float]]:
        """The same as by a filter, which embedded Qdrant tries on every point of the collection:
        among 7,000 chunks 127 ms for a document of 350, instead of 8."""
        with self._lock:
            if self._chunks is None:
                self._chunks = self.by_document()
            known = self._chunks
            vectors = self.vectors(sorted(i for d in documents for i in known.get(d, ())))
        if not vectors:
            return []
        ids = list(vectors)
        cosines = np.stack([vectors[i] for i in ids]) @ (vector / np.linalg.norm(vector))
        return [(ids[i], float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[:limit]]

    @contextmanager
    def _writing(self) -> Iterator[dict[str, set[str]]]:
        """Gives which chunks each document has, to be changed along with the collection; after a
        write that failed they are read anew."""
        with self._lock:
            chunks, self._chunks = self._chunks, None
            if chunks is None:
                yield {}
                return
            yield chunks
            self._chunks = chunks

    def count(self) -> int:
        with self._lock:
            return int(self._client.count(self._collection, exact=True).count)

    def ids(self, document_id: str) -> set[str]:
        """The chunks of a document that have a vector."""
        return {i for i, _ in self._scroll(self._of([document_id]))}

    def by_document(self) -> dict[str, set[str]]:
        """Document id -> the chunks that have a vector."""
        found: dict[str, set[str]] = {}
        for chunk, document in self._scroll(None):
            found.setdefault(document, set()).add(chunk)
        return found

    def vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        """Chunk id -> its vector, of unit length; ids without one are left out."""
        if not ids:
            return {}
        with self._lock:
            points = self._client.retrieve(
                self._collection, list(ids), with_payload=False, with_vectors=True
            )
        return {str(p.id): np.asarray(p.vector, dtype=np.float32) for p in points}

    def delete(self, document_ids: Iterable[str]) -> None:
        wanted = list(document_ids)
        if wanted:
            with self._writing() as chunks:
                self._client.delete(
                    self._collection,
                    self._models.FilterSelector(filter=self._of(wanted)),
                    wait=True,
                )
                for document_id in wanted:
                    chunks.pop(document_id, None)

    def delete_chunks(self, ids: Iterable[str]) -> None:
        wanted: list[int | str | uuid.UUID] = list(ids)
        if wanted:
            with self._writing() as chunks:
                self._client.delete(
                    self._collection, self._models.PointIdsList(points=wanted), wait=True
                )
                for of_document in chunks.values():
                    of_document.difference_update(wanted)

    def drop_others(self) -> None:
        """Delete the collections of other embedders."""
        with self._lock:
            for collection in self._client.get_collections().collections:
                if collection.name.startswith("chunks-") and collection.name != self._collection:
                    self._client.delete_collection(collection.name)

    def _of(self, documents: Sequence[str]) -> Any:
        return self._models.Filter(
            must=[
                self._models.FieldCondition(
                    key="document_id", match=self._models.MatchAny(any=list(documents))
                )
            ]
        )

    def _scroll(self, where: Any) -> Iterable[tuple[str, str]]:
        offset = None
        while True:
            with self._lock:
                points, offset = self._client.scroll(
                    self._collection,
                    scroll_filter=where,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=True,
                )
            for point in points:
                yield str(point.id), str((point.payload or {})["document_id"])
            if offset is None:
                return
