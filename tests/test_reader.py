from collections.abc import Sequence
from dataclasses import replace

import pytest

from rag.errors import NotFound
from rag.events import Finished, SearchFinished, SearchStarted, TextDelta
from rag.reader import Reader, standalone
from rag.types import Heading, Page, Search, Turn
from rag.wording import COMPUTED, marked, plain
from tests.fakes import WordEmbedder
from tests.shelf import Shelf

LEAVE = """Annual leave

Every employee is entitled to 25 days of annual leave. Unused leave expires on 31 March of the
following year. The canteen opens at noon.

| Grade | Days of sick leave |
|-------|--------------------|
| Junior | 10 working days |
| Senior | 15 working days |

To apply for parental leave you need:
- the birth certificate of the child. A copy is enough
- a signed form
- the agreement of the manager

The offices are closed on public holidays."""
TRAVEL = """Travel expenses

Hotel costs are refunded up to 120 euros for each night. See [3] for *all* rates.
Receipts must be handed in within 14 days."""


@pytest.fixture
def shelf():
    return Shelf(
        Page("handbook", 1, "i", LEAVE, headings=(Heading(0, 1, "Annual leave"),)),
        Page("travel", 1, "", TRAVEL, headings=(Heading(0, 1, "Travel expenses"),)),
    )


def ask(shelf, question, documents=(), history=()):
    reader = Reader(shelf, WordEmbedder(), shelf)
    return list(reader.answer(question, documents, history))


def answer(shelf, question, documents=(), history=()):
    return ask(shelf, question, documents, history)[-1].answer


def test_an_answer_is_the_sentence_that_answers_with_its_place(shelf):
    reply = answer(shelf, "How many days of annual leave is an employee entitled to?")
    assert not reply.refused
    first = reply.citations[0]
    assert first.quote == "Every employee is entitled to 25 days of annual leave."
    assert LEAVE[first.start : first.end] == first.quote
    assert (first.document_id, first.page, first.label) == ("handbook", 1, "i")
    assert reply.text.startswith("Every employee is entitled to 25 days of annual leave [1].")


def test_every_marker_has_a_citation_and_every_citation_a_marker(shelf):
    reply = answer(shelf, "When does unused annual leave expire, and how many days are there?")
    for number in range(1, len(reply.citations) + 1):
        assert f" [{number}]" in reply.text
    assert f"[{len(reply.citations) + 1}]" not in reply.text


def test_neighbouring_sentences_become_one_quote():
    text = "The plan covers dental care for adults. The plan covers dental care for young children."
    reply = answer(Shelf(Page("plan", 1, "", text)), "Does the plan cover dental care?")
    assert [citation.quote for citation in reply.citations] == [text]


def test_a_list_is_quoted_with_the_line_that_introduces_it(shelf):
    reply = answer(shelf, "What do you need to apply for parental leave?")
    quote = reply.citations[0].quote
    assert quote.startswith("To apply for parental leave")
    assert quote.endswith("the agreement of the manager")
    assert reply.text == (
        "To apply for parental leave you need:\n"
        "- the birth certificate of the child. A copy is enough\n"
        "- a signed form\n"
        "- the agreement of the manager [1]"
    )


def test_a_table_row_is_shown_with_its_header_and_quoted_as_it_is(shelf):
    reply = answer(shelf, "How many working days of sick leave does a senior have?")
    assert "- Grade: Senior; Days of sick leave: 15 working days [1]" in reply.text
    assert "Senior | 15 working days" in reply.citations[0].quote


def test_a_heading_is_no_answer(shelf):
    reply = answer(shelf, "What about annual leave?")
    assert all(citation.quote != "Annual leave" for citation in reply.citations)


def test_a_question_that_nothing_answers_is_refused_with_the_nearest_passages(shelf):
    reply = answer(shelf, "Which planet has the largest moon?")
    assert reply.refused
    assert reply.citations == ()
    assert "None of the 2 documents" in reply.text
    assert len(reply.nearest) == 2


def test_a_year_that_no_passage_has_is_named_in_the_refusal(shelf):
    question = "How many days of annual leave was an employee entitled to in 2017?"
    reply = answer(shelf, question)
    assert reply.refused
    assert "No passage found has “2017”." in reply.text
    assert reply.nearest
    dated = Shelf(Page("handbook 2017", 1, "", LEAVE))
    assert not answer(dated, question).refused


def test_a_refusal_about_one_document_names_it(shelf):
    reply = answer(shelf, "How many days of annual leave is an employee entitled to?", ["travel"])
    assert reply.refused
    assert "“travel.pdf” does not seem to answer" in reply.text
    assert reply.receipt.searches[0].documents == ("travel",)


def test_a_refusal_is_in_the_language_of_the_question(shelf):
    reply = answer(shelf, "Welcher Planet hat den größten Mond, und wie heißt er?")
    assert reply.text.startswith("Keines der 2 durchsuchten Dokumente scheint das zu beantworten.")


@pytest.mark.parametrize(
    ("question", "refused"),
    [
        ("What does the travel document say about wild geese?", True),
        ("What does the travel document say about hotel costs?", False),
        ("What about travel?", False),
    ],
)
def test_words_of_the_documents_name_are_not_what_is_asked(question, refused):
    travel = Page("travel document", 1, "", TRAVEL, headings=(Heading(0, 1, "Travel expenses"),))
    assert answer(Shelf(travel), question).refused is refused


@pytest.mark.parametrize("question", ["", "  ", "?", "what is it", "et pourquoi ?"])
def test_a_question_without_content_words_is_refused_unsearched(shelf, question):
    events = ask(shelf, question)
    assert [type(event) for event in events] == [TextDelta, Finished]
    assert "no word to search for" in events[-1].answer.text
    assert shelf.queries == []


