"""How well passages cover the evidence, in characters: for chunking, whatever its sizes.

Smith and Troynikov 2024 ("Evaluating Chunking Strategies for Retrieval", Chroma), with characters
in the place of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[str, int, int, int]
"""Document, 1-based page, and a half-open range of characters on it."""


def recall(retrieved: Sequence[Span], evidence: Sequence[Span]) -> float:
    """The share of the evidence's characters that some passage has."""
    return _overlap(retrieved, evidence) / _size(_merged(evidence))


def precision(retrieved: Sequence[Span], evidence: Sequence[Span]) -> float:
    """The share of the passages' characters (repeated ones each time) that are evidence."""
    total = sum(end - start for _, _, start, end in retrieved)
    covered = sum(_overlap([span], evidence) for span in retrieved)
    return covered / total if total else 0.0


def iou(retrieved: Sequence[Span], evidence: Sequence[Span]) -> float:
    """Characters in both over characters in either."""
    both = _overlap(retrieved, evidence)
    return both / (_size(_merged(retrieved)) + _size(_merged(evidence)) - both)


def _overlap(first: Iterable[Span], second: Iterable[Span]) -> int:
    right = _merged(second)
    return sum(
        max(0, min(a[3], b[3]) - max(a[2], b[2]))
        for a in _merged(first)
        for b in right
        if a[:2] == b[:2]
    )


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Sorted, with overlapping ones joined, so that no character counts twice."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is not None and last[:2] == span[:2] and span[2] <= last[3]:
            merged[-1] = (*last[:3], max(last[3], span[3]))
        else:
            merged.append(span)
    return merged


def _size(spans: Iterable[Span]) -> int:
    return sum(end - start for _, _, start, end in spans)
