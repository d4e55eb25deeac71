"""Ways to cut pages into what is searched, on question sets: the chunking table of benchmarks.md.

    PYTHONPATH=. python scripts/compare_chunking.py SETS --cache CACHE --sets NAME,NAME

Everything but the cutting is the app's own: header, both indexes, fusion, pages as the parsers read
them. Compared are the ranks of the right pages, and the share of the evidence's characters in the
first five passages that are returned (the page, or the sentences around, where a way returns more
than it embeds). Each way is compared with the app's, question by question. The cache is that of
bench_eval.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.cuts import Way, ways, widen
from bench.sets import Kitchen, Source, kitchen, opened, sources

from rag.chunk import largest
from rag.evaluate.bench import LibraryBench
from rag.evaluate.load import CaseSet
from rag.evaluate.runner import applicable, as_found
from rag.evaluate.scores import Scores, score_search
from rag.evaluate.stats import difference, estimate

_KEYS = ("hit@1", "hit@5", "mrr@5", "recall@20", "evidence_recall@5")
_HEADS = ("hit@1", "hit@5", "MRR@5", "recall@20", "evidence in 5")
_SIGNS = {"better": " ▲", "worse": " ▼", "no difference beyond noise": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, metavar="SETS")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--sets", type=lambda text: text.split(","), required=True)
    parser.add_argument("--any-parser", action="store_true")
    options = parser.parse_args()
    shared = kitchen(options.cache, any_parser=options.any_parser)
    tokens = largest(shared.settings.chunk_tokens, shared.embedder.max_tokens)
    print("| set | cut | chunks | " + " | ".join(_HEADS) + " |")
    print("|---|---|---|" + "---|" * len(_HEADS))
    for source in sources(options.folder, options.sets):
        cases = source.cases()
        usual: list[Scores] = []
        for way in ways(shared.embedder, tokens):
            started = time.perf_counter()
            chunks, scores = _ask(source, shared, cases, way)
            usual = usual or scores
            cells = [_cell(key, usual, scores) for key in _KEYS]
            print(
                f"| {source.name} | {way.name} | {chunks} | " + " | ".join(cells) + " |", flush=True
            )
            print(f"{way.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)


def _ask(source: Source, shared: Kitchen, cases: CaseSet, way: Way) -> tuple[str, list[Scores]]:
    """How many chunks, and every question's scores, in the order of the set."""
    with opened(source, shared, way.cut) as bench:
        assert isinstance(bench, LibraryBench), "chunking is compared on files, not on passages"
        scores = []
        for case in applicable(bench, cases, "retrieval", None):
            found = as_found(bench.search(case), bench)
            wide = widen(found, way, bench.page)
            scores.append(score_search(wide, bench.gold(case), bench.spans(case), 5))
        return bench.describe()["chunks"], scores


def _cell(key: str, usual: Sequence[Scores], scores: Sequence[Scores]) -> str:
    """The mean with its interval, marked where it differs from the app's way beyond noise."""
    pairs = [(a[key], b[key]) for a, b in zip(usual, scores, strict=True) if key in a and key in b]
    found = estimate([b for _, b in pairs])
    if found is None:
        return ""
    changed = difference([a for a, _ in pairs], [b for _, b in pairs])
    sign = _SIGNS[changed.direction()] if changed else ""
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f}){sign}"


if __name__ == "__main__":
    main()
