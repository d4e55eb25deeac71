import json

import pytest

from rag.draft import draft
from rag.types import Citation, Rejection


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
