"""Two runs of the same questions: what changed, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.errors import EvaluationError
from rag.evaluate.runs import Record, Run
from rag.evaluate.stats import Difference, difference


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that one run got right and the other wrong, by the comparison's metric."""

    id: str
    question: str
    before: float
    after: float

    @property
    def gained(self) -> bool:
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """`second` minus `first`, over the cases that both have without an error."""

    first: str
    second: str
    n: int
    left_out: int
    """Cases that only one run has, or that failed in one."""
    metrics: Mapping[str, Difference]
    flips: tuple[Flip, ...]
    flip_metric: str
    changed: Mapping[str, tuple[str, str]]
    """Configuration: key -> (first, second), where they differ."""


def compare(
    first: tuple[Run, Mapping[str, Record]],
    second: tuple[Run, Mapping[str, Record]],
    flip_metric: str | None = None,
) -> Comparison:
    """Raises EvaluationError when the runs share no case.

    `flip_metric` decides the flipped cases: by default hit@k of a retrieval run, fact recall or
    the answer's citation recall where both runs have answers.
    """
    (run_a, records_a), (run_b, records_b) = first, second
    pairs = [
        (record, records_b[name])
        for name, record in records_a.items()
        if name in records_b
        and not record.error
        and not records_b[name].error
        and record.question == records_b[name].question
    ]
    if not pairs:
        raise EvaluationError(
            f"The runs {run_a.id!r} and {run_b.id!r} have no question in common; "
            "compare runs of the same question set."
        )
    metric = flip_metric or _flip_metric(pairs, run_b)
    return Comparison(
        first=run_a.id,
        second=run_b.id,
        n=len(pairs),
        left_out=len(records_a.keys() | records_b.keys()) - len(pairs),
        metrics=_differences(pairs),
        flips=tuple(_flips(pairs, metric)),
        flip_metric=metric,
        changed={
            key: (run_a.config.get(key, ""), run_b.config.get(key, ""))
            for key in sorted(run_a.config.keys() | run_b.config.keys())
            if run_a.config.get(key) != run_b.config.get(key)
        },
    )


Pair = tuple[Record, Record]


def _differences(pairs: Sequence[Pair]) -> dict[str, Difference]:
    names = dict.fromkeys(name for _, record in pairs for name in record.scores)
    found = {}
    for name in names:
        both = [(a, b) for a, b in pairs if name in a.scores and name in b.scores]
        if both:
            d = difference([a.scores[name] for a, _ in both], [b.scores[name] for _, b in both])
            if d is not None:
                found[name] = d
    return found


def _flip_metric(pairs: Sequence[Pair], run: Run) -> str:
    candidates = ("fact_recall", "citation_page_recall") if run.mode != "retrieval" else ()
    for name in candidates:
        if any(name in a.scores and name in b.scores for a, b in pairs):
            return name
    return f"hit@{run.top_k}"


def _flips(pairs: Sequence[Pair], metric: str) -> list[Flip]:
    """A case is right at 0.5 and more. Losses first: they are what a change must answer for."""
    flips = []
    for a, b in pairs:
        if metric in a.scores and metric in b.scores:
            before, after = a.scores[metric][0], b.scores[metric][0]
            if (before >= 0.5) != (after >= 0.5):
                flips.append(Flip(a.id, a.question, before, after))
    return sorted(flips, key=lambda flip: (flip.gained, flip.id))
