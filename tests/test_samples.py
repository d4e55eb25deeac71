"""The sample documents say what the question set claims they say."""

import json
import re
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pymupdf
import pytest

from rag import samples

ROOT = Path(__file__).parent.parent
FIELDS = {
    "id", "question", "answer", "facts", "doc", "docs", "pages", "evidence", "category", "lang",
    "answerable", "scope",
}  # fmt: skip
OPTIONAL = {"answers", "also_pages", "featured"}
LEAST = {
    "fact": 10, "table": 14, "paraphrase": 8, "other_language": 8, "multi_page": 6,
    "multi_document": 6, "unanswerable": 14,
}  # fmt: skip
FUNCTION_WORDS = """
    a about above after along although and any are as at be been by can do does down for from get
    gets had has have here how i if in is it its last left long may me might more much my no not of
    off on once one or out over should so than that the their then there they this to two under
    until up was we were what when where which while who why will with you your
"""
ROWS = [json.loads(line) for line in samples.questions().read_text("utf-8").splitlines()]
PATHS = {path.name: path for path in samples.files()}


def folded(text: str) -> str:
    """Without white space, hyphens and the bars between table cells, all of which are layout."""
    return re.sub(r"[\s|\u00ad-]", "", unicodedata.normalize("NFKC", text))


@cache
def pages(name: str) -> dict[int | None, str]:
    """Folded text by page; the whole text under None for formats without pages."""
    path = PATHS[name]
    if path.suffix == ".pdf":
        with pymupdf.open(path) as document:
            return {page.number + 1: folded(page.get_text()) for page in document}
    if path.suffix == ".docx":
        with zipfile.ZipFile(path) as archive:
            parts = [archive.read(f"word/{part}.xml") for part in ("document", "footnotes")]
        return {None: folded("".join("".join(ElementTree.fromstring(p).itertext()) for p in parts))}
    return {None: folded(path.read_text("utf-8"))}


def content_words(text: str) -> set[str]:
    """Words that carry meaning, cut to five letters so that inflections fall together."""
    words = re.findall(r"[a-z]+", text.lower())
    return {word[:5] for word in words if len(word) > 2 and word not in FUNCTION_WORDS.split()}


def test_the_four_documents_exist_and_stay_under_one_megabyte():
    assert len(PATHS) == 4
    assert all(path.is_file() for path in PATHS.values())
    assert sum(path.stat().st_size for path in PATHS.values()) < 1_000_000


def test_the_manual_has_13_pages_an_outline_and_no_labels_of_its_own():
    with pymupdf.open(PATHS["dunnock-60-manual.pdf"]) as document:
        assert document.page_count == 13
        assert document.get_page_labels() == []
        assert [1, "5 Battery and charging", 7] in document.get_toc()


def test_the_report_has_roman_front_matter_and_then_starts_again_at_1():
    with pymupdf.open(PATHS["river-sorrel-report-2024.pdf"]) as document:
        labels = [page.get_label() for page in document]
        printed = [page.get_text(clip=(250, 795, 345, 825)).strip() for page in document]
        assert [1, "4 Phosphorus", 8] in document.get_toc()
    assert labels == ["i", "ii", "iii", "iv", *map(str, range(1, 11))]
    assert printed[1:] == labels[1:]  # the cover bears no number


def test_no_page_of_the_pdfs_has_text_outside_its_margins():
    for name in ("dunnock-60-manual.pdf", "river-sorrel-report-2024.pdf"):
        with pymupdf.open(PATHS[name]) as document:
            for page in document:
                for x0, y0, x1, y1, *_ in page.get_text("words"):
                    assert x0 >= 50 and x1 <= page.rect.width - 50, (name, page.number)
                    assert y0 >= 30 and y1 <= page.rect.height - 20, (name, page.number)


def test_the_sources_give_the_committed_documents(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_samples.py", tmp_path],
        check=True,
        capture_output=True,
    )
    for path in tmp_path.iterdir():
        if path.suffix == ".docx":
            assert path.read_bytes() == PATHS[path.name].read_bytes()
            continue
        # Another version of PyMuPDF may write other bytes, never other pages.
        with pymupdf.open(path) as built, pymupdf.open(PATHS[path.name]) as committed:
            assert [p.get_text() for p in built] == [p.get_text() for p in committed]


def test_ids_are_unique_and_every_row_has_the_documented_fields():
    assert len({row["id"] for row in ROWS}) == len(ROWS) >= 66
    for row in ROWS:
        assert set(row) >= FIELDS, row["id"]
        assert set(row) <= FIELDS | OPTIONAL, row["id"]
        assert row["scope"] in ("corpus", "document")
        assert row["scope"] == "corpus" or row["doc"], row["id"]


def test_every_category_has_its_share_of_questions():
    counts = Counter(row["category"] for row in ROWS)
    assert set(counts) == set(LEAST)
    assert all(counts[category] >= least for category, least in LEAST.items()), counts
    languages = {row["lang"] for row in ROWS if row["category"] == "other_language"}
    assert languages == {"de", "fr", "es", "it", "pt"}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["answerable"]], ids=lambda row: row["id"]
)
def test_evidence_is_found_where_the_question_says(row):
    assert row["evidence"] and row["answer"] and row["facts"]
    for evidence in row["evidence"]:
        assert folded(evidence["text"]) in pages(evidence["doc"])[evidence["page"]], evidence
    assert row["docs"] == list(dict.fromkeys(evidence["doc"] for evidence in row["evidence"]))
    assert row["doc"] == (row["docs"][0] if len(row["docs"]) == 1 else "")
    numbers = sorted({evidence["page"] for evidence in row["evidence"] if evidence["page"]})
    assert row["pages"] == numbers
    for number in row.get("also_pages", []):
        assert any(number in pages(name) for name in row["docs"])
    assert (row["category"] == "multi_document") == (len(row["docs"]) > 1)
    assert row["category"] != "multi_page" or len(row["pages"]) > 1


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["answerable"]], ids=lambda row: row["id"]
)
def test_facts_are_in_the_evidence_and_in_the_answer(row):
    evidence = folded(" ".join(evidence["text"] for evidence in row["evidence"]))
    for fact in row["facts"]:
        # A unit may stand in a table's head, away from its number.
        assert folded(fact).lower() in evidence.lower(), fact
        assert folded(fact).lower() in folded(row["answer"]).lower(), fact


def test_unanswerable_questions_have_no_evidence():
    for row in ROWS:
        if row["category"] == "unanswerable":
            assert not row["answerable"]
            assert not (row["evidence"] or row["facts"] or row["pages"] or row["answer"])
        else:
            assert row["answerable"]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["category"] == "paraphrase"], ids=lambda row: row["id"]
)
def test_a_paraphrase_shares_no_content_word_with_its_evidence(row):
    evidence = " ".join(evidence["text"] for evidence in row["evidence"])
    assert content_words(row["question"]) & content_words(evidence) == set()


def test_twelve_questions_are_featured_and_three_of_them_have_no_answer():
    rows = [row for row in ROWS if row.get("featured")]
    assert len(rows) == 12
    assert [row["answerable"] for row in rows].count(False) == 3
    assert len(samples.featured()) == 9
    assert len({row["category"] for row in rows}) >= 6
