"""What PDF fonts make of text -> the letters that are meant. Pure string work.

`clean` mends single words; `decode` a page whose fonts map every character wrongly in one way;
`is_garbled` tells a page that nothing can be made of.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

SOFT_HYPHEN = "\u00ad"

_LETTERS = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
     "\u00a0": " ", "\u2028": " ", "\u2029": " ",
     "\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0e0": "→"}
)  # fmt: skip
_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff]"
)
# Arabic and Hebrew letters in the form of their place in the word, and Chinese radicals and
# doubles where the character itself is meant.
_FORMS = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc]+")
_BULLET = re.compile(r"^[•▪■□●○◦➢✓](?=\w)")
_RETURN_ARROW = re.compile(r"(?<=[^\W\d_])↵")

_SYMBOLS = frozenset("!\"#$%&'+/:;<=>?@[\\]^`{|}~")
_VOWELS = frozenset("aeiouyäöüàáâãåèéêëìíîïòóôõøùúûýœæąęıőű")
_FEWEST_LETTERS = 60
_ODDEST = 0.3
"""Share of a page's characters that are no text at all, from which it is not searched."""

_NOISY = 0.05
"""Share of words that are none. Good recognition leaves 1 %."""
_AROUND = "\"'“”‘’«»()[]{}<>.,;:!?*•·–—-+=§$€£¥%…/|&@#†‡®™©"
_ADDRESS = re.compile(r"www|https?:|@")
_WORD = re.compile(
    r"(?:[^\W\d_]|[\u0300-\u036f])+(?:['’\-–/.&·][^\W\d_]+)*$"
    r"|\d[\d.,:/\-–x×]*\d?[%‰]?[a-zA-Z]{0,3}$"
    r"|[A-Z]+\d+[A-Z]*$"
)
_MIXED_CASE = re.compile(r"^(?:[a-z]+[A-Z]|[A-Z]+[a-z]+[A-Z])[a-zA-Z]{2,}$")


def clean(word: str) -> str:
    """Ligatures as letters, nothing invisible; a soft hyphen stays only at the end."""
    if word.isascii() and word.isprintable():
        return word
    text = _INVISIBLE.sub("", word.translate(_LETTERS)).strip()
    text = _BULLET.sub(r"\g<0> ", text)
    text = _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    # Fonts that TeX made and macOS embedded name the ligature ff after the arrow in its place.
    text = _RETURN_ARROW.sub("ff", text)
    return text[:-1].replace(SOFT_HYPHEN, "") + text[-1:]


def decode(words: Sequence[str]) -> list[str] | None:
    """The words of a page, if all of them are wrong in one of the known ways."""
    text = "".join(words)
    if not text or text.isascii():
        return None
    if _share(text, _is_swapped) > 0.8:
        return ["".join(map(_unswapped, word)) for word in words]
    if _share(text, lambda c: "\uf020" <= c <= "\uf0ff") > 0.8:
        return ["".join(chr(ord(c) - 0xF000) if c >= "\uf020" else c for c in w) for w in words]
    return None


def _is_swapped(char: str) -> bool:
    """An ASCII character whose two bytes were read in the wrong order."""
    return ord(char) & 0xFF == 0 and 0x20 <= ord(char) >> 8 < 0x7F


def _unswapped(char: str) -> str:
    return chr(ord(char) >> 8) if _is_swapped(char) else char


def is_garbled(words: Sequence[str]) -> bool:
    """Whether a page's text cannot be what the page shows.

    Characters without a meaning; no letters and digits but mainly symbols; or letters with
    hardly a vowel, or hardly anything else, among them.
    """
    counts = Counter("".join(words))
    total = counts.total()
    if not total:
        return False
    odd = sum(n for c, n in counts.items() if _is_meaningless(c))
    if odd > _ODDEST * total:
        return True
    if sum(n for c, n in counts.items() if c in _SYMBOLS) > 0.5 * total:
        return True
    latin = {c: n for c, n in counts.items() if c.isalpha() and c < "\u0250"}
    letters = sum(latin.values())
    if letters < max(_FEWEST_LETTERS, total / 2):
        return False
    vowels = sum(n for c, n in latin.items() if c.lower() in _VOWELS)
    return not 0.15 < vowels / letters < 0.7


def is_noisy(words: Sequence[str]) -> bool:
    """Whether so many of a page's words are no words that it was badly recognised from a picture.

    Only for text that is known to lie invisibly over a picture: formulas and code look alike.
    """
    cores = [core for word in words if not _ADDRESS.search(word) and (core := word.strip(_AROUND))]
    odd = sum(not _WORD.match(core) or _MIXED_CASE.search(core) is not None for core in cores)
    return odd > 1 and odd >= _NOISY * len(cores)


def _is_meaningless(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in ("Co", "Cn", "Cc")


def _share(text: str, kind: Callable[[str], bool]) -> float:
    return sum(map(kind, text)) / len(text)
