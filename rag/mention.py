"""Which documents a question names, so that it is searched in them alone. Pure.

"What does the employee handbook say about leave?" is about one file, whatever others say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
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
    asked = {
        language: frozenset(tokens(question, language))
        for language in {d.language or "en" for d in documents}
    }
    found = {d.id: words for d in documents if (words := _mentioned(question, asked, d))}
    return tuple(i for i, words in found.items() if not any(words < o for o in found.values()))


def _mentioned(
    question: str, asked: Mapping[str, frozenset[str]], document: Document
) -> frozenset[str]:
    """The words of its name; none when the question, `asked` by language, does not hold them."""
    language = document.language or "en"
    words, telling = _name_words(document.name, language)
    if document.name.casefold() in question.casefold():
        return words
    if len(telling) < 2 and not _CODE.fullmatch(PurePath(document.name).stem):
        return frozenset()
    return words if telling and telling <= asked[language] else frozenset()


@lru_cache(maxsize=10_000)
def _name_words(name: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """All words of a file's name, and the telling ones; every search asks for those of all."""
    stem = PurePath(name).stem
    return frozenset(tokens(stem, language)), content_words(stem, language)