def test_an_empty_library_is_named_as_the_reason():
    reply = answer(Shelf(), "How many days of leave are there?")
    assert reply.refused
    assert "no document" in reply.text


def test_events_come_in_order_and_the_deltas_are_the_text(shelf):
    events = ask(shelf, "How many days of annual leave is an employee entitled to?")
    assert isinstance(events[0], SearchStarted)
    assert isinstance(events[1], SearchFinished)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == events[-1].answer.text


def test_the_receipt_tells_how_it_came_about(shelf):
    reply = answer(shelf, "How many days of annual leave is an employee entitled to?")
    receipt = reply.receipt
    assert receipt.engine == "reader"
    assert receipt.quotes_verified == len(reply.citations)
    assert [search.query for search in receipt.searches] == shelf.queries
    assert receipt.seconds["total"] >= receipt.seconds["search"] + receipt.seconds["read"] - 1e-6


def test_a_short_follow_up_is_searched_with_the_question_before_it(shelf):
    history = [Turn("How are hotel costs refunded?", "Up to 120 euros.")]
    answer(shelf, "And for managers?", history=history)
    assert shelf.queries == ["How are hotel costs refunded? And for managers?"]


def test_follow_ups_of_follow_ups_go_back_to_a_whole_question():
    history = [
        Turn("Old question about the canteen menu today", ""),
        Turn("How are hotel costs refunded?", ""),
        Turn("And for managers?", ""),
    ]
    assert standalone("Why?", history) == "How are hotel costs refunded? And for managers? Why?"


def test_a_whole_question_stands_alone():
    history = [Turn("How are hotel costs refunded?", "")]
    question = "How many days of annual leave does a manager get?"
    assert standalone(question, history) == question


def test_a_document_deleted_after_the_search_is_passed_over(shelf):
    class Forgetful(Shelf):
        def page(self, document_id: str, number: int) -> Page:
            raise NotFound("gone")

    reader = Reader(shelf, WordEmbedder(), Forgetful(*shelf.pages.values()))
    reply = list(reader.answer("How many days of annual leave are there?"))[-1].answer
    assert reply.refused


def test_document_text_cannot_pose_as_a_marker_or_as_markup(shelf):
    reply = answer(shelf, "Where do I see all rates?")
    assert "\\[\u20603\\]" in reply.text
    assert "\\*all\\*" in reply.text


def test_at_most_forty_sentences_are_embedded():
    text = "\n\n".join(f"The annual leave rule number {n} is about leave." for n in range(100))
    shelf, embedder = Shelf(Page("long", 1, "", text)), WordEmbedder()
    list(Reader(shelf, embedder, shelf).answer("What is annual leave rule number 7?"))
    assert len(embedder.embedded) <= 40


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. First\n point", "1\\. First point"),
        ("# no heading", "\\# no heading"),
        ("> no quote", "\\> no quote"),
        ("- no item", "\\- no item"),
        ("costs $5 <b>", "costs \\$5 \\<b>"),
        ("snake_case _this_", "snake_case \\_this\\_"),
        (":red[text] at 10:30", "\\:red\\[text\\] at 10:30"),
        ("12 days", "12 days"),
    ],
)
def test_document_text_shows_as_it_is_written(text, shown):
    assert plain(text) == shown


def test_the_marker_stands_before_the_closing_punctuation():
    assert marked("It ends.", 2) == "It ends [2]."
    assert marked("終わり。", 1) == "終わり [1]。"
    assert marked("an item", 3) == "an item [3]"


class Comparing(Shelf):
    """As a search answers that was narrowed to the documents which the question compares."""

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        found = super().search(query, documents, top_k)
        return replace(found, documents=("new", "old", "other"), implied=True)


def test_what_is_compared_is_quoted_from_each_document_under_its_name():
    pages = [
        Page("old", 1, "", "Net sales rose by 3 percent. The canteen is open."),
        Page("new", 1, "", "Net sales fell by 8 percent. Net sales matter."),
        Page("other", 1, "", "Geese fly south."),
    ]
    told = answer(Comparing(*pages), "By how many percent did net sales rise or fall?")
    assert told.text == (
        "**new.pdf**:\n\nNet sales fell by 8 percent [1].\n\n"
        "**old.pdf**:\n\nNet sales rose by 3 percent [2]."
    )
    assert [(c.name, c.quote) for c in told.citations] == [
        ("new.pdf", "Net sales fell by 8 percent."),
        ("old.pdf", "Net sales rose by 3 percent."),
    ]


REPORT = """Consolidated balance sheets of the company

| | 2021 | 2020 |
|---|---|---|
| Total current assets | 505 | 490 |
| Total current liabilities | 410 | 400 |"""


def test_a_ratio_that_is_not_printed_is_answered_with_the_figures_it_is_computed_from():
    reply = answer(Shelf(Page("report", 1, "", REPORT)), "What was the working capital in 2021?")
    assert reply.text.startswith(COMPUTED)
    assert [c.quote for c in reply.citations] == [
        "Total current assets | 505 | 490 |\n| Total current liabilities | 410 | 400"
    ]
    assert not reply.refused


def test_a_ratio_that_is_printed_is_quoted():
    page = Page("report", 1, "", REPORT + "\n\nWorking capital in 2021 was 95 million euros.")
    reply = answer(Shelf(page), "What was the working capital in 2021?")
    assert COMPUTED not in reply.text
    assert reply.citations[0].quote == "Working capital in 2021 was 95 million euros."
