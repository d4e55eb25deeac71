"""Whether the sources of an answer are the right pages, and whether they are there at all.

Citation precision and recall follow Gao et al. 2023 ("Enabling Large Language Models to Generate
Text with Citations", ALCE), with human page labels in the place of an entailment model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.evaluate.metrics.retrieval import Gold, Place, distinct

_MARKER = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？؟।])[\"'”’»)\]]*\s+(?!\s*\[\d)|\n+")
_LETTER = re.compile(r"[^\W\d_]")


def page_precision(cited: Sequence[Place], gold: Gold) -> float | None:
    """The share of the cited pages that are right; None when nothing is cited."""
    pages = distinct(cited)
    return sum(page in gold.grades for page in pages) / len(pages) if pages else None


def page_recall(cited: Sequence[Place], gold: Gold) -> float:
    """The share of the needed pages that are cited."""
    return min(sum(page in gold.grades for page in distinct(cited)), gold.needed) / gold.needed


def verified_share(verified: int, rejected: int) -> float | None:
    """The share of the proposed quotes that were found on their page; None without quotes."""
    return verified / (verified + rejected) if verified + rejected else None


def marked_share(text: str) -> float | None:
    """The share of the answer's sentences that carry a marker; None without sentences.

    A marker behind the full stop belongs to the sentence before it. Headings and lines without
    letters do not count, nor do sentences that only lead into a list (they end in a colon).
    """
    sentences = [s for s in _SENTENCE_END.split(text) if s and _is_claim(s)]
    if not sentences:
        return None
    return sum(bool(_MARKER.search(sentence)) for sentence in sentences) / len(sentences)


def _is_claim(sentence: str) -> bool:
    bare = sentence.strip()
    return bool(_LETTER.search(bare)) and not bare.startswith("#") and not bare.endswith(":")
