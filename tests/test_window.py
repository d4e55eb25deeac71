from __future__ import annotations

from rag.window import WORDS, window

FILLER = ["filler"] * WORDS


def test_a_text_that_is_short_enough_stays_as_it_is():
    text = "The relief valve\nopens " + " ".join(FILLER[:-4])
    assert window(text, ["valv"], "en") == text


def test_the_words_that_are_asked_for_are_kept():
    text = " ".join(["Valves", *FILLER, "the", "relief", "valve", "opens", *FILLER])
    found = window(text, ["relief", "valv", "open"], "en").split()
    assert len(found) == WORDS
    assert {"relief", "valve", "opens"} <= set(found)
    assert "Valves" not in found


def test_without_any_of_them_the_beginning_is_kept():
    text = " ".join(["Title", *FILLER, "end"])
    assert window(text, ["whale"], "en").split()[0] == "Title"


def test_the_last_words_can_be_reached():
    text = " ".join([*FILLER, *FILLER[:5], "valve"])
    assert window(text, ["valv"], "en").split()[-1] == "valve"
