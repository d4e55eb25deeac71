"""FreeDict's dictionaries -> rag/models/dictionaries, words of other languages with their English.

    python scripts/dictionaries.py --dictd /usr/share/dictd [--out FOLDER]

The folder holds `freedict-<pair>.dict.dz` and `.index`, as Debian's packages dict-freedict-deu-eng,
-eng-deu, -nld-eng, -eng-nld, -fra-eng, -eng-fra, -fra-deu, -deu-fra, -spa-eng, -eng-spa, -spa-deu,
-deu-spa, -por-eng, -eng-por, -por-deu, -deu-por, -ita-eng, -eng-ita, -ita-deu, -deu-ita, -fra-ita,
-ita-spa, -ara-eng, -eng-ara, -ell-eng, -eng-ell, -eng-hin, -eng-rus, -deu-rus and -fra-rus install
them. Small dictionaries are completed through a third language.

A line is `word<TAB>translation|translation`, the most likely first.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag.embed import bundled_model
from rag.gloss import DICTIONARIES
from rag.keyword import INDIC

Table = dict[str, Counter[str]]
"""Word -> translation -> how much speaks for it."""

MOST_TRANSLATIONS = 4
MOST_SENSES = 6
"""Translations of an entry that are read."""
THROUGH = 3
"""Translations into the third language, and from there, that are followed."""
THROUGH_WEIGHT = 0.15
FIRST_WORD, LAST_WORD = 2_000, 30_522
"""Places in the embedder's vocabulary, which is sorted by frequency: whole words, roughly."""

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LETTER = rf"(?:[^\W\d_]|[{INDIC}])"
_WORD = re.compile(rf"{_LETTER}+(?:[’'-]{_LETTER}+)*")
_NOTES = re.compile(r'<[^>]*>|\([^)]*\)|\[[^\]]*\]|/[^/]*/|\{[^}]*\}|"[^"]*"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dictd", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=DICTIONARIES)
    options = parser.parse_args()

    def pair(source: str, target: str) -> Table:
        """Of the dictionary itself and its counterpart, whichever of them are there."""
        there = _table(_entries(options.dictd / f"freedict-{source}-{target}"))
        back = _table(_entries(options.dictd / f"freedict-{target}-{source}"))
        return _together([there, _turned(back)])

    german = pair("deu", "eng")
    french = _together([pair("fra", "eng"), _through(pair("fra", "deu"), german)])
    spanish = _together([pair("spa", "eng"), _through(pair("spa", "deu"), german)])
    italian = [
        pair("ita", "eng"),
        _through(pair("ita", "deu"), german),
        _through(pair("ita", "fra"), french),
        _through(pair("ita", "spa"), spanish),
    ]
    russian = [
        pair("rus", "eng"),
        _through(pair("rus", "deu"), german),
        _through(pair("rus", "fra"), french),
    ]
    tables = {
        "ar": pair("ara", "eng"),
        "de": german,
        "el": pair("ell", "eng"),
        "es": spanish,
        "fr": french,
        "hi": pair("hin", "eng"),
        "it": _together(italian),
        "nl": pair("nld", "eng"),
        "pt": _together([pair("por", "eng"), _through(pair("por", "deu"), german)]),
        "ru": _together(russian),
    }
    vocabulary = (bundled_model() / "vocab.txt").read_text("utf-8").split("\n")
    places = {word: place for place, word in enumerate(vocabulary)}
    options.out.mkdir(parents=True, exist_ok=True)
    for language, table in tables.items():
        lines = sorted(_lines(table, places))
        packed = lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
        (options.out / f"{language}.tsv.xz").write_bytes(packed)
        print(f"{language}: {len(lines):,} words, {len(packed) / 1000:,.0f} kB")


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    """(word in small letters, text of its entry) of a dictd dictionary; none where there is none.

    The index gives each entry's offset and length in base 64, most significant digit first.
    """
    index = path.with_suffix(".index")
    if not index.exists():
        return
    data = gzip.decompress(path.with_suffix(".dict.dz").read_bytes())
    for line in index.read_text("utf-8").splitlines():
        word, offset, length = line.split("\t")[:3]
        if not word.startswith("00"):
            start = _number(offset)
            text = data[start : start + _number(length)].decode("utf-8", "replace")
            yield word.lower(), text


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * 64 + _DIGITS.index(digit)
    return number


def _table(entries: Iterable[tuple[str, str]]) -> Table:
    """The first translation of an entry counts 1, the second a half, and so on."""
    table: Table = defaultdict(Counter)
    for word, text in entries:
        if len(word.split()) <= 2:
            for rank, sense in enumerate(_senses(text)[:MOST_SENSES], start=1):
                table[word][sense] += 1 / rank
    return table


def _senses(text: str) -> list[str]:
    """The first line repeats the word; examples are set in, and cross references named."""
    senses: list[str] = []
    for line in text.split("\n")[1:]:
        if line.startswith("      ") or re.search(r"synonym|\bsee:", line, re.IGNORECASE):
            continue
        line = _NOTES.sub("", re.sub(r"^\s*\d+\.\s*", "", line))
        senses += [sense.strip(" .!?-").lower() for sense in re.split("[,;]", line)]
    return [sense for sense in senses if 0 < len(sense.split()) <= 3]


def _turned(table: Table) -> Table:
    turned: Table = defaultdict(Counter)
    for word, translations in table.items():
        for translation, weight in translations.items():
            turned[translation][word] += weight
    return turned


def _together(tables: Iterable[Table]) -> Table:
    sums: Table = defaultdict(Counter)
    for table in tables:
        for word, translations in table.items():
            for translation, weight in translations.items():
                sums[word][translation] += weight
    return sums


def _through(first: Table, second: Table) -> Table:
    found: Table = defaultdict(Counter)
    for word, between in first.items():
        for middle, weight in between.most_common(THROUGH):
            for translation, more in second.get(middle, Counter()).most_common(THROUGH):
                found[word][translation] += THROUGH_WEIGHT * weight * more
    return found


def _lines(table: Table, places: dict[str, int]) -> Iterator[str]:
    """Kept are single words, with translations of one or two words that the embedder knows whole,
    or for want of those with single ones that it does not; common translations come first."""

    def worth(translation: str, weight: float) -> float:
        rarest = max(places.get(part, LAST_WORD) for part in translation.replace("-", " ").split())
        rarity = math.log(max(rarest, FIRST_WORD) / FIRST_WORD) / math.log(LAST_WORD / FIRST_WORD)
        return weight * (1.5 - rarity) * (0.7 if " " in translation else 1.0)

    for word, translations in table.items():
        if not _WORD.fullmatch(word):
            continue
        known, others = {}, {}
        for translation, weight in translations.items():
            parts = translation.replace("-", " ").split()
            if 0 < len(parts) <= 2 and all(part in places for part in parts):
                known[translation] = worth(translation, weight)
            elif len(parts) == 1 and _WORD.fullmatch(translation):
                others[translation] = worth(translation, weight)
        chosen = known or others
        best = sorted(chosen, key=lambda t: (-chosen[t], len(t), t))[:MOST_TRANSLATIONS]
        if best:
            yield f"{word}\t{'|'.join(best)}"


if __name__ == "__main__":
    main()
