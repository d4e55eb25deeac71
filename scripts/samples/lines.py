"""Lines of text: breaking, hyphenating, measuring and drawing them, with bold and italic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from samples.canvas import BLACK, Canvas, Colour, text_width

Run = tuple[str, str]
"""A font and a text."""
Line = list[list[Run]]
"""The words of a line; a word is several runs when its font changes."""


@dataclass(frozen=True, slots=True)
class Style:
    """Everything that makes one document look different from another."""

    body: str
    bold: str
    italic: str
    head: str
    accent: Colour
    tint: Colour
    size: float = 9.9
    leading: float = 13.7
    justified: bool = False
    margin: float = 54.0
    top: float = 78.0
    bottom: float = 58.0
    gap: float = 24.0
    hyphens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Where a word may be broken: its syllables by its lower-case form."""


def syllables(text: str) -> dict[str, tuple[str, ...]]:
    """`"treat-ment sew-age"` as a table of hyphenations."""
    return {word.replace("-", ""): tuple(word.split("-")) for word in text.split()}


def break_lines(text: str, width: float, font: str, size: float, style: Style) -> list[Line]:
    """Greedy line breaking; raises ValueError for a word wider than the line."""
    words = list(_words(" ".join(text.split()), font, style))[::-1]
    lines: list[Line] = []
    line: Line = []
    while words:
        word = words.pop()
        if line_width([*line, word], size, style) <= width:
            line.append(word)
            continue
        room = width - (line_width([*line, word], size, style) - line_width([word], size, style))
        first, rest = _hyphenate(word, room, size, style)
        if first:
            line.append(first)
            words.append(rest)
        elif line:
            words.append(word)
        else:
            raise ValueError(f"{word!r} is wider than {width:.0f} points")
        lines.append(line)
        line = []
    return [*lines, line] if line else lines


def _hyphenate(
    word: list[Run], room: float, size: float, style: Style
) -> tuple[list[Run], list[Run]]:
    *before, (font, text) = word
    letters = re.search(r"[A-Za-z]{5,}", text)
    cuts = [(cut.end(), "") for cut in re.finditer(r"(?<=\w)-(?=\w)", text)]
    if letters and letters.group().lower() in style.hyphens:
        cut = letters.start()
        for syllable in style.hyphens[letters.group().lower()][:-1]:
            cut += len(syllable)
            cuts.append((cut, "-"))
    for cut, hyphen in sorted(cuts, reverse=True):
        head = [*before, (font, text[:cut] + hyphen)]
        if line_width([head], size, style) <= room:
            return head, [(font, text[cut:])]
    return [], word


def line_width(line: Line, size: float, style: Style) -> float:
    spaces = text_width(" ", style.body, size) * (len(line) - 1)
    return spaces + sum(text_width(text, font, size) for word in line for font, text in word)


def draw_line(
    canvas: Canvas,
    x: float,
    base: float,
    line: Line,
    size: float,
    style: Style,
    colour: Colour = BLACK,
    *,
    fit: float | None = None,
) -> None:
    space = text_width(" ", style.body, size)
    runs: list[Run] = []
    for position, word in enumerate(line):
        for part, (font, text) in enumerate(word):
            spaced = text if part or not position else " " + text
            if runs and runs[-1][0] == font:
                runs[-1] = (font, runs[-1][1] + spaced)
            else:
                runs.append((font, spaced))
    spaces = sum(text.count(" ") for _, text in runs)
    extra = (fit - line_width(line, size, style)) / spaces if fit and spaces else 0.0
    for font, text in runs:
        own = text_width(" ", font, size)
        x = canvas.text(x, base, text, font, size, colour, word_space=extra + space - own)


def _words(text: str, font: str, style: Style) -> Iterator[list[Run]]:
    """Splits at spaces and at the marks for bold and italic; `~` is a space that does not break."""
    current, word = font, []
    for token in re.findall(r"\*\*|\*| |[^* ]+", text):
        if token == " ":
            if word:
                yield word
            word = []
        elif token in ("**", "*"):
            wanted = style.bold if token == "**" else style.italic
            current = font if current == wanted else wanted
        else:
            word.append((current, token.replace("~", " ")))
    if word:
        yield word
