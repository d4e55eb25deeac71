from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import FileError
from rag.parse import Parsed
from rag.parse.pdf import open_pdf
from rag.parse.pdf_fonts import known
from rag.types import ParsedPage
from tests import raw_pdf
from tests.conftest import MakePdf


def read(path: Path) -> list[ParsedPage]:
    return list(opened(path).pages)


def opened(path: Path) -> Parsed:
    return open_pdf(path, path.name, "doc")


def text(path: Path) -> str:
    return read(path)[0].page.text


def test_every_word_has_the_rectangle_of_its_characters(make_pdf: MakePdf):
    (page,) = read(make_pdf("a.pdf", [["Hello brave world", "second line"]]))
    text = page.page.text
    assert text == "Hello brave world\nsecond line"
    assert [text[w.start : w.end] for w in page.words] == text.split()
    hello, brave, *_, line = page.words
    assert 71 < hello.x0 < 73 and hello.x1 < brave.x0 and line.y0 > hello.y1


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
    lines = [(72, 90, "Care of the pump", 20), (72, 120, "Clean it once a week.")]
    (heading,) = read(make_pdf("a.pdf", [lines]))[0].page.headings
    assert (heading.start, heading.level, heading.title) == (0, 1, "Care of the pump")


def headings(path: Path) -> list[tuple[int, str]]:
    return [(h.level, h.title) for page in read(path) for h in page.page.headings]


def test_numbered_headings_of_one_size_are_levels_of_their_own(make_pdf: MakePdf):
    lines = [(72, 90, "2 Care", 14), (72, 120, "Clean it once a week with a cloth."),
             (72, 160, "2.1 Chain", 14), (72, 190, "Oil it once a month, not more."),
             (72, 230, "3 Storage", 14), (72, 260, "Keep it dry and away from frost.")]  # fmt: skip
    found = headings(make_pdf("a.pdf", [lines]))
    assert found == [(3, "2 Care"), (4, "2.1 Chain"), (3, "3 Storage")]


def test_a_title_of_two_lines_is_one_heading_and_a_large_paragraph_is_none(make_pdf: MakePdf):
    body = [(72, 300 + 14 * i, "The body text of the page goes on and on.") for i in range(9)]
    title = [(72, 90, "Care of the pump and", 20), (72, 112, "of all its parts", 20)]
    large = [(72, 180 + 18 * i, "A paragraph in large print", 14) for i in range(5)]
    found = headings(make_pdf("a.pdf", [[*title, *large, *body]]))
    assert found == [(1, "Care of the pump and of all its parts")]


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
    raw_pdf.write(path, [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])
    with pytest.raises(FileError) as raised:
        opened(path)
    assert raised.value.code == "no_pages"


def test_a_page_tree_that_claims_millions_of_pages_is_an_error(tmp_path: Path):
    path = raw_pdf.page(tmp_path / "a.pdf", b"BT /F 12 Tf 50 700 Td (One page.) Tj ET")
    path.write_bytes(path.read_bytes().replace(b"/Count 1", b"/Count 213804087"))
    with pytest.raises(FileError) as raised:
        opened(path)
    assert raised.value.code == "corrupt"


def test_a_page_tree_with_a_loop_gives_the_pages_before_it(tmp_path: Path):
    path = raw_pdf.page(tmp_path / "a.pdf", b"BT /F 12 Tf 50 700 Td (One page.) Tj ET")
    looped = path.read_bytes().replace(b"/Kids[3 0 R]/Count 1", b"/Kids[3 0 R 2 0 R]/Count 2")
    path.write_bytes(looped)
    pages = [p.page for p in read(path)]
    assert [(p.text, p.kind) for p in pages] == [("One page.", "text"), ("", "empty")]


