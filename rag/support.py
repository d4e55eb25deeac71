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

THRESHOLD = 0.36
"""Of `support`. Measured with all-MiniLM-L6-v2 on three sets of PDF questions, 205 answerable:

It refuses all 11 off-topic questions and 8 of 21 that were written to look answerable; 99 of 112
questions about another set's documents; and 14 answerable ones: 4 on documents without a text
layer, 10 about colours, pictures and counts, of which 1 would have been answered from a right page.
Precision 0.58, or 0.89 with the questions about other documents. At 0.28 it refuses 4 answerable
questions fewer, none of them with a right page, but only 76 of the 112.
"""

MOST_CHOSEN = 4
SAME_PAGE = 0.8
OTHER_PAGE = 0.9
"""Shares of the best score that a further sentence must reach."""
SAME_SAID = 0.9
"""Cosine from which two sentences say the same."""

_STOP_WORDS = {
    "en": """a about above after again all also am an and any are as at be because been before being
        below between both but by can could did do does doing down during each few for from further
        get give had has have having he her here hers him his how i if in into is it its itself just
        know let list many may me might more most much must my no nor not of off on once only
        or other our out over own please same say says shall she should show so some such tell than
        that the their them then there these they this those through to too under until up us very
        was we were what when where whether which while who whom whose why will with within would
        you your""",
    "fr": """a à ai au aucun aussi autre aux avec avoir c ce cela celle celui ces cet cette ceux
        chaque combien comme comment d dans de des du dont elle elles en entre est et être eu fait
        faire faut il ils j je l la le les leur leurs lors lorsque lui m ma mais me mes moi mon n ne
        ni nos notre nous on ont ou où par pas passe peut peuvent plus pour pourquoi qu quand que
        quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sur t ta te tes toi ton
        tous tout toute toutes très tu un une vos votre vous y""",
    "de": """ab aber alle als also am an auch auf aus bei bin bis bitte da damit dann das dass dem
        den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine
        einem einen einer eines er es für gibt hat habe haben hier ich ihr ihre im in ist ja kann
        kein keine können man mehr mein mit muss müssen nach nicht noch nur ob oder ohne sein seine
        sich sie sind so über um und uns unser unter vom von vor wann warum was weil welche welchem
        welchen welcher welches wenn wer werden wie wieviel wird wir wo wurde zu zum zur""",
    "es": """a al algo ante aquí como cómo con cual cuál cuales cuáles cuando cuándo cuánto cuántos
        cuántas de del desde donde dónde dos el él ella ellos en entre era es esa ese eso esta está
        estas este esto estos están fue ha han hasta hay la las le les lo los más me mi muy no nos o
        otro para pero por porque qué que quien quién quienes se ser si sí sin sobre son su sus
        también te tiene todo todos tu un una uno y ya yo""",
    "it": """a ad ai al alla alle anche c che chi ci come con cosa cui da dai dal dalla degli dei
        del della delle di dove e è ed era essere fa gli ha hanno i il in io la le lei lo loro ma mi
        nei nel nella non o per perché più può qual quale quali quando quanti quanto questa queste
        questi questo se si sono su sua sue sul sulla suo tra tu un una uno vi""",
    "pt": """a ao aos as até com como da das de do dos e é ela ele eles em entre era essa esse esta
        está este foi há isso isto já la lhe mais mas me mesmo muito na nas não no nos nós o onde os
        ou para pela pelo por porque qual quais quando quanto quantos que quem são se sem ser seu
        seus só sua suas também te tem um uma você""",
    "nl": """aan al als bij dan dat de deze die dit door een en er geen had heb heeft het hoe ik in
        hoeveel is je kan kunnen maar met mijn moet na naar niet nog nu of om onder ook op over te
        tot uit van veel voor waar waarom wanneer was wat we welk welke werd wie wij worden wordt
        zal ze zich zijn zo""",
}  # fmt: skip
_STOP = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_WORD = re.compile(r"\w+(?:[.,]\d+)*")


def spoken(text: str, language: str) -> str:
    """The language whose stop words `text` has the most of; `language` when none has more."""
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {known: sum(word in stop for word in words) for known, stop in _STOP.items()}
    best = max(counts, key=lambda known: counts[known])
    return best if counts[best] > counts.get(language, 0) else language


def content_words(text: str, language: str = "en") -> frozenset[str]:
    """The stems of `text` in `language` (a document's), without its stop words.

    The stop words are those of the language that `text` is in, for a question may be in another
    than the document; "plus" is one in French and the name of a health plan in English.
    """
    stop = _STOP.get(spoken(text, language), frozenset())
    kept = (word for word in _WORD.findall(text) if word.lower() not in stop)
    return frozenset(tokens(" ".join(kept), language or "en"))


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
    one; its scores have a scale of their own). The first quote is on a right page for 0.74 of 81
    handbook, 0.78 of 88 mixed and 0.68 of 22 French questions answered; by cosine alone for 0.63
    of the first.
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


def support(closest: float, found: float | None) -> float:
    """How much speaks for answering at all, about 0 to 1; refuse below THRESHOLD.

    `closest` is the best cosine of question and sentence. `found` is the share of the question's
    content words, unweighted, in the best sentence with its headings; None when question and
    document are in different languages, so that words cannot match.
    """
    return closest if found is None else (closest + found) / 2
