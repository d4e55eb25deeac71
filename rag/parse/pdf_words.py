"""A PDF page, by PyMuPDF -> its words as lines, and the rectangles of what is drawn beside them.

Everything is in the page as displayed. Words are those that MuPDF finds by spaces and gaps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rag.parse.glyphs import Box, is_rtl, once, spread, words_of
from rag.parse.grids import THIN
from rag.parse.lines import Glyphs, Line, framed
from rag.parse.mend import clean, decode
from rag.parse.pdf_fonts import UNKNOWN, Fonts, Letters, known

_WHITE = 0xFFFFFF
_BOLD = 16
"""PyMuPDF's flag of a span."""
_LAM_ALEF = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_UNKNOWN_SPACE = re.compile(r"[^\W\d_]\ufffd[^\W\d_]")
_LONGEST_WORD = 12
"""Letters, on average, of words between unknown characters that must be spaces."""

Run = tuple[float, float, float, float, str, int, int]
"""x0, y0, x1, y1, text, block, line: of blocks of text alone, from 0."""


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
    mended: bool = False
    """Letters were worked out that the fonts do not say."""


def drawn(page: Any, fonts: Fonts) -> Drawn:
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
    given = _runs(textpage)
    runs = _decoded(given)
    result.mended = runs is not given
    if unknown := sum(run[4].count(UNKNOWN) for run in runs):
        glyphs = page.get_textpage(flags=flags | pymupdf.TEXT_USE_GID_FOR_UNKNOWN_UNICODE)
        runs = _respelled(textpage, glyphs, fonts.named(page))
        result.mended |= sum(run[4].count(UNKNOWN) for run in runs) < unknown
    found: dict[tuple[int, int], list[Glyphs]] = {}
    for x0, y0, x1, y1, text, at, line in runs:
        found.setdefault((at, line), []).append(Glyphs(text, x0, y0, x1, y1))
    ghosts: list[tuple[int, Glyphs]] = []
    for (at, line), parts in found.items():
        style = _style(styles[at][line:], parts[0])
        if style is None:
            ghosts.append((at, parts[-1]))
            continue
        words = words_of(parts, style["spans"])
        if not words:
            continue
        dx, dy = style["dir"]
        if matrix is not None:
            words = [Glyphs(w.text, *shown(w.x0, w.y0, w.x1, w.y1)) for w in words]
            dx, dy = dx * matrix.a + dy * matrix.c, dx * matrix.b + dy * matrix.d
        result.lines.append(_line(words, len(result.lines), at, _quarter(dx, dy), style["spans"]))
    if ghosts:
        seen = [n for block in styles for n in block]
        for at, words in _spelled_out(textpage.extractText(), seen, ghosts):
            words = [Glyphs(w.text, *shown(w.x0, w.y0, w.x1, w.y1)) for w in words]
            span = {"text": "x", "size": words[0].y1 - words[0].y0, "flags": 0}
            result.lines.append(_line(words, len(result.lines), at, 0, [span]))
    result.lines = once(result.lines)
    return result


def _runs(textpage: Any) -> list[Run]:
    """MuPDF's words."""
    runs: list[Run] = [word[:7] for word in textpage.extractWORDS()]
    text = "".join(run[4] for run in runs)
    if text.isascii():
        return runs
    return _turned(runs, textpage) if _LAM_ALEF.search(text) else runs


def _decoded(runs: list[Run]) -> list[Run]:
    texts = decode([run[4] for run in runs])
    if texts is None:
        return runs
    return [
        (part.x0, part.y0, part.x1, part.y1, part.text, *run[5:])
        for run, text in zip(runs, texts, strict=True)
        for part in spread(text, run[:4])
    ]


