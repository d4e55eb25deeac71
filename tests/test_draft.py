import json

import pytest

from rag.draft import LONGEST_REFUSAL, draft, quotes
from rag.types import Citation, Rejection, WebCitation


def verified(source, quote):
    """Everything that S1 is said to say stands there."""
    if source != "S1":
        return Rejection(quote, "no")
    return Citation("d", "d.pdf", 1, "", "page", 0, len(quote), quote)


def claim(text, *quotes, source="S1"):
    return {"text": text, "quotes": [{"source": source, "quote": quote} for quote in quotes]}


ARGUMENTS = json.dumps(
    {
        "claims": [
            claim("It costs 3.50 € [S1].", "café"),
            claim("- 😀 one!", "b", "c"),
            claim("- two", "x", source="S2"),
            claim('He said "yes."'),
            claim("It is café again [1, 2].", "café"),
        ],
        "refusal": "Not [7] more.",
    }
)
TEXT = (
    "It costs 3.50 € [1].\n\n- 😀 one [2] [3]!\n- two (unverified)\n\n"
    'He said "yes (unverified)." It is café again [1].\n\nNot more.'
)


def test_claims_become_sentences_and_lists_with_markers_of_ours_only():
    answer = draft(ARGUMENTS, verified)
    assert answer.text == TEXT
    assert [citation.quote for citation in answer.citations] == ["café", "b", "c"]
    assert answer.refusal == "Not more."


def test_a_growing_draft_only_ever_grows():
    shown = ""
    for end in range(len(ARGUMENTS)):
        growing = draft(ARGUMENTS[:end], verified, growing=True).text
        assert growing.startswith(shown)
        shown = growing
    assert TEXT.startswith(shown)
    assert len(shown) > len(TEXT) - 3


def test_a_draft_that_was_cut_off_keeps_what_was_complete():
    at = ARGUMENTS.index("two")
    assert draft(ARGUMENTS[:at], verified, whole=True).text.endswith("one [2] [3]!")
    at = ARGUMENTS.index("more")
    assert draft(ARGUMENTS[:at], verified, whole=True).text.endswith("again [1].")


@pytest.mark.parametrize(
    "arguments", ["", "[]", '"x"', '{"claims": 3}', '{"claims": [4, {"a": 1}]}']
)
def test_arguments_of_another_shape_are_an_empty_draft(arguments):
    assert draft(arguments, verified).text == ""


def on_the_web(source, quote):
    return (
        WebCitation("https://a.example", "A", quote) if source == "W1" else verified(source, quote)
    )


def test_sources_from_the_web_are_numbered_apart():
    claims = [claim("One [W1].", "a"), claim("Two.", "b", source="W1"), claim("Three.", "c")]
    made = draft(json.dumps({"claims": claims}), on_the_web)
    assert made.text == "One [1]. Two [W1]. Three [2]."
    assert ([c.quote for c in made.citations], [w.quote for w in made.web]) == (["a", "c"], ["b"])


def test_unsupported_claims_are_counted_and_may_be_removed():
    kept = draft(ARGUMENTS, verified)
    removed = draft(ARGUMENTS, verified, unsupported="remove")
    assert kept.unsupported == removed.unsupported == 2
    assert "two" not in removed.text
    assert "unverified" not in removed.text


def test_a_growing_draft_never_shows_what_may_be_removed():
    shown = ""
    for end in range(len(ARGUMENTS)):
        growing = draft(ARGUMENTS[:end], verified, growing=True, unsupported="remove").text
        assert growing.startswith(shown)
        shown = growing
    assert "two" not in shown
    assert draft(ARGUMENTS, verified, unsupported="remove").text.startswith(shown)


def test_a_question_back_stands_at_the_end():
    arguments = {"claims": [claim("One.", "a")], "clarification": "Which one?"}
    made = draft(json.dumps(arguments), verified)
    assert made.text == "One [1].\n\nWhich one?"
    assert made.clarification == "Which one?"


def test_a_refusal_is_no_place_for_a_long_answer():
    made = draft(json.dumps({"claims": [], "refusal": "word " * 1000}), verified)
    assert len(made.text) <= LONGEST_REFUSAL


def test_the_quotes_of_all_claims_are_listed():
    assert quotes(ARGUMENTS)[:3] == [("S1", "café"), ("S1", "b"), ("S1", "c")]
    at = ARGUMENTS.index("He said")
    assert ("S2", "x") in quotes(ARGUMENTS[:at], whole=True)