def test_a_broken_cross_reference_table_is_repaired(tmp_path: Path):
    path = raw_pdf.page(tmp_path / "a.pdf", b"BT /F 12 Tf 50 700 Td (Still here.) Tj ET")
    path.write_bytes(path.read_bytes().replace(b"startxref", b"startxref\n9"))
    assert text(path) == "Still here."


def test_malformed_page_labels_are_no_labels(tmp_path: Path):
    path = raw_pdf.page(tmp_path / "a.pdf", b"BT /F 12 Tf 50 700 Td (A page.) Tj ET")
    labels = b"/PageLabels<</Nums[0<</P<FEFF0058>/St 3/S/D>>]>>"
    path.write_bytes(path.read_bytes().replace(b"/Catalog", b"/Catalog" + labels))
    (page,) = read(path)
    assert page.page.text == "A page."
    assert "<" not in page.page.label


def test_what_stands_in_annotations_and_form_fields_is_text(tmp_path: Path):
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 90), "Name of the applicant:")
        page.add_freetext_annot((72, 200, 300, 220), "A comment on it", fontsize=11)
        field = pymupdf.Widget()
        field.field_type, field.field_name = pymupdf.PDF_WIDGET_TYPE_TEXT, "name"
        field.rect, field.field_value = pymupdf.Rect(250, 78, 400, 98), "Alice Example"
        page.add_widget(field)
        document.save(tmp_path / "a.pdf")
    found = text(tmp_path / "a.pdf")
    assert "Name of the applicant: Alice Example" in " ".join(found.split())
    assert "A comment on it" in found


def test_words_without_spaces_are_parted_by_the_gaps_between_glyphs(tmp_path: Path):
    content = b"BT /F 12 Tf 50 700 Td [(Words) -400 (by) -400 (gaps)] TJ ET"
    assert text(raw_pdf.page(tmp_path / "a.pdf", content)) == "Words by gaps"


def test_a_missing_glyph_in_place_of_every_space_is_a_space(tmp_path: Path):
    font = raw_pdf.HELVETICA[:-2] + b"/Encoding<</Type/Encoding/Differences[32/.notdef]>>>>"
    content = b"BT /G 12 Tf 50 700 Td (Words that need their spaces back again) Tj ET"
    path = raw_pdf.page(tmp_path / "a.pdf", content, {"G": font})
    assert text(path) == "Words that need their spaces back again"


def test_raised_signs_stand_apart_but_for_ordinals_and_powers(tmp_path: Path):
    def up(sign: str) -> str:
        return f"4 Ts /F 7 Tf ({sign}) Tj 0 Ts /F 12 Tf"

    content = (
        f"BT /F 12 Tf 50 700 Td (A claim) Tj {up('1')} ( of the 21) Tj {up('st')} ( century on "
        f"5 m) Tj {up('2')} ( of land.) Tj {up('3')} ET"
    )
    path = raw_pdf.page(tmp_path / "a.pdf", content.encode())
    assert text(path) == "A claim 1 of the 21st century on 5 m² of land. 3"


MAPPED = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 5 0 R>>"


def mapped(path: Path, mapping: dict[int, str], codes: bytes) -> Path:
    content = b"BT /G 12 Tf 50 700 Td (%s) Tj ET" % codes
    return raw_pdf.page(path, content, {"G": MAPPED}, [raw_pdf.to_unicode(mapping)])


def test_the_arabic_ligature_of_two_letters_is_not_turned_round(tmp_path: Path):
    signs = {0x41: "\u0628", 0x42: "\u0644\u0627", 0x43: "\u062f"}  # drawn from right to left
    assert text(mapped(tmp_path / "a.pdf", signs, b"CBA")) == "بلاد"


def test_characters_with_swapped_bytes_are_put_right(tmp_path: Path):
    signs = {code: chr(code << 8) for code in (*b"Pure Black",)}
    page = read(mapped(tmp_path / "a.pdf", signs, b"Pure Black"))[0]
    assert page.page.text == "Pure Black"
    assert [page.page.text[w.start : w.end] for w in page.words] == ["Pure", "Black"]
    assert page.words[0].x1 < page.words[1].x0


