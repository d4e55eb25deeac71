"""Which documents a question names, so that it is searched in them alone. Pure.

"What does the employee handbook say about leave?" is about one file, whatever others say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from rag.keyword import tokens
from rag.stop_words import content_words
from rag.types import Document

_CODE = re.compile(r"\w*(?:\d|[a-z][A-Z])\w*")
"""A word that is no ordinary word: "PerksPlus", "A320"."""


def named(question: str, documents: Sequence[Document]) -> tuple[str, ...]:
    """Ids of the documents whose file names the question holds, in the order of `documents`.

    A name of one ordinary word ("notes.md") must be written with its ending; of another, every
    word must be in the question, in any order. Of "Report 2022" and "Report 2022 annex" a question
    that names the second does not name the first.
    """
    found = {d.id: words for d in documents if (words := _mentioned(question, d))}
    return tuple(i for i, words in found.items() if not any(words < o for o in found.values()))


def _mentioned(question: str, document: Document) -> frozenset[str]:
    """The words of its name; none when the question does not hold them all."""
    name = PurePath(document.name)
    language = document.language or "en"
    words = frozenset(tokens(name.stem, language))
    if document.name.casefold() in question.casefold():
        return words
    telling = content_words(name.stem, language)
    if len(telling) < 2 and not _CODE.fullmatch(name.stem):
        return frozenset()
    return words if telling and telling <= set(tokens(question, language)) else frozenset()
