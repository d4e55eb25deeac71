"""Quotes that were not found -> what the model is told so that it can mend them, once.

Also what became of each claimed quote in the end. Pure, but for the sources that are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from rapidfuzz import fuzz, process

from rag import tongue
from rag.types import QuoteCheck

NEARBY = 40.0
"""Per cent of rapidfuzz's token sort ratio from which a sentence counts as near a quote."""

_SENTENCE = re.compile(r".+?(?:[.!?。！？][\"'”’»)\]]*(?=\s|$)|\n|$)", re.DOTALL)
_LONGEST = 400


def nearest(quote: str, text: str) -> str:
    """The sentences or lines of `text` that the quote is most like; "" when none is like it."""
    sentences = [m[0].strip() for m in _SENTENCE.finditer(text) if m[0].strip()]
    # A quote may run over a sentence's end: two neighbours are compared as one, too.
    pairs = [f"{a} {b}" for a, b in pairwise(sentences)]
    best = process.extractOne(
        quote, sentences + pairs, scorer=fuzz.token_sort_ratio, score_cutoff=NEARBY
    )
    return best[0][:_LONGEST] if best else ""


def request(
    failed: Sequence[QuoteCheck],
    near: Callable[[QuoteCheck], str],
    *,
    nothing: bool,
    language: str,
) -> str:
    """What the model is told of its answer.

    `near` gives what the source says that is most like a failed quote, between delimiters, or "".
    `nothing`: no claim has a quote that was found. `language`: the code of the one to write in, if
    it is wrong.
    """
    parts: list[str] = []
    if nothing:
        parts.append("None of these claims has a quote that was found in its source.")
    for check in failed:
        parts.append(f"- {check.source}, {check.quote[:_LONGEST]!r}: {check.reason}")
        if beside := near(check):
            parts.append(f"The closest that the source says is:\n{beside}")
    if failed or nothing:
        parts.append(
            "Copy each quote character by character from its source, quote another passage, search "
            "again, or leave the claim out."
        )
    if language:
        parts.append(f"The question is in {tongue.name(language)}: write your own words in it.")
    parts.append("Call finish again with the whole answer. Quotes that still fail are dropped.")
    return "\n".join(parts)


def outcomes(first: Sequence[QuoteCheck], second: Sequence[QuoteCheck]) -> tuple[QuoteCheck, ...]:
    """What became of the quotes of an answer (`first`) after its repair round (`second`).

    A quote that was found only in the second round repairs the failed one that it is most like;
    what failed in either round and is repaired by none is rejected.
    """
    known = {check.quote for check in first if check.outcome == "verified"}
    failed = [check for check in first if check.outcome == "rejected"]
    result: list[QuoteCheck] = []
    for check in second:
        if check.outcome == "rejected":
            continue
        if check.quote in known or not failed:
            result.append(check)
            continue
        replaced = max(failed, key=lambda one: fuzz.ratio(one.quote, check.quote))
        failed.remove(replaced)
        result.append(QuoteCheck(check.quote, check.source, "repaired", replaced.reason))
    lost = {check.quote: check for check in [*failed, *second] if check.outcome == "rejected"}
    return (*result, *lost.values())
