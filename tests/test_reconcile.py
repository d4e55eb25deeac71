from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pytest

from rag.ingest import Upload
from rag.reconcile import reconcile
from rag.settings import Settings
from rag.workspace import Workspace
from tests.fakes import WordEmbedder

VECTOR = np.ones((1, WordEmbedder.dimension), dtype=np.float32)


@pytest.fixture
def library(workspace: Workspace) -> Workspace:
    assert workspace.add_files([Upload("a.txt", b"one"), Upload("b.txt", b"two")]).wait(60)
    return workspace


def test_nothing_is_done_where_the_numbers_agree(library: Workspace):
    assert reconcile(library.catalog, library.engines().store) == []


def test_vectors_without_a_passage_go_inside_documents_and_with_them(library: Workspace):
    store = library.engines().store
    document = library.catalog.find("a.txt")
    store.upsert(document.id, [str(uuid.uuid4())], VECTOR)
    store.upsert("gone", [str(uuid.uuid4())], VECTOR)
    assert reconcile(library.catalog, store) == []
    assert store.by_document() == {
        d.id: library.catalog.chunk_ids(d.id) for d in library.documents()
    }


def test_a_document_that_lacks_vectors_is_named_though_others_have_too_many(library: Workspace):
    store = library.engines().store
    document = library.catalog.find("a.txt")
    store.delete([document.id])
    store.upsert("gone", [str(uuid.uuid4()), str(uuid.uuid4())], np.repeat(VECTOR, 2, axis=0))
    assert [d.name for d in reconcile(library.catalog, store)] == ["a.txt"]
    assert set(store.by_document()) == {library.catalog.find("b.txt").id}


def test_vectors_of_an_interrupted_document_are_kept_for_it(library: Workspace):
    store = library.engines().store
    document = library.catalog.find("a.txt")
    library.catalog.start(document.id, "text/plain", "section")
    assert reconcile(library.catalog, store) == []
    assert document.id in store.by_document()


def test_bytes_without_a_document_go_at_the_start_unless_the_catalog_was_lost(tmp_path: Path):
    files = tmp_path / "files"
    settings = Settings(data=tmp_path, ocr=None)
    first = Workspace.open(settings, embedder=WordEmbedder())
    files.mkdir()
    (files / "orphan").write_bytes(b"x")
    first.close()
    second = Workspace.open(settings, embedder=WordEmbedder())
    assert second.add_files([Upload("a.txt", b"one")]).wait(60)
    document = second.catalog.find("a.txt")
    second.close()
    assert {p.name for p in files.iterdir()} == {"orphan", document.id}
    (files / "half.part").write_bytes(b"x")
    Workspace.open(settings, embedder=WordEmbedder()).close()
    assert {p.name for p in files.iterdir()} == {document.id}
