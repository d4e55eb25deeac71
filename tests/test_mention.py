from __future__ import annotations

import pytest

from rag.keyword import tokens
from rag.mention import asked_pages, meant, named, period
from rag.types import Document


def library(*names: str) -> list[Document]:
    return [Document(name, name, "", 1, "", state="ready", language="en") for name in names]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does the employee handbook say about leave?", ("employee_handbook.pdf",)),
        ("In the handbook for employees, how long is leave?", ("employee_handbook.pdf",)),
        ("What does PerksPlus cover?", ("PerksPlus.pdf",)),
        ("What did Amcor earn in its Q4 2023 earnings?", ("AMCOR_2023Q4_EARNINGS.pdf",)),
        ("What do notes.md and PerksPlus say?", ("PerksPlus.pdf", "notes.md")),
        ("Which notes mention leave?", ()),
        ("What may an employee do?", ()),
        ("How long is leave?", ()),
    ],
)
def test_a_document_is_named_by_all_the_telling_words_of_its_name(question, names):
    files = ("employee_handbook.pdf", "PerksPlus.pdf", "AMCOR_2023Q4_EARNINGS.pdf", "notes.md")
    assert named(question, library(*files)) == list(names)


def test_the_longer_of_two_names_is_meant():
    files = library("Report 2022.pdf", "Report 2022 annex.pdf")
    assert named("What is in the annex of report 2022?", files) == ["Report 2022 annex.pdf"]
    assert named("What is in report 2022?", files) == ["Report 2022.pdf"]


def test_a_name_of_stop_words_names_nothing():
    assert named("What is it about?", library("about.txt", "What is it.txt")) == []


def opened(**openings: str) -> tuple[list[Document], dict[str, frozenset[str]]]:
    files = library(*(f"{name.replace('__', '-')}.pdf" for name in openings))
    words = {
        d.id: frozenset(tokens(f"{d.name} {text}"))
        for d, text in zip(files, openings.values(), strict=True)
    }
    return files, words


FILINGS = {
    f"{period}_{ticker}": f"Quarterly report of {company}. Commission file number"
    for period in ("2022_Q3", "2023_Q1", "2023_Q2")
    for ticker, company in (("AAPL", "Apple Inc."), ("NVDA", "NVIDIA Corporation"))
}


APPLE = [["2023_Q2_AAPL.pdf"], ["2023_Q1_AAPL.pdf"], ["2022_Q3_AAPL.pdf"]]


@pytest.mark.parametrize(
    ("question", "apart"),
    [
        ("How did Apple's margin change in Q1 2023?", [["2023_Q1_AAPL.pdf"]]),
        ("What did NVIDIA spend in the third quarter of 2022?", [["2022_Q3_NVDA.pdf"]]),
        ("In FY2023Q2, what was Apple's revenue?", [["2023_Q2_AAPL.pdf"]]),
        ("What was Apple's revenue in 2023?", [["2023_Q2_AAPL.pdf", "2023_Q1_AAPL.pdf"]]),
        (
            "Did Apple grow from 2022 to 2023?",
            [["2023_Q2_AAPL.pdf", "2023_Q1_AAPL.pdf", "2022_Q3_AAPL.pdf"]],
        ),
        ("What does the latest report of Apple say?", [["2023_Q2_AAPL.pdf"]]),
        (
            "Compare the most recent sales of Apple and NVIDIA.",
            [["2023_Q2_AAPL.pdf"], ["2023_Q2_NVDA.pdf"]],
        ),
        ("How have Apple's sales changed over time?", APPLE),
        ("How does Apple's latest quarter compare to previous ones?", APPLE),
        ("Are there new risks of Apple in these 10-Qs?", APPLE),
        ("What was Apple's revenue?", []),  # who, but not when
        ("What was revenue in Q1 2023?", []),  # when, but not who
        ("What was Apple's revenue in 2019?", []),  # no file of that year
        ("What was Contoso's revenue in Q1 2023?", []),  # no file on it
        ("What had sales been on December 31 2022?", []),  # a month is no name
    ],
)
def test_documents_are_meant_by_whom_they_are_about_and_when(question, apart):
    files, words = opened(**FILINGS)
    assert meant(question, files, words) == apart


def test_a_report_of_a_year_covers_its_quarters():
    files, words = opened(apple_2021="Apple Inc.", apple_2022="Apple Inc.", notes="Minutes")
    assert meant("Did Apple grow in Q2 2022?", files, words) == [["apple_2022.pdf"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AMCOR_2023Q4_EARNINGS", ({2023}, 4)),
        ("FY2022 and FY 2023", ({2022, 2023}, None)),
        ("the 3rd quarter of 2021", ({2021}, 3)),
        ("Umsatz im 2. Quartal 2020", ({2020}, 2)),
        ("le 1er trimestre 2024", ({2024}, 1)),
        ("2303.05039v2", (set(), None)),
    ],
)
def test_the_period_of_a_name_or_a_question(text, expected):
    found = period(text)
    assert (set(found.years), found.quarter) == expected


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("In the picture on page 50, when does the bar start?", ["50"]),
        ("What is on pp. 3 and page 12?", ["3", "12"]),
        ("Was steht auf Seite 7?", ["7"]),
        ("Que dit la page 10 ?", ["10"]),
        ("第3頁", ["3"]),
        ("How many pages are there in 2020?", []),
    ],
)
def test_a_question_can_name_a_page(question, pages):
    assert asked_pages(question) == pages
