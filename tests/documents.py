"""Small Office files and e-books, written part by part, so that a test can put any fault in."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from rag.parse import Parsed, open_file
from rag.types import Page

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def archive(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for member, content in parts.items():
            target.writestr(member, content)
    return path


def relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    """Id -> (kind, target)."""
    entries = "".join(
        f'<Relationship Id="{key}" Type="{RELS}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'


def paragraph(text: str, properties: str = "", run: str = "") -> str:
    run = f"<w:rPr>{run}</w:rPr>" if run else ""
    properties = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f'<w:p>{properties}<w:r>{run}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def heading(text: str, level: int) -> str:
    return paragraph(text, f'<w:pStyle w:val="H{level}"/>')


def word_table(*rows: tuple[str, ...]) -> str:
    """Cells are XML of paragraphs or tables."""
    lines = "".join(
        "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl><w:tblPr/>{lines}</w:tbl>"


def part(root: str, content: str, namespace: str = W) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><w:{root} xmlns:w="{namespace}" '
        f'xmlns:r="{RELS}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        f'xmlns:v="urn:schemas-microsoft-com:vml">{content}</w:{root}>'
    )


_STYLES = part(
    "styles",
    "".join(
        f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/></w:style>'
        for n in range(1, 10)
    )
    + '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/>'
    '<w:basedOn w:val="H2"/></w:style>',
)


def docx(
    path: Path,
    body: str,
    parts: Mapping[str, tuple[str, str, str | bytes]] | None = None,
    namespace: str = W,
    raw: str = "",
) -> Path:
    """`parts`: id -> (kind, member below word/, content). `raw` replaces document.xml."""
    others = {"styles": ("styles", "styles.xml", _STYLES), **(parts or {})}
    document = raw or part("document", f"<w:body>{body}</w:body>", namespace)
    return archive(
        path,
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_DOCUMENT_TYPE}"/></Types>',
            "_rels/.rels": relationships({"d": ("officeDocument", "word/document.xml")}),
            "word/_rels/document.xml.rels": relationships(
                {key: (kind, member) for key, (kind, member, _) in others.items()}
            ),
            "word/document.xml": document,
            **{f"word/{member}": content for _, member, content in others.values()},
        },
    )


def epub(path: Path, chapters: Mapping[str, str], **parts: str | bytes) -> Path:
    """Chapters by member name, in reading order; `parts` are more members below META-INF."""
    items = "".join(
        f'<item id="i{n}" href="{member}" media-type="application/xhtml+xml"/>'
        for n, member in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    return archive(
        path,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
            'container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            f"{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/{member}": text for member, text in chapters.items()},
            **{f"META-INF/{name}.xml": content for name, content in parts.items()},
        },
    )


def opened(path: Path) -> tuple[Parsed, list[Page]]:
    """The file read to its end, after checks that hold for every format."""
    parsed = open_file(path, path.name, "d" * 64)
    pages = [parsed_page.page for parsed_page in parsed.pages]
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert parsed.page_count in (0, len(pages))
    for page in pages:
        for mark in page.headings:
            assert page.text[mark.start :].lstrip("# \t").startswith(mark.title[:1])
    return parsed, pages


def text_of(path: Path) -> str:
    return "\n\n".join(page.text for page in opened(path)[1])


def codes(parsed: Parsed) -> list[str]:
    return [warning.code for warning in parsed.warnings]
