"""What a file is: by its content first, by its name where the content is plain text."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from rag.errors import FileError
from rag.parse.archive import Archive
from rag.parse.charset import clean, decode, unicode_encoding
from rag.parse.opc import main_part

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"
HTML = "text/html"
MARKDOWN = "text/markdown"
CSV = "text/csv"
TSV = "text/tab-separated-values"
EMAIL = "message/rfc822"
TEXT = "text/plain"

DOCUMENT_PARTS = {"[content_types].xml", "mimetype", "meta-inf/container.xml"}
"""In lower case. A zip with one of them is an Office file or an e-book, not an archive."""

_SAMPLE = 64 * 1024
_BY_NAME = {
    ".html": HTML, ".htm": HTML, ".xhtml": HTML,
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mkd": MARKDOWN,
    ".csv": CSV, ".tsv": TSV, ".tab": TSV,
    ".eml": EMAIL, ".mht": EMAIL, ".mhtml": EMAIL,
}  # fmt: skip
_PROMISES = {
    ".pdf": "PDF", ".docx": "DOCX", ".pptx": "PPTX", ".xlsx": "XLSX", ".epub": "EPUB",
    ".doc": "DOC", ".ppt": "PPT", ".xls": "XLS",
}  # fmt: skip
_SUPPORTED = "PDF, DOCX, PPTX, XLSX, CSV, HTML, EPUB, Markdown, text and e-mail files"
_SIGNATURES = (
    (b"\x89PNG", "an image"), (b"\xff\xd8\xff", "an image"), (b"GIF8", "an image"),
    (b"BM", "an image"), (b"II*\0", "an image"), (b"MM\0*", "an image"),
    (b"\0\0\1\0", "an image"), (b"8BPS", "an image"), (b"RIFF", "a picture, sound or film"),
    (b"ID3", "a sound"), (b"OggS", "a sound or film"), (b"fLaC", "a sound"),
    (b"\x1aE\xdf\xa3", "a film"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"), (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x1f\x8b", "a compressed archive"), (b"BZh", "a compressed archive"),
    (b"7z\xbc\xaf", "a compressed archive"), (b"Rar!", "a compressed archive"),
    (b"\xfd7zXZ", "a compressed archive"), (b"\x28\xb5\x2f\xfd", "a compressed archive"),
    (b"SQLite format 3", "a database"), (b"wOFF", "a font"), (b"OTTO", "a font"),
)  # fmt: skip
_OCR = "To index text in a picture, save it as a PDF with a text layer (OCR)."
_PROLOGUE = r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*"
_HTML_START = re.compile(_PROLOGUE + r"<(?:!doctype\s+html|html)\b", re.I | re.S)
_SVG_START = re.compile(_PROLOGUE + r"<svg\b", re.S)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def detect(path: Path, name: str) -> str:
    """The media type, one of the constants of this module.

    Raises FileError `empty_file`, `unsupported_type`, `password_required`, `corrupt`, and
    `too_large` for a zip that expands too much.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    if not head:
        raise _empty(name)
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _zip(path, name)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise _ole(path, name)
    if head.lstrip().startswith(b"{\\rtf"):
        raise unsupported(name, "a rich text (RTF) file", "Save it as .docx and add that.")
    _refuse_binary(head, name)
    text = decode(head)[0] if size <= _SAMPLE else clean(_start(head))
    if size <= _SAMPLE and not text.strip():
        raise _empty(name)
    return _text_type(text, name)


def _text_type(text: str, name: str) -> str:
    suffix = _suffix(name)
    if suffix == ".svg" or _SVG_START.match(text):
        raise unsupported(name, "an image", _OCR)
    if suffix in _PROMISES:
        kind = _PROMISES[suffix]
        if _HTML_START.match(text):
            return HTML  # what a web server sends instead of the file, or Word's "web page"
        raise FileError(
            "corrupt",
            f"{name!r} is named as a {kind} file, but is none: it holds plain text. "
            "Get the file again, or rename it to .txt.",
        )
    if suffix in _BY_NAME:
        return _BY_NAME[suffix]
    return HTML if _HTML_START.match(text) else TEXT


def _zip(path: Path, name: str) -> str:
    with Archive(path, name) as archive:
        if "[Content_Types].xml" in archive:
            archive.refuse_entities()
            return _office(archive, name)
        if "mimetype" in archive:
            kind = archive.read("mimetype", 200).decode("ascii", "replace").strip()
            if kind == EPUB:
                return EPUB
            if "opendocument" in kind:
                raise unsupported(
                    name, "an OpenDocument file", "Save it as .docx, .xlsx or .pptx and add that."
                )
        if "META-INF/container.xml" in archive:
            return EPUB
    raise unsupported(name, "a zip archive", "Unpack it and add the documents inside.")


def _office(archive: Archive, name: str) -> str:
    kind = main_part(archive)[1]
    if "wordprocessingml" in kind or "ms-word" in kind:
        return DOCX
    if "presentationml" in kind or "ms-powerpoint" in kind:
        return PPTX
    if "spreadsheetml" in kind or ("ms-excel" in kind and "binary" not in kind):
        return XLSX
    if "ms-excel" in kind:
        raise unsupported(name, "a binary Excel workbook", "Save it as .xlsx and add that.")
    raise unsupported(name, "an Office file of an unknown kind", "Save it as PDF and add that.")


def _ole(path: Path, name: str) -> FileError:
    data = path.read_bytes()

    def has(stream: str) -> bool:
        return stream.encode("utf-16-le") in data

    if has("EncryptedPackage"):
        return FileError(
            "password_required",
            f"{name!r} is protected with a password. Remove it (File, Info, Protect Document) "
            "and add the file again.",
        )
    for stream, kind, modern in (
        ("WordDocument", "an old Word file (.doc)", ".docx"),
        ("PowerPoint Document", "an old PowerPoint file (.ppt)", ".pptx"),
        ("Workbook", "an old Excel file (.xls)", ".xlsx"),
        ("__substg1.0_", "an Outlook message (.msg)", ".eml"),
    ):
        if has(stream):
            return unsupported(name, kind, f"Open it, save it as {modern} and add that.")
    return unsupported(name, "an old Office file", "Save it as .docx, .xlsx or .pptx.")


def _refuse_binary(head: bytes, name: str) -> None:
    for signature, kind in _SIGNATURES:
        # A text may begin with the same letters, but has no zero byte soon after them.
        if head.startswith(signature) and (not signature.isalnum() or b"\0" in head[:64]):
            raise unsupported(name, kind, _OCR if "image" in kind else "")
    if head[4:8] == b"ftyp":
        raise unsupported(name, "a film or photo", _OCR)
    text = _start(head)
    # A text has hardly any control characters: stray ones up to a tenth are forgiven, unless
    # the bytes are no UTF-8 either.
    control = len(_CONTROL.findall(text))
    broken = "\ufffd" in text
    if control * (50 if broken else 10) > len(text):
        raise unsupported(name, "a binary file", "")


def _start(head: bytes) -> str:
    encoding = unicode_encoding(head[: len(head) - len(head) % 4]) or "utf-8"
    # The sample may end inside a character.
    return head[:8192].decode(encoding, "replace").rstrip("\ufffd")


def unsupported(name: str, kind: str, advice: str) -> FileError:
    advice = advice or f"These can be added: {_SUPPORTED}."
    return FileError("unsupported_type", f"{name!r} is {kind}, which cannot be read. {advice}")


def _empty(name: str) -> FileError:
    return FileError("empty_file", f"{name!r} is empty: there is nothing to index.")


def _suffix(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()
