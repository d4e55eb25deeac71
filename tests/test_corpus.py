"""Difficult real files, each with what a good reader must give for it.

The files are kept beside the checkout and are no part of the project: without them the module
skips. What no parser can know from a text layer (`visible_only`) is asked of text recognition; the
number printed on a page (`printed_page`) is not asked.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz import fuzz

from rag.chunk import chunk
from rag.errors import FileError
from rag.ingest import Upload
from rag.job import FileProgress
from rag.parse import open_file
from rag.parse.ocr import read_page
from rag.settings import Settings
from rag.types import ParsedPage, Warning
from rag.workspace import Workspace
from tests.fakes import WordEmbedder

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("FOOTNOTE_SHARED", ROOT.parent / "shared")) / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not MANIFEST.is_file(), reason="FOOTNOTE_SHARED names no folder with the corpus"
    ),
]

ENTRIES: dict[str, dict[str, Any]] = (
    {e["id"]: e for e in map(json.loads, MANIFEST.read_text("utf-8").splitlines())}
    if MANIFEST.is_file()
    else {}
)
NO_TEXT = {"no_text_layer", "pages_without_text", "no_text", "suspect_text_layer"}

MEASURE = """
import pickle, sys
from pathlib import Path
from tests.test_corpus import read
result = read(Path(sys.argv[1]), sys.argv[2])
told = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak = int(told["VmHWM"].split()[0]) / 1024  # getrusage's would be at least the parent's
pickle.dump((result, peak), sys.stdout.buffer)
"""


@dataclass(frozen=True)
class Result:
    pages: tuple[ParsedPage, ...] = ()
    warnings: tuple[Warning, ...] = ()
    error: str = ""

    def text(self, page: int | None) -> str:
        return "\n".join(p.page.text for p in self.pages if page in (None, p.page.number))


def read(path: Path, name: str) -> Result:
    try:
        parsed = open_file(path, name, "corpus")
        pages = tuple(parsed.pages)
    except FileError as error:
        return Result(error=error.code)
    return Result(pages, parsed.warnings)


def measured(entry: dict[str, Any]) -> Result:
    """In a process of its own, so that its time and memory can be told."""
    limits = entry["expected"]["limits"]
    command = [sys.executable, "-c", MEASURE, str(source(entry)), entry["upload_as"]]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, timeout=limits["seconds"], check=True
    )
    result, peak = pickle.loads(run.stdout)
    assert peak < limits.get("rss_mb", 4000)
    return result  # type: ignore[no-any-return]


def source(entry: dict[str, Any]) -> Path:
    return CORPUS / "files" / str(entry["file"])


def entries() -> list[Any]:
    return [pytest.param(e, id=f"{e['id']}-{Path(e['file']).name}") for e in ENTRIES.values()]


def names() -> list[Any]:
    return [
        pytest.param(e, name, id=f"{e['id']}-{i}")
        for e in ENTRIES.values()
        for i, name in enumerate(e["expected"].get("upload_names", ()))
    ]


def fold(text: str) -> str:
    text = text.replace("’", "'").replace("‘", "'")  # the manifest's quotes are typed ones
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", ""))
    text = re.sub(r"[\s|]+", " ", text)  # a cell's border is as good as a space
    return re.sub(r"(?<=[\u3000-\u9fff\uac00-\ud7af]) (?=[\u3000-\u9fff\uac00-\ud7af])", "", text)


def forms(text: str) -> tuple[str, str]:
    """Folded, with a hyphen at a line's end kept, and joined."""
    return fold(text), fold(re.sub(r"(?<=\w)[-\u2010]\n(?=\w)", "", text))


def holds(text: str, phrase: str) -> bool:
    return any(fold(phrase) in form for form in forms(text))


def place(text: str, phrase: str) -> int:
    found = [form.find(fold(phrase)) for form in forms(text)]
    assert max(found) >= 0, phrase
    return max(found)


@pytest.mark.parametrize("entry", entries())
def test_a_difficult_file_is_read_as_its_entry_says(entry: dict[str, Any]):
    expected = entry["expected"]
    result = measured(entry) if "limits" in expected else read(source(entry), entry["upload_as"])
    outcome = expected["outcome"]
    if outcome == "error":
        assert result.error == expected["error"]
        return
    if result.error:
        allowed = "error" in outcome or (outcome.endswith("warning") and result.error == "no_text")
        assert allowed, result.error
        return
    check_pages(result, expected)
    check_text(result, expected)


def check_pages(result: Result, expected: dict[str, Any]) -> None:
    pages = result.pages
    assert [p.page.number for p in pages] == list(range(1, len(pages) + 1))
    if "page_count" in expected:
        assert len(pages) == expected["page_count"]
    for number in expected.get("empty_pages", ()):
        assert pages[number - 1].page.kind == "empty"
    if expected.get("page_labels"):
        assert [p.page.label for p in pages] == expected["page_labels"]
    for parsed in pages:
        assert "<FEFF" not in parsed.page.label
        for word in parsed.words:
            assert parsed.page.text[word.start : word.end].strip()
            assert word.x0 <= word.x1 and word.y0 <= word.y1


