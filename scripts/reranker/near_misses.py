"""Questions with an answer -> questions that look as if the same passage answered them.

Few of the licensed sources have unanswerable questions written by people (Rajpurkar et al. 2018
name their kinds: a swapped entity or number, an antonym, a negation). These are made by rule, from
questions whose answer is known.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_OPPOSITES = (
    "first last", "before after", "most least", "largest smallest", "highest lowest",
    "oldest youngest", "more fewer", "more less", "increase decrease",
    "increased decreased", "increasing decreasing", "north south", "east west",
    "northern southern", "eastern western", "begin end", "began ended", "start end",
    "started ended", "win lose", "won lost", "male female", "men women", "early late",
    "earliest latest", "upper lower", "positive negative", "public private", "major minor",
    "above below", "inside outside", "minimum maximum", "best worst", "rich poor", "old new",
    "import export", "imports exports", "buy sell", "opened closed", "allowed forbidden",
    "support oppose", "supported opposed", "accepted rejected", "gained lost", "added removed",
    "founded abolished", "built destroyed", "urban rural", "strong weak", "short long",
    "common rare", "always never", "summer winter", "left right", "arrived departed",
)  # fmt: skip
_SWAPS = {a: b for pair in _OPPOSITES for a, b in (pair.split(), pair.split()[::-1])}

_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_NAME = re.compile(r"\b[A-ZÀ-Ý][\w'’-]+(?: (?:of |the )?[A-ZÀ-Ý][\w'’-]+)*")
_VERB = re.compile(
    r"\b(did|does|do|was|were|is|are|can|could|has|have|had|would|will|should)\b", re.IGNORECASE
)
_ASKS = re.compile(r"^(what|who|which|where|when|why|how)\b", re.IGNORECASE)


def near_miss(
    question: str, passage: str, sentence: str, other: str, rng: random.Random
) -> str | None:
    """The question turned so that the passage no longer answers it; None where no rule applies.

    `sentence` holds the answer, `other` is another passage on the subject: names come from there
    or from the rest of the passage, so that the new question is still about something in it.
    """
    rules: list[Callable[[], str | None]] = [
        lambda: _swapped_name(question, passage, sentence, other, rng),
        lambda: _swapped_number(question, passage, sentence, rng),
        lambda: _opposite(question),
    ]
    rng.shuffle(rules)
    if rng.random() < 0.15:
        rules.insert(0, lambda: _negated(question))
    return next((changed for rule in rules if (changed := rule())), None)


def _swapped_name(
    question: str, passage: str, sentence: str, other: str, rng: random.Random
) -> str | None:
    asked = [m for m in _NAME.finditer(question) if m.start() > 0 and m.group() in sentence]
    if not asked:
        return None
    name = rng.choice(asked)
    rest = passage.replace(sentence, " ") if rng.random() < 0.5 else other
    # A capital at the head of a sentence need not be a name, so only those that follow a word.
    names = {
        found.group()
        for found in _NAME.finditer(rest)
        if found.start() > 1 and rest[found.start() - 2].isalnum()
    }
    names = {n for n in names if n not in sentence and n not in question and len(n) > 3}
    alike = sorted(n for n in names if abs(n.count(" ") - name.group().count(" ")) <= 1)
    if not alike:
        return None
    return question[: name.start()] + rng.choice(alike) + question[name.end() :]


def _swapped_number(question: str, passage: str, sentence: str, rng: random.Random) -> str | None:
    asked = list(_NUMBER.finditer(question))
    if not asked:
        return None
    number = rng.choice(asked)
    others = {
        found
        for found in _NUMBER.findall(passage)
        if len(found) == len(number.group()) and found not in sentence and found not in question
    }
    if others and rng.random() < 0.6:
        new = rng.choice(sorted(others))
    else:
        value = int(re.sub(r"\D", "", number.group()))
        new = str(max(0, value + rng.choice((-21, -10, -4, -2, -1, 1, 2, 3, 7, 10))))
    if new == number.group() or new in sentence:
        return None
    return question[: number.start()] + new + question[number.end() :]


def _opposite(question: str) -> str | None:
    for word in re.findall(r"\b[a-z]+\b", question):
        if other := _SWAPS.get(word):
            return re.sub(rf"\b{word}\b", other, question, count=1)
    return None


def _negated(question: str) -> str | None:
    if not _ASKS.match(question) or not (verb := _VERB.search(question)):
        return None
    word = verb.group().lower()
    short = {"can": "can't", "will": "won't"}.get(word, f"{word}n't")
    return question[: verb.start()] + short + question[verb.end() :]
