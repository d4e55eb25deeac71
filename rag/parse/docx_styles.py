"""What a Word file's styles and numbering say about a paragraph: heading level, hidden, number."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from rag.parse.archive import Element, attribute, child, local

_MONOSPACED = re.compile(r"courier|consolas|mono|menlo|monaco|lucida console|cascadia", re.I)
_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    level: int = 0
    """Of a heading, 1 to 6; 0 for other paragraphs."""
    hidden: bool = False
    mono: bool = False
    number: str = ""
    """Id of the list whose numbers the style brings along."""
    number_level: int = 0


def read_styles(root: Element | None) -> dict[str, Style]:
    """Style id -> style, with what it inherits from the style it is based on."""
    if root is None:
        return {}
    elements = {attribute(e, "styleId"): e for e in root if local(e) == "style"}
    styles: dict[str, Style] = {}

    def resolve(key: str, seen: frozenset[str]) -> Style:
        if key in styles or key in seen or key not in elements:
            return styles.get(key, Style())
        element = elements[key]
        base = resolve(value(child(element, "basedOn")), seen | {key})
        properties = child(element, "pPr")
        run = child(element, "rPr")
        numbering = child(properties, "numPr")
        styles[key] = Style(
            level=_level(element, properties, base.level),
            hidden=flag(child(run, "vanish"), base.hidden),
            mono=monospaced(run, base.mono),
            number=value(child(numbering, "numId")) or base.number,
            number_level=integer(value(child(numbering, "ilvl")), base.number_level),
        )
        return styles[key]

    for key in elements:
        resolve(key, frozenset())
    return styles


def _level(style: Element, properties: Element | None, inherited: int) -> int:
    name = value(child(style, "name")).lower()
    if name == "title":
        return 1
    numbered = re.fullmatch(r"heading (\d)", name)
    if numbered:
        return min(int(numbered.group(1)), 6)
    return outline(properties, inherited)


def outline(properties: Element | None, default: int) -> int:
    """The heading level that an outline level (0 to 8, 9 is body text) stands for."""
    element = child(properties, "outlineLvl")
    if element is None:
        return default
    level = integer(value(element), 9)
    return 0 if level > 8 else min(level + 1, 6)


def monospaced(run: Element | None, default: bool) -> bool:
    fonts = child(run, "rFonts")
    font = "" if fonts is None else attribute(fonts, "ascii")
    return bool(_MONOSPACED.search(font)) if font else default


def value(element: Element | None) -> str:
    return "" if element is None else attribute(element, "val")


def flag(element: Element | None, default: bool = False) -> bool:
    """A toggle: present means on, unless it says otherwise."""
    return default if element is None else value(element) not in ("0", "false", "off")


def integer(text: str, default: int = 0) -> int:
    try:
        return int(text)
    except ValueError:
        return default


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    text: str
    start: int


class Numbering:
    """Counts the numbered paragraphs of a document, in document order."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for element in () if root is None else root:
            if local(element) == "abstractNum":
                self._levels[attribute(element, "abstractNumId")] = dict(
                    _read_level(e) for e in element if local(e) == "lvl"
                )
        for element in () if root is None else root:
            if local(element) == "num":
                self._read_num(element)

    def _read_num(self, element: Element) -> None:
        key = attribute(element, "numId")
        abstract = value(child(element, "abstractNumId"))
        levels = dict(self._levels.get(abstract, {}))
        restarted = False
        for override in element:
            if local(override) != "lvlOverride":
                continue
            changed = child(override, "lvl")
            index = integer(attribute(override, "ilvl"))
            if changed is not None:
                levels[index] = _read_level(changed)[1]
            start = child(override, "startOverride")
            if start is not None and index in levels:
                restarted = True
                old = levels[index]
                levels[index] = _Level(old.format, old.text, integer(value(start), 1))
        # Lists share their counters through the abstract list, unless one restarts.
        self._abstract[key] = key + "!" if restarted else abstract
        self._levels[key + "!"] = levels

    def label(self, number: str, level: int) -> str:
        """The next number of list `number`, as "4.2." or "-" for a bullet; "" for none."""
        levels = self._levels.get(number + "!", {})
        if level not in levels:
            return ""
        counts = self._counts[self._abstract[number]]
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in [key for key in counts if key > level]:
            del counts[deeper]
        definition = levels[level]
        if definition.format == "bullet":
            return "-"
        if definition.format == "none":
            return ""

        def number_of(match: re.Match[str]) -> str:
            index = int(match.group(1)) - 1
            if index not in levels:
                return ""
            count = counts.setdefault(index, levels[index].start)
            return format_number(count, levels[index].format)

        return _PLACEHOLDER.sub(number_of, definition.text).strip()


def _read_level(element: Element) -> tuple[int, _Level]:
    return integer(attribute(element, "ilvl")), _Level(
        value(child(element, "numFmt")) or "decimal",
        value(child(element, "lvlText")),
        integer(value(child(element, "start")), 1),
    )


def format_number(number: int, kind: str) -> str:
    """A list number as Word prints it; kinds that are rare are printed in digits."""
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min(1 + (number - 1) // 26, 20)
        return letter.upper() if kind == "upperLetter" else letter
    if kind in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = ""
        for size, digits in _ROMAN:
            roman += digits * (number // size)
            number %= size
        return roman if kind == "lowerRoman" else roman.upper()
    return f"{number:02d}" if kind == "decimalZero" else str(number)


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
