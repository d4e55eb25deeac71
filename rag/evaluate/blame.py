"""Which stage lost the right page, so that a miss says what to work on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rag.evaluate.stages import Stage

Blame = Literal[
    "",
    "missing document",
    "page without text",
    "not retrieved",
    "ranked too low",
    "fusion",
    "re-ranker",
    "refused",
    "not cited",
]
"""`""` is no miss."""

EXPLANATIONS: Mapping[str, str] = {
    "missing document": "The document that holds the answer is not in the library.",
    "page without text": "No text was read from the right page: it may be a picture.",
    "not retrieved": "Neither the word searches nor the meaning search found the right page.",
    "ranked too low": "A search found the right page, but below the pages that are used.",
    "fusion": "One search had the right page near the top; joining them pushed it down.",
    "re-ranker": "The right page was near the top until the re-ranker moved it down.",
    "refused": "The right page was found, but the answer is a refusal.",
    "not cited": "The right page was found, but the answer cites other pages.",
}


_SEARCHES: tuple[Stage, ...] = ("keyword", "pages", "dense")


def blame_retrieval(
    ranks: Mapping[Stage, int | None],
    k: int,
    *,
    missing_document: bool = False,
    pages_without_text: bool = False,
) -> Blame:
    """Why no right page is among the first `k`; "" when one is.

    `ranks` holds the first right page's rank in each stage (`stages.stage_ranks`).
    `pages_without_text`: none of the right pages has any text.
    """
    fused, reranked = ranks.get("fused"), ranks.get("reranked")
    final = reranked if "reranked" in ranks else fused
    if final is not None and final <= k:
        return ""
    if missing_document:
        return "missing document"
    if pages_without_text:
        return "page without text"
    if fused is not None and fused <= k:
        return "re-ranker"
    singles = [rank for stage in _SEARCHES if (rank := ranks.get(stage)) is not None]
    if not singles and final is None:
        return "not retrieved"
    return "fusion" if min(singles, default=k + 1) <= k else "ranked too low"


def blame_answer(retrieval: Blame, *, refused: bool, cites_gold: bool) -> Blame:
    """The same for an answer to an answerable question: what came after a good search."""
    if retrieval or cites_gold:
        return "" if cites_gold else retrieval
    return "refused" if refused else "not cited"
