from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rag.catalog import Catalog
from rag.errors import NotFound
from rag.types import Chunk, Document, Heading, Page, ParsedPage, Warning, Word


@pytest.fixture
def catalog(tmp_path: Path):
    opened = Catalog(tmp_path / "catalog.db")
    yield opened
    opened.close()


def add(catalog: Catalog, document_id: str, name: str, text: str = "Grüße 🎉 end") -> None:
    catalog.add(Document(document_id, name, "", 10, "2026-01-01T00:00:00"))
    catalog.start(document_id, "application/pdf", "page")
    page = Page(document_id, 1, "iii", text, "text", (Heading(0, 1, "H"),))
    catalog.add_pages(
        [ParsedPage(page, (Word(0, 5, 1, 2, 3, 4.5), Word(6, 7, 5, 6, 7, 8)))],
        [Chunk(f"{document_id}-1", document_id, 1, 6, len(text), text[6:], "H")],
    )


def test_what_is_stored_comes_back(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    catalog.publish("a", 1, "de", [Warning("w", "careful", 1)])
    document = catalog.document("a")
    assert (document.state, document.chunk_count, document.language) == ("ready", 1, "de")
    assert document.warnings == (Warning("w", "careful", 1),)
    page = catalog.page("a", 1)
    assert (page.label, page.text, page.headings) == ("iii", "Grüße 🎉 end", (Heading(0, 1, "H"),))
    assert catalog.words("a", 1)[0] == Word(0, 5, 1, 2, 3, 4.5)


def test_a_chunks_text_is_the_slice_of_its_page_by_code_points(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    assert [c.text for c in catalog.chunks("a")] == ["🎉 end"]


def test_an_unpublished_document_is_not_searched(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    assert list(catalog.ready_chunks()) == []
    assert catalog.chunks_by_id(["a-1"]) == {}
    catalog.publish("a", 1, "", [])
    assert list(catalog.chunks_by_id(["a-1", "unknown"])) == ["a-1"]


def test_publishing_removes_the_version_it_replaces(catalog: Catalog):
    add(catalog, "old", "memo.pdf")
    catalog.publish("old", 1, "", [])
    add(catalog, "new", "memo.pdf")
    assert {d.id for d in catalog.documents()} == {"old", "new"}
    assert catalog.publish("new", 1, "", []) == ["old"]
    assert [d.id for d in catalog.documents()] == ["new"]
    assert catalog.chunks("old") == []


def test_starting_again_forgets_the_interrupted_pages(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    catalog.start("a", "application/pdf", "page")
    assert catalog.pages("a") == []
    assert catalog.chunks("a") == []


def test_a_failed_document_keeps_its_reason_and_no_text(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    catalog.fail("a", "broken", "corrupt")
    assert (catalog.document("a").state, catalog.document("a").error) == ("failed", "broken")
    assert catalog.pages("a") == []


def test_documents_are_found_by_name_and_by_id(catalog: Catalog):
    add(catalog, "abcdef0123", "a.pdf")
    assert catalog.find("a.pdf").id == catalog.find("abcdef0123").id == catalog.find("abcdef01").id
    with pytest.raises(NotFound, match=r"'b\.pdf'"):
        catalog.find("b.pdf")


def test_a_page_out_of_range_says_how_many_there_are(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    catalog.publish("a", 1, "", [])
    with pytest.raises(NotFound, match=r"'a\.pdf' has no page 2: it has 1"):
        catalog.page("a", 2)


def test_deleting_takes_pages_and_chunks_along(catalog: Catalog):
    add(catalog, "a", "a.pdf")
    catalog.delete("a")
    assert catalog.pages("a") == [] == catalog.chunks("a")
    with pytest.raises(NotFound):
        catalog.delete("a")


def test_settings_are_kept_and_forgotten(catalog: Catalog):
    catalog.save_setting("llm_model", "x")
    assert catalog.setting("llm_model") == "x"
    catalog.save_setting("llm_model", None)
    assert catalog.setting("llm_model") is None


def test_a_catalog_of_an_earlier_version_gains_its_new_columns(tmp_path: Path):
    path = tmp_path / "old.db"
    first = Catalog(path)
    add(first, "a", "a.pdf")
    first.publish("a", 1, "de", [])
    first.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE pages DROP COLUMN repair")
        db.execute("ALTER TABLE documents DROP COLUMN error_code")
    second = Catalog(path)
    assert second.document("a").error_code == ""
    assert second.report("a").kinds == {"text": (1,)}
    second.close()
