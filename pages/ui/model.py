"""The language model on the settings page: choose one, try it, say what to do when it fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import get_args

import streamlit as st

from pages.ui.connection import about_key, key_for, offered, try_models
from pages.ui.words import plain
from rag.errors import SettingsError
from rag.llm_probe import Check
from rag.llm_providers import OLLAMA, PROVIDERS, SERVER, Provider, ollama_address, provider_of
from rag.settings import Reasoning, Settings
from rag.workspace import Workspace


def draw_model(workspace: Workspace) -> None:
    settings = workspace.settings
    _draw_state(workspace)
    state = st.session_state
    state.setdefault("model_name", settings.llm_model or "")
    state.setdefault("model_url", settings.llm_base_url or "")
    state.setdefault(
        "provider", provider_of(settings.llm_model or OLLAMA.prefix, settings.llm_base_url)
    )
    _draw_choice(settings)
    with st.form("model", border=True):
        _draw_fields(settings)
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", type="primary", key="save_model")
            test = st.form_submit_button("Save and test", icon=":material/bolt:", key="test_model")
    if save or test:
        _save(workspace, test=test)
        st.rerun()
    if problem := state.pop("test_error", ""):
        st.error(plain(problem), icon=":material/error:")
    elif checks := state.pop("test_checks", ()):
        _draw_checks(checks)
    elif state.pop("test_saved", False):
        st.success("Saved.", icon=":material/check_circle:")


def _draw_state(workspace: Workspace) -> None:
    if workspace.engine == "reader":
        st.markdown(
            "None is connected. The **reader** answers: it picks sentences from your documents, "
            "word for word, and writes none of its own. A language model can also combine, compare "
            "and explain what it finds; each of its quotes is still checked against your files."
        )
        return
    then = "".join(f"**{plain(model)}**, then " for model in workspace.settings.llm_fallbacks)
    st.markdown(f"**{plain(workspace.engine)}** answers. If it fails, {then}the reader takes over.")


def _draw_choice(settings: Settings) -> None:
    """A provider and its models; choosing one fills in the form."""
    left, right = st.columns(2)
    provider = left.selectbox(
        "Provider",
        PROVIDERS,
        format_func=lambda provider: provider.name,
        key="provider",
        on_change=_choose_provider,
    )
    address = st.session_state.model_url
    models = offered(provider, address, settings.llm_api_key)
    right.selectbox(
        "Models it offers",
        models or (),
        index=None,
        key="model_offer",
        on_change=_choose_model,
        disabled=not models,
        placeholder="Choose one, or type its name below" if models else "Type a name below",
    )
    st.caption(plain(_found(provider, models, address, settings)))


def _found(
    provider: Provider, models: Sequence[str] | None, address: str, settings: Settings
) -> str:
    """What is known about a provider, in a sentence or two."""
    if models is None:
        where = address or ollama_address(os.environ)
        return f"Nothing answers at {where}. Is {provider.name} running?"
    about = about_key(provider, settings)
    if provider == OLLAMA:
        what = "is running on this computer" if models else "is running, but has no model yet"
        return f"Ollama {what}. {about}"
    return about


def _choose_provider() -> None:
    provider = st.session_state.provider
    if provider != SERVER:
        st.session_state.model_url = ""
    found = offered(provider, "", None) if provider == OLLAMA else ()
    st.session_state.model_name = found[0] if found else provider.prefix


def _choose_model() -> None:
    if st.session_state.model_offer:
        st.session_state.model_name = st.session_state.model_offer


def _draw_fields(settings: Settings) -> None:
    st.text_input(
        "Model",
        placeholder="ollama_chat/qwen3:8b, openai/gpt-5-mini, anthropic/claude-sonnet-4-5",
        help="Provider and model as litellm names them. Leave it empty for the reader.",
        key="model_name",
    )
    st.text_input(
        "API key",
        type="password",
        key="model_key",
        placeholder="Kept as it is" if settings.llm_api_key else "",
        help="Kept in memory until Footnote is closed, never written to disk. Without one, the "
        "provider's own variable, such as OPENAI_API_KEY, is used.",
    )
    st.text_input(
        "Server address",
        placeholder="Only for a server of your own, such as http://localhost:8080/v1",
        key="model_url",
    )
    with st.expander("More", icon=":material/tune:", type="compact"):
        st.text_input(
            "Models to ask when it fails",
            value=", ".join(settings.llm_fallbacks),
            placeholder="openai/gpt-5-mini, ollama_chat/qwen3:8b",
            help="In this order, separated by commas. After the last one, the reader answers.",
            key="model_fallbacks",
        )
        efforts = get_args(Reasoning)
        st.selectbox(
            "Reasoning",
            efforts,
            index=efforts.index(settings.llm_reasoning),
            help="How long the model thinks before it writes. auto: briefly, where a model "
            "thinks by itself.",
            key="model_reasoning",
        )
        st.text_input(
            "Temperature",
            value="" if settings.llm_temperature is None else str(settings.llm_temperature),
            placeholder="As the provider sets it; 0 to 2",
            key="model_temperature",
        )
        st.text_input(
            "Longest reply, in tokens",
            value=str(settings.llm_max_tokens or ""),
            placeholder="As the provider sets it",
            key="model_max_tokens",
        )


def _save(workspace: Workspace, *, test: bool) -> None:
    """What came of it is shown by the next run, whose first lines name the new model."""
    state, settings = st.session_state, workspace.settings
    name, address = state.model_name.strip(), state.model_url.strip() or None
    try:
        workspace.tune(
            {
                "LLM_FALLBACKS": state.model_fallbacks,
                "LLM_REASONING": state.model_reasoning,
                "LLM_TEMPERATURE": state.model_temperature,
                "LLM_MAX_TOKENS": state.model_max_tokens,
            }
        )
    except SettingsError as error:
        state.test_error = str(error)
        return
    workspace.connect(name or None, key_for(settings, name, address, state.model_key), address)
    state.test_saved = True
    if test and name:
        with st.spinner("Trying chat, streaming, tools and JSON"):
            state.test_checks = tuple(try_models(workspace.settings))


def _draw_checks(checks: Sequence[tuple[str, Check]]) -> None:
    """One line each, under the model's name."""
    with st.container(border=True, gap="xsmall", key="checks"):
        named = ""
        for model, check in checks:
            if model != named:
                st.markdown(f"**{plain(model)}**")
                named = model
            mark = ":green[:material/check_circle:]" if check.works else ":red[:material/cancel:]"
            st.markdown(f"{mark} **{check.what}**: {plain(check.words)}")
