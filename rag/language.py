"""Text -> ISO 639-1 code, by py3langid (offline; its model is in the package), and script."""

from __future__ import annotations

import unicodedata
from collections import Counter

_FEWEST_LETTERS = 40
_MOST_CHARACTERS = 20_000


def detect_language(text: str) -> str:
    """ "" when there is too little text to tell."""
    text = text[:_MOST_CHARACTERS]
    if sum(c.isalpha() for c in text) < _FEWEST_LETTERS:
        return ""
    from py3langid import classify

    language, _ = classify(text)
    return str(language)


def script(text: str) -> str:
    """The script of most letters, as the first word of their Unicode names ("LATIN"); "" without
    letters."""
    names = Counter(unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha())
    return max(names, key=lambda name: names[name], default="")
