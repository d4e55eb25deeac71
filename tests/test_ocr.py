from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag.errors import Cancelled, FileError, SettingsError
from rag.ingest import Upload
from rag.job import Repair
from rag.ocr_lane import is_better
from rag.parse import open_file
from rag.parse.ocr import arranged, read_page
from rag.parse.recognise import Quad, SeenLine, SeenWord
from rag.settings import Settings
from rag.types import Page, ParsedPage
from rag.workspace import Workspace
from tests.fakes import WordEmbedder
from tests.scans import LINES, QuickWorker, scan


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.ocr_lane.ParseWorker", QuickWorker)


@pytest.fixture
def library(tmp_path: Path):
    opened = Workspace.open(Settings(data=tmp_path / "data"), embedder=WordEmbedder())
    yield opened
    opened.close()


def test_a_picture_of_text_is_read_with_the_place_of_every_word(tmp_path: Path):
    parsed = read_page(scan(tmp_path / "a.pdf", [LINES]), "a.pdf", "d", 1, "auto")
    assert parsed.page.kind == "ocr"
    assert " ".join(parsed.page.text.split()) == " ".join(LINES)
    words = [parsed.page.text[w.start : w.end] for w in parsed.words]
    assert words == [w for line in LINES for w in line.split()]
    red = parsed.words[words.index("red")]
    # Its base line is at 120, it begins after "Open the ", and the letters are 22 points high.
    assert 125 < red.x0 < 145 and 155 < red.x1 < 180
    assert 95 < red.y0 < 108 and 118 < red.y1 < 128


@pytest.mark.parametrize("turn", [90, 180, 270, 4])
def test_a_page_that_lies_on_its_side_or_askew_is_read_in_order(tmp_path: Path, turn: int):
    parsed = read_page(scan(tmp_path / "a.pdf", [LINES], turn=turn), "a.pdf", "d", 1, "en,de")
    assert " ".join(parsed.page.text.split()) == " ".join(LINES)


def test_a_page_without_words_is_empty(tmp_path: Path):
    parsed = read_page(scan(tmp_path / "a.pdf", [[]]), "a.pdf", "d", 1, "auto")
    assert (parsed.page.kind, parsed.page.text, parsed.words) == ("empty", "", ())


def seen(text: str, x: float, y: float, width: float, height: float = 12) -> SeenLine:
    def quad(a: float, b: float) -> Quad:
        return Quad(((a, y), (b, y), (b, y + height), (a, y + height)))

    parts = text.split()
    step = width / len(parts)
    words = tuple(SeenWord(w, quad(x + i * step, x + (i + 1) * step)) for i, w in enumerate(parts))
    return SeenLine(words, quad(x, x + width), 0, 1.0)


def test_columns_of_prose_are_read_one_after_the_other():
    left = [seen(f"left line {n} runs on and on", 50, 100 + 16 * n, 200) for n in range(5)]
    right = [seen(f"right line {n} runs on and on", 300, 103 + 16 * n, 200) for n in range(5)]
    below = [seen("A title below both", 50, 220, 120)]
    pairs = [line for pair in zip(left, right, strict=True) for line in pair]
    text, words, _ = arranged([*pairs, *below], 1.0, 595, 842)
    said = text.split()
    assert said.index("right") > said.index("4")
    assert text.rstrip().endswith("A title below both")
    assert all(text[w.start : w.end].strip() for w in words)


def test_lines_in_much_larger_letters_are_headings():
    title = seen("The pump", 50, 40, 150, height=24)
    lines = [seen(f"line {n} of plain text", 50, 100 + 16 * n, 200, 12 + n % 3) for n in range(6)]
    _, _, headings = arranged([title, *lines], 1.0, 595, 842)
    assert [(h.start, h.title) for h in headings] == [(0, "The pump")]


def test_a_scan_is_searchable_once_it_was_read_in_the_background(
    library: Workspace, tmp_path: Path
):
    path = scan(tmp_path / "scan.pdf", [LINES, []])
    job = library.add_files([Upload("scan.pdf", path)])
    assert job.wait(60)
    assert [w.code for w in job.progress.files[0].warnings] == ["no_text_layer"]
    assert "in the background" in job.progress.files[0].warnings[0].message
    assert library.wait_for_repairs(120)
    document = library.catalog.find("scan.pdf")
    assert library.repairs == (Repair(document.id, "scan.pdf", "done", 2, 2, 1),)
    hit = library.search("red valve").hits[0]
    assert hit.chunk.page == 1
    assert hit.dense_rank == hit.keyword_rank == 1
    report = library.report(document.id)
    assert (report.kinds, report.repairs) == ({"ocr": (1,), "empty": (2,)}, {"done": (1, 2)})
    assert [w.code for w in document.warnings] == ["pages_without_text", "read_from_picture"]
    assert document.language == "en"
    assert library.engines().store.count() == document.chunk_count == 1


