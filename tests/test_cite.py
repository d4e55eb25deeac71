import random
import re
import time

import pytest

from rag.cite import find, numbers, verify
from rag.types import Citation, Document, Heading, Page, Rejection

DOCUMENT = Document("d1", "handbook.pdf", "application/pdf", 1000, "2026-01-01T00:00:00Z")

MESSY = """# Leave and benefits

The co-payment is 1,200.50 USD for out-of-net-
work providers; “ofﬁce visits” cost −5 % less.
A soft\u00adly hyphenated \u201cword\u201d stays\u00a0one word, and 2019–2020 is a range.

| Plan | 2023 | 2024 |
|------|:----:|------|
| Basic *EPS* | $ 1.52 | $ 1.29 |
| Diluted **EPS** | $ 1.50 | (0.27) |

> Quoted words go on
> over two lines.

Contents ............ 12
• The first item of the list
• The sec\u00adond item — with a dash
Der Fußgänger prüft die Größe. Un e\u0301le\u0300ve à l’école.
日本語の文章です。東京は日本の首都です。人口は約1400万人です。
Employees must not share passwords with anyone outside of the company premises.
The area is 10² m² for each team that asks for it in writing.
"""


def found(quote, text=MESSY, **options):
    span = find(quote, text, **options)
    assert not isinstance(span, str), span
    return text[span[0] : span[1]]


def refused(quote, text=MESSY):
    reason = find(quote, text)
    assert isinstance(reason, str), text[reason[0] : reason[1]]
    return reason


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (
            "The co-payment is 1,200.50 USD for out-of-network providers",
            "The co-payment is 1,200.50 USD for out-of-net-\nwork providers",
        ),
        ('"office visits" cost -5% less.', "“ofﬁce visits” cost −5 % less."),
        (
            "softly hyphenated word stays one word",
            "soft\u00adly hyphenated “word” stays\u00a0one word",
        ),
        ("BASIC EPS $1.52 $1.29", "Basic *EPS* | $ 1.52 | $ 1.29"),
        ("| Diluted EPS | $ 1.50 | (0.27) |", "Diluted **EPS** | $ 1.50 | (0.27)"),
        (
            "| 2023 | 2024 |\n| --- | --- |\n| Basic EPS | $ 1.52 |",
            "2023 | 2024 |\n|------|:----:|------|\n| Basic *EPS* | $ 1.52",
        ),
        ("Quoted words go on over two lines.", "Quoted words go on\n> over two lines."),
        ("Contents 12", "Contents ............ 12"),
        ("The second item - with a dash", "The sec\u00adond item — with a dash"),
        ("Un élève à l'école", "Un e\u0301le\u0300ve à l’école"),
        ("東京は日本の首都です。", "東京は日本の首都です。"),
        ("...must not share passwords…", "must not share passwords"),
        ("[...] must not share passwords [...]", "must not share passwords"),
    ],
)
def test_a_quote_is_found_in_spite_of(quote, text):
    assert found(quote) == text


def test_slices_of_a_messy_text_verify_to_the_same_place():
    chance = random.Random(5)
    words = list(re.finditer(r"(?:\w+-)*(?:\w+-\n)?\S+", MESSY))
    for _ in range(400):
        first = chance.randrange(len(words) - 1)
        last = min(len(words) - 1, first + chance.randrange(3, 40))
        start, end = words[first].start(), words[last].end()
        if sum(map(str.isalnum, MESSY[start:end])) < 24:
            continue
        span = find(MESSY[start:end], MESSY)
        assert not isinstance(span, str), (MESSY[start:end], span)
        # Only marks that are no words (a bullet, a pipe) may be cut off or added at the ends.
        left = MESSY[min(start, span[0]) : max(start, span[0])]
        right = MESSY[min(end, span[1]) : max(end, span[1])]
        assert not any(map(str.isalnum, left + right)), (MESSY[start:end], left, right)


