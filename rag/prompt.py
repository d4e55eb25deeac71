"""The agent's prompts: files in `prompts/`, and a version that tells two states of them apart."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "prompts"


def render(name: str, **values: str) -> str:
    """The prompt `name` with its `$variables` filled in; a value's own `$` stays as it is."""
    return Template(_text(name)).substitute(values)


@functools.cache
def version() -> str:
    """12 hex digits over the names and contents of every prompt of the agent, also of the one for
    models without tool calls."""
    total = hashlib.sha256()
    for path in sorted([*FOLDER.glob("agent*.md"), *FOLDER.glob("plain.md")]):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:12]


@functools.cache
def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
