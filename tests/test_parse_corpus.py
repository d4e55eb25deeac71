"""The difficult files beside the checkout, except PDF: what each must give is in its manifest."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from rag.errors import FileError
from rag.parse import open_file

SHARED = Path(os.environ.get("FOOTNOTE_SHARED", Path(__file__).parents[2] / "shared"))
CORPUS = SHARED / "corpus"

pytestmark = pytest.mark.shared


def _cases() -> list[Any]:
    manifest = CORPUS / "manifest.jsonl"
    if not manifest.is_file():
        return [pytest.param("", {}, marks=pytest.mark.skip("FOOTNOTE_SHARED has no corpus"))]
    cases = []
    for entry in map(json.loads, manifest.read_text(encoding="utf-8").splitlines()):
        for name in [entry["upload_as"], *entry["expected"].get("upload_names", [])]:
            if not entry["file"].endswith(".pdf"):
                cases.append(pytest.param(name, entry, id=f"{entry['id']}-{name}"))
    return cases


def _fold(text: str) -> str:
    """Compared without white space and compatibility forms."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize(("name", "entry"), _cases())
def test_a_difficult_file_gives_what_its_manifest_says(name: str, entry: Any):
    path = CORPUS / "files" / entry["file"]
    expected = entry["expected"]
    outcome = expected["outcome"]
    try:
        parsed = open_file(path, name, "d" * 64)
        pages = [parsed_page.page for parsed_page in parsed.pages]
    except FileError as error:
        assert outcome != "ok"
        assert error.code in (expected.get("error"), expected.get("warning"))
        return
    assert outcome not in ("error", "warning")
    text = "\n".join(page.text for page in pages)
    folded = _fold(text)
    for phrase in expected.get("phrases", []):
        assert _fold(phrase["text"]) in folded
    for pair in expected.get("order", []):
        assert folded.index(_fold(pair["before"])) < folded.index(_fold(pair["after"]))
    for row in expected.get("rows", []):
        assert any(
            all(_fold(cell) in _fold(line) for cell in row["cells"]) for line in text.split("\n")
        )
    for count in expected.get("counts", []):
        assert folded.count(_fold(count["text"])) == count["count"]
    for words in [*expected.get("absent", []), *expected.get("hidden", [])]:
        assert words not in text
    if "headings" in expected:
        assert [h.title for page in pages for h in page.headings] == expected["headings"]
    for marker in expected.get("no_files", []):
        assert not Path(marker).exists()
