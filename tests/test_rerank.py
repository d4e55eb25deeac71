from __future__ import annotations

import pytest

from rag.errors import ModelError
from rag.rerank import MAX_TOKENS, CrossEncoderReranker

QUESTION = "At what pressure does the relief valve open?"
ANSWER = "pump › Safety\nThe relief valve opens when the pressure reaches 4.2 bar."
OTHERS = [
    "pump › Safety\nThe relief valve is cleaned once a year.",
    "pump › Hydraulics\nThe working pressure of the pump is shown on the display.",
    "ferry\nThe first ferry leaves at 06:15 from the north pier.",
]


@pytest.fixture(scope="module")
def bundled() -> CrossEncoderReranker:
    return CrossEncoderReranker()


def test_the_bundled_model_prefers_the_passage_that_answers(bundled: CrossEncoderReranker):
    scores = bundled.score(QUESTION, [*OTHERS, ANSWER])
    assert max(scores) == scores[3] > 0.5
    assert all(0 <= score <= 1 for score in scores)


def test_a_passage_about_something_else_is_unlikely(bundled: CrossEncoderReranker):
    assert bundled.score(QUESTION, OTHERS[2:])[0] < 0.1


def test_the_order_of_the_passages_does_not_matter(bundled: CrossEncoderReranker):
    there = bundled.score(QUESTION, [ANSWER, *OTHERS])
    back = bundled.score(QUESTION, [*OTHERS[::-1], ANSWER])
    assert there == pytest.approx(back[::-1], abs=0.02)  # it may compute in half precision


def test_a_passage_longer_than_the_model_reads_is_cut(bundled: CrossEncoderReranker):
    long = [ANSWER + " filler" * n * MAX_TOKENS for n in (2, 3)]
    first, second = bundled.score(QUESTION, long)
    assert first == pytest.approx(second, abs=0.02)


@pytest.mark.parametrize(
    ("question", "readable"),
    [
        ("Wo ist das Ventil?", True),
        ("À quelle pression la soupape s'ouvre-t-elle ?", True),
        ("При каком давлении открывается клапан DN50?", False),
        ("阀门在什么压力下打开?", False),
        ("4.2 ?", True),
    ],
)
def test_the_bundled_model_reads_latin_letters(
    bundled: CrossEncoderReranker, question: str, readable: bool
):
    assert bundled.reads(question) is readable


def test_no_passages_have_no_scores(bundled: CrossEncoderReranker):
    assert bundled.score(QUESTION, []) == []


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(ModelError, match=r"'/nowhere/model'.*FOOTNOTE_RERANKER=off"):
        CrossEncoderReranker("/nowhere/model")
