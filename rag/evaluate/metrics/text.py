"""How texts are made comparable: three normalisations, each for what its metric's source does."""

from __future__ import annotations

import re
import string
import unicodedata

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"\s?\[\d+(?:\s*[,;]\s*\d+)*\]")
_GROUPED = re.compile(r"(?<=\d)[,’'\u00a0\u202f](?=\d{3}(?!\d))")
_ZERO_CENTS = re.compile(r"(?<=\d)\.0+(?!\d)")
_LITERAL = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+|%")


def without_markers(answer: str) -> str:
    """The answer without its citation markers, such as [2]; they are not words of it."""
    return _MARKER.sub("", answer)


def squad_tokens(text: str) -> list[str]:
    """SQuAD's: lower case, no ASCII punctuation, no English articles, split at white space."""
    bare = text.lower().translate(_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def words(text: str) -> list[str]:
    """Lower-case runs of letters and digits, as rouge-score has for ASCII, in every script."""
    return _WORD.findall(text.lower())


def literals(text: str) -> list[str]:
    """Words and numbers as a reader compares them: 8,738.00 is 8738, and % is kept.

    Case, digit grouping, punctuation and the way that a letter is encoded do not matter.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = _ZERO_CENTS.sub("", _GROUPED.sub("", plain))
    return _LITERAL.findall(plain)


def contains(haystack: list[str], needle: list[str]) -> bool:
    """Whether the tokens of `needle` stand in `haystack` in a row; an empty needle never does."""
    n = len(needle)
    return n > 0 and any(haystack[i : i + n] == needle for i in range(len(haystack) - n + 1))
