from __future__ import annotations

from pathlib import Path

import pytest

from rag.parse.pdf import open_pdf
from rag.types import ParsedPage
from tests.conftest import MakePdf
from tests.test_layout import PROSE_LEFT, PROSE_RIGHT, column, grid

TORQUES = [["Part", "Torque", "Unit"], ["Axle", "35", "Nm"], ["Stem", "6", "Nm"]]


def page(path: Path) -> ParsedPage:
    return next(open_pdf(path, path.name, "doc").pages)


def rows(path: Path) -> list[str]:
    return page(path).page.text.splitlines()


def test_cells_in_columns_become_the_rows_of_a_table(make_pdf: MakePdf):
    assert rows(make_pdf("a.pdf", [grid(TORQUES, 100, 180)])) == [
        "| Part | Torque | Unit |",
        "| --- | --- | --- |",
        "| Axle | 35 | Nm |",
        "| Stem | 6 | Nm |",
    ]


def test_a_table_that_is_drawn_column_by_column_has_the_same_rows(make_pdf: MakePdf):
    by_row, by_column = grid(TORQUES, 100, 180), sorted(grid(TORQUES, 100, 180))
    assert rows(make_pdf("a.pdf", [by_column])) == rows(make_pdf("b.pdf", [by_row]))


def test_every_cell_has_its_place_on_the_page(make_pdf: MakePdf):
    parsed = page(make_pdf("a.pdf", [grid(TORQUES, 100, 180)]))
    words = {parsed.page.text[w.start : w.end]: w for w in parsed.words}
    assert sorted(words) == ["35", "6", "Axle", "Nm", "Part", "Stem", "Torque", "Unit"]
    assert words["35"].x0 == words["Torque"].x0 and words["35"].y0 > words["Torque"].y0


def test_a_table_without_names_of_columns_has_an_empty_first_row(make_pdf: MakePdf):
    cells = [["Weight", "27 kg"], ["Length", "245 cm"], ["Range", "60 km"]]
    found = rows(make_pdf("a.pdf", [grid(cells, 100, 180)]))
    assert found[:3] == ["| | |", "| --- | --- |", "| Weight | 27 kg |"]


def test_names_of_columns_in_two_lines_become_one_row(make_pdf: MakePdf):
    cells = [["", "Net sales", "Net sales"], ["(in millions)", "2022", "2023"],
             ["Flexibles", "11,151", "11,154"], ["Rigid", "3,393", "3,540"]]  # fmt: skip
    found = rows(make_pdf("a.pdf", [grid(cells, 100, 150)]))
    assert found[0] == "| (in millions) | Net sales 2022 | Net sales 2023 |"
    assert found[2] == "| Flexibles | 11,151 | 11,154 |"


def test_cells_of_several_lines_are_put_into_one_row(make_pdf: MakePdf):
    lines = [(60, 100, "Problem"), (260, 100, "Solution"),
             (60, 130, "The lamp"), (60, 144, "stays dark"), (260, 130, "Press the"),
             (260, 144, "switch twice"), (60, 174, "The bell rings"), (260, 174, "Let go of it"),
             (60, 204, "It smells"), (260, 204, "Pull the plug")]  # fmt: skip
    assert rows(make_pdf("a.pdf", [lines]))[-4:] == [
        "| Problem | Solution |",
        "| The lamp stays dark | Press the switch twice |",
        "| The bell rings | Let go of it |",
        "| It smells | Pull the plug |",
    ]


def test_a_label_of_two_lines_belongs_to_the_amounts_beside_the_second(make_pdf: MakePdf):
    lines = [(300, 100, "2022"), (400, 100, "2023"),
             (60, 120, "Cash and cash equivalents at"), (60, 134, "beginning of period"),
             (300, 134, "1,874"), (400, 134, "1,093"),
             (60, 154, "Total of restricted cash"), (300, 154, "1"), (400, 154, "2")]  # fmt: skip
    found = rows(make_pdf("a.pdf", [lines]))
    assert "| Cash and cash equivalents at beginning of period | 1,874 | 1,093 |" in found


