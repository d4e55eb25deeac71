"""Characters and languages that text recognition knows, by script. Pure."""

from __future__ import annotations

import re

LATIN = frozenset(
    {"ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "id",
     "is", "it", "la", "lb", "lt", "lv", "ms", "mt", "nl", "no", "pl", "pt", "ro", "sk", "sl", "sq",
     "sv", "sw", "tl", "tr"}
)  # fmt: skip
"""ISO 639-1 codes of languages that are written with the Latin letters of the model."""
CJK = frozenset(("zh", "ja"))
LANGUAGES = LATIN | CJK

_CJK = re.compile("[\u2e80-\u30ff\u3190-\u31ff\u3400-\u9fff\uf900-\ufaff]|[\U00020000-\U0003ffff]")
_LATIN = re.compile(
    "[ -~\u00a1-\u024f\u0370-\u03ff\u1e00-\u1eff\u2010-\u2044\u2070-\u209f\u20a0-\u20bf"
    "\u2100-\u218b\u2190-\u2193\u2200-\u22ff\u25a0-\u25cf\u2713\u2714\u2717]$"
)


def is_cjk(char: str) -> bool:
    """Chinese and Japanese."""
    return _CJK.match(char) is not None


def is_latin(char: str) -> bool:
    """What stands in text in Latin letters: these, Greek ones, digits, punctuation, formulas."""
    return _LATIN.match(char) is not None
