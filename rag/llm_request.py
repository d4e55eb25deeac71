"""A conversation and the settings -> the arguments of litellm's completion call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rag.settings import Settings

if TYPE_CHECKING:
    from rag.llm import Message, Tool

OLLAMA_CONTEXT = 16_384
"""Tokens. Ollama's own default of 4,096 silently cuts the start off a longer prompt: the rules."""

CONNECT_S = 10.0

UNASKED = ("tool_choice", "reasoning_effort")
"""Arguments that nobody asked for: a provider that refuses one is asked again without it."""

_THINKS_ON_DEMAND = ("anthropic", "bedrock", "vertex_ai", "ollama_chat")
"""Providers whose models think only when told to, or want their thoughts sent back."""
_NO_EMPTY_TEXT = ("gemini/", "vertex_ai/")
"""Providers that refuse an empty text beside a call. Templates of local models, on the other hand,
write "None" where there is none."""


def build(
    litellm: ModuleType,
    model: str,
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    tool_choice: str | None,
    timeout_s: float,
) -> dict[str, Any]:
    import httpx

    request: dict[str, Any] = {
        "model": model,
        "messages": [_message(message, model) for message in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "timeout": httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": True,
    }
    if settings.llm_temperature is not None:
        request["temperature"] = settings.llm_temperature
    if settings.llm_max_tokens is not None:
        request["max_tokens"] = settings.llm_max_tokens
    if (effort := reasoning(litellm, model, settings)) is not None:
        request["reasoning_effort"] = effort
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    if tool_choice is not None:
        request["tool_choice"] = {"type": "function", "function": {"name": tool_choice}}
    if settings.llm_base_url is not None:
        request["base_url"] = settings.llm_base_url
    if settings.llm_api_key is not None:
        request["api_key"] = settings.llm_api_key
    elif model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
        request["api_key"] = "none"  # a local server wants none, but openai's client does
    if model.startswith("ollama_chat/"):
        request["num_ctx"] = OLLAMA_CONTEXT
    return request


def reasoning(litellm: ModuleType, model: str, settings: Settings) -> str | None:
    """The effort to ask for; None leaves it to the provider."""
    if settings.llm_reasoning != "auto":
        return settings.llm_reasoning
    if model.partition("/")[0] in _THINKS_ON_DEMAND or not litellm.supports_reasoning(model):
        return None
    return "low"


def less(request: dict[str, Any], error: Exception, settings: Settings) -> dict[str, Any] | None:
    """The request without what the provider refuses and nobody asked for, if it is that."""
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    text = str(error).lower()
    for name in UNASKED:
        asked = name == "reasoning_effort" and settings.llm_reasoning != "auto"
        if name in request and name in text and not asked:
            return {key: value for key, value in request.items() if key != name}
    return None


def _message(message: Message, model: str) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        if not message.text and model.startswith(_NO_EMPTY_TEXT):
            wire["content"] = None
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        wire["tool_call_id"] = message.call_id
    return wire


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }
