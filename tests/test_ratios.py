from __future__ import annotations

import pytest

from rag.ratios import figures


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the quick ratio?", "inventories"),
        ("How high was EBITDA in FY2021?", "depreciation and amortization"),
        ("Does it have an improving gross margin profile?", "cost of sales"),
        ("what is Return on Capital Employed", "total current liabilities"),
        ("long-term debt to equity ratio of Acme", "long-term debt"),
        ("Compute the DPO for 2017.", "accounts payable"),
    ],
)
def test_a_ratio_is_told_by_its_usual_names(question: str, parts: str):
    assert parts in figures(question)


@pytest.mark.parametrize(
    "question",
    ["Which region had the highest EBITDAR?", "How do we leverage it?", "Is debt allowed?", ""],
)
def test_other_words_are_no_ratio(question: str):
    assert figures(question) == ()


def test_figures_of_several_ratios_are_listed_once():
    assert figures("Return on assets and net margin?").count("net income") == 1