def test_a_page_whose_characters_mean_nothing_is_suspect(tmp_path: Path):
    signs = dict.fromkeys(b"Phone", "�")
    assert read(mapped(tmp_path / "a.pdf", signs, b"Phone"))[0].page.kind == "suspect"


def test_glyphs_without_letters_are_looked_up_in_the_embedded_font(tmp_path: Path):
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_font(fontname="F", fontbuffer=pymupdf.Font("cjk").buffer)
        page.insert_text((72, 90), "The pump needs 35 Nm.", fontname="F")
        for font in page.get_fonts():
            document.xref_set_key(font[0], "ToUnicode", "null")
        document.save(tmp_path / "a.pdf")
    (parsed,) = read(tmp_path / "a.pdf")
    assert (parsed.page.text, parsed.page.kind) == ("The pump needs 35 Nm.", "repaired")
    assert len(parsed.words) == 5


@pytest.mark.parametrize(
    ("text", "letters"), [("The pump needs 35 Nm of torque.", True), ("Xq7Xq7Xq7Xq7Xq7Xq7", False)]
)
def test_glyph_numbers_in_the_common_order_are_guessed_when_they_make_words(
    text: str, letters: bool
):
    glyphs = [ord(char) - 29 for char in text]
    guess = known(glyphs, {})
    assert "".join(guess.get(glyph, "") for glyph in glyphs) == (text if letters else "")


def test_fonts_of_the_file_before_are_not_used_for_this_one(tmp_path: Path):
    first = mapped(tmp_path / "a.pdf", {0x41: "x"}, b"A")
    second = mapped(tmp_path / "b.pdf", {0x41: "y"}, b"A")
    assert (text(first), text(second)) == ("x", "y")


def test_text_of_a_scan_with_many_errors_is_told_from_good_text(tmp_path: Path):
    def scan(name: str, words: str) -> str:
        content = f"BT 3 Tr /F 9 Tf 50 700 Td ({words}) Tj ET"
        return read(raw_pdf.page(tmp_path / name, content.encode()))[0].page.kind

    good = "the letter from the company was sent on the third of March and answered at once "
    bad = "th* lett£r from t;he comp-any. was s^nt on th% thi'rd o/f M&rch and ans#wered at once "
    assert (scan("good.pdf", good), scan("bad.pdf", bad)) == ("text", "noisy")


def test_text_in_vertical_columns_is_read_from_right_to_left(tmp_path: Path):
    font = (
        b"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UCS2-V"
        b"/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light"
        b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>"
        b"/FontDescriptor<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 4"
        b"/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/StemV 80>>>>]>>"
    )
    content = b"BT /V 20 Tf %d 700 Td <%s> Tj ET "
    left, right = content % (460, b"65E5672C8A9E"), content % (500, b"304230443046")
    path = raw_pdf.page(tmp_path / "a.pdf", left + right, {"V": font})
    assert text(path).split() == ["あいう", "日本語"]


def test_running_headers_and_page_numbers_are_marked(make_pdf: MakePdf):
    pages = [
        [(72, 40, "The annual report"), (72, 300, f"Text of page {n}."), (300, 810, f"{n}")]
        for n in range(1, 5)
    ]
    for page in read(make_pdf("a.pdf", pages)):
        marked = [page.page.text[a:b] for a, b in page.furniture]
        assert marked == ["The annual report", str(page.page.number)]
        assert f"Text of page {page.page.number}." in page.page.text


def test_a_footer_that_is_drawn_first_is_read_last(make_pdf: MakePdf):
    pages = [[(72, 810, "Chapter 1"), (500, 810, f"{n}"), (72, 100, "Body.")] for n in range(3)]
    for page in read(make_pdf("a.pdf", pages)):
        assert page.page.text.split()[0] == "Body."
