"""Which language models there are to connect, and what the connected ones can do."""

from __future__ import annotations

import os
from collections.abc import Iterator

import streamlit as st

from rag.llm import LiteLLM
from rag.llm_chain import settings_for
from rag.llm_probe import Check, probe
from rag.llm_providers import (
    OLLAMA,
    OTHER,
    SERVER,
    Provider,
    hosted_models,
    ollama_address,
    ollama_models,
    server_models,
)
from rag.settings import Settings


def key_for(settings: Settings, model: str, base_url: str | None, typed: str) -> str | None:
    """The key to use: the typed one, else the one in use, but never for another receiver."""
    if typed:
        return typed
    provider = (settings.llm_model or "").partition("/")[0]
    same = model.partition("/")[0] == provider and base_url == settings.llm_base_url
    return settings.llm_api_key if same else None


def offered(provider: Provider, address: str, key: str | None) -> tuple[str, ...] | None:
    """Model strings to choose from; None when a local server does not answer."""
    if provider == OLLAMA:
        return _ollama(address or ollama_address(os.environ))
    if provider == SERVER:
        return _server(address, key) if address else ()
    return () if provider == OTHER else hosted_models(provider)


# Kept for a while: a server that is down would else be waited for on every click.
_ollama = st.cache_data(ttl=20, show_spinner=False)(ollama_models)
_server = st.cache_data(ttl=20, show_spinner=False)(server_models)


def about_key(provider: Provider, settings: Settings) -> str:
    """Where the key comes from, in a sentence."""
    if provider in (OLLAMA, SERVER):
        return "No key is needed, unless the server asks for one."
    if settings.llm_api_key and (settings.llm_model or "").startswith(provider.prefix or "?"):
        return "A key is in use."
    if not provider.key:
        return "Its key is read from the variable that litellm names for it."
    if os.environ.get(provider.key):
        return f"The key in {provider.key} is used."
    return f"Enter a key below, or set {provider.key} before Footnote starts."


def try_models(settings: Settings) -> Iterator[tuple[str, Check]]:
    """(model, what was tried): everything for the first model, an answer from each fallback."""
    first = LiteLLM(settings, ())
    for check in probe(first):
        yield first.model, check
    for model in settings.llm_fallbacks:
        fallback = LiteLLM(settings_for(settings, model), ())
        yield fallback.model, next(probe(fallback))
