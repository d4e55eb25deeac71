"""Whether an answer is in the language of its question."""

from __future__ import annotations

from rag.language import detect_language


def same(question: str, answer: str, question_language: str = "") -> float | None:
    """1 if the languages are equal, 0 if not; None where either has too little text to tell.

    `question_language` (ISO 639-1), where the set states it, is taken on trust. Quotes from
    documents in another language count as part of the answer.
    """
    expected = question_language or detect_language(question)
    found = detect_language(answer)
    return float(expected == found) if expected and found else None
