"""Does the language model answer at all?"""

from __future__ import annotations

from contextlib import closing

from rag.errors import LLMError
from rag.llm import LiteLLM, Message
from rag.settings import Settings

_PATIENCE_S = 30.0


def key_for(settings: Settings, model: str, base_url: str | None, typed: str) -> str | None:
    """The key to use: the typed one, else the one in use, but never for another receiver."""
    if typed:
        return typed
    provider = (settings.llm_model or "").partition("/")[0]
    same = model.partition("/")[0] == provider and base_url == settings.llm_base_url
    return settings.llm_api_key if same else None


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
