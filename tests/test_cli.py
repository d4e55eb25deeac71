"""The command line, as a script would use it: exit codes, stdout, stderr."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import rag.workspace
from rag.__main__ import main
from tests.conftest import MakePdf
from tests.fakes import WordEmbedder
from tests.scans import LINES, QuickWorker, scan


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    opened = rag.workspace.Workspace.open
    monkeypatch.setattr(
        rag.workspace.Workspace, "open", lambda settings: opened(settings, WordEmbedder())
    )
    monkeypatch.setenv("LLM_MODEL", "off")

    def command(*arguments: object) -> tuple[int, str, str]:
        name, *rest = map(str, arguments)
        code = main([name, "--data", str(tmp_path / "data"), *rest])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def folder(make_pdf: MakePdf, tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "inner").mkdir(parents=True)
    make_pdf("kettle.pdf", [["The kettle."], ["The warranty lasts three years."]]).rename(
        docs / "kettle.pdf"
    )
    (docs / "inner" / "note.txt").write_text("The spare key is under the third pot.")
    (docs / ".hidden").write_text("not a document")
    return docs


def test_ingest_prints_one_line_of_json_a_file(run, folder: Path):
    code, out, _ = run("ingest", folder, "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(r["name"], r["state"], r["pages"], r["chunks"]) for r in records] == [
        ("inner/note.txt", "indexed", 1, 1),
        ("kettle.pdf", "indexed", 2, 2),
    ]
    assert all(r["error"] is None and r["warnings"] == [] for r in records)
    again = [json.loads(line)["state"] for line in run("ingest", folder, "--json")[1].splitlines()]
    assert again == ["duplicate", "duplicate"]


def test_a_failing_file_does_not_stop_the_rest_and_exits_1(run, folder: Path):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    code, out, err = run("ingest", folder, folder / "missing.txt", "--json")
    records = {r["name"]: r for r in map(json.loads, out.splitlines())}
    assert code == 1
    assert records["broken.pdf"]["error"]["code"] == "corrupt"
    assert records["missing.txt"]["error"]["code"] == "unreadable"
    assert records["kettle.pdf"]["state"] == "indexed"
    assert "broken.pdf: failed" in err


def test_an_archive_is_added_as_its_files(run, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as archive:
        archive.writestr("note.txt", "The spare key is under the third pot.")
        archive.writestr("__MACOSX/._note.txt", "x")
    code, out, err = run("add", tmp_path / "box.zip", "--json")
    record = json.loads(out)
    assert (code, record["name"], record["state"]) == (0, "box/note.txt", "indexed")
    assert "Left out as hidden or system files: 1." in err


def test_documents_and_text_show_what_was_read(run, folder: Path):
    run("ingest", folder)
    (kettle,) = [d for d in json.loads(run("documents", "--json")[1]) if d["name"] == "kettle.pdf"]
    assert (kettle["state"], kettle["page_count"]) == ("ready", 2)
    shown = json.loads(run("text", "kettle.pdf", "--page", 2, "--json")[1])
    assert (shown["name"], shown["state"], shown["warnings"]) == ("kettle.pdf", "ready", [])
    assert shown["pages"] == [
        {"number": 2, "label": "", "kind": "text", "text": "The warranty lasts three years."}
    ]
    assert "The warranty lasts" in run("text", kettle["id"])[1]


def test_search_and_ask_name_the_place(run, folder: Path):
    run("ingest", folder)
    found = json.loads(run("search", "warranty", "--top-k", 1, "--json")[1])
    assert (found["hits"][0]["name"], found["hits"][0]["chunk"]["page"]) == ("kettle.pdf", 2)
    code, out, _ = run("ask", "How long does the warranty last?", "--json")
    answer = json.loads(out)
    assert (code, answer["refused"], answer["receipt"]["engine"]) == (0, False, "reader")
    assert answer["citations"][0]["quote"] == "The warranty lasts three years."
    assert "kettle.pdf, page 2" in run("ask", "How long does the warranty last?")[1]


def test_a_scope_leaves_other_documents_out(run, folder: Path):
    run("ingest", folder)
    found = json.loads(run("search", "key", "--document", "kettle.pdf", "--json")[1])
    assert {h["name"] for h in found["hits"]} == {"kettle.pdf"}


def test_delete_removes_a_document(run, folder: Path):
    run("ingest", folder)
    assert run("delete", "kettle.pdf")[0] == 0
    assert "kettle.pdf" not in run("documents")[1]


@pytest.mark.parametrize(
    "command", [("text", "nothing.pdf"), ("delete", "nothing.pdf"), ("ask", "x", "--document", "y")]
)
def test_an_unknown_document_is_one_line_on_stderr(run, folder: Path, command: tuple[str, ...]):
    run("ingest", folder)
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1


def test_looking_into_a_folder_without_a_library_creates_nothing(run, tmp_path: Path):
    assert run("text", "a.pdf")[0] == 1
    assert json.loads(run("documents", "--json")[1]) == []
    assert not (tmp_path / "data").exists()


def test_a_bad_setting_is_one_line(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FOOTNOTE_TOP_K", "many")
    code, _, err = run("search", "x")
    assert code == 1
    assert "FOOTNOTE_TOP_K" in err


def test_the_web_without_a_model_is_one_line(run):
    code, _, err = run("ask", "x", "--web")
    assert (code, err.count("\n")) == (1, 1)
    assert "--web needs a language model" in err


def test_ingest_ends_when_scans_have_been_read(
    run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("rag.ocr_lane.ParseWorker", QuickWorker)
    monkeypatch.delenv("FOOTNOTE_OCR", raising=False)
    code, out, err = run("ingest", scan(tmp_path / "scan.pdf", [LINES]), "--json")
    record = json.loads(out)
    assert (code, record["chunks"]) == (0, 1)
    assert [w["code"] for w in record["warnings"]] == ["read_from_picture"]
    assert "scan.pdf: text recognition, 1 of 1 pages." in err
