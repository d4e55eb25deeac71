from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag.errors import DataFolderError
from rag.store import VectorStore

A, B, C, D = (f"00000000-0000-0000-0000-00000000000{i}" for i in range(4))


@pytest.fixture
def store(tmp_path: Path):
    opened = VectorStore(tmp_path / "vectors", "test-3", 3)
    opened.upsert("doc1", [A, B], np.eye(3, dtype=np.float32)[:2])
    opened.upsert("doc2", [C], np.eye(3, dtype=np.float32)[2:])
    yield opened
    opened.close()


def test_the_nearest_vector_comes_first_with_its_cosine(store: VectorStore):
    found = store.search(np.array([0.6, 0.8, 0], dtype=np.float32), 2)
    assert [i for i, _ in found] == [B, A]
    assert found[0][1] == pytest.approx(0.8, abs=1e-5)


def test_a_filter_keeps_the_named_documents(store: VectorStore):
    assert [i for i, _ in store.search(np.ones(3, dtype=np.float32), 5, ["doc2"])] == [C]


def test_within_documents_the_cosines_are_the_same_whatever_the_querys_length(store: VectorStore):
    query = np.array([3, 4, 0], dtype=np.float32)
    everywhere = dict(store.search(query, 5))
    within = store.search(query, 5, ["doc1", "gone"])
    assert [i for i, _ in within] == [B, A]
    assert dict(within) == pytest.approx({i: everywhere[i] for i in (A, B)}, abs=1e-5)
    assert store.search(query, 1, ["doc1"])[0][0] == B
    assert store.search(query, 5, ["gone"]) == []


def test_a_filter_knows_what_was_written_and_deleted_since(store: VectorStore):
    def within(*documents: str) -> set[str]:
        return {i for i, _ in store.search(np.ones(3, dtype=np.float32), 5, documents)}

    assert within("doc1") == {A, B}
    store.upsert("doc3", [D], np.ones((1, 3), dtype=np.float32))
    store.delete_chunks([A])
    assert within("doc1", "doc3") == {B, D}
    store.delete(["doc1"])
    assert within("doc1", "doc2", "doc3") == {C, D}


def test_a_filter_is_right_after_a_write_that_failed_half_way(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch
):
    def half(*written: object, **more: object) -> None:
        write(*written, **more)
        raise OSError("disk full")

    query = np.ones(3, dtype=np.float32)
    assert store.search(query, 5, ["doc3"]) == []
    write = store._client.upsert
    monkeypatch.setattr(store._client, "upsert", half)
    with pytest.raises(OSError, match="disk full"):
        store.upsert("doc3", [D], np.ones((1, 3), dtype=np.float32))
    assert [i for i, _ in store.search(query, 5, ["doc3"])] == [D]


def test_writing_again_replaces(store: VectorStore):
    store.upsert("doc1", [A], np.array([[0, 0, 1]], dtype=np.float32))
    assert store.count() == 3


def test_what_is_there_is_told_by_document(store: VectorStore):
    assert store.ids("doc1") == {A, B}
    assert set(store.by_document()) == {"doc1", "doc2"}
    store.delete(["doc1"])
    assert set(store.by_document()) == {"doc2"}


def test_vectors_survive_closing(tmp_path: Path):
    first = VectorStore(tmp_path / "v", "test-3", 3)
    first.upsert("doc", [A], np.eye(3, dtype=np.float32)[:1])
    first.close()
    second = VectorStore(tmp_path / "v", "test-3", 3)
    assert second.count() == 1
    second.close()


def test_another_embedder_has_a_collection_of_its_own(tmp_path: Path):
    first = VectorStore(tmp_path / "v", "one-3", 3)
    first.upsert("doc", [A], np.eye(3, dtype=np.float32)[:1])
    first.close()
    second = VectorStore(tmp_path / "v", "two-4", 4)
    assert second.count() == 0
    second.drop_others()
    second.close()
    third = VectorStore(tmp_path / "v", "one-3", 3)
    assert third.count() == 0
    third.close()


# qdrant-client leaves its lock file open when it finds the folder locked.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_folder_in_use_is_a_clear_error(store: VectorStore, tmp_path: Path):
    with pytest.raises(DataFolderError, match="could not be opened"):
        VectorStore(tmp_path / "vectors", "test-3", 3)


def test_points_are_written_ahead(tmp_path: Path):
    store = VectorStore(tmp_path, "words-4", 4)
    store.close()
    with closing(sqlite3.connect(next(tmp_path.rglob("storage.sqlite")))) as points:
        assert points.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_vectors_come_back_by_their_ids_and_go_by_them(store: VectorStore):
    found = store.vectors([B, "00000000-0000-0000-0000-000000000009"])
    assert list(found) == [B]
    assert found[B].tolist() == [0, 1, 0]
    store.delete_chunks([A])
    assert store.by_document() == {"doc1": {B}, "doc2": {C}}
