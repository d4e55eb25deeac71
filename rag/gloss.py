"""Question -> the same in the documents' language, word by word, without any model.

A dictionary gives a word's likely translations, and the documents choose: of "battery" and
"accumulator" the one that they use. That is what BM25 needs, and an embedder or re-ranker that
reads English understands broken English (query translation: Ballesteros and Croft, SIGIR 1997).
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from rag.keyword import INDIC, stems, tokens
from rag.language import detect_language, script
from rag.stop_words import is_stop_word, spoken

DICTIONARIES = Path(__file__).parent / "models" / "dictionaries"

LANGUAGES = ("ar", "de", "el", "es", "fr", "hi", "it", "nl", "pt", "ru")
"""Those with a dictionary to and from English, ISO 639-1."""

_SCRIPTS = {"ARABIC": "ar", "CYRILLIC": "ru", "DEVANAGARI": "hi", "GREEK": "el"}
"""The language that a script is taken for, by the first word of its letters' Unicode names."""
_ASKING = {
    "de": "wer=who was=what wann=when wo=where wie=how warum=why welche=which welcher=which"
    " welches=which viel=much viele=many nicht=not ohne=without kein=no keine=no",
    "es": "quién=who qué=what cuándo=when dónde=where cómo=how cuál=which cuáles=which"
    " cuánto=how_much cuánta=how_much cuántos=how_many cuántas=how_many sin=without",
    "fr": "qui=who quand=when où=where comment=how pourquoi=why quel=which quelle=which"
    " quels=which quelles=which combien=how_many sans=without",
    "it": "chi=who quando=when dove=where come=how perché=why quale=which quali=which"
    " quanto=how_much quanta=how_much quanti=how_many quante=how_many senza=without",
    "nl": "wie=who wat=what wanneer=when waar=where hoe=how waarom=why welk=which welke=which"
    " veel=many niet=not zonder=without geen=no",
    "pt": "quem=who quando=when onde=where como=how qual=which quais=which quanto=how_much"
    " quantos=how_many quantas=how_many sem=without",
}
"""Words without content that tell what kind of answer is asked for."""
CHOSEN = 2
"""Translations of a word that are searched for."""
_ENDING = 2
"""Letters that are taken off the stem of an unknown word: irregular verbs ("parcourt")."""
_SHORTEST_PART = 4
"""Letters of each half of a compound."""
_WORD = re.compile(rf"[\w{INDIC}]+(?:[.,’'-][\w{INDIC}]+)*")

Known = Callable[[str], bool]
"""Whether the documents hold all words of a text."""


@dataclass(frozen=True, slots=True)
class _Dictionary:
    words: Mapping[str, str]
    """Word -> translations parted by "|"."""
    stems: Mapping[str, str]
    """Stem -> the same, of all words with it."""

    def translations(self, word: str, language: str) -> Sequence[str]:
        """The most likely first, those of other words with its stem last; none if unknown."""
        stem = " ".join(tokens(word, language))
        cuts = range(_ENDING + 1 if word.islower() else 1)  # a verb has no capital, a name has
        shorter = (stem[: len(stem) - cut] for cut in cuts)
        word = word.lower()
        own, same = self.words.get(word, ""), next(filter(None, map(self.stems.get, shorter)), "")
        return list(dict.fromkeys(filter(None, f"{own}|{same}".split("|"))))


@dataclass(frozen=True, slots=True)
class Gloss:
    text: str
    others: str
    """Second translations, for a search by words."""
    source: str
    """The language that the question is in."""


def gloss(question: str, language: str, known: Known) -> Gloss | None:
    """`question` in `language`; None when it is in that already, or when there is no dictionary
    between the two.

    `known` chooses among translations. Words that no dictionary has stay: names, numbers, codes.
    """
    source = _source(question, language)
    if language == "en" and source in LANGUAGES:
        said = _into_english(question, source, known)
    elif language in LANGUAGES and source == "en":
        said = _from_english(question, language, known)
    else:
        return None
    text = " ".join(words[0] for words in said)
    others = " ".join(word for words in said for word in words[1:CHOSEN])
    return Gloss(text, others, source) if text else None


def _source(question: str, language: str) -> str:
    """The language of the question; "" when it is not clear, or `language`.

    One stop word is not enough to tell a language: "a" and "me" are in several.
    """
    if known := _SCRIPTS.get(script(question)):
        return known if known != language else ""
    source = spoken(question, language)
    words = {word.lower() for word in _WORD.findall(question)}
    sure = sum(is_stop_word(word, source) for word in words) >= 2
    if source == language or not sure:
        return ""
    # Romanian has stop words of French, but it is no French.
    return source if detect_language(question) in (source, "") else ""


