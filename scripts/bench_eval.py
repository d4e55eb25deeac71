"""Every question set of a folder, asked with the code as it is: the tables of docs/benchmarks.md.

    PYTHONPATH=. python scripts/bench_eval.py SETS --cache CACHE
    PYTHONPATH=. python scripts/bench_eval.py SETS --cache CACHE --sets NAME,NAME --mode reader

A set is a folder with questions.dev.jsonl and docs/ (files, or passages as JSONL). CACHE keeps
pages (by the parsers' code and the file), vectors and a re-ranker's scores (by model and text), so
that a rerun after a change of the ranking takes minutes. It keeps the runs too: each is compared
with the one before it of the same set and mode. Settings come from the environment
(FOOTNOTE_RERANKER, FOOTNOTE_CHUNK_TOKENS, ...). Times are only true with --timed, which
computes every vector and score of a question anew.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.reader import Probe
from bench.sets import Kitchen, Source, kitchen, opened, sources
from bench.tables import (
    Done,
    blame_table,
    evidence_table,
    language_table,
    reader_table,
    retrieval_table,
    telling_misses,
)

from rag.errors import EvaluationError
from rag.evaluate import report
from rag.evaluate.compare import compare
from rag.evaluate.runner import Progress, applicable, execute, plan
from rag.evaluate.runs import Run, RunStore
from rag.evaluate.scores import summarise

_TELL_EVERY_S = 20


def main() -> None:
    options = _options()
    shared = kitchen(options.cache, any_parser=options.any_parser, timed=options.timed)
    store = RunStore(options.cache / "runs")
    done = []
    for source in sources(options.folder, options.sets):
        started = time.perf_counter()
        one = _evaluate(source, shared, store, options)
        if one is None:
            continue
        done.append(one)
        seconds = time.perf_counter() - started
        print(f"{report.table(one.run, one.records, top=8)}", file=sys.stderr)
        print(f"  ({seconds:.0f} s in all, run {one.run.id})\n", file=sys.stderr, flush=True)
    print(f"\nCode {done[0].run.config['code']}, re-ranker {done[0].run.config['reranker']}\n")
    parts = [retrieval_table(done, options.timed), evidence_table(done), language_table(done)]
    if options.mode == "reader":
        parts.append(reader_table(done, options.timed))
    parts += [blame_table(done), "\n".join(telling_misses(done))]
    print("\n\n".join(part for part in parts if part))


def _evaluate(
    source: Source, shared: Kitchen, store: RunStore, options: argparse.Namespace
) -> Done | None:
    """None when nothing of the set can be asked in this mode."""
    cases = source.cases(options.scope, options.collection)
    with opened(source, shared) as bench:
        try:
            run = plan(bench, cases, shared.settings, mode=options.mode, limit=options.limit)
        except EvaluationError as error:
            print(error, file=sys.stderr)
            return None
        run = _unfinished(store, run) or run
        bench.search(applicable(bench, cases, run.mode, run.limit)[0])  # builds the word index
        shared.embedder.live = options.timed
        with Probe(cases.cases) as probe:
            run = execute(run, bench, cases, store, on_progress=_tell(source.name))
        shared.embedder.live = False
    if run.state != "finished":
        sys.exit(f"{source.name}: {run.message}")
    records = store.records(run.id)
    _compare(store, run)
    extra = probe.results(records.values()) if options.mode == "reader" else {}
    return Done(source.name, run, list(records.values()), extra, summarise(records.values()))


def _unfinished(store: RunStore, planned: Run) -> Run | None:
    """The same run, begun before and stopped: it goes on."""
    return next(
        (
            run
            for run in store.runs()
            if run.state != "finished"
            and (run.set_digest, run.mode, run.limit)
            == (planned.set_digest, planned.mode, planned.limit)
            and run.config == planned.config
        ),
        None,
    )


def _compare(store: RunStore, run: Run) -> None:
    """With the run before it of the same questions: what differs beyond noise, and the flips."""
    alike = (
        other
        for other in store.runs()
        if other.id != run.id
        and other.state == "finished"
        and (other.set_digest, other.mode, other.limit) == (run.set_digest, run.mode, run.limit)
    )
    earlier = next(alike, None)
    if earlier is not None:
        pair = [(one, store.records(one.id)) for one in (earlier, run)]
        print(report.comparison_table(compare(pair[0], pair[1])), file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("folder", type=Path, metavar="SETS", help="holds a folder for each set")
    add("--cache", type=Path, required=True, help="kept from run to run")
    add("--sets", type=lambda text: text.split(","), default=[], metavar="NAME,NAME")
    add("--mode", choices=("retrieval", "reader"), default="retrieval")
    add("--scope", choices=("corpus", "document"), default="", help="instead of each question's")
    add("--collection", default="", help="passages to ask, as `en`, instead of each question's")
    add("--limit", type=int, metavar="N", help="only the first N questions of each set")
    add("--timed", action="store_true", help="nothing of a question comes from the cache")
    add("--any-parser", action="store_true", help="pages of the last run, whatever the parsers")
    return parser.parse_args()


def _tell(name: str) -> Callable[[Progress], None]:
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _TELL_EVERY_S:
            last = time.monotonic()
            print(f"{name}: asked {progress.done} of {progress.total}", file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    main()
