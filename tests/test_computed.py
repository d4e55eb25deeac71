from __future__ import annotations

from rag.computed import figure_rows
from rag.types import Chunk, Document, Hit, Page

BALANCE = """Consolidated balance sheets

| | 2021 | 2020 |
|---|---|---|
| Total deferred tax assets and other assets | 31 | 30 |
| Total current assets | 505 | 490 |
| Long-term debt, less current portion | 120 | 110 |
| Total stockholders' equity | 300 | 280 |
| Net | n/a | n/a |"""
INCOME = """Consolidated statements of income

| | 2021 | 2020 |
|---|---|---|
| Operating (loss) income | 89 | 79 |
| Income taxes, net | 19 | 18 |
| Net income | 70 | 61 |
| Net income per share, basic and diluted | 1.2 | 1.1 |"""


def rows_of(*figures: str, question: str = "") -> list[str]:
    document = Document("d", "report.pdf", "application/pdf", 1, "2026-01-01T00:00:00Z")
    passages = []
    for number, text in enumerate((BALANCE, INCOME), start=1):
        chunk = Chunk(f"c{number}", "d", number, 0, 20, text[:20])  # the title alone was found
        hit = Hit(chunk, document.name, "", "page")
        passages.append((number - 1, hit, Page("d", number, "", text), document))
    rows = figure_rows(figures, question, passages)
    return [row.shown for row in rows]


def test_each_figure_has_the_row_that_says_it_and_little_else():
    assert rows_of("net income", "long-term debt") == [
        "Net income; 2021: 70; 2020: 61",
        "Long-term debt, less current portion; 2021: 120; 2020: 110",
    ]


def test_a_word_may_be_another():
    assert rows_of("total shareholders equity") == [
        "Total stockholders' equity; 2021: 300; 2020: 280"
    ]


def test_a_row_of_another_figure_is_not_taken_for_it():
    assert rows_of("total assets") == []
    assert rows_of("interest expense") == []


def test_words_in_brackets_part_nothing():
    assert rows_of("operating income") == ["Operating (loss) income; 2021: 89; 2020: 79"]


def test_a_row_that_stands_for_two_figures_is_listed_once():
    assert len(rows_of("net income", "net income")) == 1
