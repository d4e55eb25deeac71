import re
import time

import pytest

from rag.sentences import LONGEST, split


def sentences(text):
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith and Dr. Jones met. They agreed.",
        "See No. 5 and Fig. 2 on p. 12. The rest is clear.",
        "Viele Leistungen, z. B. Zahnersatz, sind enthalten. Andere nicht.",
        "Die Frist endet am 3. Oktober. Danach gilt § 5.",
        "Certaines prestations, p. ex. les soins, sont exclues. Les autres non.",
        "The rate is 3.5 percent, i.e. low. It rose by 0.2.",
        "J. R. Tolkien wrote it. It sold well.",
        "Is it covered? Yes!",
        "He said “stop.” Then he left.",
        "It began in 2019. Two years later it ended.",
        "The firm (est. 1990) grew. Nobody knew why.",
    ],
)
def test_prose_is_split_after_full_stops_only(text):
    assert len(sentences(text)) == 2
    assert " ".join(sentences(text)) == text


def test_line_breaks_inside_a_paragraph_do_not_split():
    assert sentences("The plan covers\nall children. It\nends at 26.") == [
        "The plan covers\nall children.",
        "It\nends at 26.",
    ]


def test_paragraphs_are_split_without_punctuation():
    assert sentences("Overview\n\nThe plan\n \nAnd more") == ["Overview", "The plan", "And more"]


def test_list_items_are_units_without_their_bullets():
    text = "You need:\n- a passport\n  and a photo\n• a form. Sign it.\n1. First step\n(b) Second"
    assert sentences(text) == [
        "You need:",
        "a passport\n  and a photo",
        "a form.",
        "Sign it.",
        "1. First step",
        "(b) Second",
    ]


def test_headings_are_units_without_their_marks():
    assert sentences("## Dental care\nTeeth are covered.") == [
        "Dental care",
        "Teeth are covered.",
    ]


def test_titles_without_marks_are_units():
    assert sentences("Dental Care For Children\nTeeth are covered.") == [
        "Dental Care For Children",
        "Teeth are covered.",
    ]
    assert len(sentences("WHAT IF I MOVE?\nTell us. Soon.")) == 3
    assert len(sentences("The Northwind Standard\nplan covers it.")) == 1
    assert len(sentences("the plan\nThe end")) == 1


def test_known_headings_are_units():
    text = "of the plan in detail,\nand more\nIt is paid in full."
    assert split(text, [(0, 31)]) == [(0, 22), (23, 31), (32, 51)]


def test_a_short_line_ends_its_block_when_a_sentence_begins_below():
    assert sentences("- a passport\n- a photo\nThe office is open on weekdays.") == [
        "a passport",
        "a photo",
        "The office is open on weekdays.",
    ]


def test_table_rows_are_units_and_the_rule_is_none():
    text = "Prices\n| Plan | Cost |\n|------|:----:|\n| A. Basic | $ 1. Or 2 |\nEnd."
    assert sentences(text) == ["Prices", "| Plan | Cost |", "| A. Basic | $ 1. Or 2 |", "End."]


def test_lines_of_cells_two_spaces_apart_are_units():
    text = "Site  2019  2020\nTown Weir  41  43\n\nA sentence.  Another one\nthat goes  on."
    assert sentences(text) == [
        "Site  2019  2020",
        "Town Weir  41  43",
        "A sentence.",
        "Another one\nthat goes  on.",
    ]


def test_lines_of_code_are_units_without_their_fences():
    text = "Run this:\n```bash\n# update\nsudo apt update\nrainlog init\n```\nThen wait."
    assert sentences(text) == [
        "Run this:",
        "# update",
        "sudo apt update",
        "rainlog init",
        "Then wait.",
    ]


def test_chinese_and_japanese_full_stops_need_no_space():
    assert sentences("東京は首都です。人口は多いです！「本当。」そうです") == [
        "東京は首都です。",
        "人口は多いです！",
        "「本当。」",
        "そうです",
    ]


def test_arabic_and_hindi_marks_end_sentences():
    assert len(sentences("ما هذا؟ هذا كتاب. وهذا قلم.")) == 3
    assert len(sentences("यह किताब है। वह कलम है।")) == 2


def test_no_letter_is_lost():
    text = "# A\n\nOne. Two\nthree.\n\n* four\n* five; six\n\n| a | b |\n| --- | --- |\n7) c"
    kept = "".join(sentences(text))
    assert re.sub(r"\W", "", kept) == re.sub(r"\W", "", text)


def test_spans_are_ordered_and_trimmed():
    text = "  One sentence.   Another one.\n\n  - item  \n"
    spans = split(text)
    assert spans == sorted(spans)
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


def test_long_units_are_cut_at_line_ends():
    text = "\n".join(f"row {n} of a table that was drawn without any rules" for n in range(60))
    assert all(len(sentence) <= LONGEST for sentence in sentences(text))
    assert "\n".join(sentences(text)) == text


def test_a_long_line_stays_whole():
    assert sentences("x" * 2000) == ["x" * 2000]


@pytest.mark.parametrize("text", ["", " \n\n ", "---", "|---|---|"])
def test_text_without_words_has_no_sentences(text):
    assert split(text) == []


@pytest.mark.parametrize("text", ["-" * 20_000 + "x", " " * 20_000 + "x", "." * 20_000 + "x"])
def test_text_of_one_mark_takes_no_time(text):
    started = time.perf_counter()
    split(text)
    assert time.perf_counter() - started < 0.5
