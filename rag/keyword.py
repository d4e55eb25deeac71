"""Text -> tokens -> BM25 scores (rank-bm25) over the same chunks that are embedded.

Tokens are case-folded, accents are dropped, and words are stemmed by Snowball in the document's
language; runs of scripts without spaces (Chinese, Japanese, Thai), and Korean ones, become
character pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
import Stemmer
from rank_bm25 import BM25Plus

_STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "nb": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"  # CJK
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
INDIC = "\u0900-\u0963\u0966-\u0dff"
"""Devanagari to Sinhala, whose vowel signs are marks, which \\w leaves out; without the danda, a
full stop."""
_PAIRED = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]+|\d+(?:[.,]\d+)+|(?:[^\W_{_UNSPACED}]|[{INDIC}])+")
_YEAR = re.compile(r"(?<=[^\W\d_])(?=\d{4}(?!\d))|(?<=\d{4})(?<!\d{5})(?=[^\W\d_])")
"""Between a year and the letters it is written together with: "FY2022", "2023Q4"."""
_MARKS = re.compile(r"[\u0300-\u036f]")


@lru_cache(maxsize=32)
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_STEMMERS.get(language, "english"))


def tokens(text: str, language: str = "en") -> list[str]:
    """Stemmed tokens in reading order; `language` is ISO 639-1, unknown ones stem as English.

    A number keeps its separators ("1,234.5" is one token) so that it matches only itself; a year
    is a token of its own ("2023Q4" is two).
    """
    folded = parted_years(_folded(text))
    stem = _stemmer(language).stemWord
    found: list[str] = []
    for match in _TOKEN.finditer(folded):
        word = match.group()
        if _PAIRED.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        elif word[0].isdigit():
            found.append(word)
        else:
            found.append(stem(word))
    return found


def stems(words: Sequence[str], language: str) -> list[str]:
    """What `tokens` makes of each word, for many at once; of letters only."""
    stemmer = Stemmer.Stemmer(_STEMMERS.get(language, "english"), 0)  # a cache would only cost time
    found: list[str] = stemmer.stemWords(_folded("\n".join(words)).split("\n"))
    return found


def _folded(text: str) -> str:
    folded = _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()
    # NFKD takes Hangul syllables apart; composing again keeps them one character each.
    return unicodedata.normalize("NFC", folded)


def parted_years(text: str) -> str:
    """With a space between a year and letters: "fy 2022 q4" of "fy2022q4"."""
    return _YEAR.sub(" ", text)


class Scorer(Protocol):
    def get_scores(self, query: Sequence[str]) -> np.ndarray: ...

    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[float]: ...


class KeywordIndex:
    """BM25 over chunks, immutable: build a new one when the chunks change.

    BM25Plus with delta 0 is BM25 with an idf that is never negative; BM25Okapi scores 0 for a
    word that stands in half of the chunks, which in a library of two chunks is every word.
    """

    def __init__(self, entries: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """`entries`: (chunk id, document id, tokens)."""
        self._ids: list[str] = []
        self._places: dict[str, list[int]] = {}
        corpus: list[Sequence[str]] = []
        for place, (chunk_id, document_id, words) in enumerate(entries):
            self._ids.append(chunk_id)
            self._places.setdefault(document_id, []).append(place)
            corpus.append(words)
        # rank-bm25 divides by the corpus size and by the mean length.
        self._bm25: Scorer | None = (
            BM25Plus(corpus, k1=1.2, b=0.75, delta=0) if any(corpus) else None
        )

    def __len__(self) -> int:
        return len(self._ids)

    def search(
        self, query: Sequence[str], limit: int, documents: Sequence[str] = ()
    ) -> list[tuple[str, float]]:
        """(chunk id, score), best first; chunks without any word of the query are left out."""
        if self._bm25 is None or not query:
            return []
        terms = list(dict.fromkeys(query))
        places: Sequence[int] = range(len(self._ids))
        if documents:
            places = sorted({place for d in documents for place in self._places.get(d, ())})
            scores = np.asarray(self._bm25.get_batch_scores(terms, places))
        else:
            scores = self._bm25.get_scores(terms)
        count = min(limit, int((scores > 0).sum()))
        best = np.argsort(-scores, kind="stable")[:count]
        return [(self._ids[places[i]], float(scores[i])) for i in best]
