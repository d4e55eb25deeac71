"""Stories of the Library page: folders, archives, a watched folder, passwords, the report."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from rag.job import Repair
from rag.watch import Watcher
from rag.workspace import Workspace
from tests.app import go, run, words, workspace

NOTE = b"The spare key is under the third pot."


@pytest.fixture
def library(app):
    return go(run(app), "library")


def added(app):
    assert workspace(app).job.wait(20)
    return run(app)


def names(app) -> set[str]:
    return {d.name for d in workspace(app).documents() if d.state == "ready"}


def choose(app, way: str):
    app.segmented_control(key="way").set_value(way)
    return run(app)


def test_an_archive_is_added_as_its_files_and_each_failure_is_a_line(library):
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr("note.txt", NOTE)
        archive.writestr("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(64))
        archive.writestr("inner.zip", b"PK")
        archive.writestr("__MACOSX/._note.txt", b"x")
    library.file_uploader[0].upload("box.zip", box.getvalue())
    run(library)
    added(library)
    assert "3 files: 1 added, 2 failed" in words(library)
    assert "'box/photo.jpg' is an image" in words(library)
    assert "'box/inner.zip' is a ZIP archive inside another" in words(library)
    assert "Left out 1 hidden or system file: box/__MACOSX/._note.txt" in words(library)
    assert names(library) == {"box/note.txt"}


def test_a_whole_folder_keeps_its_paths_in_the_names(library):
    choose(library, "Whole folder")
    library.file_uploader[0].upload("papers/inner/note.txt", NOTE)
    library.file_uploader[0].upload("papers/.git/config", b"x")
    run(library)
    added(library)
    assert names(library) == {"papers/inner/note.txt"}
    assert "Left out 1 hidden or system file" in words(library)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.txt").write_bytes(NOTE)
    return folder


def test_a_folder_is_added_by_its_path(library, papers: Path):
    choose(library, "Folder by path")
    library.text_input(key="path").set_value(f'"{papers}"')
    library.button(key="add_path").click()
    run(library)
    added(library)
    assert names(library) == {"papers/note.txt"}
    assert library.text_input(key="path").value == ""


@pytest.mark.parametrize(
    ("path", "told"),
    [("", "Enter the path"), ("{}/none", "no folder or file"), ("{}/empty", "no documents")],
)
def test_a_path_that_adds_nothing_says_why(library, tmp_path: Path, path: str, told: str):
    (tmp_path / "empty").mkdir()
    choose(library, "Folder by path")
    library.text_input(key="path").set_value(path.format(tmp_path))
    library.button(key="add_path").click()
    run(library)
    assert told in words(library)


def test_no_path_is_asked_for_where_others_can_reach_the_app(library, monkeypatch):
    monkeypatch.setattr("pages.ui.adding.st.get_option", lambda name: "0.0.0.0")
    run(library)
    assert "Folder by path" not in library.segmented_control(key="way").options


def test_a_folder_is_followed_until_that_is_stopped(library, papers: Path, monkeypatch):
    started: list[Watcher] = []
    monkeypatch.setattr(Watcher, "start", lambda self: started.append(self))
    choose(library, "Folder by path")
    library.text_input(key="path").set_value(str(papers / "none"))
    library.button(key="watch_path").click()
    run(library)
    assert "There is no folder" in words(library)
    library.text_input(key="path").set_value(str(papers))
    library.button(key="watch_path").click()
    run(library)
    assert "Looking into it for the first time" in words(library)

    (watcher,) = started
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7")
    watcher.look()
    watcher.look()
    assert watcher.job.wait(20)
    watcher.look()
    run(library)
    assert "2 files followed · 1 could not be read · last look" in words(library)
    assert "'papers/broken.pdf'" in words(library)
    assert "papers/note.txt" in set(library.dataframe[0].value["Name"])

    papers.rename(papers.with_name("elsewhere"))
    watcher.look()
    run(library)
    assert "cannot be read" in library.error[0].value
    library.button(key="stop_watching").click()
    run(library)
    assert workspace(library).following.status is None
    assert names(library) == {"papers/note.txt"}


def test_the_folder_that_a_variable_names_cannot_be_left_here(app, papers: Path, monkeypatch):
    monkeypatch.setattr(Watcher, "start", lambda self: None)
    monkeypatch.setenv("FOOTNOTE_WATCH", str(papers))
    go(run(app), "library")
    assert app.button(key="stop_watching").disabled
    choose(app, "Folder by path")
    assert app.button(key="watch_path").disabled


@pytest.fixture(scope="module")
def locked_pdf() -> bytes:
    import pymupdf

    document = pymupdf.open()
    document.new_page().insert_text((72, 90), "The vault opens at nine.")
    return document.tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open sesame", owner_pw="owner"
    )


def test_a_protected_file_is_opened_with_its_password(library, locked_pdf: bytes):
    library.file_uploader[0].upload("locked.pdf", locked_pdf)
    run(library)
    added(library)
    assert "locked.pdf needs its password" in words(library).replace("*", "")
    (document,) = workspace(library).documents()
    field, button = f"password_{document.id}", f"unlock_button_{document.id}"

    library.text_input(key=field).set_value("wrong")
    library.button(key=button).click()
    run(library)
    added(library)
    assert "That password does not open locked.pdf" in words(library).replace("*", "")

    library.text_input(key=field).set_value("open sesame")
    library.button(key=button).click()
    run(library)
    added(library)
    assert names(library) == {"locked.pdf"}
    assert field not in [each.key for each in library.text_input]


def test_the_page_of_a_protected_file_asks_for_its_password_too(library, locked_pdf: bytes):
    library.file_uploader[0].upload("locked.pdf", locked_pdf)
    run(library)
    added(library)
    (document,) = workspace(library).documents()
    library.query_params["document"] = document.id
    go(library, "library")
    assert library.text_input(key=f"password_{document.id}").value == ""


@pytest.fixture(scope="module")
def mixed_pdf() -> bytes:
    """Pages 2 and 4 are blank."""
    import pymupdf

    document = pymupdf.open()
    for text in ("First page.", "", "Third page.", ""):
        page = document.new_page()
        if text:
            page.insert_text((72, 90), text)
    return document.tobytes()


def test_the_report_tells_how_pages_were_read_and_shows_only_some(library, mixed_pdf: bytes):
    library.file_uploader[0].upload("mixed.pdf", mixed_pdf)
    run(library)
    added(library)
    (document,) = workspace(library).documents()
    library.query_params["document"] = document.id
    go(library, "library")
    assert "**4 pages** · text 2 · no text 2" in [e.label for e in library.expander]
    kinds = library.button_group(key=f"kinds_{document.id}")
    assert kinds.options == ["Text 2", "No text 2"]
    kinds.set_value("empty")
    run(library)
    assert library.subheader[0].value == "p. 2"
    assert "No text was found on this page" in words(library)


def test_a_second_batch_does_not_hide_the_first(library):
    library.file_uploader[0].upload("empty.txt", b"")
    run(library)
    added(library)
    library.file_uploader[0].upload("note.txt", NOTE)
    run(library)
    added(library)
    assert "'empty.txt' is empty" in words(library)
    assert "1 file: 1 added" in words(library)
    first = workspace(library).jobs[0]
    library.button(key=f"dismiss_job_{id(first)}").click()
    run(library)
    assert "'empty.txt' is empty" not in words(library)
    assert "1 file: 1 added" in words(library)


def test_reading_pictures_in_the_background_can_be_stopped(library, mixed_pdf: bytes, monkeypatch):
    library.file_uploader[0].upload("mixed.pdf", mixed_pdf)
    run(library)
    added(library)
    (document,) = workspace(library).documents()
    repair = Repair(document.id, "mixed.pdf", "running", 1, 2)
    going = [repair]
    monkeypatch.setattr(Workspace, "repairs", property(lambda self: tuple(going)))
    monkeypatch.setattr(Workspace, "cancel_repair", lambda self, name: going.clear())
    run(library)
    assert "Reading pages that are pictures" in words(library)
    library.query_params["document"] = document.id
    go(library, "library")
    library.button(key=f"stop_repair_{document.id}").click()
    run(library)
    assert f"stop_repair_{document.id}" not in [button.key for button in library.button]


def test_a_long_list_of_problems_is_folded(library):
    for number in range(10):
        library.file_uploader[0].upload(f"empty {number}.txt", b"")
    run(library)
    added(library)
    assert "10 files: 10 failed" in words(library)
    assert [e.label for e in library.expander] == ["2 more"]


def test_documents_that_failed_can_be_removed_together(library, locked_pdf: bytes):
    for name, content in (("a.png", b"\x89PNG" + bytes(9)), ("l.pdf", locked_pdf), ("n.txt", NOTE)):
        library.file_uploader[0].upload(name, content)
    run(library)
    added(library)
    assert "3 documents" in words(library)
    library.button(key="clear_failed").click()
    run(library)
    assert {d.name for d in workspace(library).documents()} == {"l.pdf", "n.txt"}
    assert "clear_failed" not in [button.key for button in library.button]