def _into_english(question: str, source: str, known: Known) -> list[Sequence[str]]:
    """For each word its translations."""
    dictionary, asking = _dictionary(source), _asking(source)
    said: list[Sequence[str]] = []
    for place, word in enumerate(_parts(question, source)):
        if kind := asking.get(word.lower()):
            said.append([kind])
        elif is_stop_word(word, source):
            continue
        elif _stays(word, place, known):
            said.append([word])
        else:
            found = dictionary.translations(word, source) or _halves(word, source, known)
            said.append(_chosen(found, known) or [word])
    return said


def _from_english(question: str, target: str, known: Known) -> list[Sequence[str]]:
    """For each word its translations; a word that the documents hold comes second at the latest,
    for they may be in English after all: a list of addresses looks German.
    """
    dictionary = _reversed(target)
    said: list[Sequence[str]] = []
    for place, word in enumerate(_parts(question, "en")):
        if is_stop_word(word, "en"):
            continue
        found = () if _stays(word, place, known) else dictionary.translations(word, "en")
        chosen = _chosen(found, known) or [word]
        said.append([chosen[0], word] if known(word) and chosen[0] != word else chosen)
    return said


def _stays(word: str, place: int, known: Known) -> bool:
    """A number, a name, or a word that is the same in both languages."""
    return not word[0].isalpha() or (place > 0 and word[0].isupper() and known(word))


def _parts(question: str, language: str) -> list[str]:
    """Words; "l'hôtel" and "parcourt-elle" are two."""
    return [
        part
        for word in _WORD.findall(question)
        for part in (re.split("[’'-]", word) if language != "en" else [word])
        if part
    ]


def _chosen(translations: Sequence[str], known: Known) -> Sequence[str]:
    """Those that the documents use; all if they use none."""
    return list(filter(known, translations)) or translations


def _halves(word: str, language: str, known: Known) -> Sequence[str]:
    """Of "Regenverdeck" the words for "Regen" and "Verdeck", where the language joins words."""
    if language not in ("de", "nl"):
        return ()
    dictionary = _dictionary(language)
    words = dictionary.words
    for at in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        first, second = word[:at].lower(), word[at:].lower()
        first = first if first in words else first.removesuffix("s")
        if first in words and (rest := dictionary.translations(second, language)):
            head = _chosen(words[first].split("|"), known)
            return (f"{head[0]} {_chosen(rest, known)[0]}",)
    return ()


@lru_cache(maxsize=len(LANGUAGES))
def _asking(language: str) -> dict[str, str]:
    pairs = (pair.split("=") for pair in _ASKING.get(language, "").split())
    return {word: english.replace("_", " ") for word, english in pairs}


@lru_cache(maxsize=2)
def _dictionary(language: str) -> _Dictionary:
    """About 0.6 s and 80 MB for the largest."""
    packed = (DICTIONARIES / f"{language}.tsv.xz").read_bytes()
    lines = lzma.decompress(packed).decode().split("\n")
    return _with_stems(dict(line.split("\t") for line in lines), language)


@lru_cache(maxsize=1)
def _reversed(language: str) -> _Dictionary:
    """From English: a word whose first translation it is comes before one whose second it is, and
    of those the shorter, which is the commoner."""
    ranked: dict[str, list[tuple[int, str]]] = {}
    for word, translations in _dictionary(language).words.items():
        for rank, english in enumerate(translations.split("|")):
            ranked.setdefault(english, []).append((rank, word))
    words = {
        english: "|".join(
            word for _, word in sorted(found, key=lambda pair: (pair[0], len(pair[1])))
        )
        for english, found in ranked.items()
    }
    return _with_stems(words, "en")


def _with_stems(words: dict[str, str], language: str) -> _Dictionary:
    """Of words with one stem the likeliest translations come first: "costs" for "kostet", which
    has its stem from "kosten" (costs) and "Kost" (food)."""
    same: dict[str, list[str]] = {}
    for stem, translations in zip(stems(list(words), language), words.values(), strict=True):
        same.setdefault(stem, []).append(translations)
    return _Dictionary(words, {stem: _in_turn(found) for stem, found in same.items()})


def _in_turn(found: Sequence[str]) -> str:
    if len(found) == 1:
        return found[0]
    turns = zip_longest(*(translations.split("|") for translations in found))
    return "|".join(dict.fromkeys(t for turn in turns for t in turn if t))
