from rag.candidates import candidates, row_text
from rag.stop_words import content_words
from rag.types import Chunk, Heading, Hit, Page
from tests.shelf import Shelf


def found_in(text, **page):
    shelf = Shelf(Page("d", 1, "", text, **page))
    hit = shelf.search("x").hits[0]
    return candidates([(0, hit, shelf.page("d", 1), shelf.document("d"))])


def test_only_sentences_inside_the_passage_are_candidates():
    text = "The first sentence is here. The second sentence is there. The third is far away."
    shelf = Shelf(Page("d", 1, "", text))
    chunk = Chunk("c", "d", 1, 28, 57, text[28:57])
    hit = Hit(chunk, "d.pdf", "", "page")
    found = candidates([(0, hit, shelf.page("d", 1), shelf.document("d"))])
    assert [candidate.shown for candidate in found] == ["The second sentence is there."]


def test_overlapping_passages_give_each_sentence_once():
    shelf = Shelf(Page("d", 1, "", "A sentence that is in both of the passages."))
    hit, page, document = shelf.search("x").hits[0], shelf.page("d", 1), shelf.document("d")
    assert len(candidates([(0, hit, page, document), (1, hit, page, document)])) == 1


def test_headings_titles_and_table_headers_are_no_candidates():
    text = (
        "# Benefits of the plan\nCare For All Children\n"
        "The plan covers every child until the age of eighteen years.\n\n"
        "| Name of plan | Price |\n| --- | --- |\n| The basic plan | 12 euros |"
    )
    assert [candidate.shown for candidate in found_in(text)] == [
        "The plan covers every child until the age of eighteen years.",
        "Name of plan: The basic plan; Price: 12 euros",
    ]


def test_a_candidate_knows_the_words_of_its_headings_and_name():
    text = "Dental care\nIt is paid in full every second year."
    (candidate,) = found_in(text, headings=(Heading(0, 1, "Dental care"),))
    assert content_words("dental care") <= candidate.context
    assert candidate.heading == "Dental care"


def test_a_list_ends_at_the_paragraph_after_it():
    text = "You need these things:\n- a passport\n- a photo\nThe office is open on every weekday."
    assert found_in(text)[0].shown == "You need these things:\n- a passport\n- a photo"


def test_rows_of_a_table_on_a_pdf_page_are_read_with_header_and_caption():
    text = (
        "The river was sampled at two sites in every month of the year.\n\n"
        "Table 4. Phosphorus, annual means\n\n"
        "Site  2023  Target\nTown Weir  38  50\nTansy Brook  49  50"
    )
    rows = found_in(text)[-2:]
    assert rows[0].shown == "Site: Town Weir; 2023: 38; Target: 50"
    assert content_words("phosphorus") <= rows[1].context
    assert found_in("Site  Class\nTown Weir  good place")[0].shown.startswith("Site: Town Weir")


def test_rows_without_a_header_keep_their_cells():
    assert row_text("", "| a | b |") == "a; b"
    assert row_text("| x | |", "| a | b | c |") == "a; b; c"
    assert row_text("| x | |", "| a | b |") == "x: a; b"
    assert row_text("| x | y |", "| a |  |") == "x: a"
    prose = "We ask the council of the town to finish the pass  and not after the weekend"
    assert row_text(prose, "The weir  was built") == "The weir; was built"
