"""A question's content words: its stemmed tokens without stop words. Pure.

"What", "how many" and "is there" are rare in manuals, so BM25 would take them for telling words.
"""

from __future__ import annotations

import re

from rag.keyword import INDIC, tokens

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
_WORD = re.compile(rf"[\w{INDIC}]+(?:[.,]\d+)*")


def spoken(text: str, language: str) -> str:
    """The language whose stop words `text` has the most of; `language` when none has more."""
    counts = _counts(text)
    best = max(counts, key=lambda known: counts[known])
    return best if counts[best] > counts.get(language, 0) else language


def is_stop_word(word: str, language: str) -> bool:
    return word.lower() in _STOP.get(language, ())


def clearly_in(text: str) -> str:
    """The language of which `text` has two stop words or more, and twice as many as of any other;
    "" when there is none."""
    (second, _), (most, best) = sorted((n, known) for known, n in _counts(text).items())[-2:]
    return best if most >= 2 and most >= 2 * second else ""


def _counts(text: str) -> dict[str, int]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {known: sum(word in stop for word in words) for known, stop in _STOP.items()}


def content_words(text: str, language: str = "en") -> frozenset[str]:
    """The stems of `text` in `language` (a document's), without its stop words.

    The stop words are those of the language that `text` is in, for a question may be in another
    than the document; "plus" is one in French and the name of a health plan in English.
    """
    stop = _STOP.get(spoken(text, language), frozenset())
    kept = (word for word in _WORD.findall(text) if word.lower() not in stop)
    return frozenset(tokens(" ".join(kept), language or "en"))
