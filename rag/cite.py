"""A claimed quote and a page's text -> a verified `Citation`, or a `Rejection` with its reason.

Pure. Both sides are reduced to the same bare form, letter by letter, with the way back to the
page's offsets kept; what a citation shows is always the page's own text, never the claim.

What the bare form leaves out: white space, soft and line-end hyphens and every other dash,
quotation marks, bullets, dot leaders, and Markdown's own marks (`|`, `*`, `_`, backtick, `#`, `>`
at a line's start, the rule under a table's header), so that a quote of a table row verifies.
Ligatures are spelled out. It is not NFKC, which would turn 10² into 102. Numbers are compared on
the original text, sign and separators included, so nothing that is left out can change one.

The rules, in order:
1. Exact (case first kept, then folded), whole words preferred, then the place closest to `near`.
2. One contiguous near match of at least 90 % similarity, for quotes of 20 characters or more.
   Its words are the same, in the same order, but for a slip of one letter (two in a word of ten
   letters): a left-out "not", "increase" for "decrease" or another number is no slip.
3. A quote of fewer than 12 characters must be exact, occur once on the page as whole words, and be
   two words or a number. (Characters are counted in the bare form; one of CJK counts twice.)
4. Nothing longer than 4,000 characters.
5. An ellipsis at either end is dropped. Inside a quote it is an omission, and is refused.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA, Levenshtein

from rag.types import Citation, Document, Page, Rejection

MIN_CHARACTERS = 12
MIN_NEAR_CHARACTERS = 20
MAX_CHARACTERS = 4_000
MIN_SIMILARITY = 90.0
"""Per cent, rapidfuzz's normalised Indel similarity."""

_LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
    "\u0132": "IJ",
    "\u0133": "ij",
}
_DROPPED = set("\"'`´‘’‚‛“”„‟‹›«»′″•·▪▫◦‣●○■□|*_#\\−")
_DASH = "-−‐‑‒–"
# Scripts written without spaces: a character is a word of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# \w plus the combining marks that Python's \w lacks.
_LETTER = rf"(?:(?![{_UNSPACED}])[\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff])"
_NUMBER = re.compile(rf"(?:(?<!\w)[{_DASH}])?\d+(?:[.,]\d+)*")
_WORD = re.compile(
    rf"(?:(?<!\w)[{_DASH}](?=\d))?{_LETTER}+"
    rf"(?:(?:(?<=\d)[.,](?=\d)|['’](?=[^\W\d])|\u00ad\s*|(?<=[^\W\d])[-‐]\n[ \t]*(?=[^\W\d]))"
    rf"{_LETTER}+)*"
    rf"|[{_UNSPACED}]|[%‰§<>=≠≤≥≈±+$€£¥]"
)
_NOISE = re.compile(
    r"^[ \t]*+(?:>[ \t]*+)++"  # block quote
    r"|:?-{3,}+:?"  # the rule under a table's header
    r"|<br[ \t]*/?>"  # a line break inside a table cell
    r"|(?:\.[ \t]?){3,}|…",  # dot leader, ellipsis
    re.MULTILINE | re.IGNORECASE,
)
_ELLIPSIS = r"(?:[\[(]\s*)?(?:\.\s?\.\s?\.[.\s]*|…)(?:\s*[\])])?"
_OUTER_ELLIPSIS = re.compile(rf"^\s*{_ELLIPSIS}\s*|\s*{_ELLIPSIS}\s*$")
_INNER_ELLIPSIS = re.compile(rf"\S\s*{_ELLIPSIS}\s*\S")
_QUOTATION_MARKS = "\"'‘’‚“”„«»‹›"


