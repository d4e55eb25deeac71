from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from rag.errors import FileError
from rag.parse import detect, open_file
from tests.conftest import MakePdf
from tests.documents import archive, docx, epub, paragraph, part

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def refused(path: Path, name: str) -> FileError:
    with pytest.raises(FileError) as caught:
        list(open_file(path, name, "d" * 64).pages)
    assert name in str(caught.value)
    return caught.value


@pytest.fixture
def written(tmp_path: Path):
    def write(content: bytes) -> Path:
        path = tmp_path / "upload"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("name", ["a.pdf", "notes.txt", "report.docx", "none"])
def test_a_pdf_is_a_pdf_under_any_name(make_pdf: MakePdf, name: str):
    assert detect.detect(make_pdf("a.pdf", [["Hello"]]), name) == detect.PDF


@pytest.mark.parametrize("name", ["a.docx", "a.doc", "a.docm", "a.zip", "a.txt"])
def test_a_docx_is_a_docx_under_any_name(tmp_path: Path, name: str):
    assert detect.detect(docx(tmp_path / "a", paragraph("Hello")), name) == detect.DOCX


def test_an_epub_is_known_by_its_container(tmp_path: Path):
    assert detect.detect(epub(tmp_path / "a", {"1.xhtml": "<p>Hi</p>"}), "a.zip") == detect.EPUB


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", detect.MARKDOWN),
        ("A.MARKDOWN", detect.MARKDOWN),
        ("a.csv", detect.CSV),
        ("a.tsv", detect.TSV),
        ("a.htm", detect.HTML),
        ("a.eml", detect.EMAIL),
        ("a.txt", detect.TEXT),
        ("a.py", detect.TEXT),
        ("LICENSE", detect.TEXT),
        ("dir.md/a.txt", detect.TEXT),
    ],
)
def test_the_name_decides_what_plain_text_is(written, name: str, media_type: str):
    assert detect.detect(written(b"one,two\n1,2\n"), name) == media_type


@pytest.mark.parametrize("name", ["page.txt", "page", "page.pdf", "page.doc"])
def test_html_is_known_by_its_first_tag(written, name: str):
    page = b"\xef\xbb\xbf<!-- saved -->\n<!DOCTYPE html><html><p>Hi</p></html>"
    assert detect.detect(written(page), name) == detect.HTML


def test_markdown_may_begin_with_html(written):
    assert detect.detect(written(b"<html> is a tag\n"), "a.md") == detect.MARKDOWN


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \r\n\t\n", b"\xff\xfe\n\0"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv"])
def test_a_file_without_any_character_is_empty(written, content: bytes, name: str):
    assert refused(written(content), name).code == "empty_file"


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_a_long_file_of_white_space_is_empty(written, name: str):
    assert refused(written(b" \n" * 100_000), name).code == "empty_file"


def test_an_encrypted_office_file_asks_for_its_password(written):
    content = OLE + "EncryptedPackage".encode("utf-16-le")
    error = refused(written(content), "plan.docx")
    assert error.code == "password_required"


@pytest.mark.parametrize(
    ("stream", "name", "advice"),
    [
        ("WordDocument", "a.doc", ".docx"),
        ("Workbook", "a.xls", ".xlsx"),
        ("PowerPoint Document", "a.ppt", ".pptx"),
        ("WordDocument", "renamed.docx", ".docx"),
    ],
)
def test_an_old_office_file_is_refused_with_what_to_do(written, stream, name, advice):
    error = refused(written(OLE + stream.encode("utf-16-le")), name)
    assert error.code == "unsupported_type"
    assert f"save it as {advice}" in str(error)


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.epub"])
def test_a_plain_zip_is_not_supported(tmp_path: Path, name: str):
    path = archive(tmp_path / "a", {"inner.zip": b"PK", "notes.txt": "Hello"})
    assert refused(path, name).code == "unsupported_type"


