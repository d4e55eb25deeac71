"""What `eval` prints and writes: the result on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rag.errors import EvaluationError
from rag.evaluate import gates, report
from rag.evaluate.compare import compare
from rag.evaluate.runs import Record, Run

Kept = tuple[Run, Mapping[str, Record]]


def show(
    options: argparse.Namespace,
    result: Kept,
    earlier: Kept | None,
    tried: Mapping[str, Mapping[int, Kept]],
    export: Callable[[], bytes],
) -> int:
    """The exit code. `tried`: setting -> value -> the run with it; `export`: the run as a file."""
    done, records = result
    listed = list(records.values())
    printed = report.results(done, listed)
    tables = [report.table(done, listed)]
    good = done.state == "finished"
    for ablation in options.ablate:
        if ablation.what == "stages":
            printed["ablation"] = rows = report.ablation(done, listed)
            tables.append(report.ablation_table(rows, done.top_k))
        if ablation.what == "k":
            printed["ablation_k"] = cuts = report.cuts(listed, ablation.values)
            tables.append(report.rows_table("first", cuts))
    for what, runs in tried.items():
        good = good and all(run.state == "finished" for run, _ in runs.values())
        printed[f"ablation_{what}_runs"] = values = report.tried((done, records), runs)
        tables.append(report.rows_table("tokens" if what == "chunk" else "passages", values))
    if earlier is not None:
        try:
            compared = compare(earlier, (done, records))
        except EvaluationError as error:
            tell(str(error))
            good = False
        else:
            printed["compare"] = report.comparison(compared)
            tables.append(report.comparison_table(compared))
    printed["gates"] = passed = _gates(options.gate, printed)
    if options.out is not None:
        _write(options.out, _rows(options.out, done, listed))
    if options.export is not None:
        _write(options.export, export())
    output = "\n".join(tables) if options.table else json.dumps(printed, ensure_ascii=False)
    sys.stdout.write(output + "\n")
    return 0 if good and all(passed.values()) else 1


def _gates(wanted: Sequence[gates.Gate], printed: Mapping[str, object]) -> dict[str, bool]:
    """Gate -> kept; a missed one is told. An unknown metric is a gate that is missed."""
    more = printed["more"]
    assert isinstance(more, Mapping)
    passed = {}
    for gate in wanted:
        try:
            verdict = gates.check(gate, {**more, **printed})
        except EvaluationError as error:
            tell(str(error))
            passed[str(gate)] = False
        else:
            passed[str(gate)] = verdict.kept
            if not verdict.kept:
                tell(f"Gate missed: {gate} (it is {verdict.value})")
    return passed


def _rows(path: Path, done: Run, records: Sequence[Record]) -> bytes:
    rows = [report.record(done, one) for one in records]
    if path.suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise EvaluationError(
            f"{str(path)!r} cannot be written: {error.strerror}. The run itself is kept."
        ) from error


def list_lines(lines: Sequence[str], limit: int | None) -> None:
    for line in lines[:limit]:
        tell(line)
    if limit is not None and len(lines) > limit:
        tell(f"... and {len(lines) - limit} more; the run keeps all of them.")


def tell(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()
