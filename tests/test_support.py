import numpy as np
import pytest

from rag.keyword import tokens
from rag.support import choose, compare, coverage, specifics, support, unmentioned, word_weights


def test_words_that_stand_everywhere_weigh_less():
    weights = word_weights(["plan", "dental"], [{"plan"}, {"plan"}, {"plan", "dental"}])
    assert weights["dental"] > weights["plan"]
    assert coverage(weights, {"plan", "dental"}) == 1
    assert coverage(weights, {"plan"}, {"dental"}) > coverage(weights, {"plan"})
    assert coverage({}, {"plan"}) == 0


def test_support_rests_on_meaning_alone_across_languages():
    assert support(0.5, 0.1, False) == pytest.approx(0.3)
    assert support(0.5, None, False) == pytest.approx(0.4)


def test_a_number_or_name_that_no_passage_has_speaks_against_an_answer():
    assert support(0.5, 0.1, True) < support(0.5, 0.1, False)
    assert specifics("What does code E37 mean in New York? Where is it?", "en") == {
        "e37",
        "new",
        "york",
    }
    assert specifics("Was kostet der Akku?", "de") == set()


def test_repetitions_are_not_chosen_and_other_pages_must_be_closer():
    vectors = np.eye(4, dtype=np.float32)
    vectors[1] = vectors[0]
    assert choose([1.0, 0.99, 0.85, 0.85], vectors, ["a", "a", "a", "b"]) == [0, 2]


def test_at_most_four_sentences_are_chosen():
    assert len(choose([1.0] * 6, np.eye(6, dtype=np.float32), ["a"] * 6)) == 4


def test_of_documents_that_are_compared_each_that_says_something_is_quoted():
    documents = ["b", "a", "a", "c"]
    assert compare([0.9, 0.7, 0.8, 0.2], documents, ("a", "b", "c", "d")) == [2, 0]


@pytest.mark.parametrize(
    ("question", "held", "lacking"),
    [
        ("What does error code E37 mean?", "E36 means heat, E38 a short.", "E37"),
        ("What does error code E37 mean?", "E37 means heat.", ""),
        ("What does error code E37 mean?", "Error E 37 means heat.", ""),
        ("What was sold in 2017?", "In 2018 bread was sold.", "2017"),
        ("What was sold in FY2017?", "In 2017 bread was sold.", ""),
        ("What was sold in 2020?", "In 2019-20 bread was sold.", ""),
        ("What was sold in 2022Q3?", "In the third quarter of 2022 bread was sold.", ""),
        ("May I buy for £600, on page 3?", "Up to £500.", ""),
        ("What does COVID19 change?", "COVID-19 changes work.", ""),
    ],
)
def test_a_year_or_code_that_nothing_mentions_is_found(question: str, held: str, lacking: str):
    assert unmentioned(question, set(tokens(held))) == lacking
