"""A chat so far and its next question -> a question that stands alone, and what to remember. Pure.

The model rewrites the question; the rule here says when it need not, and whether to trust what came
back. What it is told of the chat is kept within a budget of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag import prompt
from rag.draft import without_markers
from rag.llm import Message
from rag.pack import CountTokens
from rag.place import citation_place
from rag.reader import SHORT_QUESTION
from rag.sources import Sources
from rag.stop_words import content_words, spoken
from rag.types import Turn

BUDGET = 1_500
"""Tokens of earlier turns."""
ANSWER_CHARACTERS = 1_500
"""Of one earlier answer, so that the last turns fit in any case."""
LONGEST = 400
"""Characters of a rewritten question."""

_REFERS = {
    "en": "it its they them their theirs this that these those he him his she her hers one ones "
    "same former latter instead",
    "fr": "elle ils elles cela ça celui celle ceux celles lui leur leurs même",
    "de": "er sie ihn ihm dies diese dieser dieses jene davon dazu dafür damit dort deren dessen "
    "dasselbe",
    "es": "ellos ellas él eso esto esa ese este esta aquel aquella mismo misma",
    "it": "esso essa questo questa quello quella loro stesso stessa",
    "pt": "ele ela eles elas isso isto esse essa este esta mesmo mesma",
    "nl": "hij deze dit die dat hem haar hun daarvan dezelfde hetzelfde",
}
"""Words that point at something said before."""

_GOES_ON = re.compile(
    r"(?:and|but|or|also|so|then|why|what about|how about|et|mais|ou|pourquoi|qu'en est-il|und|"
    r"aber|oder|auch|warum|was ist mit|wie sieht|y|pero|por qué|qué pasa con|e|ma|perché|mas|"
    r"por quê|en|maar|waarom|hoe zit)\b",
    re.IGNORECASE,
)
_ASKS = ("?", "？", "؟")
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"^(?:standalone |rewritten )?question\s*:\s*", re.IGNORECASE)
_SENTENCE = re.compile(r".+?[.!?。！？](?=\s|$)|.+", re.DOTALL)


def stands_alone(question: str, history: Sequence[Turn]) -> bool:
    """False when the question may lean on the chat: it is short, points back, goes on, or replies
    to a question back."""
    if not history:
        return True
    if history[-1].asks_back:
        return False
    words = set(re.findall(r"\w+", question.casefold()))
    pointing = _REFERS.get(spoken(question, "en"), _REFERS["en"]).split()
    return (
        len(content_words(question)) > SHORT_QUESTION
        and not words & set(pointing)
        and not _GOES_ON.match(question.strip(" ¿¡"))
    )


def request(
    question: str, history: Sequence[Turn], sources: Sources, count: CountTokens
) -> list[Message]:
    """What the model is asked for the rewrite."""
    chat, _ = remembered(history, sources, count)
    rules = prompt.render("agent_rewrite", boundary=sources.boundary)
    return [Message("system", rules), Message("user", f"{chat}\n\nQuestion: {question}")]


def rewritten(reply: str, question: str) -> str:
    """The question in the model's reply, or "" when there is none that can be used."""
    lines = [line.strip() for line in _THINKING.sub("", reply).splitlines() if line.strip()]
    if not lines:
        return ""
    line = _LABEL.sub("", lines[-1]).strip("\"'“”«» ")
    if len(line) > LONGEST or not re.search(r"\w", line):
        return ""
    if question.strip().endswith(_ASKS) and not line.endswith(_ASKS):
        return ""  # an answer, or talk
    return line


def remembered(
    history: Sequence[Turn], sources: Sources, count: CountTokens, budget: int = BUDGET
) -> tuple[str, str]:
    """The chat for the model within `budget` tokens, and for the trace what was made of it.

    The last turns stand in full, those before them in one line each, and the oldest are left out.
    """
    room = budget
    full: list[str] = []
    brief: list[str] = []
    for turn in reversed(history):
        text = _whole(turn, sources)
        fits = not brief and (not full or count(text) <= room - budget // 4)
        if not fits:
            text = _brief(turn)
            if count(text) > room:
                break
        room -= count(text)
        (full if fits else brief).append(text)
    left = len(history) - len(full) - len(brief)
    lines = [f"({left} earlier turns are left out.)"] if left else []
    lines += [*reversed(brief), *reversed(full)]
    said = f"{len(full)} turns in full, {len(brief)} in one line, {left} left out"
    return sources.delimited("chat", {}, "\n\n".join(lines)), said


def _whole(turn: Turn, sources: Sources) -> str:
    # Its markers number sources that this conversation does not have.
    answer = without_markers(turn.answer)
    if len(answer) > ANSWER_CHARACTERS:
        answer = answer[:ANSWER_CHARACTERS] + " …"
    places = dict.fromkeys(f"{sources.quoted(c.name)} {citation_place(c)}" for c in turn.cited)
    cited = f"\nCited: {'; '.join(places)}" if places else ""
    return f"User: {turn.question}\nAnswer: {answer or '-'}{cited}"


def _brief(turn: Turn) -> str:
    answer = without_markers(turn.answer)
    first = _SENTENCE.match(answer)
    return f"User: {turn.question[:200]} Answer: {first[0][:200] if first else '-'}"
