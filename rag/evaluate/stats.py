"""How sure a number is: bootstrap intervals, and whether two runs differ.

A metric is a ratio of sums over cases, sum(top) / sum(bottom): a mean has bottom 1 for each case;
precision and F1 over a set have the counts. So one bootstrap serves them all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
SEED = 20240229
"""Fixed, so that the same run always shows the same interval."""

Ratio = tuple[float, float]
"""One case's share of a metric: (top, bottom)."""

Direction = Literal["better", "worse", "no difference beyond noise"]
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric over `n` cases, with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The second run minus the first, over the `n` cases that both answered."""

    value: float
    low: float
    high: float
    n: int
    wins: int
    """Cases where the second run scores higher."""
    losses: int
    p_sign: float
    """Two-sided sign test; 1.0 when no case differs."""
    beyond_noise: bool

    def direction(self, higher_is_better: bool = True) -> Direction:
        if not self.beyond_noise:
            return "no difference beyond noise"
        return "better" if (self.value > 0) == higher_is_better else "worse"


def estimate(ratios: Sequence[Ratio]) -> Estimate | None:
    """Percentile bootstrap over cases (Efron and Tibshirani 1993, ch. 13).

    None when there is no case or the bottom is 0 everywhere: the metric says nothing then.
    """
    top, bottom = _columns(ratios)
    if bottom.sum() <= 0:
        return None
    low, high = _interval(_resampled(top, bottom))
    return Estimate(float(top.sum() / bottom.sum()), low, high, len(top))


def difference(first: Sequence[Ratio], second: Sequence[Ratio]) -> Difference | None:
    """Paired bootstrap (Efron and Tibshirani 1993) with the same cases drawn for both runs.

    Beyond noise means that the 95 % interval excludes 0 and, where every case is simply right or
    wrong, that the sign test agrees (p < 0.05): the bootstrap alone is too sure of a few flips.
    """
    if len(first) != len(second):
        raise ValueError(f"paired runs need equal cases, got {len(first)} and {len(second)}")
    a, b = _columns(first), _columns(second)
    if a[1].sum() <= 0 or b[1].sum() <= 0:
        return None
    value = float(b[0].sum() / b[1].sum() - a[0].sum() / a[1].sum())
    low, high = _interval(_resampled(*b) - _resampled(*a))
    changes = _per_case(*b) - _per_case(*a)
    wins, losses = int((changes > 1e-12).sum()), int((changes < -1e-12).sum())
    p = sign_test(wins, losses)
    right_or_wrong = bool(np.isin(changes, (-1.0, 0.0, 1.0)).all())
    excluded = low > 0 or high < 0
    beyond = excluded and (p < 0.05 or not right_or_wrong)
    return Difference(value, low, high, len(first), wins, losses, p, beyond)


def sign_test(wins: int, losses: int) -> float:
    """Exact two-sided p under wins ~ Binomial(wins + losses, 1/2); ties are left out."""
    n = wins + losses
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1)) / 2.0**n
    return min(1.0, 2 * tail)


def percentile(values: Sequence[float], q: float) -> float | None:
    """The q-th percentile (0 to 100) with linear interpolation; None for no values."""
    return float(np.percentile(np.asarray(values, dtype=float), q)) if values else None


def _columns(ratios: Sequence[Ratio]) -> tuple[_Array, _Array]:
    table = np.asarray(ratios, dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _per_case(top: _Array, bottom: _Array) -> _Array:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _resampled(top: _Array, bottom: _Array) -> _Array:
    """The metric of each resample; the seed makes the draws the same for every call of equal n."""
    rng = np.random.default_rng(SEED)
    n = len(top)
    found: list[_Array] = []
    for _ in range(RESAMPLES // 100):  # in parts: 7,000 cases at once would take 110 MB
        counts = rng.multinomial(n, np.full(n, 1 / n), size=100)
        tops, bottoms = counts @ top, counts @ bottom
        # A resample without any bottom has no value; it is left out below.
        found.append(np.divide(tops, bottoms, out=np.full(100, np.nan), where=bottoms > 0))
    return np.concatenate(found)


def _interval(values: _Array) -> tuple[float, float]:
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return float(low), float(high)
