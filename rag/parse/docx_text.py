"""Formulas and symbol-font characters of Word files as plain text."""

from __future__ import annotations

from rag.parse.archive import Element, child, local

_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
_SYMBOL = {0xA3: "≤", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB7: "•", 0xB9: "≠",
           0xA5: "∞", 0xAE: "→", 0xD6: "√", 0xE5: "∑"}  # fmt: skip
_WINGDINGS = {0x6F: "☐", 0xA8: "☐", 0xFC: "✓", 0xFB: "✗", 0xFD: "☒", 0xFE: "☑", 0x78: "☒",
              0xE0: "→", 0xA7: "•", 0x9F: "•", 0x6C: "•", 0x6E: "•"}  # fmt: skip


def symbol(font: str, code: str) -> str:
    """The character behind w:sym; "" for a picture that has no counterpart in Unicode."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        number -= 0xF000
    if font == "Symbol":
        return (
            _SYMBOL.get(number) or _GREEK.get(chr(number)) or (chr(number) if number < 128 else "")
        )
    if font.startswith("Wingdings"):
        return _WINGDINGS.get(number, "")
    return chr(number) if number >= 32 else ""


def math(element: Element) -> str:
    """A formula on one line: (a+b)/2, x^2, x_i; other structures by their parts in order."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name == "f":
        return f"{_group(element, 'num')}/{_group(element, 'den')}"
    if name in ("sSup", "sSub"):
        mark, part = ("^", "sup") if name == "sSup" else ("_", "sub")
        return f"{_group(element, 'e')}{mark}{_group(element, part)}"
    if name == "rad":
        return f"√{_group(element, 'e')}"
    return "".join(math(part) for part in element)


def _group(element: Element, name: str) -> str:
    part = child(element, name)
    text = "" if part is None else math(part)
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
