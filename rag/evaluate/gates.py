"""`metric>=value`: the numbers below which a change is not merged."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag.errors import EvaluationError

_GATE = re.compile(r"\s*([\w@.]+)\s*(>=|<=|>|<)\s*([-+]?\d+(?:\.\d+)?)\s*")
_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True, slots=True)
class Gate:
    metric: str
    """A key of the printed object; `latency_ms.p95` reaches into a nested one."""
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.bound:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    gate: Gate
    value: float | None
    """None when the run has no such number; a gate without one is missed."""
    kept: bool


def parse(text: str) -> Gate:
    """Raises EvaluationError."""
    match = _GATE.fullmatch(text)
    if match is None:
        raise EvaluationError(
            f"--gate {text!r} is not a condition; write for example 'hit@5>=0.9'."
        )
    return Gate(match[1], match[2], float(match[3]))


def check(gate: Gate, results: Mapping[str, object]) -> Verdict:
    """`results` is the object that `eval` prints. Raises EvaluationError for an unknown metric."""
    value: object = results
    for key in _keys(gate.metric, results):
        if not isinstance(value, Mapping) or key not in value:
            numbers = [k for k, v in results.items() if isinstance(v, int | float) or v is None]
            raise EvaluationError(
                f"--gate {str(gate)!r}: there is no metric {gate.metric!r} here. "
                f"There are {', '.join(numbers)}."
            )
        value = value[key]
    if not isinstance(value, int | float):
        return Verdict(gate, None, False)
    return Verdict(gate, float(value), bool(_OPERATORS[gate.sign](value, gate.bound)))


def _keys(metric: str, results: Mapping[str, object]) -> list[str]:
    return [metric] if metric in results else metric.split(".")
