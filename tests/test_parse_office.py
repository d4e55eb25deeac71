from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.errors import FileError
from rag.parse import open_file
from tests.documents import (
    STRICT_W,
    codes,
    docx,
    heading,
    opened,
    paragraph,
    part,
    text_of,
    word_table,
)

# Word


def test_word_headings_numbers_and_lists(tmp_path: Path):
    level = (
        '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/>'
        "</w:lvl>"
    )
    numbering = part(
        "numbering",
        '<w:abstractNum w:abstractNumId="0">'
        + level.format(0, "decimal", "%1.")
        + level.format(1, "lowerLetter", "%1.%2)")
        + '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
        + level.format(0, "bullet", "o")
        + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="7"/></w:lvlOverride></w:num>',
    )

    def item(text: str, number: int, depth: int = 0, style: str = "") -> str:
        style = f'<w:pStyle w:val="{style}"/>' if style else ""
        return paragraph(
            text,
            f'{style}<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>',
        )

    path = docx(
        tmp_path / "a.docx",
        item("Scope", 1, style="H1") + item("Parts", 1, style="H1") + item("first", 1, 1)
        + item("second", 1, 1) + item("loose", 2) + item("restarted", 3)
        + paragraph("Derived style", '<w:pStyle w:val="Mine"/>')
        + paragraph("By outline", '<w:outlineLvl w:val="2"/>') + paragraph("End"),
        {"n": ("numbering", "numbering.xml", numbering)},
    )  # fmt: skip
    _, pages = opened(path)
    assert pages[0].text == (
        "# 1. Scope\n\n# 2. Parts\n\n  2.a) first\n  2.b) second\n- loose\n7. restarted"
    )
    assert pages[1].label == "2. Parts › Derived style › By outline"
    assert pages[1].text == "## Derived style\n\n### By outline\n\nEnd"


def test_word_text_is_what_word_shows(tmp_path: Path):
    run = "<w:r><w:t>{}</w:t></w:r>"
    path = docx(
        tmp_path / "a.docx",
        "<w:p>" + run.format("Kept ") + "<w:del><w:r><w:delText>deleted </w:delText></w:r></w:del>"
        "<w:moveFrom>" + run.format("moved away ") + "</w:moveFrom>"
        "<w:ins>" + run.format("inserted ") + "</w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden </w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>INCLUDETEXT "http://x"</w:instrText>'
        '<w:fldChar w:fldCharType="separate"/><w:t> result</w:t>'
        '<w:fldChar w:fldCharType="end"/></w:r>'
        '<w:r><w:commentReference w:id="0"/><w:tab/><w:t>x</w:t><w:noBreakHyphen/><w:t>y</w:t>'
        '<w:softHyphen/><w:br/><w:sym w:font="Symbol" w:char="F061"/></w:r>'
        "<w:ruby><w:rt>" + run.format("とう") + "</w:rt><w:rubyBase>" + run.format("東")
        + "</w:rubyBase></w:ruby></w:p>"
        "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" + run.format("Joined ") + "</w:p>"
        + paragraph("to the next")
        + "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
        + paragraph("Click here") + "</w:sdtContent></w:sdt>"
        "<w:sdt><w:sdtContent>" + paragraph("Control") + "</w:sdtContent></w:sdt>"
        "<w:p><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
        "</m:den></m:f></m:oMath></w:p>",
    )  # fmt: skip
    parsed, (page,) = opened(path)
    assert page.text == (
        "Kept inserted shown result\tx-y\nα東\n\nJoined to the next\n\nControl\n\n(a+b)/2"
    )
    assert codes(parsed) == ["hidden_text"]


def test_a_text_box_is_read_once_after_its_paragraph(tmp_path: Path):
    box = f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent>"
    path = docx(
        tmp_path / "a.docx",
        "<w:p><w:r><w:t>Around </w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'>"
        f"<w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{box}"
        "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:t>it</w:t></w:r></w:p>",
    )
    assert text_of(path) == "Around it\n\nIn the box"


def test_footnotes_follow_their_paragraph(tmp_path: Path):
    notes = part(
        "footnotes",
        '<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        f'<w:footnote w:id="5">{paragraph("A tachyon.")}</w:footnote>',
    )
    path = docx(
        tmp_path / "a.docx",
        '<w:p><w:r><w:t>Ouch</w:t></w:r><w:r><w:footnoteReference w:id="5"/></w:r></w:p>'
        + paragraph("Next"),
        {"f": ("footnotes", "footnotes.xml", notes)},
    )
    assert text_of(path) == "Ouch[^1]\n\n[^1]: A tachyon.\n\nNext"