def test_slices_retyped_by_a_model_verify_to_the_same_text():
    chance = random.Random(6)
    words = list(re.finditer(r"(?:\w+-)*(?:\w+-\n)?\S+", MESSY))
    plain = {
        ">": "",  # a model drops the mark of a block quote
        "“": '"',
        "”": '"',
        "’": "'",
        "\u00ad": "",
        "ﬁ": "fi",
        "\u00a0": " ",
        "—": "-",
        "–": "-",
    }
    for _ in range(300):
        first = chance.randrange(len(words) - 8)
        start, end = words[first].start(), words[first + chance.randrange(5, 8)].end()
        original = MESSY[start:end]
        if sum(map(str.isalnum, original)) < 16:
            continue
        retyped = " ".join("".join(plain.get(char, char) for char in original).split())
        span = find(retyped, MESSY)
        assert not isinstance(span, str), (retyped, span)
        assert original.strip("#|>•*— .-\n'“”") in MESSY[span[0] : span[1]]


def test_slices_that_cut_words_are_snapped_to_whole_words():
    text = (
        "Considerable unanticipated misunderstandings characterise intergovernmental negotiations."
    )
    chance = random.Random(7)
    for _ in range(200):
        start = chance.randrange(len(text) - 30)
        end = chance.randrange(start + 25, len(text))
        quote = found(text[start:end], text)
        assert text[start:end].strip() in quote
        assert re.search(rf"(?<!\w){re.escape(quote)}(?!\w)", text)


@pytest.mark.parametrize(
    "quote",
    [
        "The co-payment is 1,300.50 USD for out-of-network providers",
        "The co-payment is 1.200,50 USD for out-of-network providers",
        "200.50 USD for out-of-network providers",
        "office visits cost 5 % less",
        "2019-2021 is a range",
        "| Basic EPS | $ 1.52 | $ 1.30 |",
        "The area is 102 m² for each team that asks for it in writing",
    ],
)
def test_a_quote_with_another_number_is_rejected(quote):
    refused(quote)


def test_the_reason_names_numbers_when_only_they_differ():
    assert "numbers" in refused("The co-payment is 1,300.50 USD for out-of-network providers")


def test_small_typos_are_forgiven_and_the_page_text_is_returned():
    claim = "Employes must not share passwords with anyone outsidee of the company premises"
    assert found(claim) == MESSY[MESSY.index("Employees") : MESSY.index(" premises.") + 9]


@pytest.mark.parametrize(
    "quote",
    [
        "Employees must share passwords with anyone outside of the company premises",
        "Employees must not share passwords with everyone outside of the company premises",
        "Employees must really not share passwords with anyone outside of the company premises",
        "Employees must not share passwords with anyone inside of the company premises",
    ],
)
def test_a_changed_added_or_missing_word_is_rejected(quote):
    assert "words" in refused(quote)


def test_the_opposite_of_a_word_is_not_a_typo():
    text = "The committee expects that the premium will decrease in the second half of the year."
    assert "words" in refused(text.replace("decrease", "increase"), text)


def test_an_ellipsis_inside_a_quote_is_rejected_with_its_own_reason():
    assert "unbroken" in refused("Employees must not share ... outside of the company premises")
    assert "unbroken" in refused("Employees must not share […] outside of the company premises")


@pytest.mark.parametrize("quote", ["", "  ", "...", "| --- |", "“”"])
def test_a_quote_without_words_is_rejected(quote):
    assert "no words" in refused(quote)


def test_a_short_quote_must_be_two_words_or_a_number():
    assert "too short" in refused("passwords")
    assert "too short" in refused("12")
    assert found("(0.27)") == "(0.27)"
    assert found("Basic EPS") == "Basic *EPS"


def test_a_short_quote_must_be_unique_and_exact():
    assert "2 times" in refused("go on", "We go on and they go on.")
    assert "not in the text" in refused("we gn", "We go on and they go on.")
    assert "not in the text" in refused("he co-p")


