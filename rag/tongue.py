"""Languages in the agent's words: of the documents, for its prompt, and of an answer. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rag.stop_words import clearly_in
from rag.types import Document

MOST = 6
"""Languages named, those of the most documents."""

_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nb": "Norwegian", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "th": "Thai",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_CALLED = {
    "en": ("engl", "angl", "ingl"),
    "fr": ("fren", "fran", "frans"),
    "de": ("german", "deutsch", "allem", "alem", "tedesc", "duits"),
    "es": ("spani", "españ", "espagn", "spagn", "espanh", "spaans"),
    "it": ("itali",),
    "pt": ("portug",),
    "nl": ("dutch", "niederl", "néerl", "holand", "oland", "nederl"),
}
"""How a question may name the language that it wants an answer in."""


def name(code: str) -> str:
    """In English; the code itself when it is not known."""
    return _NAMES.get(code, code)


def spoken_by(documents: Iterable[Document]) -> str:
    """The documents' languages as a sentence for a prompt, with a space before; "" if unknown."""
    counts = Counter(document.language for document in documents if document.language)
    names = [name(code) for code, _ in counts.most_common(MOST)]
    if not names:
        return ""
    others = " and others" if len(counts) > MOST else ""
    return f" They are in {', '.join(names)}{others}: search in these languages."


def wrong(question: str, text: str) -> str:
    """The language that `text` should be in, if it is clearly in another than the question.

    A question that names the other language ("in French, please") may have asked for it.
    """
    wanted, found = clearly_in(question), clearly_in(text)
    if not wanted or not found or wanted == found:
        return ""
    asked = any(stem in question.casefold() for stem in _CALLED[found])
    return "" if asked else wanted
