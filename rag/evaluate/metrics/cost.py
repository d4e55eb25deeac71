"""What an answer cost: time per stage, model calls, tokens, money, searches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from rag.evaluate.stats import percentile
from rag.types import Receipt

Percentiles = Mapping[str, float]
"""{"p50", "p95"}, in milliseconds."""


def latencies_ms(stages: Iterable[Mapping[str, float]]) -> dict[str, Percentiles]:
    """Median and 95th percentile of each stage, from seconds per stage of each case."""
    columns: dict[str, list[float]] = defaultdict(list)
    for seconds in stages:
        for stage, value in seconds.items():
            columns[stage].append(value * 1000)
    return {
        stage: {
            "p50": round(percentile(values, 50) or 0.0, 1),
            "p95": round(percentile(values, 95) or 0.0, 1),
        }
        for stage, values in columns.items()
    }


def per_answer(receipt: Receipt) -> dict[str, float]:
    """Counts of one answer: those of a model where one answered, `cost` (US dollars) where that
    model has a known price."""
    counts = {"searches": float(len(receipt.searches))}
    if receipt.engine == "agent":
        counts |= {
            "llm_calls": float(receipt.llm_calls),
            "prompt_tokens": float(receipt.prompt_tokens),
            "completion_tokens": float(receipt.completion_tokens),
        }
    return counts if receipt.cost is None else {**counts, "cost": receipt.cost}
