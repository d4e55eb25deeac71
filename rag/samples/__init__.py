"""The sample documents that ship with Footnote, and the questions asked of them."""

from __future__ import annotations

import json
from pathlib import Path

_HERE = Path(__file__).parent
_NAMES = (
    "dunnock-60-manual.pdf",
    "river-sorrel-report-2024.pdf",
    "travel-and-expenses-policy.docx",
    "weather-station-guide.md",
)


def files() -> list[Path]:
    """The four documents."""
    return [_HERE / "documents" / name for name in _NAMES]


def questions() -> Path:
    """The question set over them, JSON Lines; README.md beside it describes the fields."""
    return _HERE / "questions.jsonl"


def featured() -> list[str]:
    """Questions that the documents answer, picked as examples for a first visit."""
    lines = questions().read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows if row.get("featured") and row["answerable"]]
