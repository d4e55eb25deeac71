"""Chosen sentences -> the Markdown of an answer or a refusal. Pure.

Document text is data: it shows as it is written, and no character of it is a mark of ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.candidates import Candidate
from rag.types import Document


def marked(text: str, number: int) -> str:
    """The text with its marker before the closing punctuation: "It ends at 26 [1]."."""
    body = text.rstrip(".!?。！？")
    return f"{body} [{number}]{text[len(body) :]}"


def plain(text: str) -> str:
    """Document text on one line that Markdown shows as it is written.

    "[12]" in a document is no marker of ours: a word joiner, which is invisible, parts it.
    """
    text = re.sub(r"\[(?=\d+\])", "[\u2060", " ".join(text.split()))
    text = re.sub(r"[\\`*\[\]<$~|]|(?<!\w)_|_(?!\w)|:(?=[\w+-]+[:\[])", r"\\\g<0>", text)
    return re.sub(r"^(\d{1,9})(?=[.)]\s)|^(?=[#>+=-])", r"\1\\", text)


def markdown(run: Sequence[Candidate]) -> str:
    """The run as Markdown: sentences in a row, list items and table rows on lines of their own."""
    text = ""
    for candidate in run:
        piece = "\n- ".join(plain(line) for line in candidate.shown.split("\n- "))
        if candidate.is_row:
            piece = "- " + piece
        in_list = text.rpartition("\n")[2].startswith("- ")
        if in_list and candidate.is_row:
            text += "\n" + piece
        elif in_list or (text and candidate.is_row):
            text += "\n\n" + piece
        else:
            text += " " * bool(text) + piece
    return text


def refusal(searched: Sequence[Document], passages: bool) -> str:
    """`passages`: some are shown with it."""
    if len(searched) == 1:
        scope = f"“{plain(searched[0].name)}” does not seem to answer this."
    else:
        scope = f"None of the {len(searched)} documents searched seems to answer this."
    if passages:
        return f"{scope} The closest passages are listed below; other words may find more."
    return f"{scope} No passage shares a word with the question; try other words."
