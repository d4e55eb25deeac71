from __future__ import annotations

from rag.explain import matched_words, reasons
from rag.types import Chunk, Hit, Search


def hit(text: str, **scores: object) -> Hit:
    chunk = Chunk("id", "doc", 1, 0, len(text), text)
    return Hit(chunk, "pump manual.pdf", "", "page", **scores)  # type: ignore[arg-type]


def test_the_words_are_those_of_the_question_in_any_inflection():
    found = hit("The relief valves open at 4.2 bar.")
    question = "At what pressure does the relief valve of the pump open?"
    assert matched_words(Search(question, ()), found) == ("relief", "valve", "pump", "open")


def test_stop_words_are_no_reason():
    assert matched_words(Search("What is it?", ()), hit("What it is")) == ()


def test_reasons_name_words_chance_and_ranks():
    found = hit(
        "The valve opens.", keyword_rank=2, page_rank=11, dense_rank=3, rerank_score=0.82,
        document_fit=1.0,
    )  # fmt: skip
    assert reasons(Search("Which valve?", ()), found) == [
        "It holds “valve”.",
        "The re-ranker gives it a chance of 82% to answer.",
        "Found 2nd by its words, 11th by its page's words, 3rd by meaning.",
        "Its document's name and opening fit the question best.",
    ]


def test_a_stage_that_did_not_find_it_is_not_named():
    assert reasons(Search("x", ()), hit("y", dense_rank=1)) == ["Found 1st by meaning."]


def test_the_words_of_a_german_question_are_told_by_german_rules():
    found = hit("Die Ventile öffnen bei 4,2 bar.")
    assert matched_words(Search("Bei welchem Druck öffnet das Ventil?", ()), found) == (
        "öffnet",
        "Ventil",
    )


def test_figures_that_a_ratio_is_computed_from_are_named():
    found = hit("Cost of sales was 170,684. Gross profit is not shown.")
    assert reasons(Search("What is the gross margin?", ()), found) == [
        "It holds “gross”.",
        "It holds “cost of sales”, “gross profit”, of which what you ask is computed.",
    ]


def test_translated_words_are_named_as_the_document_writes_them():
    search = Search("Wie voll ist der Akku?", (), glosses={"en": "how full battery"})
    assert matched_words(search, hit("The battery is full.")) == ("full", "battery")
