"""Everything that may change a run's result, as text, so that two runs can be told apart."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rag.settings import Settings

_PACKAGE = Path(__file__).resolve().parent.parent
_LIBRARIES = ("torch", "sentence-transformers", "qdrant-client", "rank-bm25", "pymupdf", "litellm")


def describe(
    settings: Settings, mode: str, collection: Mapping[str, str], judge: str = ""
) -> dict[str, str]:
    """The API key and the data folder's place are left out; the model only where one answers.

    `judge`: the model that judges the answers, with its prompts; "" for none.
    """
    found = {
        "embedder": settings.embedder,
        "reranker": settings.reranker or "off",
        "chunk_tokens": str(settings.chunk_tokens),
        "chunk_overlap": str(settings.chunk_overlap),
        "candidates": str(settings.candidates),
        **{f"collection.{key}": value for key, value in collection.items()},
        "code": _code(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **{f"version.{name}": _version(name) for name in _LIBRARIES},
    }
    if mode != "retrieval":
        found["answer_top_k"] = str(settings.top_k)
    if mode == "agent":
        found |= {
            "model": settings.llm_model or "",
            "rounds": str(settings.llm_rounds),
            "tokens": str(settings.llm_tokens),
            "seconds": str(settings.llm_seconds),
            "context": str(settings.llm_context),
            "unsupported": settings.llm_unsupported,
            "ungrounded": settings.llm_ungrounded,
            "expand": settings.llm_expand,
        }
        found |= _prompts(lambda name: not name.startswith("judge_"))
    if judge:
        found |= {"judge": judge, "judge.temperature": "0"}
        found |= _prompts(lambda name: name.startswith("judge_"))
    return found


def _prompts(wanted: Callable[[str], bool]) -> dict[str, str]:
    return {
        f"prompt.{path.stem}": _digest([path])
        for path in sorted((_PACKAGE / "prompts").glob("*"))
        if path.suffix in (".md", ".txt", ".json") and wanted(path.stem)
    }


@cache
def _code() -> str:
    """Of the code that runs, which a server started before a change on the disk keeps running."""
    return _digest(_PACKAGE.rglob("*.py"))


def _digest(paths: Iterable[Path]) -> str:
    """12 hex digits over names and contents: a change that git has not seen counts as well."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
