"""Bytes -> clean text: the character set is found, line ends are \\n, control characters go.

Order: byte order mark, UTF-16/32 by their zero bytes, what the file declares, strict UTF-8, then
an informed guess among legacy character sets, with a warning when another one fits as well.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from rag.types import Warning

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: FF FE 00 00 begins with FF FE
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = [
    "cp1252", "cp1250", "cp1251", "cp866", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
]  # fmt: skip
_SAMPLE = 64 * 1024

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u2060\ufeff\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_WESTERN = set("äöüßÄÖÜàâæçéèêëîïôœùûÿÀÂÆÇÉÈÊËÎÏÔŒÙÛáíóúñÁÍÓÚÑãõÃÕåøÅØìòÌÒªº")
_WESTERN_MARKS = set("\xa0«»‹›“”‘’„‚–—…•·€£¥¢§©®™°±²³µ¼½¾×÷¿¡†‡‰")


def clean(text: str) -> str:
    """Every line end becomes \\n; characters that nobody sees go.

    Those are control characters, terminal colours, byte order marks, soft hyphens, lone
    surrogates and the Unicode tag characters, which can carry a hidden message.
    """
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _INVISIBLE.sub("", text)


def decode(data: bytes, declared: str = "") -> tuple[str, tuple[Warning, ...]]:
    """The clean text, and a warning `encoding_uncertain` when it may be wrong.

    `declared` is the character set that the file itself names; it is tried, not trusted.
    """
    encoding = unicode_encoding(data)
    if encoding:
        return _lossy(data, encoding)
    for candidate in ("utf-8", _known(declared)):
        if candidate:
            try:
                return clean(data.decode(candidate)), ()
            except UnicodeDecodeError:
                pass
    if _mostly_utf8(data):
        return _lossy(data, "utf-8")
    encoding, certain = _guess(data)
    text, warnings = _lossy(data, encoding)
    if not certain and not warnings:
        warnings = (_uncertain(f"its text was read as {encoding}, other readings are possible"),)
    return text, warnings


def unicode_encoding(data: bytes) -> str:
    """UTF-8 with a mark, UTF-16 or UTF-32 with or without one; "" if none of them."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    sample = data[: _SAMPLE - _SAMPLE % 4]
    zeros = sample.count(0)
    if zeros * 50 < len(sample) or len(data) % 2:
        return ""
    if len(data) % 4 == 0 and zeros * 2 > len(sample):
        for encoding, low in (("utf-32-le", 3), ("utf-32-be", 0)):
            if sample[low::4].count(0) * 4 == len(sample):
                return encoding
    for encoding, low in (("utf-16-le", 1), ("utf-16-be", 0)):
        # In Latin text the high byte of nearly every character is zero; in others at least
        # that of spaces and line ends, and then the rest must make sense.
        high = sample[low::2].count(0)
        if high > 0.9 * zeros and (high * 5 > len(sample) or _plausible_utf16(sample, encoding)):
            return encoding
    return ""


def _plausible_utf16(sample: bytes, encoding: str) -> bool:
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    good = sum(unicodedata.category(c)[0] in "LNPZ" or c in "\r\n\t" for c in text)
    return good > 0.98 * len(text) and len({ord(c) >> 8 for c in text}) < 120


def _lossy(data: bytes, encoding: str) -> tuple[str, tuple[Warning, ...]]:
    text = data.decode(encoding, errors="replace")
    lost = text.count("\ufffd") - (data.count(b"\xef\xbf\xbd") if encoding == "utf-8" else 0)
    if lost <= 0 or encoding.startswith("utf-16"):
        return clean(text), ()
    return clean(text), (_uncertain(f"unreadable as {encoding} at {lost:,} of its characters"),)


def _uncertain(reason: str) -> Warning:
    return Warning("encoding_uncertain", f"The character set is uncertain: {reason}.")


def _known(declared: str) -> str:
    """The codec for a declared name; Latin-1 and ASCII mean Windows-1252, as in browsers."""
    try:
        codec = codecs.lookup(declared.strip()).name
    except LookupError:
        return ""
    if codec in ("iso8859-1", "ascii"):
        return "cp1252"
    # Here no zero byte was found, so a page that claims UTF-16 in plain bytes is wrong.
    return "" if codec.startswith(("utf-16", "utf-32")) or codec in _NOT_TEXT else codec


_NOT_TEXT = {
    "base64",
    "bz2",
    "hex",
    "quopri",
    "rot13",
    "uu",
    "zlib",
    "idna",
    "punycode",
    "undefined",
}


def _mostly_utf8(data: bytes) -> bool:
    """True for UTF-8 with a few damaged bytes: ten good sequences for every bad byte."""
    text = data.decode("utf-8", errors="replace")
    bad = text.count("\ufffd")
    good = sum(c > "\x7f" for c in text) - bad
    return good >= 10 * bad


def _guess(data: bytes) -> tuple[str, bool]:
    """The likeliest legacy character set, and whether no other fits nearly as well."""
    import charset_normalizer

    sample = _sample(data)
    matches = charset_normalizer.from_bytes(sample, cp_isolation=_LEGACY)
    best = matches.best()
    if best is None:
        return "cp1252", False
    tied = [
        encoding
        for match in matches
        if match.chaos <= best.chaos + 0.02 and match.coherence >= best.coherence - 0.1
        for encoding in dict.fromkeys([match.encoding, *match.could_be_from_charset])
    ]
    if "cp1252" in tied and _western(sample.decode("cp1252", errors="replace")):
        return "cp1252", True
    readings = {encoding: sample.decode(encoding, errors="replace") for encoding in tied}
    scores = {encoding: _score(text) for encoding, text in readings.items()}
    winner = max(scores, key=scores.__getitem__)  # the first of equals: the library's order
    return winner, not any(
        scores[encoding] > scores[winner] - 0.1 and text != readings[winner]
        for encoding, text in readings.items()
    )


def _sample(data: bytes) -> bytes:
    """Where the first byte beyond ASCII is, from the start of that line."""
    first = re.search(rb"[\x80-\xff]", data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    return data[start : start + _SAMPLE]


def _western(text: str) -> bool:
    """Only letters and marks of Western European languages, no mark inside a word."""
    for i, c in enumerate(text):
        if c < "\x80" or c in _WESTERN:
            continue
        if c not in _WESTERN_MARKS:
            return False
        inside = 0 < i < len(text) - 1 and text[i - 1].isalpha() and text[i + 1].isalpha()
        if inside and c not in "’‘–—…·/\xa0":
            return False
    return True


def _score(text: str) -> float:
    """How much a text looks like a language: few capitals, none inside words, one script a word."""
    words = re.findall(r"[^\W\d_]+", text)
    if not words:
        return 0.0
    odd = sum(any(_odd_pairs(word)) for word in words)
    capitals = sum(c.isupper() for c in text)
    kana = sum("\u3040" <= c <= "\u30ff" for c in text)
    foreign = sum(c > "\x7f" for c in text)
    japanese = 0.5 if kana * 4 > foreign > 0 else 0.0
    return 1 - odd / len(words) - 0.5 * capitals / len(text) + japanese


def _odd_pairs(word: str) -> Iterator[bool]:
    for a, b in pairwise(word):
        yield (a.islower() and b.isupper()) or _script(a) != _script(b)


def _script(c: str) -> str:
    name = unicodedata.name(c, "?").split()[0]
    return "EAST ASIAN" if name in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL") else name
