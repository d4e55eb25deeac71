"""What an answer does, with the time that it takes -> the steps of its receipt."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from rag.types import Step, StepKind

_STAGES: dict[StepKind, str] = {
    "rewrite": "rewrite",
    "expand": "expand",
    "search": "search",
    "read_page": "read",
    "find_in_document": "read",
    "web_search": "web",
    "model": "model",
    "finish": "verify",
}


class Trace:
    """The steps so far, in the order in which they were begun; its clock starts when it is made."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._steps: list[Step] = []

    @property
    def elapsed(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self._started

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    def begin(self, kind: StepKind, arguments: str = "", model: str = "") -> int:
        """The number of a new step, for `end`."""
        self._steps.append(Step(kind, arguments, at=self.elapsed, model=model))
        return len(self._steps) - 1

    def end(
        self,
        number: int,
        result: str = "",
        *,
        error: str = "",
        seconds: float | None = None,
        repeated: bool = False,
    ) -> None:
        """`seconds` is what the step took itself; by default the time since it was begun."""
        step = self._steps[number]
        spent = self.elapsed - step.at if seconds is None else seconds
        self._steps[number] = replace(
            step, result=result, error=error, seconds=spent, repeated=repeated
        )

    def charge(
        self,
        number: int,
        model: str,
        prompt_tokens: int,
        completion_tokens: int,
        cost: float | None,
    ) -> None:
        """Who answered a model call, and what it used."""
        self._steps[number] = replace(
            self._steps[number],
            model=model,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost=cost,
        )

    def seconds(self) -> dict[str, float]:
        """Seconds per stage, in the order of their first step; `total` is wall time.

        Calls that ran at the same time count in full, so stages can add up to more than `total`.
        """
        stages: dict[str, float] = {}
        for stage, spent in self._by_stage(self._steps):
            stages[stage] = stages.get(stage, 0.0) + spent
        return stages | {"total": self.elapsed}

    @staticmethod
    def _by_stage(steps: Iterable[Step]) -> Iterable[tuple[str, float]]:
        return ((_STAGES[step.kind], step.seconds) for step in steps if step.kind in _STAGES)
