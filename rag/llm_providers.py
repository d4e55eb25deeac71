"""Where language models come from: names for people, prefixes for litellm, models on offer.

Nothing here imports litellm (4 s): the models of hosted providers are read from its price list, a
file; those of a local server are asked of it, with a short time-out.
"""

from __future__ import annotations

import functools
import json
import re
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LOCAL_TIMEOUT_S = 0.4

_LEFT_OUT = re.compile(
    r"audio|tts|search|robotics|embed|guard|voxtral|computer-use|^ft:|-exp-|-\d{4}$|\d{8}$|\d{4}-\d\d-\d\d$"
)
"""Listed as chat models, but not for this; and dated twins of a model."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    prefix: str
    """Before the model's name in a litellm model string."""
    key: str = ""
    """The environment variable of its key; "" when it needs none."""
    address: bool = False
    """It has no address of its own: `LLM_BASE_URL` says where it is."""


OPENAI = Provider("OpenAI", "openai/", "OPENAI_API_KEY")
OLLAMA = Provider("Ollama", "ollama_chat/")
SERVER = Provider("OpenAI-compatible server", "openai/", address=True)
OTHER = Provider("Another one that litellm knows", "")
PROVIDERS = (
    OPENAI,
    Provider("Anthropic", "anthropic/", "ANTHROPIC_API_KEY"),
    Provider("Google Gemini", "gemini/", "GEMINI_API_KEY"),
    Provider("OpenRouter", "openrouter/", "OPENROUTER_API_KEY"),
    Provider("Groq", "groq/", "GROQ_API_KEY"),
    Provider("Mistral", "mistral/", "MISTRAL_API_KEY"),
    OLLAMA,
    SERVER,
    OTHER,
)


def provider_of(model: str, base_url: str | None) -> Provider:
    """The one that a configured model belongs to."""
    if base_url and model.startswith("openai/"):
        return SERVER
    if model.startswith("ollama/"):
        return OLLAMA
    return next(p for p in PROVIDERS if model.startswith(p.prefix))


def hosted_models(provider: Provider) -> tuple[str, ...]:
    """litellm model strings of a hosted provider's models with tool calls, in alphabetical order.

    As of the installed litellm; empty for providers whose models it does not list.
    """
    name = provider.prefix.rstrip("/")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    models = {
        provider.prefix + model.removeprefix(provider.prefix)
        for model, facts in _price_list().items()
        if facts.get("litellm_provider") == name
        and facts.get("mode") == "chat"
        and facts.get("supports_function_calling")
        and facts.get("deprecation_date", today) >= today
        and not _LEFT_OUT.search(model)
    }
    return tuple(sorted(models))


@functools.cache
def _price_list() -> dict[str, dict[str, Any]]:
    litellm = find_spec("litellm")
    if litellm is None or litellm.origin is None:
        return {}
    file = Path(litellm.origin).with_name("model_prices_and_context_window_backup.json")
    listed: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return listed


def ollama_address(env: Mapping[str, str]) -> str:
    return env.get("OLLAMA_API_BASE") or "http://localhost:11434"


def ollama_models(address: str, timeout_s: float = LOCAL_TIMEOUT_S) -> tuple[str, ...] | None:
    """litellm model strings of what a running Ollama has; None when none answers there."""
    listed = _get(f"{address.rstrip('/')}/api/tags", None, timeout_s)
    return None if listed is None else _strings(OLLAMA, listed.get("models"), "name")


def server_models(
    address: str, key: str | None, timeout_s: float = LOCAL_TIMEOUT_S
) -> tuple[str, ...] | None:
    """litellm model strings of what an OpenAI-compatible server has; None when none answers."""
    listed = _get(f"{address.rstrip('/')}/models", key, timeout_s)
    return None if listed is None else _strings(SERVER, listed.get("data"), "id")


def _strings(provider: Provider, listed: object, field: str) -> tuple[str, ...]:
    models = listed if isinstance(listed, list) else []
    names = [one.get(field) for one in models if isinstance(one, dict)]
    return tuple(provider.prefix + name for name in names if isinstance(name, str))


def _get(url: str, key: str | None, timeout_s: float) -> dict[str, Any] | None:
    """Whatever goes wrong, nothing that can be used is there."""
    if not url.startswith(("http://", "https://")):
        return None
    request = urllib.request.Request(url)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    # No proxy: these servers are this computer's, or its neighbours'.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout_s) as response:
            answer = json.load(response)
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None
