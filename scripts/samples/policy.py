"""Writes the policy as a Word document: the few parts of OOXML it needs, by hand.

A library would stamp the time and its own template into the file; this gives the same bytes
every time, and real Word styles, numbering and footnotes.
"""

from __future__ import annotations

import itertools
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

ACCENT = "1D4E79"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
BULLETS = 1
"""Number of the bulleted list; every numbered list gets its own from here upwards."""


def build(source: str, target: Path) -> None:
    """`source` is Markdown with `=` for the title, `~` for the line below it and `[^n]` notes.

    As in the PDFs, the dashes under a table's head are the relative widths of its columns.
    """
    notes = dict(re.findall(r"^\[\^(\d+)\]: (.+)$", source, re.M))
    source = re.sub(r"^\[\^\d+\]: .+\n?", "", source, flags=re.M)
    lists = itertools.count(BULLETS + 1)
    body = "".join(_block(block, lists) for block in re.split(r"\n\s*\n", source.strip()))
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations(
            ("officeDocument", "word/document.xml"),
            ("metadata/core-properties", "docProps/core.xml"),
        ),
        "docProps/core.xml": _core(),
        "word/_rels/document.xml.rels": _relations(
            ("styles", "styles.xml"),
            ("numbering", "numbering.xml"),
            ("footnotes", "footnotes.xml"),
            ("header", "header1.xml"),
            ("footer", "footer1.xml"),
        ),
        "word/document.xml": (
            f"<w:document {NAMESPACES}><w:body>{body}<w:sectPr>"
            '<w:headerReference w:type="default" r:id="rId4"/>'
            '<w:footerReference w:type="default" r:id="rId5"/>'
            '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1418" w:right="1304" '
            'w:bottom="1304" w:left="1304" w:header="680" w:footer="600" w:gutter="0"/>'
            "</w:sectPr></w:body></w:document>"
        ),
        "word/styles.xml": _styles(),
        "word/numbering.xml": _numbering(next(lists)),
        "word/footnotes.xml": _footnotes(notes),
        "word/header1.xml": (
            f'<w:hdr {NAMESPACES}><w:p><w:pPr><w:pStyle w:val="Header"/></w:pPr>'
            f"{_run('Sorrel Valley Rivers Trust · Travel and expenses policy 4.2')}</w:p></w:hdr>"
        ),
        "word/footer1.xml": (
            f'<w:ftr {NAMESPACES}><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>{_run("Page ")}'
            f'<w:fldSimple w:instr=" PAGE ">{_run("1")}</w:fldSimple></w:p></w:ftr>'
        ),
    }
    with zipfile.ZipFile(target, "w") as archive:
        for name, xml in parts.items():
            entry = zipfile.ZipInfo(name, date_time=(2025, 3, 18, 9, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            archive.writestr(entry, declaration + xml)


def _block(block: str, lists: Iterator[int]) -> str:
    for mark, style in (
        ("= ", "Title"),
        ("~ ", "Subtitle"),
        ("## ", "Heading2"),
        ("# ", "Heading1"),
    ):
        if block.startswith(mark):
            return _paragraph(block.removeprefix(mark), style)
    if block.startswith("|"):
        return _table(block)
    if block.startswith("- "):
        return "".join(_paragraph(line[2:], "ListParagraph", BULLETS) for line in block.split("\n"))
    if block.startswith("1. "):
        number = next(lists)
        return "".join(
            _paragraph(line.split(" ", 1)[1], "ListParagraph", number) for line in block.split("\n")
        )
    return _paragraph(block, "Normal")


def _paragraph(text: str, style: str, numbering: int | None = None) -> str:
    number = (
        f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{numbering}"/></w:numPr>' if numbering else ""
    )
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{number}</w:pPr>{_runs(text)}</w:p>'


def _runs(text: str) -> str:
    pieces = re.split(r"(\*\*.+?\*\*|\[\^\d+\])", text)
    return "".join(
        _run(piece[2:-2], "<w:b/>")
        if piece.startswith("**")
        else _reference(piece[2:-1])
        if piece.startswith("[^")
        else _run(piece)
        for piece in pieces
        if piece
    )


def _run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _reference(number: str) -> str:
    style = '<w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>'
    return f'<w:r>{style}<w:footnoteReference w:id="{number}"/></w:r>'


def _table(block: str) -> str:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.split("\n")]
    rules = rows.pop(1)
    total = sum(map(len, rules))
    widths = [len(rule) * 9298 // total for rule in rules]
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    body = ""
    for number, row in enumerate(rows):
        head = number == 0
        fill = ACCENT if head else "E8EFF6" if number % 2 == 0 else "auto"
        shade = f'<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/>'
        style = "TableHead" if head else "TableText"
        cells = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/>{shade}</w:tcPr>'
            f"{_paragraph(cell, style)}</w:tc>"
            for cell, width in zip(row, widths, strict=True)
        )
        repeated = "<w:tblHeader/>" if head else ""
        body += f"<w:tr><w:trPr><w:cantSplit/>{repeated}</w:trPr>{cells}</w:tr>"
    return (
        '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="9298" w:type="dxa"/>'
        f'<w:tblLook w:firstRow="1"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>'
        '<w:p><w:pPr><w:spacing w:after="60"/></w:pPr></w:p>'
    )


def _styles() -> str:
    def style(name: str, paragraph: str, run: str, *, label: str = "", base: str = "Normal") -> str:
        based = f'<w:basedOn w:val="{base}"/>' if name != "Normal" else ""
        default = ' w:default="1"' if name == "Normal" else ""
        return (
            f'<w:style w:type="paragraph"{default} w:styleId="{name}"><w:name w:val='
            f'"{label or name}"/>{based}<w:qFormat/><w:pPr>{paragraph}</w:pPr>'
            f"<w:rPr>{run}</w:rPr></w:style>"
        )

    def size(half_points: int) -> str:
        return f'<w:sz w:val="{half_points}"/><w:szCs w:val="{half_points}"/>'

    colour = f'<w:color w:val="{ACCENT}"/>'
    grey = '<w:color w:val="5A6068"/>'
    edge = f'w:val="single" w:sz="4" w:space="0" w:color="{ACCENT}"'
    return (
        f"<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/>'
        f'{size(22)}<w:lang w:val="en-GB"/></w:rPr></w:rPrDefault></w:docDefaults>'
        + style("Normal", '<w:spacing w:after="140" w:line="276" w:lineRule="auto"/>', "")
        + style("Title", '<w:spacing w:after="60"/>', f"<w:b/>{colour}{size(52)}")
        + style("Subtitle", '<w:spacing w:after="240"/>', f"{grey}{size(24)}")
        + style(
            "Heading1",
            '<w:keepNext/><w:spacing w:before="360" w:after="120"/><w:outlineLvl w:val="0"/>',
            f"<w:b/>{colour}{size(32)}",
            label="heading 1",
        )
        + style(
            "Heading2",
            '<w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="1"/>',
            f"<w:b/>{colour}{size(25)}",
            label="heading 2",
        )
        + style("ListParagraph", '<w:spacing w:after="70"/>', "", label="List Paragraph")
        + style("TableText", '<w:spacing w:before="40" w:after="40" w:line="240"/>', size(20))
        + style("TableHead", "<w:keepNext/>", '<w:b/><w:color w:val="FFFFFF"/>', base="TableText")
        + style("Header", "", f"{grey}{size(18)}", label="header")
        + style("Footer", '<w:jc w:val="center"/>', f"{grey}{size(18)}", label="footer")
        + style("FootnoteText", '<w:spacing w:after="40"/>', size(18), label="footnote text")
        + '<w:style w:type="character" w:styleId="FootnoteReference"><w:name '
        'w:val="footnote reference"/><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
        '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr>'
        f"<w:tblBorders><w:top {edge}/><w:bottom {edge}/><w:insideH {edge}/></w:tblBorders>"
        "</w:tblPr></w:style></w:styles>"
    )


def _numbering(count: int) -> str:
    def abstract(number: int, form: str, text: str) -> str:
        return (
            f'<w:abstractNum w:abstractNumId="{number}"><w:multiLevelType w:val="singleLevel"/>'
            f'<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{text}"/><w:pPr><w:ind w:left="454" w:hanging="340"/></w:pPr>'
            "</w:lvl></w:abstractNum>"
        )

    # Each numbered list is its own definition, or the second would go on counting.
    numbered = range(BULLETS + 1, count)
    return (
        f"<w:numbering {NAMESPACES}>"
        + abstract(BULLETS, "bullet", "•")
        + "".join(abstract(number, "decimal", "%1.") for number in numbered)
        + "".join(
            f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>'
            for number in (BULLETS, *numbered)
        )
        + "</w:numbering>"
    )


def _footnotes(notes: dict[str, str]) -> str:
    separators = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}">'
        f"<w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>"
        for number, kind in ((-1, "separator"), (0, "continuationSeparator"))
    )
    mark = '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
    texts = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
        f"{mark}{_run(' ' + text)}</w:p></w:footnote>"
        for number, text in notes.items()
    )
    return f"<w:footnotes {NAMESPACES}>{separators}{texts}</w:footnotes>"


def _relations(*targets: tuple[str, str]) -> str:
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="'
        + (f"{package}/{kind}" if kind.startswith("metadata") else f"{OFFICE}/{kind}")
        + f'" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{package}">{rows}</Relationships>'


def _content_types() -> str:
    parts = {
        "document": "document.main",
        "styles": "styles",
        "numbering": "numbering",
        "footnotes": "footnotes",
        "header1": "header",
        "footer1": "footer",
    }
    overrides = "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="{WORD}.{kind}+xml"/>'
        for part, kind in parts.items()
    )
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f"{overrides}"
        '<Override PartName="/docProps/core.xml" '
        'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'
    )


def _core() -> str:
    return (
        "<cp:coreProperties "
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        "<dc:title>Travel and expenses policy</dc:title>"
        "<dc:creator>Sorrel Valley Rivers Trust</dc:creator>"
        '<dcterms:created xsi:type="dcterms:W3CDTF">2025-03-18T09:00:00Z</dcterms:created>'
        "</cp:coreProperties>"
    )
