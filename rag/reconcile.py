"""Vectors as the catalog says they should be: after a crash, a deletion, another embedder."""

from __future__ import annotations

from rag.catalog import Catalog
from rag.store import VectorStore
from rag.types import Document


def reconcile(catalog: Catalog, store: VectorStore) -> list[Document]:
    """Deletes vectors that belong to no passage; returns the documents that lack some.

    Those of interrupted documents are kept, so that they need not be computed again. Where the
    numbers agree nothing is looked at: this runs at every start.
    """
    documents = catalog.documents()
    ready = [d for d in documents if d.state == "ready"]
    if store.count() == sum(d.chunk_count for d in ready):
        store.drop_others()
        return []
    unfinished = {d.id for d in documents if d.state in ("queued", "indexing")}
    stored = store.by_document()
    store.delete(set(stored) - {d.id for d in ready} - unfinished)
    lacking = []
    for document in ready:
        wanted, found = catalog.chunk_ids(document.id), stored.get(document.id, set())
        store.delete_chunks(found - wanted)
        if wanted - found:
            lacking.append(document)
    return lacking