def test_a_section_of_a_table_keeps_a_row_of_its_own(make_pdf: MakePdf):
    cells = [["", "2022", "2023"], ["Age", "", ""], ["65 to 69", "23", "24"], ["70 up", "19", "18"]]
    found = rows(make_pdf("a.pdf", [grid(cells, 100, 150)]))
    assert found[2:4] == ["| Age | | |", "| 65 to 69 | 23 | 24 |"]


def test_currency_signs_stand_with_their_amounts(make_pdf: MakePdf):
    lines = [(300, 80, "2022"), (400, 80, "2023")]
    for i, (label, first, second) in enumerate([("Sales", "348", "371"), ("Costs", "21", "22")]):
        y = 100 + 20 * i
        lines += [(60, y, label), (285, y, "$"), (310, y, first), (385, y, "$"), (410, y, second)]
    assert "| Sales | $ 348 | $ 371 |" in rows(make_pdf("a.pdf", [lines]))


def test_a_ruled_table_is_read_by_its_rules(tmp_path: Path):
    import pymupdf

    cells = [["Name", "Duty"], ["Ana", "Opens the\nhall at 8"], ["Bo", "Locks up"]]
    with pymupdf.open() as document:
        sheet = document.new_page()
        for x in (60, 160, 300):
            sheet.draw_line((x, 90), (x, 210))
        for y in (90, 130, 170, 210):
            sheet.draw_line((60, y), (300, y))
        for c in (1, 0):  # in no order that says anything
            for r, row in enumerate(cells):
                sheet.insert_text((65 + 100 * c, 105 + 40 * r), row[c], fontsize=11)
        document.save(tmp_path / "a.pdf")
    assert rows(tmp_path / "a.pdf")[-3:] == [
        "| Name | Duty |",
        "| Ana | Opens the hall at 8 |",
        "| Bo | Locks up |",
    ]


def test_a_cell_across_two_columns_is_found_by_the_missing_rule(tmp_path: Path):
    import pymupdf

    with pymupdf.open() as document:
        sheet = document.new_page()
        for y in (90, 120, 150, 180):
            sheet.draw_line((60, y), (360, y))
        for x, top in ((60, 90), (160, 90), (260, 120), (360, 90)):
            sheet.draw_line((x, top), (x, 180))
        for x, y, cell in [(65, 110, "Site"), (165, 110, "Both years"), (65, 140, "Mill"),
                           (165, 140, "5.1"), (265, 140, "5.2"), (65, 170, "Lock"),
                           (165, 170, "6.8"), (265, 170, "7.1")]:  # fmt: skip
            sheet.insert_text((x, y), cell, fontsize=11)
        document.save(tmp_path / "a.pdf")
    assert rows(tmp_path / "a.pdf")[0] == "| Site | Both years | |"


def test_prose_in_columns_is_no_table(make_pdf: MakePdf):
    lines = [*column(60, PROSE_LEFT), *column(320, PROSE_RIGHT)]
    assert "|" not in page(make_pdf("a.pdf", [lines])).page.text


def test_a_list_is_no_table(make_pdf: MakePdf):
    lines = [(x, 100 + 20 * i, part) for i in range(4)
             for x, part in ((60, f"{i + 1}."), (85, "Step number one of the work"))]  # fmt: skip
    found = rows(make_pdf("a.pdf", [lines]))
    assert found[0] == "1. Step number one of the work"


@pytest.mark.parametrize("dots", ["." * 40, ". " * 20, ""])
def test_a_table_of_contents_is_no_table(make_pdf: MakePdf, dots: str):
    lines = [(60, 100 + 20 * i, f"Chapter {i}") for i in range(5)]
    lines += [(400, y, str(y)) for _, y, _ in lines]
    lines += [(150, y, dots) for _, y, _ in lines[:5] if dots]
    by_row = sorted(lines, key=lambda line: (line[1], line[0]))
    first = rows(make_pdf("a.pdf", [by_row]))[0]
    assert first.split() == ["Chapter", "0", *("…" for _ in dots[:1]), "100"]


def test_labels_scattered_over_a_drawing_are_no_table(make_pdf: MakePdf):
    places = [(60, 100), (400, 104), (180, 130), (320, 131), (90, 160), (450, 162), (250, 190)]
    lines = [(x, y, f"N{i}") for i, (x, y) in enumerate(places)]
    assert "|" not in page(make_pdf("a.pdf", [lines])).page.text
