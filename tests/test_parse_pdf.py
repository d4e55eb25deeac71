from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import FileError
from rag.parse import Parsed
from rag.parse.pdf import open_pdf
from rag.types import ParsedPage
from tests.conftest import MakePdf

LEFT, RIGHT = 60, 320


def read(path: Path) -> list[ParsedPage]:
    return list(opened(path).pages)


def opened(path: Path) -> Parsed:
    return open_pdf(path, path.name, "doc")


def text(path: Path) -> str:
    return read(path)[0].page.text


def column(x: int, lines: list[str], y: int = 150) -> list[tuple[int, int, str]]:
    return [(x, y + 14 * i, line) for i, line in enumerate(lines)]


def grid(rows: list[list[str]], y: int, width: int) -> list[tuple[int, int, str]]:
    return [
        (60 + width * c, y + 20 * r, cell)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
    ]


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


def test_every_word_has_the_rectangle_of_its_characters(make_pdf: MakePdf):
    (page,) = read(make_pdf("a.pdf", [["Hello brave world", "second line"]]))
    text = page.page.text
    assert text == "Hello brave world\nsecond line"
    assert [text[w.start : w.end] for w in page.words] == text.split()
    hello, brave, *_, line = page.words
    assert 71 < hello.x0 < 73 and hello.x1 < brave.x0 and line.y0 > hello.y1


def test_columns_of_prose_are_read_one_after_the_other(make_pdf: MakePdf):
    path = make_pdf(
        "a.pdf",
        [[(LEFT, 100, "A title that spans both of the columns of the page", 16),
          *column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT)]],
    )  # fmt: skip
    found = " ".join(text(path).split())
    assert found == " ".join(
        ["A title that spans both of the columns of the page", *PROSE_LEFT, *PROSE_RIGHT]
    )


def test_a_line_across_both_columns_parts_what_is_above_and_below(make_pdf: MakePdf):
    path = make_pdf(
        "a.pdf",
        [[*column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT),
          (LEFT, 230, "A caption below the columns that is as wide as the whole page is set here"),
          *column(LEFT, ["below " + n for n in PROSE_LEFT], 260),
          *column(RIGHT, ["below " + n for n in PROSE_RIGHT], 260)]],
    )  # fmt: skip
    found = text(path)
    order = ["The left", "The right", "A caption", "below The left", "below The right"]
    places = [found.index(n) for n in order]
    assert places == sorted(places)


def test_the_cells_of_a_table_are_read_row_by_row(make_pdf: MakePdf):
    rows = [["Part", "Torque", "Unit"], ["Axle", "35", "Nm"], ["Stem", "6", "Nm"]]
    by_column = sorted(grid(rows, 100, 180))
    assert text(make_pdf("a.pdf", [by_column])).splitlines() == ["  ".join(r) for r in rows]


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["The committee met.", "The com-", "mittee approved it."], "The committee approved it."),
        (["A rare exam-", "ple of it."], "A rare example of it."),
        (["It is well known. A well-", "known budget."], "A well-known budget."),
        (["The years 2019-", "2020 were dry."], "The years 2019-2020 were dry."),
    ],
)
def test_a_hyphen_at_a_lines_end_goes_only_when_it_split_a_word(
    make_pdf: MakePdf, lines: list[str], joined: str
):
    (page,) = read(make_pdf("a.pdf", [lines]))
    assert joined in page.page.text
    assert all(page.page.text[w.start : w.end].strip() for w in page.words)


def test_a_joined_word_keeps_both_of_its_rectangles(make_pdf: MakePdf):
    (page,) = read(make_pdf("a.pdf", [["some exam-", "ple here"]]))
    front, back = page.words[1:3]
    assert page.page.text[front.start : back.end] == "example"
    assert front.y1 < back.y1 and front.x0 > back.x0


def test_text_that_is_drawn_twice_is_read_once(make_pdf: MakePdf):
    lines = [(72 + d, 100, "BOLD TEXT SAMPLE") for d in (0, 0.4, 0.8)]
    assert text(make_pdf("a.pdf", [lines])) == "BOLD TEXT SAMPLE"


def test_a_repeated_word_is_not_taken_for_a_copy(make_pdf: MakePdf):
    assert text(make_pdf("a.pdf", [["that that is is"]])) == "that that is is"


