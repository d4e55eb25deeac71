"""The model's last word -> what the user reads: an answer, a refusal, or a question back. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag.draft import Draft
from rag.excuse import excuse
from rag.settings import Settings
from rag.types import Answer, Hit, Receipt


def finished(
    made: Draft,
    question: str,
    settings: Settings,
    receipt: Receipt,
    nearest: Sequence[Hit],
) -> Answer:
    """An answer without a source is a refusal, whatever it claims, unless a setting has it shown
    and labelled. `nearest` are the closest passages, for a refusal."""
    if made.grounded:
        return Answer(made.text, made.citations, receipt, web=made.web)
    if made.clarification and not made.refusal:
        return Answer(made.clarification, (), receipt, asks_back=True)
    if settings.llm_ungrounded == "label" and made.unsupported:
        return Answer(made.text, (), receipt, ungrounded=True)
    text = made.refusal or excuse(question, receipt.stopped_by, settings)
    return Answer(text, (), receipt, refused=True, nearest=tuple(nearest))