def test_pages_that_are_due_are_read_after_a_restart(quick: None, tmp_path: Path):
    path = scan(tmp_path / "scan.pdf", [LINES])
    off = Workspace.open(Settings(data=tmp_path / "d", ocr=None), embedder=WordEmbedder())
    job = off.add_files([Upload("scan.pdf", path)])
    assert job.wait(60)
    assert "FOOTNOTE_OCR" in job.progress.files[0].warnings[0].message
    assert off.repairs == ()
    off.close()
    on = Workspace.open(Settings(data=tmp_path / "d"), embedder=WordEmbedder())
    assert "in the background" in on.catalog.find("scan.pdf").warnings[0].message
    on.recognise()
    assert on.wait_for_repairs(120)
    assert on.search("red valve").hits[0].chunk.text
    on.close()


def test_files_go_before_pages_and_a_cancelled_document_can_be_taken_up_again(
    quick: None, library: Workspace, tmp_path: Path
):
    library._ocr._may_work = threading.Event()  # as while files are being indexed
    job = library.add_files([Upload("scan.pdf", scan(tmp_path / "scan.pdf", [LINES]))])
    assert job.wait(60)
    assert [r.state for r in library.repairs] == ["waiting"]
    document = library.catalog.find("scan.pdf")
    library.cancel_repair(document.id)
    assert library.wait_for_repairs(60)
    assert [r.state for r in library.repairs] == ["cancelled"]
    assert library.report(document.id).repairs == {"declined": (1,)}
    library._ocr._may_work.set()
    library.repair_again(document.id)
    assert library.wait_for_repairs(60)
    assert library.report(document.id).kinds == {"ocr": (1,)}


def test_what_is_left_of_a_cancelled_turn_does_not_end_the_next_one(
    monkeypatch: pytest.MonkeyPatch, library: Workspace, tmp_path: Path
):
    begun, stop = threading.Event(), threading.Event()

    class Slow(QuickWorker):
        def read_page(self, *asked, **more):
            if begun.is_set():
                return super().read_page(*asked, **more)
            begun.set()
            assert stop.wait(60)
            raise Cancelled("stopped")

    monkeypatch.setattr(library._ocr, "_worker", Slow(1, background=True))
    assert library.add_files([Upload("scan.pdf", scan(tmp_path / "scan.pdf", [LINES]))]).wait(60)
    document = library.catalog.find("scan.pdf")
    assert begun.wait(60)
    library.cancel_repair(document.id)
    library.repair_again(document.id)
    stop.set()
    assert library.wait_for_repairs(60)
    assert [r.state for r in library.repairs] == ["done"]
    assert library.report(document.id).kinds == {"ocr": (1,)}


def test_a_bad_layer_is_replaced_with_its_passages_and_vectors(
    quick: None, library: Workspace, tmp_path: Path
):
    layer = "Tbe bo!ler r0Om 0pen tlle r3d va|ve bef0re th3 pnmp is st@rted agaln"
    path = scan(tmp_path / "bad.pdf", [LINES], layer=layer)
    assert library.add_files([Upload("bad.pdf", path)]).wait(60)
    assert library.wait_for_repairs(120)
    (hit,) = library.search("boiler").hits
    assert "boiler room" in hit.chunk.text
    document = library.catalog.find("bad.pdf")
    assert library.engines().store.ids(document.id) == library.catalog.chunk_ids(document.id)
    assert [w.code for w in document.warnings] == ["read_from_picture"]


def test_a_deleted_document_is_no_longer_read(quick: None, library: Workspace, tmp_path: Path):
    library._ocr._may_work = threading.Event()
    path = scan(tmp_path / "scan.pdf", [LINES] * 4)
    assert library.add_files([Upload("scan.pdf", path)]).wait(60)
    library.delete(library.catalog.find("scan.pdf").id)
    library._ocr._may_work.set()
    assert library.wait_for_repairs(120)
    assert [r.state for r in library.repairs] == ["cancelled"]
    assert library.engines().store.count() == 0


