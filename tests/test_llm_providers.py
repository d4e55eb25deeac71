import time
from datetime import UTC, datetime

import pytest

from rag.llm_providers import (
    OLLAMA,
    OPENAI,
    OTHER,
    PROVIDERS,
    SERVER,
    hosted_models,
    ollama_address,
    ollama_models,
    provider_of,
    server_models,
)
from tests.stub_llm import StubLLM


@pytest.mark.parametrize(
    ("model", "base_url", "provider"),
    [
        ("openai/gpt-5-mini", None, OPENAI),
        ("openai/local", "http://localhost:8080/v1", SERVER),
        ("ollama/qwen3", None, OLLAMA),
        ("ollama_chat/qwen3", "http://other:11434", OLLAMA),
        ("cohere/command-r", None, OTHER),
    ],
)
def test_a_configured_model_belongs_to_a_provider(model, base_url, provider):
    assert provider_of(model, base_url) is provider


def test_hosted_models_are_full_model_strings_for_chat():
    models = hosted_models(OPENAI)
    assert models
    assert all(model.startswith("openai/") for model in models)
    assert not [model for model in models if "audio" in model or "search" in model]
    assert hosted_models(OTHER) == ()


def test_a_model_is_offered_until_it_is_withdrawn(monkeypatch):
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    ends = {"claude-a": today, "claude-b": "2024-01-01", "claude-c-20250929": today}
    facts = {
        "litellm_provider": "anthropic",
        "mode": "chat",
        "supports_function_calling": True,
    }
    listed = {name: {**facts, "deprecation_date": end} for name, end in ends.items()}
    listed["claude-d"] = facts
    monkeypatch.setattr("rag.llm_providers._price_list", lambda: listed)
    claude = next(provider for provider in PROVIDERS if provider.name == "Anthropic")
    # A name with a date is one that another name stands for.
    assert hosted_models(claude) == ("anthropic/claude-a", "anthropic/claude-d")


def test_a_running_ollama_is_found_with_its_models():
    with StubLLM(models=("qwen3:8b", "llama3.2:3b")) as stub:
        address = stub.url.removesuffix("/v1")
        assert ollama_models(address) == ("ollama_chat/qwen3:8b", "ollama_chat/llama3.2:3b")


def test_a_server_is_asked_for_its_models_with_its_key():
    with StubLLM(models=("qwen",)) as stub:
        assert server_models(stub.url, "sk-1") == ("openai/qwen",)
        assert stub.keys == ["Bearer sk-1"]


def test_nothing_that_answers_is_nothing_found():
    with StubLLM() as stub:
        url = stub.url
    assert ollama_models(url) is None
    assert server_models("file:///etc", None) is None
    assert server_models("no address", None) is None


def test_a_silent_address_is_given_up_quickly():
    with StubLLM(models=None) as stub:
        started = time.monotonic()
        assert ollama_models(stub.url, timeout_s=0.1) is None
        assert time.monotonic() - started < 1


def test_ollama_is_looked_for_where_its_own_variable_says():
    assert ollama_address({}) == "http://localhost:11434"
    assert ollama_address({"OLLAMA_API_BASE": "http://box:1"}) == "http://box:1"
