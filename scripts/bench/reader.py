"""What sets of half unanswerable questions tell about the reader: where its answers stand, and how
well its support tells what can be answered from what cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

import rag.reader
from rag.evaluate.bench import asked
from rag.evaluate.cases import Case
from rag.evaluate.metrics.answers import contains_reference
from rag.evaluate.runs import Record
from rag.sentences import split

_RESAMPLES = 1000
_FEWEST = 50
"""Questions of either kind from which the numbers say anything."""
_LONGEST_ANSWER = 8
"""Words, in the median: longer references are not spans to be found word for word."""
_COUNTS = {1: "quoted sentence", 2: "two quoted sentences"}


class Probe:
    """Notes the support of each question while it is entered; the reader keeps it to itself.

    Raises AttributeError when the reader no longer has a `_support`: then this has to follow.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = {case.id: case for case in cases}
        self._support: dict[str, float] = {}
        self._original: Callable[..., float] | None = None

    def __enter__(self) -> Probe:
        original: Callable[..., float] = rag.reader._support

        def noted(query: str, *rest: Any) -> float:
            self._support[query] = original(query, *rest)
            return self._support[query]

        self._original = original
        rag.reader._support = noted  # type: ignore[assignment]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        rag.reader._support = self._original  # type: ignore[assignment]

    def results(self, records: Iterable[Record]) -> dict[str, str]:
        """Name -> value with its 95 % interval; empty where the set cannot tell."""
        kept = [record for record in records if record.answer is not None]
        spans = [(r, self._cases[r.id].answers) for r in kept if r.answerable]
        spans = [(r, answers) for r, answers in spans if answers]
        found = {}
        if len(spans) >= _FEWEST and _are_spans([answers[0] for _, answers in spans]):
            for count in _COUNTS:
                inside = [contains_reference(_first(r, count), a) for r, a in spans]
                said = [x for x, (r, _) in zip(inside, spans, strict=True) if not r.answer.refused]
                name = f"answer within the first {_COUNTS[count]}"
                found[name] = f"{_mean(inside)}; of those answered {_mean(said)}"
        answerable = [self._of(r) for r in kept if r.answerable]
        others = [self._of(r) for r in kept if not r.answerable]
        if min(len(answerable), len(others)) >= _FEWEST and self._support:
            found["AUC of answerable against unanswerable"] = _sampled(answerable, others, _auc)
            right = [float(not r.answer.refused) for r in kept if r.answerable]
            wrong = [float(not r.answer.refused) for r in kept if not r.answerable]
            found["balanced accuracy of answering or refusing"] = _sampled(right, wrong, _balanced)
        return found

    def _of(self, record: Record) -> float:
        """0 where nothing was found that could support an answer."""
        return self._support.get(asked(self._cases[record.id]), 0.0)


def _first(record: Record, count: int) -> str:
    """The first sentences of the quotes, the best quote first."""
    if record.answer is None:
        return ""
    sentences = [c.quote[a:b] for c in record.answer.citations for a, b in split(c.quote)]
    return " ".join(sentences[:count])


def _are_spans(answers: Sequence[str]) -> bool:
    return float(np.median([len(answer.split()) for answer in answers])) <= _LONGEST_ANSWER


def _auc(answerable: np.ndarray, others: np.ndarray) -> float:
    """How often an answerable question has more support than another one (ties count half)."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, answerable, "left")
    upto = np.searchsorted(ordered, answerable, "right")
    return float(np.mean(below + upto) / (2 * len(others)))


def _balanced(answerable: np.ndarray, others: np.ndarray) -> float:
    """The mean of the shares that are answered, and refused, rightly."""
    return float(answerable.mean() + 1 - others.mean()) / 2


def _mean(values: Sequence[float]) -> str:
    return _sampled(values, [0.0], lambda a, b: float(a.mean()))


def _sampled(
    first: Sequence[float],
    second: Sequence[float],
    measure: Callable[[np.ndarray, np.ndarray], float],
) -> str:
    a, b = np.asarray(first, float), np.asarray(second, float)
    if not a.size:
        return "-"
    rng = np.random.default_rng(0)
    draws = [measure(rng.choice(a, a.size), rng.choice(b, b.size)) for _ in range(_RESAMPLES)]
    low, high = np.percentile(draws, (2.5, 97.5))
    return f"{measure(a, b):.2f} ({low:.2f} to {high:.2f})"