def test_headers_and_footers_come_once_on_a_page_of_their_own(tmp_path: Path):
    page_number = (
        "<w:p><w:r><w:t>Page </w:t></w:r><w:fldSimple w:instr='PAGE'><w:r><w:t>9</w:t></w:r>"
        "</w:fldSimple></w:p>"
    )
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="h1"/>'
        '<w:headerReference w:type="first" r:id="h2"/>'
        '<w:footerReference w:type="default" r:id="f1"/></w:sectPr>'
    )
    path = docx(
        tmp_path / "a.docx",
        f"<w:p><w:pPr>{section}</w:pPr></w:p>{heading('Body', 1)}{paragraph('Text')}{section}",
        {
            "h1": ("header", "header1.xml", part("hdr", paragraph("ACME Corp"))),
            "h2": ("header", "header2.xml", part("hdr", paragraph("ACME Corp"))),
            "f1": ("footer", "footer1.xml", part("ftr", page_number)),
            "h9": ("header", "header9.xml", part("hdr", paragraph("Unused"))),
        },
    )
    _, pages = opened(path)
    assert [(page.label, page.text) for page in pages] == [
        ("", "ACME Corp\n\nPage"),
        ("Body", "# Body\n\nText"),
    ]


def test_word_tables_keep_merged_and_nested_cells(tmp_path: Path):
    inner = word_table((paragraph("e"), paragraph("f")), (paragraph("g&amp;t"), paragraph("h")))
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
    path = docx(
        tmp_path / "a.docx",
        word_table(
            (paragraph("Name"), paragraph("Value"), paragraph("Note")),
            (wide + paragraph("two") + paragraph("lines"), paragraph("a|b")),
            (paragraph("d"), inner + "<w:p/>", paragraph("i")),
        )
        + word_table((heading("In a frame", 2) + paragraph("Text"),)),
    )
    assert text_of(path) == (
        "| Name | Value | Note |\n| --- | --- | --- |\n| two lines |  | a\\|b |\n"
        "| d | e, f; g&t, h | i |\n\n## In a frame\n\nText"
    )


def test_a_long_word_table_has_its_header_in_every_section(tmp_path: Path):
    rows = [(paragraph("City"), paragraph("People"))]
    rows += [(paragraph(f"City {n}"), paragraph("9" * 50)) for n in range(200)]
    _, pages = opened(docx(tmp_path / "a.docx", heading("Cities", 1) + word_table(*rows)))
    assert len(pages) > 2
    assert all("| City | People |\n| --- | --- |" in page.text for page in pages)
    assert {page.label for page in pages} == {"Cities"}


def test_code_in_word_keeps_its_lines_and_indents(tmp_path: Path):
    mono = '<w:rFonts w:ascii="Consolas"/>'
    lines = ["def fib(n):", "    a, b = b, a + b", "    return a"]
    path = docx(tmp_path / "a.docx", "".join(paragraph(line, run=mono) for line in lines))
    assert text_of(path) == "\n".join(lines)


def test_strict_word_files_are_read(tmp_path: Path):
    assert (
        text_of(docx(tmp_path / "a.docx", paragraph("Some text"), namespace=STRICT_W))
        == "Some text"
    )


def test_merged_in_html_is_read_from_an_altchunk(tmp_path: Path):
    path = docx(
        tmp_path / "a.docx",
        '<w:altChunk r:id="c"/>',
        {"c": ("aFChunk", "chunk.html", "<script>bad</script><h1>HTML import</h1><p>Text")},
    )
    assert text_of(path) == "# HTML import\n\nText"


def test_a_word_file_without_text_is_refused(tmp_path: Path):
    with pytest.raises(FileError, match=r"a\.docx.* no text") as caught:
        open_file(docx(tmp_path / "a.docx", "<w:p/>"), "a.docx", "d")
    assert caught.value.code == "no_text"


def test_a_missing_or_broken_part_is_corrupt(tmp_path: Path):
    for raw in ("<w:document", " "):
        with pytest.raises(FileError) as caught:
            open_file(docx(tmp_path / "a.docx", "", raw=raw), "a.docx", "d")
        assert caught.value.code == "corrupt"


def test_tables_nested_beyond_reason_do_not_crash(tmp_path: Path):
    nested = paragraph("deep")
    for _ in range(2000):
        nested = word_table((nested,))
    with pytest.raises(FileError) as caught:
        open_file(docx(tmp_path / "a.docx", nested), "a.docx", "d")
    assert caught.value.code == "corrupt"


# PowerPoint