def test_other_office_formats_name_the_one_to_save_as(tmp_path: Path, written):
    path = archive(
        tmp_path / "a", {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ""}
    )
    assert ".docx" in str(refused(path, "a.odt"))
    assert ".docx" in str(refused(written(b"{\\rtf1\\ansi Hello}"), "a.rtf"))


@pytest.mark.parametrize("kept", [30, 0.5, 0.99])
def test_a_truncated_zip_is_corrupt(tmp_path: Path, kept: float):
    path = docx(tmp_path / "a.docx", paragraph("Hello"))
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    assert refused(path, "a.docx").code == "corrupt"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "an image"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "an image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><text>Hi</text></svg>", "an image"),
        (b"MZ\x90\x00" + bytes(range(256)), "a program"),
        (b"\x7fELF" + bytes(100), "a program"),
        (b"\x1f\x8b\x08" + bytes(100), "a compressed archive"),
        (b"\0\0\0\x20ftypmp42" + bytes(100), "a film or photo"),
        (bytes(range(256)) * 20, "a binary file"),
        (bytes(1000), "a binary file"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.docx", "a.bin"])
def test_pictures_programs_and_binaries_are_refused(written, content, kind, name):
    error = refused(written(content), name)
    assert error.code == "unsupported_type"
    assert kind in str(error)


@pytest.mark.parametrize("start", ["BM is short for", "MZ und", "II", "RIFFs and chords", "PK"])
def test_a_text_may_begin_like_a_binary_format(written, start: str):
    text = f"{start} the words of a text.\n".encode()
    assert detect.detect(written(text), "a.txt") == detect.TEXT


def test_plain_text_under_the_name_of_a_pdf_is_corrupt(written):
    error = refused(written(b"This is not a PDF.\n"), "report.pdf")
    assert error.code == "corrupt"
    assert ".txt" in str(error)


def test_a_sample_that_ends_inside_a_character_is_still_text(written):
    text = ("x" + "ü" * 100_000).encode()
    assert detect.detect(written(text), "a.txt") == detect.TEXT


def test_an_archive_that_unpacks_to_too_much_is_refused_unopened(tmp_path: Path):
    path = docx(tmp_path / "a.docx", "", {"x": ("image", "bomb.bin", bytes(30 * 2**20))})
    error = refused(path, "a.docx")
    assert error.code == "too_large"


def test_an_archive_that_lies_about_its_sizes_is_corrupt(tmp_path: Path):
    path = docx(tmp_path / "a.docx", paragraph("Hello " * 10_000))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as opened:
        size = opened.getinfo("word/document.xml").file_size
    content = content.replace(size.to_bytes(4, "little"), (900).to_bytes(4, "little"))
    path.write_bytes(content)
    assert refused(path, "a.docx").code == "corrupt"


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE w:document [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


@pytest.mark.parametrize("padding", ["", "<!--" + "x" * 5000 + "-->"])
def test_xml_entities_never_expand(tmp_path: Path, padding: str):
    document = part("document", f"<w:body>{paragraph('Before &i; after')}</w:body>")
    document = padding + BOMB.partition("?>")[2] + document.partition("?>")[2]
    assert refused(docx(tmp_path / "a.docx", "", raw=document), "a.docx").code == "corrupt"


def test_external_entities_are_not_read(tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("classified")
    entity = f'<!--{"x" * 5000}--><!DOCTYPE d [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    body = part("document", f"<w:body>{paragraph('Known: &s;')}</w:body>").partition("?>")[2]
    path = docx(tmp_path / "a.docx", "", raw=entity + body)
    assert next(open_file(path, "a.docx", "d").pages).page.text == "Known:"


def test_members_with_hostile_names_are_never_written(tmp_path: Path):
    path = docx(tmp_path / "a.docx", paragraph("Hello"))
    with zipfile.ZipFile(path, "a") as target:
        target.writestr("../../marker.txt", "x")
    assert next(open_file(path, "a.docx", "d").pages).page.text == "Hello"
    assert not list(tmp_path.parent.parent.glob("marker.txt"))
