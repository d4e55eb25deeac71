import pytest

from rag.find import RADIUS, excerpt, find_words


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("Kessler", "Made by KESSLER in Graz; Kessler again.", ["KESSLER", "Kessler"]),
        ("15 bar", "It runs at 15\n  bar.", ["15\n  bar"]),
        ("cat", "The category of a cat.", ["cat"]),
        ("categ", "The category of a cat.", ["categ"]),
        ("a.b", "aXb and a.b", ["a.b"]),
        ("锅炉", "这个锅炉很大", ["锅炉"]),
        ("zeppelin", "The category of a cat.", []),
        (" ", "a b", []),
    ],
)
def test_words_are_found_exactly_but_for_case_and_white_space(words, text, found):
    (spans,) = find_words(words, [text])
    assert [text[start:end] for start, end in spans] == found


def test_parts_of_words_count_only_where_no_page_has_whole_ones():
    assert find_words("cat", ["category", "cat"]) == [[], [(0, 3)]]


def test_an_excerpt_goes_from_sentence_to_sentence():
    text = (
        "First one. " + "Filler words here. " * 40 + "The cat sat. It slept. " + "More text. " * 60
    )
    ((span, *_),) = find_words("cat", [text])
    start, end = excerpt(text, [span])
    assert text[start:end].startswith("Filler words here.")
    assert text[start:end].endswith("More text.")
    assert start <= span[0] and span[1] <= end
    assert end - start <= 2 * RADIUS + 3


def test_an_excerpt_takes_in_what_stands_close_by():
    text = "cat and dog and cat"
    (spans,) = find_words("cat", [text])
    assert excerpt(text, spans) == (0, len(text))


def test_an_excerpt_of_text_without_sentences_breaks_at_words():
    text = "word " * 500
    start, end = excerpt(text, [(1000, 1004)])
    assert text[start:end].strip() in text
    assert text[start - 1] == " "
    assert text[end] == " "