def _respelled(textpage: Any, numbered: Any, fonts: Mapping[str, Letters]) -> list[Run]:
    """Words by single characters, the unknown ones looked up in their fonts.

    `numbered` is the same page with the numbers of the glyphs in place of unknown characters.
    """
    numbers = {char["origin"]: ord(char["c"]) for *_, char in _characters(numbered)}
    characters = list(_characters(textpage))
    glyphs: dict[str, list[int]] = {}
    for _, _, font, char in characters:
        if char["c"] == UNKNOWN and char["origin"] in numbers:
            glyphs.setdefault(font, []).append(numbers[char["origin"]])
    letters = {font: known(found, fonts.get(font, {})) for font, found in glyphs.items()}
    for _, _, font, char in characters:
        if char["c"] == UNKNOWN and font in letters:
            char["c"] = letters[font].get(numbers.get(char["origin"], -1), UNKNOWN)
    blank = _space("".join(char["c"] for *_, char in characters))
    runs: list[Run] = []
    for (block, line, space), run in groupby(
        characters, key=lambda c: (*c[:2], c[3]["c"].isspace() or c[3]["c"] == blank)
    ):
        if not space:
            word = [char for *_, char in run]
            boxes = [char["bbox"] for char in word]
            x0, y0 = min(b[0] for b in boxes), min(b[1] for b in boxes)
            x1, y1 = max(b[2] for b in boxes), max(b[3] for b in boxes)
            runs.append((x0, y0, x1, y1, "".join(char["c"] for char in word), block, line))
    return _decoded(runs)


def _characters(textpage: Any) -> Iterator[tuple[int, int, str, Any]]:
    """Block, line, font and character, in the order of the page."""
    blocks = [block for block in textpage.extractRAWDICT()["blocks"] if block["type"] == 0]
    for b, block in enumerate(blocks):
        for n, line in enumerate(block["lines"]):
            for span in line["spans"]:
                for char in span["chars"]:
                    yield b, n, span["font"], char


def _space(text: str) -> str:
    """UNKNOWN if it stands where the spaces of the text must be, else ""."""
    words = len(text.split())
    spaces = words + text.count(UNKNOWN)
    parts = _UNKNOWN_SPACE.search(text) is not None and UNKNOWN * 2 not in text
    return UNKNOWN if parts and _LONGEST_WORD * words < len(text) < _LONGEST_WORD * spaces else ""


def _turned(runs: list[Run], textpage: Any) -> list[Run]:
    """With the letters of the ligature lam-alef in their order.

    MuPDF turns Arabic round character by character, the two letters of the one sign as well. The
    second of the two has no width.
    """
    letters: dict[tuple[int, int], list[tuple[str, bool]]] = {}
    for block, line, _, char in _characters(textpage):
        if not char["c"].isspace():
            thin = char["bbox"][2] - char["bbox"][0] < 0.01
            letters.setdefault((block, line), []).append((char["c"], thin))
    turned: list[Run] = []
    at: Counter[tuple[int, int]] = Counter()
    for run in runs:
        key = run[5:]
        signs = letters.get(key, [])[at[key] : at[key] + len(run[4])]
        at[key] += len(run[4])
        text = list(run[4])
        if [c for c, _ in signs] == text:
            for i in range(len(text) - 1):
                if signs[i][1] and _LAM_ALEF.match(text[i] + text[i + 1]):
                    text[i], text[i + 1] = text[i + 1], text[i]
        turned.append((*run[:4], "".join(text), *run[5:]))
    return turned


def _spelled_out(
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
        words = spread(clean(" ".join(text[:cut].split())), box)
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


def _line(words: list[Glyphs], order: int, block: int, turn: int, spans: Sequence[Any]) -> Line:
    frames = [framed((w.x0, w.y0, w.x1, w.y1), turn) for w in words]
    spans = [span for span in spans if span["text"].strip()]
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
        rtl=sum(len(w.text) for w in words if is_rtl(w.text)) * 2 > sum(len(w.text) for w in words),
    )


def _quarter(dx: float, dy: float) -> int:
    """Quarter turns, clockwise, of a writing direction."""
    if abs(dx) >= abs(dy):
        return 0 if dx >= 0 else 2
    return 1 if dy > 0 else 3
