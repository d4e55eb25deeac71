"""`chunk=128,200,300`: which setting is tried with which values. Loads nothing else, see `cli`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag.errors import EvaluationError

What = Literal["stages", "chunk", "k"]
_RANGES = {"chunk": (32, 4096), "k": (1, 50)}


@dataclass(frozen=True, slots=True)
class Ablation:
    what: What
    values: tuple[int, ...] = ()
    """Tokens of a chunk, or passages; none for the stages."""


def parse(text: str) -> Ablation:
    """`stages`, `chunk=128,200` (tokens) or `k=3,5,8` (passages). Raises EvaluationError."""
    if text == "stages":
        return Ablation("stages")
    name, _, listed = text.partition("=")
    what: What | None = {"chunk": "chunk", "k": "k"}.get(name)  # type: ignore[assignment]
    values = [int(part) for part in listed.split(",") if part.strip().isdecimal()]
    if what is None or not values or len(values) != len(listed.split(",")):
        raise EvaluationError(
            f"--ablate {text!r} is not known; write stages, chunk=128,200,300 or k=3,5,8."
        )
    low, high = _RANGES[what]
    if outside := [value for value in values if not low <= value <= high]:
        raise EvaluationError(f"--ablate {text!r}: {outside[0]} is not from {low} to {high}.")
    return Ablation(what, tuple(dict.fromkeys(values)))
