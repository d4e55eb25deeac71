"""A PDF page, by PyMuPDF -> its words as lines, and the rectangles of what is drawn beside them.

Everything is in the page as displayed. Words are those that MuPDF finds by spaces and gaps, with
the letters mended; footnote marks and other raised signs stand apart from the word before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rag.parse.grids import THIN
from rag.parse.lines import Glyphs, Line, framed
from rag.parse.mend import clean, decode

Box = tuple[float, float, float, float]

_WHITE = 0xFFFFFF
_RAISED, _BOLD = 1, 16
"""PyMuPDF's flags of a span."""
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LAM_ALEF = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_DOTS = re.compile(r"\.{4,}|^\.+$")
LEADER = "…"
"""What a row of dots that leads to a page number becomes."""
_FEWEST_DOTS = 4
_UNKNOWN = "\ufffd"
_UNKNOWN_SPACE = re.compile(r"[^\W\d_]\ufffd[^\W\d_]")
_LONGEST_WORD = 12
"""Letters, on average, of words between unknown characters that must be spaces."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er?|re|ère|[eè]me)\b", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[\d(/])(?:[kcdmµn]?m|ft|in|yd|mi|s)$")
_POWERS = str.maketrans("23", "²³")


@dataclass(slots=True)
class Drawn:
    lines: list[Line]
    """In the order in which they are drawn."""
    ruled: list[Box]
    """Thin rectangles, and those with an outline."""
    grounds: list[Box]
    """Coloured ground."""
    height: float = 0.0
    """Of the page."""


def drawn(page: Any) -> Drawn:
    """May raise anything that MuPDF raises on a damaged page."""
    import pymupdf

    flags = (
        pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
    )
    textpage = page.get_textpage(flags=flags)
    matrix = page.rotation_matrix if page.rotation else None

    def shown(x0: float, y0: float, x1: float, y1: float) -> Box:
        if matrix is None:
            return x0, y0, x1, y1
        rect = pymupdf.Rect(x0, y0, x1, y1) * matrix
        return rect.x0, rect.y0, rect.x1, rect.y1

    styles: list[list[Any]] = []
    result = Drawn([], [], [], page.rect.height)
    for block in textpage.extractDICT()["blocks"]:
        if block["type"] == 0:
            styles.append(block["lines"])  # words count the blocks of text alone
        elif block["type"] == 3 and (block["color"] & _WHITE) != _WHITE:
            box = shown(*block["bbox"])
            thin = min(box[2] - box[0], box[3] - box[1]) < THIN
            (result.ruled if thin or block["stroked"] else result.grounds).append(box)
    found: dict[tuple[int, int], list[Glyphs]] = {}
    ghosts: list[tuple[int, Glyphs]] = []
    for x0, y0, x1, y1, text, block, line, _ in _words(textpage):
        found.setdefault((block, line), []).append(Glyphs(text, x0, y0, x1, y1))
    for (block, number), words in found.items():
        style = _style(styles[block][number:], words[0])
        if style is None:
            ghosts.append((block, words[-1]))
            continue
        dx, dy = style["dir"]
        words = [w for word in _lowered(words, style["spans"]) for w in _cleaned(word)]
        if not words:
            continue
        if any(_RTL.search(w.text) for w in words if not w.text.isascii()):
            words = _attached(words)
        if any(_DOTS.search(w.text) for w in words):
            words = _led(words)
        if matrix is not None:
            words = [Glyphs(w.text, *shown(w.x0, w.y0, w.x1, w.y1)) for w in words]
            dx, dy = dx * matrix.a + dy * matrix.c, dx * matrix.b + dy * matrix.d
        result.lines.append(_line(words, len(result.lines), block, _quarter(dx, dy), style))
    if ghosts:
        seen = [n for block in styles for n in block]
        for block, words in _spelled(textpage.extractText(), seen, ghosts):
            box = shown(words[0].x0, words[0].y0, words[-1].x1, words[0].y1)
            style = {"spans": [{"text": "x", "size": box[3] - box[1], "flags": 0}]}
            words = [Glyphs(w.text, *shown(w.x0, w.y0, w.x1, w.y1)) for w in words]
            result.lines.append(_line(words, len(result.lines), block, 0, style))
    result.lines = _once(result.lines)
    return result


def _once(lines: list[Line]) -> list[Line]:
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


def _spelled(
    text: str, lines: Sequence[Any], ends: Sequence[tuple[int, Glyphs]]
) -> Iterator[tuple[int, list[Glyphs]]]:
    """Block and words of each line that is drawn as a picture, with its text spelled out beside it.

    `text` is the page's, `lines` are those that are drawn as text, `ends` the last words of the
    pictures, with the rectangles of the whole: MuPDF gives none to the words before them.
    """
    for line in lines:
        text = text.replace("".join(span["text"] for span in line["spans"]), "\n", 1)
    for i, (block, end) in enumerate(ends):
        found = re.search(rf"(?<!\S){re.escape(end.text)}(?!\S)", text)
        cut = len(text) if i == len(ends) - 1 or found is None else found.end()
        box = (end.x0, end.y0, end.x1, end.y1)
        words = [Glyphs(w, *b) for *b, w in _spread(clean(" ".join(text[:cut].split())), box)]
        text = text[cut:]
        if words:
            yield block, words


def _style(lines: Sequence[Any], word: Glyphs) -> Any:
    """The line that holds the word, the first one mostly; None for a word that is not drawn."""
    for line in lines:
        _, y0, _, y1 = line["bbox"]
        if y0 <= (word.y0 + word.y1) / 2 <= y1:
            return line
    return None


def _words(textpage: Any) -> list[Any]:
    """MuPDF's words: x0, y0, x1, y1, text, block, line, number."""
    words: list[Any] = textpage.extractWORDS()
    text = "".join(w[4] for w in words)
    if text.isascii():
        return words
    if _UNKNOWN_SPACE.search(text) and _UNKNOWN * 2 not in text:
        count = len(words) + text.count(_UNKNOWN)
        if len(text) > _LONGEST_WORD * len(words) and len(text) < _LONGEST_WORD * count:
            words = textpage.extractWORDS(delimiters=_UNKNOWN)
    if _LAM_ALEF.search(text):
        words = _turned(words, textpage)
    if (decoded := decode([w[4] for w in words])) is not None:
        words = [
            (*part[:4], part[4], *w[5:])
            for w, text in zip(words, decoded, strict=True)
            for part in _spread(text, w)
        ]
    return words


