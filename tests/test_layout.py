from __future__ import annotations

from pathlib import Path

import pymupdf

from rag.parse.pdf import open_pdf
from tests.conftest import MakePdf

LEFT, RIGHT = 60, 320

PROSE_LEFT = [
    "The left column begins with this line",
    "and goes on with a second full line",
    "and with a third line that is as long",
    "before the last of the left column.",
]
PROSE_RIGHT = [
    "The right column is read after the left",
    "although its lines stand at one height",
    "with those of the other column so that",
    "a naive reader would mix the two up.",
]

Text = tuple[int, int, str]


def text(path: Path) -> str:
    return next(open_pdf(path, path.name, "doc").pages).page.text


def column(x: int, lines: list[str], y: int = 150, pitch: int = 14) -> list[Text]:
    return [(x, y + pitch * i, line) for i, line in enumerate(lines)]


def grid(rows: list[list[str]], y: int, width: int, x: int = 60) -> list[Text]:
    return [
        (x + width * c, y + 20 * r, cell)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
        if cell
    ]


def in_order(found: str, *phrases: str) -> bool:
    places = [found.index(phrase) for phrase in phrases]
    return places == sorted(places)


def test_columns_of_prose_are_read_one_after_the_other(make_pdf: MakePdf):
    title = "A title that spans both of the columns of the page"
    lines = [(LEFT, 100, title, 16), *column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT)]
    found = " ".join(text(make_pdf("a.pdf", [lines])).split())
    assert found == " ".join([title, *PROSE_LEFT, *PROSE_RIGHT])


def test_columns_that_are_drawn_line_by_line_are_read_one_after_the_other(make_pdf: MakePdf):
    left, right = PROSE_LEFT * 2, PROSE_RIGHT * 2
    drawn = [
        line
        for pair in zip(column(LEFT, left), column(RIGHT, right), strict=False)
        for line in pair
    ]
    found = " ".join(text(make_pdf("a.pdf", [drawn])).split())
    assert found == " ".join([*left, *right])


def test_columns_in_any_order_are_read_from_left_to_right(make_pdf: MakePdf):
    drawn = [*column(RIGHT, PROSE_RIGHT), *column(LEFT, PROSE_LEFT)]
    found = " ".join(text(make_pdf("a.pdf", [drawn])).split())
    assert found == " ".join([*PROSE_LEFT, *PROSE_RIGHT])


def test_text_boxes_are_read_as_they_are_drawn(make_pdf: MakePdf):
    boxes = [*column(60, ["Left box line 1", "Left box line 2"], 60, 25),
             *column(300, ["Right box line 1", "Right box line 2"], 60, 25)]  # fmt: skip
    assert in_order(text(make_pdf("a.pdf", [boxes])), "Left box line 2", "Right box line 1")


def test_a_sentence_that_goes_on_in_the_next_column_is_not_parted(make_pdf: MakePdf):
    lines = [*column(LEFT, [*PROSE_LEFT, "The sentence goes on with the next"]),
             *column(RIGHT, ["line of the other column.", *PROSE_RIGHT])]  # fmt: skip
    assert "with the next\nline of the other" in text(make_pdf("a.pdf", [lines]))


def test_a_line_across_both_columns_parts_what_is_above_and_below(make_pdf: MakePdf):
    lines = [*column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT),
             (LEFT, 230, "A caption below the columns that is as wide as the whole page is here"),
             *column(LEFT, ["below " + n for n in PROSE_LEFT], 260),
             *column(RIGHT, ["below " + n for n in PROSE_RIGHT], 260)]  # fmt: skip
    found = text(make_pdf("a.pdf", [lines]))
    assert in_order(
        found, "The left", "The right", "A caption", "below The left", "below The right"
    )


def test_a_note_in_the_margin_is_read_in_one_piece(make_pdf: MakePdf):
    prose = [(120, 100, "A line of the text beside which the note stands and begins")]
    note = column(30, ["Notes are", "usually put", "in the margin"], 100, 12)
    rest = [
        (120, 114, "and a second line of the text that goes on beside the note"),
        (120, 128, "and a third line of the text that ends the paragraph here."),
    ]
    found = text(make_pdf("a.pdf", [[*prose, *note, *rest]]))
    assert "Notes are\nusually put\nin the margin" in found


def test_what_is_turned_on_the_page_is_read_after_the_upright_text(tmp_path: Path):
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((30, 500), "a stamp in the margin", rotate=90)
        page.insert_text((72, 90), "The text of the page.")
        document.save(tmp_path / "a.pdf")
    assert text(tmp_path / "a.pdf") == "The text of the page.\n\na stamp in the margin"


def test_a_table_reads_alike_however_the_page_is_turned(tmp_path: Path):
    import pymupdf

    rows = [["Site", "2019", "2020"], ["Mill", "5.1", "5.2"], ["Lock", "6.8", "7.1"]]
    found = set()
    for turn in (0, 90, 180, 270):
        with pymupdf.open() as document:
            page = document.new_page(width=595, height=595)
            page.set_rotation(turn)
            for x, y, cell in grid(rows, 100, 150):
                at = pymupdf.Point(x, y) * page.derotation_matrix
                page.insert_text(at, cell, rotate=turn)
            document.save(tmp_path / f"{turn}.pdf")
        found.add(text(tmp_path / f"{turn}.pdf"))
    assert found == {
        "| Site | 2019 | 2020 |\n| --- | --- | --- |\n| Mill | 5.1 | 5.2 |\n| Lock | 6.8 | 7.1 |"
    }


def test_a_wide_table_between_columns_keeps_its_rows(make_pdf: MakePdf):
    rows = [["Site", "2019", "2020", "2021", "2022"]] + [
        [f"S{n} Mill", *(f"{n}.{c}" for c in range(4))] for n in range(5)
    ]
    lines = [*column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT), *grid(rows, 240, 110),
             *column(LEFT, ["then " + n for n in PROSE_LEFT], 380),
             *column(RIGHT, ["then " + n for n in PROSE_RIGHT], 380)]  # fmt: skip
    found = text(make_pdf("a.pdf", [lines]))
    for row in rows:
        assert f"| {' | '.join(row)} |" in found
    assert in_order(
        found, "the left column.", "The right", "Site", "then The left", "then The right"
    )


def test_a_sign_that_is_drawn_in_a_gap_of_a_line_is_read_there(make_pdf: MakePdf):
    lines = [
        (72, 100, "Sales of the iMac   , the smallest of all,"),
        (72, 114, "fell in the third quarter of the year."),
    ]
    gap = 72 + pymupdf.get_text_length("Sales of the iMac", fontsize=11)
    sign = (gap + 0.5, 97, "®", 7)
    found = " ".join(text(make_pdf("a.pdf", [[*lines, sign]])).split())
    assert found == (
        "Sales of the iMac ® , the smallest of all, fell in the third quarter of the year."
    )
