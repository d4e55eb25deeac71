"""How well a sentence answers a question, and whether anything found does. Pure.

A question's content words are its stemmed tokens without stop words; how much each of them counts
is learnt from the passages found: a word that stands in all of them tells nothing apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

import numpy as np

from rag.keyword import tokens
from rag.stop_words import content_words

_TERM = re.compile(r"\w+(?:[.,]\d+)*")
_IDENTIFIER = re.compile(r"\b[A-Za-z]+\d\w*|(?<!\d)(?:19|20)\d\d(?!\d)")
_PERIOD = re.compile(r"[qhtp]\d+")
_PART = re.compile(r"\d+|\D+")

THRESHOLD = 0.40
"""Of `support`. Measured on three sets of questions about PDFs with a text layer.

Refused are 11 of 11 off-topic questions, 12 of 20 that were written to look answerable, and 11 of
201 that are answerable, 7 of which would have been answered from a wrong page. With 0.30 it were
10, 6 and 7. The re-ranker's probability added nothing: near misses please it as well.
"""

MOST_CHOSEN = 4
SAME_PAGE = 0.75
OTHER_PAGE = 0.9
COMPARED = 0.65
"""Shares of the best score that a further sentence must reach; of a document that is compared, its
best one."""
SAME_SAID = 0.9
"""Cosine from which two sentences say the same."""


def word_weights(words: Iterable[str], sentences: Sequence[Collection[str]]) -> dict[str, float]:
    """How telling each word is: inverse frequency among the sentences found."""
    return {
        word: math.log(1 + (1 + len(sentences)) / (1 + sum(word in s for s in sentences)))
        for word in words
    }


def coverage(
    weights: Mapping[str, float], words: Collection[str], context: Collection[str] = ()
) -> float:
    """The share of the question, by weight, among `words`; 0 to 1. `context` counts half."""
    total = sum(weights.values())
    if not total:
        return 0.0
    found = sum(
        weight * (1.0 if word in words else 0.5 if word in context else 0.0)
        for word, weight in weights.items()
    )
    return found / total


def relevance(cosine: float, covered: float, passage: float, rank: int) -> float:
    """How well one sentence answers; only comparable within one question.

    `cosine` of question and sentence, `covered` share of the question in the sentence, `passage`
    share of it in the passage around, `rank` of that passage from 0 (a re-ranker's, when there is
    one; its scores have a scale of their own). On handbooks, by cosine alone the first quote was on
    a right page for 0.63, where these weights gave 0.75. The reader adds the re-ranker's score of
    the sentence: handbooks 0.78 to 0.82, mixed 0.77 to 0.79; French 16 to 14 of 22; on paragraphs
    of an encyclopedia the answer is within the first sentence for 0.81 to 0.82.
    """
    return cosine + 0.6 * covered + 0.3 * passage + 0.15 / (1 + rank)


def choose(scores: Sequence[float], vectors: np.ndarray, pages: Sequence[Hashable]) -> list[int]:
    """Indexes of up to four sentences, best first: near the best, and not the same said again.

    A page that the best is not on must come closer to it. Against one sentence, four raise the
    share of the reference answers' words from 0.35 to 0.50 and leave the share of quotes on a
    right page at 0.71 (handbook questions).
    """
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    chosen = order[:1]
    for index in order[1:]:
        known = any(pages[index] == pages[other] for other in chosen)
        enough = (SAME_PAGE if known else OTHER_PAGE) * scores[order[0]]
        again = max(float(vectors[index] @ vectors[other]) for other in chosen) >= SAME_SAID
        if scores[index] >= enough and not again:
            chosen.append(index)
        if len(chosen) == MOST_CHOSEN:
            break
    return chosen


def compare(scores: Sequence[float], documents: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Indexes of the best sentence of each document that was asked about, in that order.

    `documents` are those of the sentences. One that does not come near the best of all is left
    out: its document says nothing of the matter.
    """
    enough = COMPARED * max(scores)
    best: dict[str, int] = {}
    for index in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if scores[index] >= enough:
            best.setdefault(documents[index], index)
    return [best[document] for document in asked if document in best]


def specifics(text: str, language: str) -> frozenset[str]:
    """The stems of numbers, codes and names: an answer that lacks one is about something else.

    A name is a capital letter inside a sentence; not in German, where every noun has one.
    """
    found = [
        match[0]
        for match in _TERM.finditer(text)
        if any(map(str.isdigit, match[0]))
        or (language != "de" and match[0][0].isupper() and not _starts(text[: match.start()]))
    ]
    return frozenset(tokens(" ".join(found), language or "en")) & content_words(text, language)


def unmentioned(question: str, known: Collection[str]) -> str:
    """The first year or code ("2017", "E37") of the question that is not among the `known` tokens,
    as the question writes it; "" when there is none.

    What passages say of other years and codes is no answer. Of a quarter, a half or a page the
    passages may say it in another way.
    """
    for match in _IDENTIFIER.finditer(question):
        numbered = [t for t in tokens(match[0]) if any(map(str.isdigit, t))]
        if not all(_PERIOD.fullmatch(t) or _mentioned(t, known) for t in numbered):
            return match[0]
    return ""


def _mentioned(token: str, known: Collection[str]) -> bool:
    """Also as "2019-20" (2020) or "E 37" ("e37")."""
    if token in known:
        return True
    if token.isdigit():
        return str(int(token) - 1) in known and token[2:] in known
    parts = _PART.findall(token)
    return all(part in known for part in parts) and len(parts) > 1


def _starts(before: str) -> bool:
    before = before.rstrip()
    return not before or before[-1] in ".!?:\"“(['"


def support(closest: float, found: float | None, missing: bool) -> float:
    """How much speaks for answering at all, about 0 to 1; refuse below THRESHOLD.

    `closest` is the best cosine of question and sentence. `found` is the share of the question's
    content words, unweighted, in the best sentence with its headings; None when question and
    document are in different languages, so that words cannot match. `missing`: a number or a name
    of the question is in none of the passages.
    """
    if found is None:
        return 0.8 * closest
    return (closest + found) / 2 - (0.1 if missing else 0.0)