def test_a_long_quote_is_rejected():
    assert "longer" in refused("word " * 1000)


def test_an_invented_quote_is_rejected():
    assert "not in the text" in refused("The dragon sleeps under the mountain of gold and silver.")


def test_a_quote_longer_than_the_page_is_rejected():
    refused("Far more words than this page has, and none of them is here.", "Short page text here.")


def test_whole_words_are_preferred_to_an_earlier_part_of_a_word():
    text = "The restart of the show. Then came the art of the show."
    assert find("art of the show", text) == (text.index("art of the show.", 20), len(text) - 1)


def test_matching_case_is_preferred_to_an_earlier_place():
    text = "THE ANNUAL REPORT says so. The annual report says so."
    assert find("The annual report", text)[0] == 27


def test_of_equal_places_the_closest_is_taken():
    text = "The same sentence twice. " * 3
    assert find("The same sentence twice.", text)[0] == 0
    assert find("The same sentence twice.", text, near=30)[0] == 25


def test_words_torn_apart_or_run_together_by_the_extraction_match():
    text = "Theinsurance covers all de pendent children up to the age of 26."
    assert found("The insurance covers all dependent children up to the age of 26.", text) == text


def test_numbers_keep_sign_and_separators():
    assert numbers("−1,200.5 % of 3, 2019–2020, COVID-19 and (4.)") == [
        "-1,200.5",
        "3",
        "2019",
        "2020",
        "19",
        "4",
    ]


def test_verify_builds_a_citation_of_the_page_text():
    page = Page("d1", 7, "5", MESSY, headings=(Heading(0, 1, "Leave and benefits"),))
    citation = verify("employees must not share passwords", page, DOCUMENT)
    assert isinstance(citation, Citation)
    assert citation.quote == page.text[citation.start : citation.end]
    assert citation.quote == "Employees must not share passwords"
    assert (citation.name, citation.page, citation.label, citation.unit) == (
        "handbook.pdf",
        7,
        "5",
        "page",
    )
    assert citation.heading == "Leave and benefits"


def test_the_default_heading_is_the_path_above_the_quote():
    text = "One\nTwo\nThree words of the first part.\nFour\nThree words of the last part."
    headings = (Heading(0, 1, "One"), Heading(4, 2, "Two"), Heading(39, 2, "Four"))
    page = Page("d1", 1, "", text, headings=headings)
    first = verify("words of the first part", page, DOCUMENT)
    last = verify("words of the last part", page, DOCUMENT)
    given = verify("words of the last part", page, DOCUMENT, "Given")
    assert [c.heading for c in (first, last, given)] == ["One › Two", "One › Four", "Given"]


def test_verify_returns_the_claim_with_the_reason_when_it_fails():
    page = Page("d1", 1, "", MESSY)
    rejection = verify("The dragon sleeps under the mountain.", page, DOCUMENT)
    assert rejection == Rejection(
        "The dragon sleeps under the mountain.", "The quote is not in the text."
    )


@pytest.mark.parametrize(
    "text",
    ["-" * 20_000 + "x", " " * 20_000 + "x", "> " * 10_000 + "x", ". " * 10_000, "| " * 10_000],
)
def test_pages_of_one_mark_take_no_time(text):
    started = time.perf_counter()
    refused("A quote that is nowhere on this page at all.", text)
    assert time.perf_counter() - started < 1


def test_near_matches_on_a_large_page_are_fast():
    chance = random.Random(8)
    vocabulary = ["".join(chance.choices("etaoinshrdlu", k=6)) for _ in range(500)]
    text = " ".join(chance.choices(vocabulary, k=3000))
    quote = text[9_000:9_400].replace(" ", "  ")
    typo = quote[:200] + quote[201:]
    started = time.perf_counter()
    found(typo, text)
    refused(" ".join(chance.choices(vocabulary, k=60)), text)
    assert time.perf_counter() - started < 1
