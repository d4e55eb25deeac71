"""Text -> ISO 639-1 code, by py3langid (offline; its model is in the package)."""

from __future__ import annotations

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