def verify(
    quote: str, page: Page, document: Document, heading: str = "", *, near: int = 0
) -> Citation | Rejection:
    """The quote as it stands on this page.

    Of several equal places the one closest to offset `near` is taken. `heading` defaults to the
    last headings on the page above the quote.
    """
    found = find(quote, page.text, near=near)
    if isinstance(found, str):
        return Rejection(quote, found)
    start, end = found
    return Citation(
        document_id=document.id,
        name=document.name,
        page=page.number,
        label=page.label,
        unit=document.unit,
        start=start,
        end=end,
        quote=page.text[start:end],
        heading=heading or _heading(page, start),
    )


def find(quote: str, text: str, *, near: int = 0) -> tuple[int, int] | str:
    """Where `quote` stands in `text` (snapped outwards to whole words), or why it does not."""
    if len(quote) > MAX_CHARACTERS:
        return f"The quote is longer than {MAX_CHARACTERS} characters. Quote the part that matters."
    quote = _OUTER_ELLIPSIS.sub("", quote.strip())
    bare, _ = _bare(quote, False)
    size = sum(2 if re.match(f"[{_UNSPACED}]", char) else 1 for char in bare)
    if not any(char.isalnum() for char in bare):
        return "The quote has no words."
    short = size < MIN_CHARACTERS
    if short and not _identifies(quote, size):
        return (
            f"The quote is too short to identify a passage: {size} characters. "
            f"Quote at least {MIN_CHARACTERS}."
        )
    for fold in (False, True):
        places = list(islice(_places(quote, text, fold), 200))
        whole = [place for place in places if place[2]]
        if short:
            if len(whole) == 1:
                return whole[0][0], whole[0][1]
            if whole:
                return f"The quote is too short: it occurs {len(whole)} times. Quote more."
        elif places:
            start, end, _ = min(whole or places, key=lambda place: abs(place[0] - near))
            return start, end
    if short:
        return "The quote is not in the text."
    if _INNER_ELLIPSIS.search(quote):
        return "The quote leaves something out (...). Quote one unbroken passage."
    return _near(quote, text)


def numbers(text: str) -> list[str]:
    """The numbers in order, with sign and separators: "−1,200.5 % of 3" -> ["-1,200.5", "3"]."""
    plain = _blank(text)
    return [re.sub(f"[{_DASH}]", "-", match[0]) for match in _NUMBER.finditer(plain)]


def _places(quote: str, text: str, fold: bool) -> Iterator[tuple[int, int, bool]]:
    """Every exact occurrence with the same numbers: start, end, and whether it is whole words."""
    bare, _ = _bare(quote, fold)
    page, offsets = _bare(text, fold)
    wanted = numbers(quote)
    at = page.find(bare)
    while at >= 0:
        first, last = offsets[at], offsets[at + len(bare) - 1] + 1
        start, end = _snap(text, first, last)
        if numbers(text[start:end]) == wanted:
            cut = text[start:first] + text[last:end]
            whole = not any(_form(char, fold) for char in cut)
            yield *_with_quotation_marks(quote, text, start, end), whole
        at = page.find(bare, at + 1)


def _near(quote: str, text: str) -> tuple[int, int] | str:
    """The best contiguous near match, if it differs from the quote by slips alone."""
    bare, _ = _bare(quote, True)
    page, offsets = _bare(text, True)
    missing = "The quote is not in the text."
    if not MIN_NEAR_CHARACTERS <= len(bare) <= len(page) * 1.1:
        return missing
    best = fuzz.partial_ratio_alignment(bare, page, score_cutoff=MIN_SIMILARITY - 5)
    if best is None:
        return missing
    low, high = (best.dest_start, best.dest_end) if len(bare) <= len(page) else (0, len(page))
    low, high = _fit(bare, page, low, high)
    if fuzz.ratio(bare, page[low:high]) < MIN_SIMILARITY:
        return missing
    first, last = offsets[low], offsets[high - 1] + 1
    start, end = _snap(text, first, last)
    if numbers(text[start:end]) != numbers(quote):
        return "The numbers in the quote differ from those in the text."
    claimed = _words(quote)
    # The quote may begin or end inside a word, so the unsnapped span counts as well.
    if not any(_only_slips(claimed, _words(text[a:b])) for a, b in ((start, end), (first, last))):
        return "The quote changes, adds or leaves out words."
    return _with_quotation_marks(quote, text, start, end)


