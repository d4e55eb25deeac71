from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import Settings


def test_an_empty_environment_gives_the_documented_defaults():
    settings = Settings.from_env({})
    assert settings.data.name == "footnote"
    assert (settings.embedder, settings.reranker) == ("all-MiniLM-L6-v2", "footnote-reranker")
    assert settings.llm_model is None


def test_the_data_folder_can_be_moved():
    assert Settings.from_env({"FOOTNOTE_DATA": "/data/x"}).data == Path("/data/x")


@pytest.mark.parametrize("off", ["off", "OFF", "none", " "])
def test_off_means_no_reranker(off: str):
    assert Settings.from_env({"FOOTNOTE_RERANKER": off}).reranker is None


@pytest.mark.parametrize("value", ["many", "0", "99999"])
def test_a_value_that_does_not_fit_names_its_variable(value: str):
    with pytest.raises(SettingsError, match="FOOTNOTE_TOP_K"):
        Settings.from_env({"FOOTNOTE_TOP_K": value})


def test_the_key_is_not_in_the_representation():
    assert "sk-secret" not in repr(Settings.from_env({"LLM_API_KEY": "sk-secret"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("LLM_UNSUPPORTED", "hide"), ("LLM_EXPAND", "more"), ("LLM_COST", "much"), ("LLM_COST", "0")],
)
def test_a_choice_or_an_amount_that_does_not_fit_names_its_variable(name: str, value: str):
    with pytest.raises(SettingsError, match=name):
        Settings.from_env({name: value})


def test_choices_and_amounts_are_read():
    settings = Settings.from_env({"LLM_UNGROUNDED": "Label", "LLM_COST": "$0.05"})
    assert (settings.llm_ungrounded, settings.llm_cost) == ("label", 0.05)
    assert (settings.llm_unsupported, settings.llm_expand) == ("mark", "off")
    assert Settings.from_env({"LLM_COST": "off"}).llm_cost is None


def test_fallbacks_are_named_in_their_order():
    settings = Settings.from_env({"LLM_FALLBACKS": "openai/b, ollama_chat/c,"})
    assert settings.llm_fallbacks == ("openai/b", "ollama_chat/c")


def test_what_the_provider_decides_is_left_to_it_by_default():
    settings = Settings.from_env({})
    assert (settings.llm_temperature, settings.llm_max_tokens) == (None, None)
    assert settings.llm_reasoning == "auto"
    set_all = {"LLM_TEMPERATURE": "0", "LLM_MAX_TOKENS": "500", "LLM_REASONING": "High"}
    settings = Settings.from_env(set_all)
    assert (settings.llm_temperature, settings.llm_max_tokens) == (0.0, 500)
    assert settings.llm_reasoning == "high"


@pytest.mark.parametrize(
    ("name", "value"),
    [("LLM_TEMPERATURE", "hot"), ("LLM_TEMPERATURE", "3"), ("LLM_REASONING", "much")],
)
def test_a_model_setting_that_does_not_fit_is_named(name: str, value: str):
    with pytest.raises(SettingsError, match=name):
        Settings.from_env({name: value})