def test_slides_have_title_shapes_from_top_to_bottom_tables_charts_and_notes(tmp_path: Path):
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Plan\vfor May"
    body = first.placeholders[1].text_frame
    body.text = "Ship it"
    body.add_paragraph().text = "Test it"
    body.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "Smile."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Figures"
    table = second.shapes.add_table(2, 2, 0, Inches(3), Inches(4), Inches(1)).table
    for i, text in enumerate(["Year", "Sum", "2024", "5|6"]):
        table.cell(i // 2, i % 2).text = text
    chart_data = CategoryChartData()
    chart_data.categories = ["Q1", "Q2"]
    chart_data.add_series("North", (1, 2.5))
    frame = second.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, 0, Inches(5), Inches(4), Inches(2), chart_data
    )
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Revenue"
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, Inches(2), 9, 9).text_frame.text = "Above the table"
    concealed = group.shapes.add_textbox(0, Inches(2), 9, 9)
    concealed.text_frame.text = "Concealed"
    concealed._element.nvSpPr.cNvPr.set("hidden", "1")
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Backup"
    hidden._element.set("show", "0")
    path = tmp_path / "a.pptx"
    deck.save(str(path))

    parsed, pages = opened(path)
    assert parsed.unit == "slide"
    assert [page.label for page in pages] == ["Plan for May", "Figures", ""]
    assert pages[0].text == "# Plan for May\n\n- Ship it\n  - Test it\n\nNotes: Smile."
    assert pages[1].text == (
        "# Figures\n\nAbove the table\n\n| Year | Sum |\n| --- | --- |\n| 2024 | 5\\|6 |\n\n"
        "Revenue\n\n|  | North |\n| --- | --- |\n| Q1 | 1 |\n| Q2 | 2.5 |"
    )
    assert pages[2].kind == "empty"
    assert [(w.code, w.page) for w in parsed.warnings] == [("hidden_slide", 3)]


# Sheets


def workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_a_page_with_a_table(tmp_path: Path):
    date = datetime.datetime(2024, 3, 1)
    path = workbook(
        tmp_path / "a.xlsx",
        Budget=[
            ["Budget 2024"], [], ["Item", "Cost", "Due"],
            ["Pump", 12.0, date], ["Oil", 0.1 + 0.2, None],
        ],
        Notes=[["Only\nwords", True]],
    )  # fmt: skip
    parsed, pages = opened(path)
    assert parsed.unit == "sheet"
    assert [(page.label, page.text) for page in pages] == [
        (
            "Budget",
            "Budget 2024\n\n| Item | Cost | Due |\n| --- | --- | --- |\n"
            "| Pump | 12 | 2024-03-01 |\n| Oil | 0.3 |  |",
        ),
        ("Notes", "| Only words | TRUE |\n| --- | --- |"),
    ]


def test_a_workbook_may_be_stored_without_its_extension(tmp_path: Path):
    path = workbook(tmp_path / "a.xlsx", S=[["one", 2]]).rename(tmp_path / "0f3a")
    assert open_file(path, "a.xlsx", "d").unit == "sheet"


def test_a_long_sheet_repeats_its_header_and_names_its_rows(tmp_path: Path):
    rows = [["Id", "Name"], *([n, f"Name {n}"] for n in range(250))]
    _, pages = opened(workbook(tmp_path / "a.xlsx", Staff=rows))
    assert [page.label for page in pages] == [
        "Staff, rows 1-100",
        "Staff, rows 101-200",
        "Staff, rows 201-251",
    ]
    assert all(page.text.startswith("| Id | Name |\n| --- | --- |\n") for page in pages)
    assert pages[1].text.split("\n")[2] == "| 99 | Name 99 |"
    assert sum(page.text.count("| Name ") for page in pages) == 250 + 3


def test_percentages_and_formulas_are_shown_as_a_reader_knows_them(tmp_path: Path):
    import openpyxl

    path = workbook(tmp_path / "a.xlsx", S=[["Share", "Twice"], [0.125, "=A2*2"]])
    book = openpyxl.load_workbook(path)
    book["S"]["A2"].number_format = "0.0%"
    book.save(path)
    parsed, (page,) = opened(path)
    assert page.text.endswith("| 12.5% | =A2*2 |")
    assert codes(parsed) == ["formula_without_result"]


def test_hidden_sheets_are_left_out_with_a_warning(tmp_path: Path):
    import openpyxl

    path = workbook(tmp_path / "a.xlsx", Shown=[["yes", 1]], Secret=[["no", 2]])
    book = openpyxl.load_workbook(path)
    book["Secret"].sheet_state = "veryHidden"
    book.save(path)
    parsed, pages = opened(path)
    assert [page.label for page in pages] == ["Shown"]
    assert codes(parsed) == ["hidden_sheet"]


def test_strict_workbooks_are_read(tmp_path: Path):
    import zipfile

    path = workbook(tmp_path / "a.xlsx", S=[["one", 2]])
    strict = tmp_path / "strict.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(strict, "w") as target:
        for member in source.namelist():
            content = re.sub(
                rb"http://schemas\.openxmlformats\.org/(spreadsheetml|officeDocument)/2006/",
                rb"http://purl.oclc.org/ooxml/\1/",
                source.read(member),
            )
            target.writestr(member, content)
    assert text_of(strict) == "| one | 2 |\n| --- | --- |"


def test_a_cell_at_the_far_corner_does_not_blow_up_a_sheet(tmp_path: Path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"], book.active["A1048576"] = "near", "far"
    book.save(tmp_path / "a.xlsx")
    assert text_of(tmp_path / "a.xlsx") == "near\n\nfar"