def test_a_turned_page_is_read_as_it_is_displayed(make_pdf: MakePdf, tmp_path: Path):
    import pymupdf

    with pymupdf.open(make_pdf("a.pdf", [["first line here", "second line here"]])) as document:
        document[0].set_rotation(180)
        document.save(tmp_path / "turned.pdf")
        width, height = document[0].rect.br
    (page,) = read(tmp_path / "turned.pdf")
    assert "first line here" in page.page.text
    assert all(0 <= w.x0 < w.x1 <= width and 0 <= w.y0 < w.y1 <= height for w in page.words)


def test_bookmarks_become_headings_where_their_title_stands(make_pdf: MakePdf, tmp_path: Path):
    import pymupdf

    path = make_pdf("a.pdf", [["Care", "Clean it.", "Safety", "Keep away."]])
    with pymupdf.open(path) as document:
        document.set_toc([[1, "Care", 1], [2, "Safety", 1]])
        document.save(tmp_path / "b.pdf")
    page = read(tmp_path / "b.pdf")[0].page
    assert [(h.level, page.text[h.start : h.start + len(h.title)]) for h in page.headings] == [
        (1, "Care"),
        (2, "Safety"),
    ]


def test_larger_lines_are_headings_where_there_are_no_bookmarks(make_pdf: MakePdf):
    lines = [(72, 90, "Care of the pump", 20), *column(72, PROSE_LEFT)]
    (heading,) = read(make_pdf("a.pdf", [lines]))[0].page.headings
    assert (heading.start, heading.level, heading.title) == (0, 1, "Care of the pump")


def test_printed_labels_are_read(make_pdf: MakePdf, tmp_path: Path):
    import pymupdf

    with pymupdf.open(make_pdf("a.pdf", [["a"], ["b"], ["c"]])) as document:
        document.set_page_labels(
            [{"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
             {"startpage": 2, "prefix": "", "style": "D", "firstpagenum": 1}]
        )  # fmt: skip
        document.save(tmp_path / "b.pdf")
    assert [p.page.label for p in read(tmp_path / "b.pdf")] == ["i", "ii", "1"]


def test_a_page_without_words_is_empty(make_pdf: MakePdf):
    assert [p.page.kind for p in read(make_pdf("a.pdf", [["a"], []]))] == ["text", "empty"]


def test_embedded_files_are_named(make_pdf: MakePdf, tmp_path: Path):
    import pymupdf

    with pymupdf.open(make_pdf("a.pdf", [["cover"]])) as document:
        document.embfile_add("inner.pdf", b"x")
        document.save(tmp_path / "b.pdf")
    (warning,) = opened(tmp_path / "b.pdf").warnings
    assert warning.code == "contains_embedded_documents"
    assert "inner.pdf" in warning.message


def test_a_password_is_asked_for(make_pdf: MakePdf):
    import pymupdf

    path = make_pdf(
        "a.pdf", [["secret"]], encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y"
    )
    with pytest.raises(FileError, match="password") as raised:
        opened(path)
    assert raised.value.code == "password_required"


@pytest.mark.parametrize("content", [b"%PDF-1.4\nnonsense\n%%EOF", b"%PDF-1.7"])
def test_a_damaged_file_is_a_clear_error(tmp_path: Path, content: bytes):
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"'a\.pdf' is damaged") as raised:
        opened(path)
    assert raised.value.code == "corrupt"


def test_an_empty_page_tree_is_an_error(tmp_path: Path):
    path = tmp_path / "a.pdf"
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % o for o in offsets)
    start = len(body)
    body += b"xref\n0 3\n0000000000 65535 f \n" + table
    body += b"trailer\n<</Size 3/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start
    path.write_bytes(body)
    with pytest.raises(FileError) as raised:
        opened(path)
    assert raised.value.code == "no_pages"


def test_a_wide_table_between_columns_keeps_its_rows(make_pdf: MakePdf):
    rows = [["Site", "2019", "2020", "2021", "2022"]] + [
        [f"S{n} Mill", *(f"{n}.{c}" for c in range(4))] for n in range(5)
    ]
    path = make_pdf(
        "a.pdf",
        [[*column(LEFT, PROSE_LEFT), *column(RIGHT, PROSE_RIGHT), *grid(rows, 240, 110),
          *column(LEFT, ["then " + n for n in PROSE_LEFT], 380),
          *column(RIGHT, ["then " + n for n in PROSE_RIGHT], 380)]],
    )  # fmt: skip
    found = text(path)
    for row in rows:
        assert "  ".join(row) in found
    order = ["before the last of the left", "The right", "Site", "then The left", "then The right"]
    places = [found.index(n) for n in order]
    assert places == sorted(places)
