"""Does the language model answer at all?"""

from __future__ import annotations

from contextlib import closing

from rag.errors import LLMError
from rag.llm import LiteLLM, Message
from rag.settings import Settings

_PATIENCE_S = 30.0


def try_model(settings: Settings) -> str:
    """Asks for one word. The problem, in words for the user, or "" when the model answers."""
    question = [Message("user", "Reply with the single word: ready")]
    try:
        with closing(LiteLLM(settings, ()).stream(question, timeout_s=_PATIENCE_S)) as pieces:
            for _ in pieces:
                return ""
    except LLMError as error:
        return str(error)
    return f"{settings.llm_model} sent an empty reply."
