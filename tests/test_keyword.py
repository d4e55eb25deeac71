from __future__ import annotations

import pytest

from rag.keyword import KeywordIndex, stems, tokens


def test_words_are_stemmed_and_folded():
    assert tokens("The PUMPS were Running") == ["the", "pump", "were", "run"]


def test_accents_do_not_matter():
    assert tokens("sincérité des comptes", "fr") == tokens("sincerite des comptes", "fr")


def test_each_language_has_its_stemmer():
    assert tokens("Häuser", "de") == tokens("Hauser", "de") != tokens("Häuser", "en")


def test_a_number_is_one_token():
    assert tokens("1,234.5 kWh in 2022") == ["1,234.5", "kwh", "in", "2022"]


def test_a_year_written_together_with_letters_is_found_by_itself():
    assert tokens("FY2022 and 2023Q4") == ["fy", "2022", "and", "2023", "q4"]
    assert tokens("A12345b") == ["a12345b"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("온라인", ["온라", "라인"]),
        ("ไทย", ["ไท", "ทย"]),
    ],
)
def test_text_without_spaces_becomes_pairs(text: str, pairs: list[str]):
    assert tokens(text) == pairs


def index(*texts: str) -> KeywordIndex:
    return KeywordIndex((str(i), f"doc{i}", tokens(t)) for i, t in enumerate(texts))


def test_many_words_are_stemmed_as_each_is():
    words = ["Fähren", "Straße", "valves"]
    assert stems(words, "de") == [stem for word in words for stem in tokens(word, "de")]


def test_vowel_signs_are_part_of_a_word():
    assert tokens("कितने खिलाड़ी थे?", "hi") == ["कितने", "खिलाड़ी", "थे"]
    assert tokens("राम। सीता", "hi") == ["राम", "सीता"]


def test_the_rarer_word_decides():
    found = index("the pump", "the valve", "the pipe").search(tokens("the valve"), 5)
    assert found[0][0] == "1"


def test_a_word_of_every_chunk_still_counts_in_a_tiny_library():
    assert [i for i, _ in index("pump one", "pump two").search(tokens("pump"), 5)] == ["0", "1"]


def test_chunks_without_a_word_of_the_query_are_left_out():
    assert index("pump", "valve").search(tokens("pump"), 5)[1:] == []
    assert index("pump").search(tokens("whale"), 5) == []


def test_a_filter_keeps_the_named_documents():
    found = index("pump a", "pump b").search(tokens("pump"), 5, ["doc1"])
    assert [i for i, _ in found] == ["1"]


def test_within_documents_a_word_weighs_as_in_the_whole_library():
    everything = index("pump a", "valve pump", "pump pump", "pipe")
    whole = dict(everything.search(tokens("valve pump"), 5))
    within = everything.search(tokens("valve pump"), 5, ["doc2", "doc1", "gone"])
    assert [i for i, _ in within] == ["1", "2"]
    assert dict(within) == pytest.approx({i: whole[i] for i in ("1", "2")})
    assert everything.search(tokens("pump"), 5, ["gone"]) == []


def test_an_empty_library_finds_nothing():
    assert KeywordIndex([]).search(["pump"], 5) == []
    assert KeywordIndex([("1", "d", [])]).search(["pump"], 5) == []
