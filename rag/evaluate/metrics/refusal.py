"""Refusing as a classifier: the positive class is "the documents do not answer this".

As in SQuAD 2.0 (Rajpurkar, Jia, Liang 2018), over answerable and unanswerable cases together.
Each function gives one case's (top, bottom); the metric is the ratio of their sums.
"""

from __future__ import annotations

from rag.evaluate.stats import Ratio


def precision(refused: bool, answerable: bool) -> Ratio:
    """Right refusals over refusals."""
    return float(refused and not answerable), float(refused)


def recall(refused: bool, answerable: bool) -> Ratio:
    """Right refusals over unanswerable questions."""
    return float(refused and not answerable), float(not answerable)


def f1(refused: bool, answerable: bool) -> Ratio:
    """2 right / (2 right + wrongly refused + wrongly answered)."""
    right = refused and not answerable
    wrong = refused == answerable
    return 2.0 * right, 2.0 * right + wrong