def _fit(bare: str, page: str, low: int, high: int) -> tuple[int, int]:
    """Move both ends of a window that is just as long as the quote to where it fits best."""
    spare = min(30, len(bare) // 10) + 1
    ends = range(max(low + 1, high - spare), min(len(page), high + spare) + 1)
    high = max(ends, key=lambda end: fuzz.ratio(bare, page[low:end]))
    starts = range(max(0, low - spare), min(high - 1, low + spare) + 1)
    return max(starts, key=lambda start: fuzz.ratio(bare, page[start:high])), high


def _only_slips(claimed: list[str], actual: list[str]) -> bool:
    for change in Levenshtein.opcodes(claimed, actual):
        if change.tag == "equal":
            continue
        mine = claimed[change.src_start : change.src_end]
        theirs = actual[change.dest_start : change.dest_end]
        pairs = (
            zip(mine, theirs, strict=True)
            if len(mine) == len(theirs)
            else [("".join(mine), "".join(theirs))]  # words run together or torn apart
        )
        if not all(_slip(a, b) for a, b in pairs):
            return False
    return True


def _slip(a: str, b: str) -> bool:
    if a == b:
        return True
    length = min(len(a), len(b))
    return length >= 4 and OSA.distance(a, b) <= (2 if length >= 10 else 1)


def _words(text: str) -> list[str]:
    bare = (_bare(match[0], True)[0] for match in _WORD.finditer(_blank(text)))
    return [word for word in bare if word]


def _identifies(quote: str, size: int) -> bool:
    return size >= 4 and (len(_words(quote)) >= 2 or bool(numbers(quote)))


def _snap(text: str, start: int, end: int) -> tuple[int, int]:
    """Grow the span to the borders of the words that it cuts."""
    for word in _WORD.finditer(text, max(0, start - 100), min(len(text), end + 100)):
        if word.start() < start < word.end():
            start = word.start()
        if word.start() < end < word.end():
            return start, word.end()
        if word.start() >= end:
            break
    return start, end


def _with_quotation_marks(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The bare form has none, so take those that the claim has at its ends back in."""
    if quote[0] in _QUOTATION_MARKS and start and text[start - 1] in _QUOTATION_MARKS:
        start -= 1
    if quote[-1] in _QUOTATION_MARKS and end < len(text) and text[end] in _QUOTATION_MARKS:
        end += 1
    return start, end


def _blank(text: str) -> str:
    """Noise as spaces of the same length, so that offsets stay."""
    return _NOISE.sub(lambda noise: " " * len(noise[0]), text)


@lru_cache(maxsize=16)
def _bare(text: str, fold: bool) -> tuple[str, array[int]]:
    """The bare form and, for each of its characters, the offset in `text` that it came from."""
    parts: list[str] = []
    offsets = array("I")
    for offset, char in enumerate(_blank(text)):
        for form in _form(char, fold):
            parts.append(form)
            offsets.append(offset)
    return "".join(parts), offsets


@lru_cache(maxsize=8192)
def _form(char: str, fold: bool) -> str:
    if char.isspace() or char in _DROPPED or unicodedata.category(char) in ("Cc", "Cf", "Pd"):
        return ""
    form = _LIGATURES.get(char) or unicodedata.normalize("NFD", char)
    return form.casefold() if fold else form


def _heading(page: Page, start: int) -> str:
    path: list[tuple[int, str]] = []
    for heading in page.headings:
        if heading.start > start:
            break
        path = [outer for outer in path if outer[0] < heading.level]
        path.append((heading.level, heading.title))
    return " › ".join(title for _, title in path)
