"""The watched folder, look by look, over a stand-in for indexing and a real catalog."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.followed import Problem
from rag.ingest import Upload
from rag.watch import Watcher
from tests.watching import Library, look, watching, write


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(tmp_path)
    yield opened
    opened.catalog.close()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder / "a.txt", "first")
    write(folder / "inner" / "b.txt", "second")
    return folder


@pytest.fixture
def watcher(library: Library, papers: Path) -> Watcher:
    """Both files are followed."""
    found = watching(library, papers)
    look(found)
    return found


def test_what_is_in_the_folder_is_added_under_its_name(watcher: Watcher, library: Library):
    assert set(library.ready) == {"papers/a.txt", "papers/inner/b.txt"}
    status = watcher.status
    assert (status.followed, status.waiting, status.problems, status.error) == (2, 0, (), "")
    assert status.looked == "2026-05-01T12:00:00+00:00"
    look(watcher)
    assert len(library.batches) == 1


def test_a_file_that_is_still_written_waits(library: Library, papers: Path):
    watcher = watching(library, papers)
    for size in range(1, 4):
        write(papers / "a.txt", "x" * size, at=1_000 + size)
        watcher.look()
    assert watcher.status.waiting == 1
    assert "papers/a.txt" not in library.ready
    look(watcher)
    assert "papers/a.txt" in library.ready


def test_a_changed_file_replaces_its_earlier_version(
    watcher: Watcher, library: Library, papers: Path
):
    before = library.ready["papers/a.txt"]
    write(papers / "a.txt", "other", at=2_000)
    look(watcher)
    assert library.ready["papers/a.txt"] != before
    assert len(library.catalog.documents()) == 2


def test_a_touched_file_changes_nothing(watcher: Watcher, library: Library, papers: Path):
    before = library.ready
    write(papers / "a.txt", "first", at=2_000)
    look(watcher)
    assert library.ready == before
    look(watcher)
    assert len(library.batches) == 2  # it was compared once


def test_a_removed_file_takes_its_document_along(watcher: Watcher, library: Library, papers: Path):
    (papers / "a.txt").unlink()
    look(watcher)
    assert set(library.ready) == {"papers/inner/b.txt"}
    assert watcher.status.followed == 1


def test_a_file_that_is_gone_for_a_moment_keeps_its_document(
    watcher: Watcher, library: Library, papers: Path
):
    before = library.ready
    (papers / "a.txt").unlink()
    watcher.look()
    write(papers / "a.txt", "first")
    look(watcher)
    assert library.ready == before


def test_a_renamed_file_keeps_its_document(watcher: Watcher, library: Library, papers: Path):
    before = library.ready["papers/a.txt"]
    (papers / "a.txt").rename(papers / "new.txt")
    look(watcher, 6)
    assert library.ready["papers/new.txt"] == before
    assert set(library.ready) == {"papers/new.txt", "papers/inner/b.txt"}
    write(papers / "a.txt", "another file under the old name", at=3_000)
    look(watcher)
    assert library.ready["papers/new.txt"] == before


def test_a_renamed_folder_keeps_its_documents(watcher: Watcher, library: Library, papers: Path):
    before = library.ready["papers/inner/b.txt"]
    (papers / "inner").rename(papers / "outer")
    look(watcher, 6)
    assert library.ready["papers/outer/b.txt"] == before


def test_a_file_moved_over_another_takes_its_place(
    watcher: Watcher, library: Library, papers: Path
):
    first = library.ready["papers/a.txt"]
    (papers / "a.txt").replace(papers / "inner" / "b.txt")
    look(watcher, 6)
    assert library.ready == {"papers/inner/b.txt": first}


def test_two_files_that_change_places_keep_their_documents(
    watcher: Watcher, library: Library, papers: Path
):
    before = library.ready
    write(papers / "a.txt", "second", at=2_000)
    write(papers / "inner" / "b.txt", "first", at=2_000)
    look(watcher, 6)
    assert library.ready == {
        "papers/a.txt": before["papers/inner/b.txt"],
        "papers/inner/b.txt": before["papers/a.txt"],
    }


def test_of_two_equal_files_one_may_go_or_change(watcher: Watcher, library: Library, papers: Path):
    write(papers / "copy.txt", "first")
    look(watcher)
    assert len(library.ready) == 2
    (papers / "a.txt").unlink()
    look(watcher)
    assert "papers/copy.txt" in library.ready
    write(papers / "a.txt", "first")
    look(watcher)
    write(papers / "copy.txt", "changed", at=2_000)
    look(watcher, 8)
    assert set(library.ready) == {"papers/a.txt", "papers/copy.txt", "papers/inner/b.txt"}


def test_a_document_added_otherwise_stays_when_its_copy_is_removed(library: Library, papers: Path):
    library.add([Upload("mine.txt", b"first")])
    watcher = watching(library, papers)
    look(watcher)
    (papers / "a.txt").unlink()
    look(watcher)
    assert "mine.txt" in library.ready


def test_a_document_deleted_by_the_user_stays_deleted(watcher: Watcher, library: Library):
    library.catalog.delete(library.ready["papers/a.txt"])
    look(watcher)
    assert set(library.ready) == {"papers/inner/b.txt"}


def test_a_file_that_fails_is_told_and_its_last_good_version_stays(
    watcher: Watcher, library: Library, papers: Path
):
    before = library.ready
    write(papers / "a.txt", "BROKEN", at=2_000)
    look(watcher)
    assert library.ready == before
    (problem,) = watcher.status.problems
    assert problem == Problem("papers/a.txt", "'papers/a.txt' is broken.", "corrupt")
    look(watcher)
    assert len(library.batches) == 2  # it is not tried again until it changes
    write(papers / "a.txt", "mended", at=3_000)
    look(watcher)
    assert watcher.status.problems == ()
    assert len(library.catalog.documents()) == 2
    write(papers / "a.txt", "BROKEN again", at=4_000)
    look(watcher)
    (papers / "a.txt").unlink()
    look(watcher)
    assert [d.name for d in library.catalog.documents()] == ["papers/inner/b.txt"]


def test_an_archive_is_followed_as_its_files(watcher: Watcher, library: Library, papers: Path):
    box = papers / "box.zip"
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr("c.txt", "third")
        archive.writestr("d.txt", "fourth")
    look(watcher)
    assert {"papers/box/c.txt", "papers/box/d.txt"} <= set(library.ready)
    with zipfile.ZipFile(box, "w") as archive:
        archive.writestr("c.txt", "third, changed")
    look(watcher)
    assert "papers/box/d.txt" not in library.ready
    write(papers / "box" / "c.txt", "another file of the same name")
    look(watcher)
    assert {"papers/box/c.txt", "papers/box/c (2).txt"} <= set(library.ready)
    box.unlink()
    look(watcher)
    assert "papers/box/c.txt" not in library.ready
    assert "papers/box/c (2).txt" in library.ready


def test_a_missing_folder_is_told_and_nothing_is_removed(
    watcher: Watcher, library: Library, papers: Path
):
    papers.rename(papers.with_name("elsewhere"))
    look(watcher)
    assert "cannot be read" in watcher.status.error
    assert watcher.status.followed == 2
    assert len(library.ready) == 2
    papers.with_name("elsewhere").rename(papers)
    look(watcher)
    assert watcher.status.error == ""
    assert len(library.batches) == 1


def test_an_emptied_folder_is_taken_for_a_drive_that_is_not_connected(
    watcher: Watcher, library: Library, papers: Path
):
    (papers / "a.txt").unlink()
    (papers / "inner" / "b.txt").unlink()
    look(watcher)
    assert "All 2 files are gone" in watcher.status.error
    assert len(library.ready) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_folder_that_cannot_be_looked_into_keeps_its_documents(
    watcher: Watcher, library: Library, papers: Path
):
    (papers / "inner").chmod(0)
    look(watcher)
    (papers / "inner").chmod(0o700)
    assert len(library.ready) == 2
    assert "could not be looked into" in watcher.status.problems[0].message


def test_a_file_that_may_not_be_read_is_taken_once_it_may(
    library: Library, papers: Path, monkeypatch: pytest.MonkeyPatch
):
    watcher = watching(library, papers)
    with monkeypatch.context() as closed:
        closed.setattr("rag.watch.os.access", lambda path, mode: path.name != "a.txt")
        look(watcher)
        assert set(library.ready) == {"papers/inner/b.txt"}
        assert watcher.status.problems == (
            Problem("a.txt", "'a.txt' may not be read.", "unreadable"),
        )
    look(watcher)
    assert "papers/a.txt" in library.ready
    assert watcher.status.problems == ()


def test_many_files_come_in_batches_one_at_a_time(library: Library, tmp_path: Path):
    folder = tmp_path / "many"
    for number in range(45):
        write(folder / f"{number:02}.txt", f"text {number}")
    library.held = []
    watcher = watching(library, folder)
    look(watcher)
    assert [len(batch) for batch in library.batches] == [20]
    assert watcher.job is not None
    assert watcher.status.waiting == 45
    assert watcher.status.progress is not None
    while library.held:
        library.held.pop()()
        look(watcher, 1)
    look(watcher, 1)
    assert [len(batch) for batch in library.batches] == [20, 20, 5]
    assert watcher.status.followed == 45


def test_the_next_start_knows_what_was_followed(watcher: Watcher, library: Library, papers: Path):
    (papers / "a.txt").unlink()
    again = watching(library, papers)
    look(again)
    assert len(library.batches) == 1
    assert again.status.problems == ()
    assert set(library.ready) == {"papers/inner/b.txt"}


def test_a_file_indexed_just_before_a_crash_still_belongs_to_the_folder(
    library: Library, papers: Path
):
    look(watching(library, papers), 2)  # handed over and indexed, but never noted
    assert len(library.ready) == 2
    again = watching(library, papers)
    look(again)
    (papers / "a.txt").unlink()
    look(again)
    assert set(library.ready) == {"papers/inner/b.txt"}


def test_another_folder_leaves_the_documents_of_the_first(
    watcher: Watcher, library: Library, tmp_path: Path
):
    other = tmp_path / "other"
    write(other / "c.txt", "third")
    look(watching(library, other))
    assert len(library.ready) == 3


def test_cancelled_files_are_taken_again_by_the_next_watcher(library: Library, papers: Path):
    library.held = []
    watcher = watching(library, papers)
    look(watcher, 2)
    watcher.stop(cancel=True)
    library.held.pop()()
    library.held = None
    watcher.look()
    assert (library.ready, watcher.status.followed) == ({}, 0)
    look(watching(library, papers))
    assert len(library.ready) == 2


def test_a_fault_while_looking_is_told_and_the_next_look_goes_on(
    library: Library, papers: Path, monkeypatch: pytest.MonkeyPatch
):
    watcher = watching(library, papers)
    with monkeypatch.context() as patched:
        patched.setattr("rag.watch.walk", _full)
        watcher.look()
        assert watcher.status.error == "No space left on device"
    look(watcher)
    assert (len(library.ready), watcher.status.error) == (2, "")


def _full(*_: object) -> None:
    raise OSError("No space left on device")


def test_the_thread_looks_until_it_is_stopped(library: Library, papers: Path):
    watcher = watching(library, papers)
    looked = threading.Semaphore(0)
    look_once = watcher.look
    watcher.look = lambda: (look_once(), looked.release())  # type: ignore[method-assign]
    watcher.start(interval_s=0)
    for _ in range(4):
        assert looked.acquire(timeout=10)
    watcher.stop(cancel=False)
    assert "watch" not in {thread.name for thread in threading.enumerate()}
    assert len(library.ready) == 2
