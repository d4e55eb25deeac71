from __future__ import annotations

import pytest

from rag.mention import named
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
    assert named(question, library(*files)) == names


def test_the_longer_of_two_names_is_meant():
    files = library("Report 2022.pdf", "Report 2022 annex.pdf")
    assert named("What is in the annex of report 2022?", files) == ("Report 2022 annex.pdf",)
    assert named("What is in report 2022?", files) == ("Report 2022.pdf",)


def test_a_name_of_stop_words_names_nothing():
    assert named("What is it about?", library("about.txt", "What is it.txt")) == ()
