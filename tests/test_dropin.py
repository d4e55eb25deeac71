"""Folders and ZIP archives: what becomes a document, under which name, and what is refused."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag import unzip
from rag.dropin import DropIn, drop_in, folder, from_path
from rag.errors import FileError, FootnoteError
from rag.ingest import Upload
from rag.workspace import Workspace
from tests.documents import docx, epub, paragraph

NOTE = b"The spare key is under the third pot."


def packed(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def dropped(name: str, content: bytes | Path) -> DropIn:
    return drop_in([Upload(name, content)])


def names(found: DropIn) -> list[str]:
    return [upload.name for upload in found.uploads]


def content(upload: Upload) -> bytes:
    if isinstance(upload.source, bytes):
        return upload.source
    return upload.source.read_bytes() if isinstance(upload.source, Path) else upload.source.read()


def refusal(found: DropIn) -> tuple[str, str]:
    """The code and message of the only upload."""
    (upload,) = found.uploads
    with pytest.raises(FileError) as caught:
        content(upload)
    return caught.value.code, str(caught.value)


# ZIP archives


def test_an_archive_becomes_its_files_under_its_own_name():
    found = dropped("Reports.ZIP", packed({"a.txt": b"A", "inner/b.txt": b"B", "inner/": b""}))
    assert [(u.name, content(u)) for u in found.uploads] == [
        ("Reports/a.txt", b"A"),
        ("Reports/inner/b.txt", b"B"),
    ]


def test_an_archive_of_one_folder_of_its_name_does_not_say_it_twice():
    inside = packed({"papers/a.txt": b"A", "papers/b.txt": b"B"})
    assert names(dropped("papers.zip", inside)) == ["papers/a.txt", "papers/b.txt"]
    assert names(dropped("box/papers.zip", inside)) == ["box/papers/a.txt", "box/papers/b.txt"]


def test_an_archive_on_disk_is_opened_like_one_in_memory(tmp_path: Path):
    path = tmp_path / "notes.zip"
    path.write_bytes(packed({"a.txt": NOTE}))
    (upload,) = dropped("notes.zip", path).uploads
    assert (upload.name, content(upload)) == ("notes/a.txt", NOTE)


def test_office_files_and_books_stay_documents_whatever_their_names(tmp_path: Path):
    word = docx(tmp_path / "a.docx", paragraph("Words."))
    book = epub(tmp_path / "b.epub", {"one.xhtml": "<p>Words.</p>"})
    for name, path in (("a.docx", word), ("renamed.zip", word), ("b.epub", book)):
        assert dropped(name, path).uploads == (Upload(name, path),)


def test_a_damaged_office_file_is_not_added_as_its_parts():
    parts = packed({"word/document.xml": b"<w:document/>"})
    assert names(dropped("broken.docx", parts)) == ["broken.docx"]


def test_a_file_that_is_only_named_zip_is_left_to_the_reader():
    assert dropped("report.zip", b"%PDF-1.7 ...").uploads == (
        Upload("report.zip", b"%PDF-1.7 ..."),
    )


def test_hidden_and_system_files_are_skipped_and_named():
    found = dropped(
        "a.zip",
        packed(
            {
                "a.txt": NOTE,
                "__MACOSX/._a.txt": b"x",
                ".DS_Store": b"x",
                "inner/Thumbs.db": b"x",
                ".git/config": b"x",
                "~$letter.docx": b"x",
                "film.crdownload": b"x",
            }
        ),
    )
    assert names(found) == ["a/a.txt"]
    assert len(found.skipped) == 6
    assert "a/inner/Thumbs.db" in found.skipped


@pytest.mark.parametrize(
    ("member", "shown"),
    [
        ("../../etc/passwd.txt", "a/etc/passwd.txt"),
        ("/srv/x.txt", "a/srv/x.txt"),
        ("..\\..\\evil.txt", "a/evil.txt"),
        ("r\u00e9sum\u00e9 \u65e5\u672c.txt", "a/r\u00e9sum\u00e9 \u65e5\u672c.txt"),
        ("x" * 300 + ".txt", "x" * 196 + ".txt"),
    ],
)
def test_a_members_name_is_shown_and_is_no_way_out(member: str, shown: str):
    found = dropped("a.zip", packed({member: NOTE}))
    assert names(found) == [shown]
    assert content(found.uploads[0]) == NOTE


@pytest.mark.parametrize("encoding", ["utf-8", "cp437"])
def test_names_that_do_not_say_their_encoding_are_read(encoding: str):
    raw = "né.txt".encode(encoding)
    stand_in = "n{:?<{}}.txt".format("", len(raw) - 5).encode()
    archive = packed({stand_in.decode(): NOTE}).replace(stand_in, raw)
    assert names(dropped("a.zip", archive)) == ["a/né.txt"]


def test_names_that_look_the_same_do_not_replace_each_other():
    long = "x" * 300
    found = dropped("a.zip", packed({f"1{long}.txt": b"1", f"2{long}.txt": b"2"}))
    assert len({*names(found)}) == 2
    found = drop_in([Upload("readme.md", b"one"), Upload("readme.md", b"two")])
    assert names(found) == ["readme.md", "readme (2).md"]


def test_an_archive_inside_an_archive_is_refused_and_the_rest_is_taken():
    found = dropped("outer.zip", packed({"inner.zip": packed({"b.txt": NOTE}), "a.txt": NOTE}))
    assert names(found) == ["outer/inner.zip", "outer/a.txt"]
    code, message = refusal(DropIn(found.uploads[:1]))
    assert code == "unsupported_type"
    assert "'outer/inner.zip' is a ZIP archive inside another" in message


def locked(archive: bytes, *members: bytes) -> bytes:
    """Marks members as encrypted, in their own headers and in the table of contents."""
    changed = bytearray(archive)
    for signature, flags, name in ((b"PK\3\4", 6, 30), (b"PK\1\2", 8, 46)):
        at = changed.find(signature)
        while at >= 0:
            if changed[at + name :].startswith(members):
                changed[at + flags] |= 1
            at = changed.find(signature, at + 4)
    return bytes(changed)


def test_protected_files_are_told_once_and_the_others_are_taken():
    plain = packed({"a.txt": NOTE, "b.txt": NOTE, "c.txt": NOTE})
    found = dropped("box.zip", locked(plain, b"a.txt", b"b.txt"))
    assert names(found) == ["box.zip", "box/c.txt"]
    code, message = refusal(DropIn(found.uploads[:1]))
    assert code == "password_required"
    assert "'box.zip' has 2 of 3 files protected with a password" in message
    assert (
        "is protected with a password"
        in refusal(dropped("box.zip", locked(plain, b"a.txt", b"b.txt", b"c.txt")))[1]
    )


def test_a_bomb_is_refused_unread():
    bomb = packed({"zeros.txt": bytes(30 * 2**20)})
    assert len(bomb) < 100_000
    code, message = refusal(dropped("bomb.zip", bomb))
    assert code == "too_large"
    assert "'bomb.zip' would unpack to 30 MB" in message


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unzip, "MAX_FILES", 2)
    many = packed({f"{i}.txt": NOTE for i in range(3)})
    assert refusal(dropped("many.zip", many))[0] == "too_large"


def test_a_long_table_of_contents_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unzip, "_MAX_DIRECTORY", 50)
    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", None)  # reading it would fail
    assert refusal(dropped("many.zip", packed({"a.txt": NOTE})))[0] == "too_large"


def test_a_cut_off_archive_is_named():
    whole = packed({"a.txt": NOTE * 50})
    code, message = refusal(dropped("cut.zip", whole[: len(whole) // 2]))
    assert (code, "'cut.zip' is damaged or incomplete" in message) == ("corrupt", True)


def test_an_empty_archive_is_named():
    assert refusal(dropped("empty.zip", packed({})))[0] == "empty_file"


def test_a_damaged_member_fails_alone():
    archive = bytearray(packed({"a.txt": NOTE, "b.txt": NOTE}))
    archive[archive.index(b"a.txt") + 5 + 8] ^= 0xFF
    bad, good = dropped("a.zip", bytes(archive)).uploads
    with pytest.raises(FileError, match=r"'a/a\.txt' is damaged inside its ZIP archive"):
        content(bad)
    assert content(good) == NOTE


def test_every_member_has_its_line_in_the_summary(workspace: Workspace):
    archive = packed({"a.txt": NOTE, "b.txt": b"", "c.zip": packed({"d.txt": NOTE})})
    job = workspace.add_files(dropped("box.zip", archive).uploads)
    assert job.wait(60)
    told = [(f.name, f.state, f.error_code) for f in job.progress.files]
    assert told == [
        ("box/a.txt", "indexed", ""),
        ("box/b.txt", "failed", "empty_file"),
        ("box/c.zip", "failed", "unsupported_type"),
    ]
    assert workspace.search("spare key").hits[0].name == "box/a.txt"


# Folders


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    top = tmp_path / "papers"
    (top / "inner").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / "b.txt").write_bytes(NOTE)
    (top / "inner" / "a.txt").write_bytes(NOTE)
    (top / ".git" / "config").write_bytes(b"x")
    (top / "Thumbs.db").write_bytes(b"x")
    return top


def test_a_folder_is_walked_and_hidden_files_are_skipped(papers: Path):
    found = folder(papers, "papers/")
    assert [(u.name, u.source) for u in found.uploads] == [
        ("papers/b.txt", papers / "b.txt"),
        ("papers/inner/a.txt", papers / "inner" / "a.txt"),
    ]
    assert sorted(found.skipped) == [".git", "Thumbs.db"]


def test_archives_in_a_folder_are_opened(papers: Path):
    (papers / "box.zip").write_bytes(packed({"c.txt": NOTE}))
    assert "papers/box/c.txt" in names(folder(papers, "papers/"))


def test_a_hidden_folder_can_be_chosen_by_itself(tmp_path: Path):
    (tmp_path / ".notes").mkdir()
    (tmp_path / ".notes" / "a.txt").write_bytes(NOTE)
    assert names(folder(tmp_path / ".notes", ".notes/")) == [".notes/a.txt"]


def test_the_data_folder_is_left_out(papers: Path):
    assert names(folder(papers, leave_out=papers / "inner")) == ["b.txt"]


def test_links_to_folders_are_not_followed(papers: Path):
    (papers / "loop").symlink_to(papers, target_is_directory=True)
    assert names(folder(papers)) == ["b.txt", "inner/a.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_folder_that_cannot_be_read_has_a_line_of_its_own(papers: Path):
    (papers / "inner").chmod(0)
    found = folder(papers)
    (papers / "inner").chmod(0o700)
    assert names(found) == ["b.txt", "inner"]
    assert "'inner' could not be looked into" in refusal(DropIn(found.uploads[1:]))[1]


def test_a_missing_folder_and_a_file_are_told_apart_from_folders(tmp_path: Path, papers: Path):
    for path in (tmp_path / "none", papers / "b.txt"):
        with pytest.raises(FootnoteError, match="cannot be read"):
            folder(path)


def test_a_folder_with_too_many_files_is_refused(papers: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rag.dropin.MAX_FILES", 1)
    with pytest.raises(FootnoteError, match="more than 1 files"):
        folder(papers)


def test_files_of_a_chosen_folder_keep_its_path_and_lose_what_is_hidden():
    found = drop_in(
        [Upload("papers/.git/config", b"x"), Upload("papers/a.txt", NOTE), Upload(".env", NOTE)]
    )
    assert names(found) == ["papers/a.txt", ".env"]
    assert found.skipped == ("papers/.git/config",)


@pytest.mark.parametrize("quoted", ["{}", ' "{}" ', "'{}'", "{}/"])
def test_a_path_is_taken_as_it_was_pasted(papers: Path, quoted: str):
    found = from_path(quoted.format(papers), papers.parent / "data")
    assert names(found) == ["papers/b.txt", "papers/inner/a.txt"]


def test_the_path_of_one_file_adds_it(papers: Path):
    assert names(from_path(str(papers / "b.txt"), papers)) == ["b.txt"]


def test_a_path_that_leads_nowhere_is_named(tmp_path: Path):
    with pytest.raises(FootnoteError, match=r"no folder or file '.*gone' on this computer"):
        from_path(str(tmp_path / "gone"), tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are no text")
def test_a_name_that_is_no_text_is_shown_as_well_as_it_goes(papers: Path):
    odd = Path(os.fsdecode(os.fsencode(papers) + b"/caf\xe9.txt"))
    odd.write_bytes(NOTE)
    (upload,) = [u for u in folder(papers).uploads if u.name.startswith("caf")]
    assert upload.name == "caf\ufffd.txt"
    assert content(upload) == NOTE