def _spread(text: str, word: Sequence[Any]) -> list[tuple[float, float, float, float, str]]:
    """The words of `text`, each with its share of the rectangle."""
    x0, y0, x1, y1 = word[:4]
    width = (x1 - x0) / max(1, len(text))
    return [
        (x0 + width * m.start(), y0, x0 + width * m.end(), y1, m[0])
        for m in re.finditer(r"\S+", text)
    ]


def _turned(words: list[Any], textpage: Any) -> list[Any]:
    """With the letters of the ligature lam-alef in their order.

    MuPDF turns Arabic round character by character, the two letters of the one sign as well. The
    second of the two has no width.
    """
    letters: dict[tuple[int, int], list[tuple[str, bool]]] = {}
    blocks = [b for b in textpage.extractRAWDICT()["blocks"] if b["type"] == 0]
    for b, block in enumerate(blocks):
        for n, line in enumerate(block["lines"]):
            letters[b, n] = [
                (c["c"], c["bbox"][2] - c["bbox"][0] < 0.01)
                for span in line["spans"]
                for c in span["chars"]
                if not c["c"].isspace()
            ]
    turned = []
    at: dict[tuple[int, int], int] = {}
    for word in words:
        key = (word[5], word[6])
        start = at.get(key, 0)
        at[key] = start + len(word[4])
        signs = letters[key][start : at[key]]
        text = list(word[4])
        if [c for c, _ in signs] == text:
            for i in range(len(text) - 1):
                if signs[i][1] and _LAM_ALEF.match(text[i] + text[i + 1]):
                    text[i], text[i + 1] = text[i + 1], text[i]
        turned.append((*word[:4], "".join(text), *word[5:]))
    return turned


def _lowered(words: list[Glyphs], spans: Sequence[Any]) -> list[Glyphs]:
    """The line's words with raised signs apart: "word¹" is "word" and "1".

    The letters of "1st" stay, and a power of a unit becomes a sign of its own: "m²".
    """
    if not any(span["flags"] & _RAISED for span in spans):
        return words
    raised = [
        (bool(span["flags"] & _RAISED), span["bbox"])
        for span in spans
        for c in span["text"]
        if not (c.isspace() or c == "\u00a0")
    ]
    if len(raised) != sum(len(w.text) for w in words):
        return words  # spans and words disagree: nothing is known about single letters
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


def _led(words: Sequence[Glyphs]) -> list[Glyphs]:
    """With every row of dots as one word, as wide as the row."""
    parts = [
        Glyphs(part, x0, y0, x1, y1)
        for word in words
        for x0, y0, x1, y1, part in _spread(
            re.sub(r"\.{4,}", lambda dots: f" {dots[0][2:]} ", word.text),
            (word.x0, word.y0, word.x1, word.y1),
        )
    ]
    joined: list[Glyphs] = []
    at = 0
    while at < len(parts):
        end = at
        while end < len(parts) and not parts[end].text.strip("."):
            end += 1
        row = parts[at:end]
        if sum(len(w.text) for w in row) + 2 * any(len(w.text) > 1 for w in row) >= _FEWEST_DOTS:
            box = (min(w.x0 for w in row), row[0].y0, max(w.x1 for w in row), row[0].y1)
            joined.append(Glyphs(LEADER, *box))
        else:
            joined += parts[at : max(end, at + 1)]
        at = max(end, at + 1)
    return joined


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


def _cleaned(word: Glyphs) -> list[Glyphs]:
    text = clean(word.text)
    if text == word.text:
        return [word]
    return [
        Glyphs(part, x0, y0, x1, y1)
        for x0, y0, x1, y1, part in _spread(text, (word.x0, word.y0, word.x1, word.y1))
    ]


def _line(words: list[Glyphs], order: int, block: int, turn: int, style: Any) -> Line:
    frames = [framed((w.x0, w.y0, w.x1, w.y1), turn) for w in words]
    spans = [span for span in style["spans"] if span["text"].strip()]
    return Line(
        words=words,
        order=order,
        size=max((span["size"] for span in spans), default=0.0),
        bold=bool(spans) and all(span["flags"] & _BOLD for span in spans),
        block=block,
        x0=min(f[0] for f in frames),
        y0=min(f[1] for f in frames),
        x1=max(f[2] for f in frames),
        y1=max(f[3] for f in frames),
        turn=turn,
        rtl=sum(len(w.text) for w in words if not w.text.isascii() and _RTL.search(w.text)) * 2
        > sum(len(w.text) for w in words),
    )


def _quarter(dx: float, dy: float) -> int:
    """Quarter turns, clockwise, of a writing direction."""
    if abs(dx) >= abs(dy):
        return 0 if dx >= 0 else 2
    return 1 if dy > 0 else 3
