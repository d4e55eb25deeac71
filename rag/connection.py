"""Which language model answers, and how it is asked, as it can be changed while the app runs.

It is kept in the catalog, all but the key, which is in memory only. What the environment says
comes before what was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from rag.catalog import Catalog
from rag.settings import Settings

_TUNED = {
    "LLM_FALLBACKS": "llm_fallbacks",
    "LLM_TEMPERATURE": "llm_temperature",
    "LLM_REASONING": "llm_reasoning",
    "LLM_MAX_TOKENS": "llm_max_tokens",
}
"""Variables that `tune` changes, and their fields."""


def remembered(settings: Settings, catalog: Catalog) -> Settings:
    """`settings`, with what was kept for the fields that the environment left as by default."""
    kept = _fields({name: catalog.setting(name.lower()) or "" for name in _TUNED})
    given, default = asdict(settings), _fields({})
    return replace(
        settings,
        llm_model=settings.llm_model or catalog.setting("llm_model"),
        llm_base_url=settings.llm_base_url or catalog.setting("llm_base_url"),
        **{field: value for field, value in kept.items() if given[field] == default[field]},
    )


def connect(
    settings: Settings,
    catalog: Catalog,
    model: str | None,
    api_key: str | None,
    base_url: str | None,
) -> Settings:
    """`settings` with this model, or none, which is kept from now on."""
    catalog.save_setting("llm_model", model)
    catalog.save_setting("llm_base_url", base_url)
    return replace(settings, llm_model=model, llm_api_key=api_key, llm_base_url=base_url)


def tune(settings: Settings, catalog: Catalog, values: Mapping[str, str]) -> Settings:
    """`settings` with these values, by the names of their variables, which are kept from now on.

    What is left out or blank is as by default. Raises SettingsError for a value that does not fit.
    """
    tuned = replace(settings, **_fields(values))
    for name in _TUNED:
        catalog.save_setting(name.lower(), values.get(name, "").strip() or None)
    return tuned


def _fields(values: Mapping[str, str]) -> dict[str, Any]:
    """Field -> value, for every variable in `_TUNED`. Raises SettingsError."""
    parsed = Settings.from_env({name: values.get(name, "") for name in _TUNED})
    return {field: getattr(parsed, field) for field in _TUNED.values()}
