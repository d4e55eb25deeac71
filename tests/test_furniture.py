from __future__ import annotations

from rag.parse.furniture import Edge, edges, repeated
from rag.parse.lines import Glyphs, Line

HEIGHT, BODY = 800.0, 10.0


def line(text: str, y: float, x: float = 60, size: float = 10) -> Line:
    word = Glyphs(text, x, y, x + 6 * len(text), y + size)
    return Line([word], 0, size, False, 0, word.x0, word.y0, word.x1, word.y1)


def page(*lines: Line) -> list[Edge]:
    return edges(lines, HEIGHT, BODY)


def marked(pages: list[list[Edge]], at: int, count: int = 9) -> list[str]:
    others = [p for i, p in enumerate(pages) if i != at]
    return [" ".join(n.text for n in e.lines) for e in repeated(pages[at], others, count)]


def test_a_line_at_the_same_height_of_other_pages_is_furniture_numbers_aside():
    pages = [page(line(f"Page {n} of 9", 770), line("Text", 400)) for n in range(3)]
    assert marked(pages, 1) == ["Page 1 of 9"]


def test_the_number_may_change_sides():
    pages = [
        page(line("Chapter", 20, 60 if n % 2 else 300), line(str(n), 20, 300 if n % 2 else 60))
        for n in range(3)
    ]
    assert marked(pages, 1) == ["Chapter 1"]


def test_two_pages_alike_have_no_furniture():
    pages = [page(line("MEMO", 20), line("There were 20,000 bottles", 40)) for _ in range(2)]
    assert marked(pages, 0) == []


def test_a_page_number_alone_at_the_edge_is_furniture():
    assert marked([page(line("iv", 770)), page()], 0) == ["iv"]


def test_a_number_above_other_lines_is_not():
    assert marked([page(line("12", 740), line("Total", 770))], 0) == []


def test_a_title_larger_than_the_text_is_not_furniture():
    pages = [page(line(f"Step {n}", 20, size=20)) for n in range(4)]
    assert marked(pages, 1) == []


def test_the_head_of_a_table_on_every_page_is_not_furniture():
    pages = [page(*(line(f"Col{c}", 20, 60 + 100 * c) for c in range(4))) for _ in range(4)]
    assert marked(pages, 1) == []


def test_lines_inside_of_what_changes_are_not_furniture():
    names = ["alpha", "beta", "gamma", "delta"]
    pages = [page(line(name, 20), line("Remarks", 40)) for name in names]
    assert marked(pages, 1) == []


def test_a_page_of_nothing_else_keeps_its_text_but_not_its_number():
    pages = [page(line("Sheet 5 of 9", 20), line("5", 770)) for _ in range(4)]
    assert marked(pages, 1, count=2) == ["5"]


def test_a_name_beside_a_chapter_that_changes_is_furniture_and_so_is_the_chapter():
    chapters = ["1 Safety", "2 Riding", "3 Battery"]
    pages = [page(line("Owner's manual", 20), line(c, 20, 300), line(c, 60)) for c in chapters]
    assert marked(pages, 1) == ["Owner's manual 2 Riding"]


def test_a_short_word_that_repeats_beside_others_is_not():
    names = ["alpha", "beta", "gamma"]
    pages = [page(line("Note", 20), line(name, 20, 300)) for name in names]
    assert marked(pages, 1) == []
