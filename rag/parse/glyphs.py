"""Runs of glyphs as MuPDF parts them -> words as they are read. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rag.parse.lines import Glyphs, Line
from rag.parse.mend import clean

Box = tuple[float, float, float, float]

LEADER = "…"
"""What a row of dots that leads to a page number becomes."""

_RAISED = 1
"""PyMuPDF's flag of a span."""
_DOTS = re.compile(r"\.{4,}|^\.+$")
_FEWEST_DOTS = 4
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er?|re|ère|[eè]me)\b", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[\d(/])(?:[kcdmµn]?m|ft|in|yd|mi|s)$")
_POWERS = str.maketrans("23", "²³")


def words_of(runs: Sequence[Glyphs], spans: Sequence[Any]) -> list[Glyphs]:
    """The words of one line; `spans` are PyMuPDF's."""
    words = [word for run in _lowered(runs, spans) for word in _cleaned(run)]
    if any(is_rtl(word.text) for word in words):
        words = _attached(words)
    if any(_DOTS.search(word.text) for word in words):
        words = _led(words)
    return words


def is_rtl(text: str) -> bool:
    return not text.isascii() and _RTL.search(text) is not None


def once(lines: list[Line]) -> list[Line]:
    """Without the copies that fake bold and fake shadows draw a point or two apart."""
    seen: dict[str, list[Glyphs]] = {}
    for line in lines:
        kept = []
        for word in line.words:
            twins = seen.setdefault(word.text, [])
            near = 0.3 * (word.y1 - word.y0)
            if any(abs(t.x0 - word.x0) < near and abs(t.y0 - word.y0) < near for t in twins):
                continue
            twins.append(word)
            kept.append(word)
        line.words = kept
    return [line for line in lines if line.words]


def spread(text: str, box: Box) -> list[Glyphs]:
    """The words of `text`, each with its share of the rectangle."""
    x0, y0, x1, y1 = box
    width = (x1 - x0) / max(1, len(text))
    return [
        Glyphs(m[0], x0 + width * m.start(), y0, x0 + width * m.end(), y1)
        for m in re.finditer(r"\S+", text)
    ]


def _lowered(words: Sequence[Glyphs], spans: Sequence[Any]) -> list[Glyphs]:
    """The line's words with raised signs apart: "word¹" is "word" and "1".

    The letters of "1st" stay, and a power of a unit becomes a sign of its own: "m²".
    """
    if not any(span["flags"] & _RAISED for span in spans):
        return list(words)
    raised = [
        (bool(span["flags"] & _RAISED), span["bbox"])
        for span in spans
        for c in span["text"]
        if not (c.isspace() or c == "\u00a0")
    ]
    if len(raised) != sum(len(w.text) for w in words):
        return list(words)  # spans and words disagree: nothing is known about single letters
    parted: list[Glyphs] = []
    at = 0
    for word in words:
        signs = raised[at : at + len(word.text)]
        at += len(word.text)
        parted += _parted(word, signs)
    return parted


def _parted(word: Glyphs, signs: Sequence[tuple[bool, Box]]) -> list[Glyphs]:
    for i in range(1, len(word.text)):
        if signs[i][0] == signs[i - 1][0]:
            continue
        front, back = word.text[:i], word.text[i:]
        if signs[i][0]:
            if front[-1].isdigit() and _ORDINAL.match(back):
                continue
            if _UNIT.search(front) and back in ("2", "3"):
                text = front + back.translate(_POWERS)
                return [Glyphs(text, word.x0, word.y0, word.x1, word.y1)]
            x = signs[i][1][0]
        elif back[0].isalnum():
            x = signs[i - 1][1][2]
        else:
            continue
        x = min(max(x, word.x0), word.x1)
        first = Glyphs(front, word.x0, word.y0, x, word.y1)
        return [first, *_parted(Glyphs(back, x, word.y0, word.x1, word.y1), signs[i:])]
    return [word]


def _cleaned(word: Glyphs) -> list[Glyphs]:
    text = clean(word.text)
    return [word] if text == word.text else spread(text, (word.x0, word.y0, word.x1, word.y1))


def _attached(words: Sequence[Glyphs]) -> list[Glyphs]:
    """With marks put to the word before: MuPDF parts words where the writing direction changes."""
    joined: list[Glyphs] = []
    for word in words:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not any(c.isalnum() for c in word.text)
            and max(last.x0 - word.x1, word.x0 - last.x1) < 0.1 * (word.y1 - word.y0)
        ):
            box = (min(last.x0, word.x0), min(last.y0, word.y0),
                   max(last.x1, word.x1), max(last.y1, word.y1))  # fmt: skip
            joined[-1] = Glyphs(last.text + word.text, *box)
        else:
            joined.append(word)
    return joined


def _led(words: Sequence[Glyphs]) -> list[Glyphs]:
    """With every row of dots as one word, as wide as the row."""
    parts = [
        part
        for word in words
        for part in spread(
            # Dots at the end of a word: with spaces about, they keep their places.
            re.sub(r" ?(\.{4,}) ?", r" \1 ", word.text),
            (word.x0, word.y0, word.x1, word.y1),
        )
    ]
    led: list[Glyphs] = []
    for is_row, run in groupby(parts, key=lambda part: not part.text.strip(".")):
        row = list(run)
        if is_row and sum(len(part.text) for part in row) >= _FEWEST_DOTS:
            first, last = row[0], row[-1]
            led.append(Glyphs(LEADER, first.x0, first.y0, last.x1, first.y1))
        else:
            led += row
    return led