def check_text(result: Result, expected: dict[str, Any]) -> None:
    for phrase in expected.get("phrases", ()):
        assert holds(result.text(phrase["page"]), phrase["text"]), phrase
    for pair in expected.get("order", ()):
        text = result.text(pair["page"])
        assert place(text, pair["before"]) < place(text, pair["after"]), pair
    for row in expected.get("rows", ()):
        lines = result.text(row.get("page")).splitlines()
        pattern = ".*".join(re.escape(fold(cell)) for cell in row["cells"])
        assert any(re.search(pattern, fold(line)) for line in lines), row
    for count in expected.get("counts", ()):
        found = fold(result.text(None)).count(fold(count["text"]))
        assert found == count["count"], count
    for phrase in (*expected.get("absent", ()), *expected.get("hidden", ())):
        # Folding drops a byte-order mark, so the phrase is looked for as it stands.
        assert phrase not in result.text(None), phrase
    for value in expected.get("fields", {}).values():
        assert holds(result.text(None), value), value
    for marker in expected.get("no_files", ()):
        assert not Path(marker).exists()
    if "headings" in expected:
        titles = [h.title for p in result.pages for h in p.page.headings]
        assert titles == expected["headings"]


@pytest.mark.parametrize(("entry", "name"), names())
def test_the_content_counts_more_than_the_name(entry: dict[str, Any], name: str):
    result = read(source(entry), name)
    if entry["expected"]["outcome"] == "error":
        assert result.error == entry["expected"]["error"]
    else:
        check_text(result, entry["expected"])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    data = tmp_path_factory.mktemp("corpus") / "data"
    opened = Workspace.open(Settings(data=data, ocr=None), embedder=WordEmbedder())
    yield opened
    opened.close()


def add(library: Workspace, entry: dict[str, Any], name: str) -> FileProgress:
    job = library.add_files([Upload(name, source(entry))])
    assert job.wait(180)
    return job.progress.files[0]


@pytest.mark.parametrize("entry", entries())
def test_the_user_is_told_what_was_not_read(library: Workspace, entry: dict[str, Any]):
    expected = entry["expected"]
    told = {expected.get("warning"), expected.get("error")} - {None}
    if not told:
        pytest.skip("nothing to tell")
    file = add(library, entry, entry["upload_as"])
    codes = {w.code for w in file.warnings} | {file.error_code}
    read_after_all = "visible_only" in expected and repaired(source(entry), expected)
    if expected["outcome"] in ("error", "warning", "ok_with_warning") or "embedded" in str(told):
        assert codes & told or read_after_all, codes
    assert file.state == "failed" or file.chunks_total or codes & NO_TEXT


@pytest.mark.parametrize(
    "entry", [e for e in entries() if "visible_only" in e.values[0]["expected"]]
)
def test_what_only_the_picture_of_a_page_shows_is_recognised(entry: dict[str, Any]):
    path, name = source(entry), entry["upload_as"]
    pages = [
        read_page(path, name, "corpus", p.page.number, "auto") if p.due else p
        for p in read(path, name).pages
    ]
    text = fold(Result(tuple(pages)).text(None))
    for phrase in entry["expected"]["visible_only"]:
        # "dete" for "date" in a faint copy of a typed letter: a letter in 20 may be wrong.
        assert fuzz.partial_ratio(fold(phrase), text) >= 95, phrase


def repaired(path: Path, expected: dict[str, Any]) -> bool:
    """Whether all that only the page image was thought to show has been read as text."""
    text = read(path, path.name).text(None)
    return all(holds(text, phrase) for phrase in expected["visible_only"])


@pytest.mark.parametrize("entry", entries())
def test_text_that_cannot_be_right_is_kept_out_of_search(entry: dict[str, Any]):
    expected = entry["expected"]
    if expected.get("warning") != "suspect_text_layer" or entry["kind"] == "bad_ocr_layer":
        pytest.skip("its text is right, or right for the most part")
    if repaired(source(entry), expected):
        pytest.skip("its text was repaired")
    pages = read(source(entry), entry["upload_as"]).pages
    assert not list(chunk(pages, lambda texts: [len(t.split()) for t in texts], 200, 0))


@pytest.mark.parametrize(("entry", "name"), names())
def test_no_name_leaves_the_data_folder(library: Workspace, entry: dict[str, Any], name: str):
    root = library.settings.data.parent
    before = {p for p in root.rglob("*") if "data" not in p.parts}
    file = add(library, entry, name)
    assert file.name.isprintable() and ".." not in Path(file.name).parts
    assert {p for p in root.rglob("*") if "data" not in p.parts} == before
