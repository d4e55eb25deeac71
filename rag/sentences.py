"""Text -> the spans of its sentences, in order. Pure.

A list item, a heading, a line of code and a table row (Markdown's, or a line of cells that are two
spaces apart) are units of their own, whatever their punctuation; a paragraph is split after full
stops that end a sentence, and a line break inside it means nothing. Bullets, `#` marks, code fences
and the rule under a table's header belong to no unit.

Rules and not a library: pysbd 0.3.4, the one that gives offsets, has had no release since 2021,
warns on Python 3.12 and takes list items apart; models for it are larger than this app.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LONGEST = 600
"""Characters; a longer unit (a table drawn without rules, a list without bullets) is cut at line
ends into pieces of half of that."""

_PIPE = re.compile(r"(?<!\\)\|")
_GAP = re.compile(r"(?<=[^\s.!?])[ \t]{2,}(?=\S)")  # some put two spaces after a full stop
_FENCE = re.compile(r"(?:```|~~~)")
_RULE_MARKS = frozenset("|:-_=* \t")
_LONGEST_TITLE = 80
_LAST_LINE = 0.6

_HEADING = re.compile(r"#{1,6}\s+")
_BULLET = re.compile(r"(?:[-*+•·▪▫◦‣●○■□–—✓►➢]|\uf0b7|>)\s+(?=\S)")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s+(?=\S)")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)|[。！？｡؟।][」』”’）]*")
_LAST_WORD = re.compile(r"[^\W_]+(?:\.\s?[^\W_]+)*$")

_GERMAN_MONTH = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_ABBREVIATIONS = _words(
    "mr mrs ms dr prof st hon rev gen sen rep gov sgt col capt messrs mme mlle mm me "
    "e.g i.e eg ie viz cf vs v approx resp incl excl esp dept ext tel "
    "bzw vgl bsp evtl ggf inkl zzgl ca sog hr fr frau z.b d.h u.a i.d.r p.ex c.-à-d env "
    "ej sr sra dra dott sig"
)
"""Never the end of a sentence."""
_BEFORE_NUMBERS = _words(
    "no nos nr núm num fig figs tab eq eqs sec sect ch chap vol p pp pg art arts abs par para "
    "cl ex app item ref bd s z jan feb mar apr jun jul aug sep sept oct nov dec est"
)
"""No end of a sentence when a number follows: "No. 5", "Fig. 2"."""


def split(text: str, headings: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Spans `(start, end)`, half-open, without white space at their ends.

    `headings`: spans whose lines are known to be headings, marked as such or not.
    """
    spans: list[tuple[int, int]] = []
    for start, end, whole in _blocks(text, headings):
        for span in [(start, end)] if whole else _sentences(text, start, end):
            spans.extend(_cut(text, *span))
    return spans


def cells(line: str) -> list[str]:
    """Of a table row, Markdown or with cells two spaces apart; one cell for any other line."""
    if line.lstrip().startswith("|"):
        parts = _PIPE.split(line.strip().strip("|"))
    else:
        parts = _GAP.split(line.strip())
    return [" ".join(part.split()) for part in parts]


def is_title(line: str) -> bool:
    """A line Set Like This, or LIKE THIS, with no full stop: most likely a heading."""
    words = re.findall(r"[^\W\d_]{4,}", line)
    return (
        bool(words)
        and len(line) <= _LONGEST_TITLE
        and line.rstrip()[-1] not in ".!;:,-"
        and all(word[0].isupper() for word in words)
        and (line.isupper() or len(line.split()) > 1)
    )


def _blocks(text: str, headings: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Start, end, and whether the block is one unit."""
    begun: int | None = None
    last = width = 0
    code = False
    lines = list(re.finditer(r"[^\n]+|\n[^\S\n]*(?=\n)", text))
    for line, row in zip(lines, _rows([line[0] for line in lines]), strict=True):
        content = line[0].lstrip()
        first = line.end() - len(content)
        fence = _FENCE.match(content)
        code ^= fence is not None
        rule = fence or _RULE_MARKS.issuperset(content)  # so is an empty line
        heading = None if code else _HEADING.match(content)
        known = any(start <= first < end for start, end in headings)
        bullet = _BULLET.match(content)
        # Wrapped lines are about as wide as each other, so a short one was the last.
        fresh = content[:1].isupper() and width < _LAST_LINE * len(content)
        width = len(content)
        whole = code or row or heading or known
        if begun is not None and (rule or whole or bullet or fresh or _NUMBERED.match(content)):
            yield begun, last, False
            begun = None
        if rule:
            continue
        if whole:
            yield first + (heading.end() if heading else 0), line.end(), True
            continue
        if begun is None:
            begun = first + (bullet.end() if bullet else 0)
        last = line.end()
        # A title closes its block unless the next line goes on in lower case.
        if begun == first and is_title(content) and not text[last + 1 : last + 2].islower():
            yield begun, last, True
            begun = None
    if begun is not None:
        yield begun, last, False


def _rows(lines: Sequence[str]) -> list[bool]:
    """Which lines are table rows; one line alone with a gap in it is none."""
    gaps = [False, *(len(cells(line)) > 1 for line in lines), False]
    return [
        line.lstrip().startswith("|") or (gaps[at] and (gaps[at - 1] or gaps[at + 1]))
        for at, line in enumerate(lines, start=1)
    ]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begun = start
    for mark in _END.finditer(text, start, end):
        following = text[mark.end() : min(end, mark.end() + 40)].lstrip()
        if not following:
            continue
        if mark[0][0] in ".!?…" and (
            following[0].islower()
            or following[0] in "/,;:%)"
            or _abbreviates(text[begun : mark.start()], mark[0], following)
        ):
            continue
        yield begun, mark.end()
        begun = mark.end()
    yield begun, end


def _abbreviates(before: str, mark: str, following: str) -> bool:
    if mark != ".":
        return False
    found = _LAST_WORD.search(before[-40:])
    if found is None:
        return False
    word = re.sub(r"\s", "", found[0].lower())
    tail = word.rsplit(".", 1)[-1]
    if word in _ABBREVIATIONS or tail in _ABBREVIATIONS:
        return True
    if following[0].isdigit() and tail in _BEFORE_NUMBERS:
        return True
    if len(tail) == 1 and tail.isalpha():
        return True  # an initial, "z. B."
    if not tail.isdigit() or len(tail) > 2:
        return False
    # "1. Scope", "am 3. Oktober".
    return word == before.strip(" (") or _GERMAN_MONTH.match(following) is not None


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Trimmed, and cut at line ends where it is too long to quote."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        at = text.rfind("\n", start + 1, start + LONGEST // 2)
        if at < 0:
            at = text.find("\n", start + 1, end)
        if at < 0:
            break
        yield start, at
        start = at + 1
    if end > start:
        yield start, end
