from __future__ import annotations

from collections.abc import Sequence

from rag.chunk import chunk, largest
from rag.types import Heading, Page, ParsedPage


def words(texts: Sequence[str]) -> list[int]:
    return [len(t.split()) for t in texts]


def page(text: str, number: int = 1, headings: tuple[Heading, ...] = ()) -> ParsedPage:
    return ParsedPage(Page("doc", number, "", text, headings=headings))


def chunks(*pages: ParsedPage, size: int = 8, overlap: int = 0):
    return list(chunk(pages, words, size, overlap))


def test_a_chunk_is_a_slice_of_its_page():
    text = "One two three. Four five six.\n\nSeven eight nine ten. Eleven."
    found = chunks(page(text))
    assert [c.text for c in found] == [
        "One two three. Four five six.",
        "Seven eight nine ten. Eleven.",
    ]
    assert all(text[c.start : c.end] == c.text for c in found)


def test_sentences_are_not_cut():
    found = chunks(page("A b c d e. F g h i j. K l m."), size=7)
    assert [c.text for c in found] == ["A b c d e.", "F g h i j.", "K l m."]


def test_a_sentence_longer_than_a_chunk_is_cut_between_words():
    found = chunks(page("a b c d e f g"), size=3)
    assert [c.text for c in found] == ["a b c", "d e f", "g"]


def test_a_run_without_spaces_is_cut_by_length():
    text = "x" * 1000
    found = list(chunk([page(text)], lambda ts: [len(t) // 4 for t in ts], 100, 0))
    assert [len(c.text) for c in found] == [400, 400, 200]


def test_overlap_repeats_whole_sentences_and_keeps_the_size():
    found = chunks(page("A b c. D e f. G h i. J k l."), size=6, overlap=3)
    assert [c.text for c in found] == ["A b c. D e f.", "D e f. G h i.", "G h i. J k l."]


LONG = "Some words that fill a section. " * 10


def test_a_heading_starts_a_chunk_and_names_those_below_it():
    text = f"{LONG}\nCare\n{LONG}\nSafety\n{LONG}"
    care, safety = text.index("Care"), text.index("Safety")
    marks = (Heading(care, 1, "Care"), Heading(safety, 2, "Safety"))
    found = chunks(page(text, headings=marks), size=500)
    assert [(c.heading, c.start) for c in found] == [
        ("", 0),
        ("Care", care),
        ("Care › Safety", safety),
    ]


def test_a_short_section_stays_with_the_next():
    text = "Care\nClean it.\nSafety\nKeep away."
    marks = (Heading(0, 1, "Care"), Heading(15, 2, "Safety"))
    (only,) = chunks(page(text, headings=marks), size=50)
    assert (only.heading, only.text) == ("Care", text)


def test_the_heading_path_goes_on_over_pages():
    first = page("A\ntext", 1, (Heading(0, 1, "A"),))
    second = page(f"{LONG}\nB\nother", 2, (Heading(len(LONG) + 1, 1, "B"),))
    found = chunks(first, second, page("last", 3), size=500)
    assert [c.heading for c in found] == ["A", "A", "B", "B"]


def test_a_page_without_words_gives_no_chunk():
    assert chunks(page("  \n "), page("", 2)) == []


def test_ids_are_the_same_for_the_same_passage_and_differ_otherwise():
    a, b = chunks(page("A b c d. E f g h.")), chunks(page("A b c d. E f g h."))
    assert [c.id for c in a] == [c.id for c in b]
    assert len({c.id for c in chunks(page("A b."), page("A b.", 2))}) == 2


def test_furniture_is_in_no_chunk():
    text = "Running header\n\nOne two three.\nFour five six.\n\n17"
    parsed = ParsedPage(Page("doc", 1, "", text), (), ((0, 14), (47, 49)))
    (only,) = chunks(parsed)
    assert only.text == "One two three.\nFour five six."
    assert text[only.start : only.end] == only.text


def test_a_page_of_garbled_text_gives_no_chunk():
    assert chunks(ParsedPage(Page("doc", 1, "", '"7+%-', "suspect"))) == []
    assert chunks(ParsedPage(Page("doc", 1, "", "a few words", "noisy"))) != []


def test_a_chunk_that_begins_inside_a_table_names_its_columns():
    table = "| Plan | Cost |\n| --- | --- |\n| Basic | 5 |\n| Plus | 9 |\n| Family | 12 |"
    found = chunks(page(f"Prices\n\n{table}", headings=(Heading(0, 1, "Prices"),)), size=18)
    assert [c.heading for c in found] == ["Prices", "Prices › Plan, Cost"]
    assert found[0].text.endswith("| Basic | 5 |") and found[1].text.startswith("| Plus | 9 |")


def test_the_rule_of_a_table_stays_with_its_first_row():
    found = chunks(page("| Plan | Cost |\n| --- | --- |\n| Basic | 5 |"), size=11)
    assert [c.text for c in found] == ["| Plan | Cost |\n| --- | --- |", "| Basic | 5 |"]


def test_a_table_without_names_of_columns_adds_none():
    table = "| | |\n| --- | --- |\n| Weight | 27 kg |\n| Length | 245 cm |"
    assert {c.heading for c in chunks(page(table), size=9)} == {""}


def test_a_line_end_inside_a_sentence_is_no_place_to_cut():
    text = "A b c d\ne f. G h i\nj k."
    assert [c.text for c in chunks(page(text), size=7)] == ["A b c d\ne f.", "G h i\nj k."]


def test_rows_and_list_items_may_be_cut_at_line_ends():
    items = "- a b c\n- d e f\n1. g h\n| i | j |\n| k | l |"
    assert [c.text for c in chunks(page(items), size=5)] == items.split("\n")


def test_lines_are_kept_whole_where_what_they_make_is_too_long():
    text = "a b c d\ne f g h\ni j k l"
    assert [c.text for c in chunks(page(text), size=5)] == text.split("\n")


def test_a_chunk_leaves_room_for_its_header_in_what_the_embedder_reads():
    assert largest(200, model_tokens=512) == 200
    assert largest(500, model_tokens=256) == 216
    assert largest(500, model_tokens=64) == 32