def test_a_document_deleted_before_its_turn_was_not_read(library: Workspace, tmp_path: Path):
    lane = library._ocr
    lane._may_work = threading.Event()
    path = scan(tmp_path / "scan.pdf", [LINES])
    assert library.add_files([Upload("scan.pdf", path)]).wait(60)
    (repair,) = library.repairs
    library.catalog.delete(repair.document_id)
    lane._read(lane._runs[repair.document_id])
    assert [r.state for r in library.repairs] == ["cancelled"]


def test_a_layer_stays_where_the_picture_says_less():
    def page(kind: str, text: str) -> Page:
        return Page("d", 1, "", text, kind)

    assert is_better(
        page("ocr", "five words of the picture"), page("noisy", "tbe l4yer says six w0rds")
    )
    assert not is_better(page("ocr", "two words"), page("noisy", "tbe l4yer says six w0rds"))
    assert not is_better(page("empty", ""), page("suspect", "x"))
    assert is_better(page("ocr", "the whole scanned page"), page("text", "Exhibit 7"))
    assert not is_better(page("ocr", "the same words"), page("text", "the same words"))


def test_a_scan_with_a_stamp_typed_on_it_is_due(tmp_path: Path):
    import pymupdf

    path = scan(tmp_path / "scan.pdf", [LINES])
    with pymupdf.open(path) as document:
        document[0].insert_text((20, 20), "Exhibit 7, page 1")
        document.new_page().insert_text((20, 20), "Typed, with no picture")
        document.save(tmp_path / "stamped.pdf")
    pages = list(open_file(tmp_path / "stamped.pdf", "stamped.pdf", "d").pages)
    assert [(p.page.kind, p.due) for p in pages] == [("text", True), ("text", False)]


@pytest.mark.parametrize(
    ("value", "read_as"), [("", "auto"), ("AUTO", "auto"), ("off", None), ("de, FR", "de,fr")]
)
def test_languages_of_text_recognition_can_be_chosen(value: str, read_as: str | None):
    assert Settings.from_env({"FOOTNOTE_OCR": value}).ocr == read_as


def test_a_language_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(SettingsError, match=r"'ru' is no language .* auto, off, .* de, "):
        Settings.from_env({"FOOTNOTE_OCR": "en,ru"})


def test_a_page_that_breaks_recognition_is_told_and_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    class Breaks(QuickWorker):
        def read_page(self, path, name, document_id, number, language, cancelled) -> ParsedPage:
            if number == 2:
                raise FileError("timeout", "Page 2 took too long.")
            return super().read_page(path, name, document_id, number, language, cancelled)

    monkeypatch.setattr("rag.ocr_lane.ParseWorker", Breaks)
    library = Workspace.open(Settings(data=tmp_path / "data"), embedder=WordEmbedder())
    assert library.add_files([Upload("a.pdf", scan(tmp_path / "a.pdf", [LINES] * 3))]).wait(60)
    assert library.wait_for_repairs(60)
    document = library.catalog.find("a.pdf")
    (repair,) = library.repairs
    report = library.report(document.id)
    library.close()
    assert (repair.state, repair.pages_done, repair.pages_read) == ("done", 3, 2)
    assert repair.message == "Page 2 took too long."
    assert report.repairs == {"done": (1, 3), "failed": (2,)}
    assert "not_recognised" in [w.code for w in document.warnings]


def test_a_search_that_meets_a_change_sees_the_new_page(
    quick: None, library: Workspace, tmp_path: Path
):
    """The catalog changes between the look-up of a passage's id and of its text."""
    path = scan(tmp_path / "a.pdf", [LINES], layer="tbe b0iler r00m b!ows h0t a!r tbru tbe p!pe")
    library._ocr._may_work = threading.Event()
    assert library.add_files([Upload("a.pdf", path)]).wait(60)
    engines = library.engines()
    search = engines.store.search

    def slow(*arguments):
        found = search(*arguments)
        if not library._ocr._may_work.is_set():
            library._ocr._may_work.set()
            assert library.wait_for_repairs(60)
        return found

    engines.store.search = slow
    assert [h.chunk.text for h in library.search("valve").hits] == ["\n".join(LINES)]
