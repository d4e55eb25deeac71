"""A run as the object that `eval` prints, as a table for people, and as one record a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rag.evaluate.compare import Comparison, compare
from rag.evaluate.metrics.retrieval import Place
from rag.evaluate.names import metric
from rag.evaluate.runs import Record, Run
from rag.evaluate.scores import Summary, score_ranking, score_search, slices, summarise
from rag.evaluate.stages import STAGE_NAMES, Stage, ranking, stage_rankings, stage_ranks
from rag.evaluate.stats import Estimate, Ratio, estimate

ANSWER_KEYS = (
    "refusal_precision",
    "refusal_recall",
    "refusal_f1",
    "citation_page_precision",
    "citation_page_recall",
    "answer_contains_reference",
)
_CUT_METRICS = ("hit", "recall", "mrr", "ndcg", "precision", "evidence_recall")
_LISTED_PAGES = 20
_UNLISTED = ("run", "against")
_SIGNS = {"better": " +", "worse": " -"}


def search_keys(top_k: int) -> tuple[str, ...]:
    return "hit@1", f"hit@{top_k}", f"mrr@{top_k}", "recall@20", "ndcg@10"


def results(run: Run, records: Sequence[Record]) -> dict[str, object]:
    """Rounded to 4 digits; a number that the set cannot give is null.

    The answer metrics are those that do not depend on a choice of ours; the others follow in
    `more`, and every one has its 95 % interval in `intervals`.
    """
    summary = summarise(records)
    total = summary.latency_ms.get("total", {})
    found: dict[str, object] = {"mode": run.mode, "n": summary.n}
    found |= {key: _value(summary, key) for key in search_keys(run.top_k)}
    found["latency_ms"] = {"p50": total.get("p50"), "p95": total.get("p95")}
    if run.mode != "retrieval":
        found["answered"] = summary.counts.get("answered", 0)
        found["refused"] = summary.counts.get("refused", 0)
        found |= {key: _value(summary, key) for key in ANSWER_KEYS}
    more = {key: _rounded(e) for key, e in summary.metrics.items() if key not in found}
    return {
        **found,
        "more": more,
        "intervals": {k: [_r(e.low), _r(e.high)] for k, e in summary.metrics.items()},
        "stages_ms": dict(summary.latency_ms),
        "misses": misses(records),
        "by_category": by_category(records, f"hit@{run.top_k}"),
        "with_pages": summary.counts["with_gold"],
        "errors": summary.errors,
        "problems": len(run.problems),
        "set": run.set_name,
        "run": run.id,
        "state": run.state,
    }


def by_category(records: Iterable[Record], key: str) -> dict[str, dict[str, object]]:
    """One metric for each category that has it."""
    table: dict[str, dict[str, object]] = {}
    for name, group in slices(records, lambda one: one.category).items():
        found = estimate([one.scores[key] for one in group if key in one.scores])
        if found is not None:
            table[name] = {"n": found.n, key: _rounded(found)}
    return table


def misses(records: Iterable[Record]) -> dict[str, int]:
    """What lost the right pages -> how often, the most frequent first."""
    return dict(Counter(record.blame for record in records if record.blame).most_common())


def ablation(run: Run, records: Iterable[Record]) -> dict[str, dict[str, object]]:
    """The search metrics of each stage alone, from the hits that the run kept."""
    columns: dict[Stage, list[Mapping[str, Ratio]]] = {}
    for record in records:
        gold = record.gold
        if gold is not None and not record.error:
            for stage, places in stage_rankings(record.found).items():
                columns.setdefault(stage, []).append(score_ranking(places, gold, run.top_k))
    table: dict[str, dict[str, object]] = {}
    for stage, scores in columns.items():
        table[STAGE_NAMES[stage]] = _row(
            {key: [score[key] for score in scores] for key in search_keys(run.top_k)}
        )
    return table


def cuts(records: Iterable[Record], values: Sequence[int]) -> dict[str, dict[str, object]]:
    """What the first k places hold, for each k, from the hits that the run kept."""
    kept = [record for record in records if not record.error]
    table: dict[str, dict[str, object]] = {}
    for k in values:
        scores = [score_search(r.found, r.gold, r.evidence, k) for r in kept]
        keys = [f"{name}@{k}" for name in _CUT_METRICS]
        table[str(k)] = _row(
            {key.partition("@")[0]: [s[key] for s in scores if key in s] for key in keys}
        )
    return table


def tried(
    base: tuple[Run, Mapping[str, Record]],
    runs: Mapping[int, tuple[Run, Mapping[str, Record]]],
) -> dict[str, dict[str, object]]:
    """The first metrics of each run, and whether it differs from `base` beyond noise."""
    table: dict[str, dict[str, object]] = {}
    first, _ = base
    keys = [*search_keys(first.top_k)]
    if first.mode != "retrieval":
        keys = [keys[1], *ANSWER_KEYS]
    for value, (run, records) in runs.items():
        kept = [record for record in records.values() if not record.error]
        row = _row({key: [r.scores[key] for r in kept if key in r.scores] for key in keys})
        row["chunks"] = run.config.get("collection.chunks", "")
        row["run"] = run.id
        if run.id != first.id:
            compared = compare(base, (run, records)).metrics
            row["against"] = {
                key: compared[key].direction(metric(key).higher_is_better)
                for key in keys
                if key in compared
            }
        table[str(value)] = row
    return table


def comparison(compared: Comparison) -> dict[str, object]:
    """The second run is the newer one: a positive difference means that it is higher."""
    metrics = {
        key: {
            "difference": _r(d.value),
            "interval": [_r(d.low), _r(d.high)],
            "wins": d.wins,
            "losses": d.losses,
            "p_sign": _r(d.p_sign),
            "verdict": d.direction(metric(key).higher_is_better),
        }
        for key, d in compared.metrics.items()
    }
    return {
        "with": compared.first,
        "n": compared.n,
        "left_out": compared.left_out,
        "metrics": metrics,
        "flipped_by": compared.flip_metric,
        "lost": [flip.id for flip in compared.flips if not flip.gained],
        "gained": [flip.id for flip in compared.flips if flip.gained],
        "changed": {key: list(values) for key, values in compared.changed.items()},
    }


def record(run: Run, one: Record) -> dict[str, object]:
    """A case of a run for other programs: what was right, what came, what was said."""
    gold = one.gold
    pages: list[Place] = ranking(one.found)
    row: dict[str, object] = {
        "id": one.id,
        "question": one.question,
        "category": one.category,
        "lang": one.language,
        "answerable": one.answerable,
        "scope": one.scope,
        "gold": [{"doc": doc, "page": page, "grade": grade} for doc, page, grade in one.right],
        "pages": [{"doc": doc, "page": page} for doc, page in pages[:_LISTED_PAGES]],
        "ranks": stage_ranks(one.found, gold) if gold else {},
        "blame": one.blame,
        "latency_ms": {stage: _r(s * 1000) for stage, s in one.seconds.items()},
        "scores": {k: _r(t / b) if b else None for k, (t, b) in one.scores.items()},
        "error": one.error,
    }
    if one.answer is not None:
        row |= {
            "answer": one.answer.text,
            "refused": one.answer.refused,
            "citations": [
                {"doc": doc, "page": page, "label": c.label, "quote": c.quote}
                for (doc, page), c in zip(one.cited, one.answer.citations, strict=True)
            ],
            "model": one.answer.receipt.model,
            "judge": dict(one.verdicts),
        }
    return row


def table(run: Run, records: Sequence[Record], top: int | None = None) -> str:
    """Plain names first, terms second, for a terminal. `top` limits the rows."""
    summary = summarise(records)
    lines = [
        f"{run.set_name}, {run.mode}, {summary.n} questions"
        + (f", {summary.errors} failed" if summary.errors else "")
    ]
    shown = [key for key in (*search_keys(run.top_k), *_others(summary)) if key in summary.metrics]
    for key in shown[:top]:
        lines.append(_line(key, summary.metrics[key]))
    for stage, values in summary.latency_ms.items():
        lines.append(
            f"  {'Time: ' + stage:<42} p50 {values['p50']:.0f} ms, p95 {values['p95']:.0f} ms"
        )
    if run.mode != "retrieval":
        lines.append(
            f"  answered {summary.counts['answered']}, refused {summary.counts['refused']}"
        )
    for blame, count in misses(records).items():
        lines.append(f"  missed, {blame}: {count}")
    return "\n".join(lines)


def ablation_table(rows: Mapping[str, Mapping[str, object]], top_k: int) -> str:
    keys = search_keys(top_k)
    lines = [f"  {'':<20}" + "".join(f"{key:>11}" for key in keys)]
    for name, row in rows.items():
        lines.append(f"  {name:<20}" + "".join(f"{row.get(key, ''):>11}" for key in keys))
    return "\n".join(lines)


def rows_table(first: str, rows: Mapping[str, Mapping[str, object]]) -> str:
    """One line a value; a number that is beyond noise against the run itself has a + or -."""
    keys = [k for k in next(iter(rows.values()), {}) if k not in _UNLISTED and " " not in k]
    short = {key: key.replace("citation_page_", "cited ").replace("_", " ")[:17] for key in keys}
    lines = [f"  {first:<10}" + "".join(f"{short[key]:>19}" for key in keys)]
    for name, row in rows.items():
        against = row.get("against")
        cells = []
        for key in keys:
            verdict = against.get(key, "") if isinstance(against, Mapping) else ""
            cells.append(f"{row.get(key, '')}{_SIGNS.get(verdict, '')}")
        lines.append(f"  {name:<10}" + "".join(f"{cell:>19}" for cell in cells))
    return "\n".join(lines)


def comparison_table(compared: Comparison) -> str:
    lines = [f"Against {compared.first}, {compared.n} questions in both:"]
    for key, d in compared.metrics.items():
        verdict = d.direction(metric(key).higher_is_better)
        if verdict != "no difference beyond noise":
            lines.append(
                f"  {metric(key).term:<26} {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]  {verdict}"
            )
    if len(lines) == 1:
        lines.append("  no difference beyond noise")
    for flip in compared.flips:
        lines.append(f"  {'gained' if flip.gained else 'lost'} {flip.id}: {flip.question[:80]}")
    for key, (before, after) in compared.changed.items():
        lines.append(f"  {key}: {before or '-'} -> {after or '-'}")
    return "\n".join(lines)


def _row(columns: Mapping[str, Sequence[Ratio]]) -> dict[str, object]:
    """Value and interval of each metric that there is."""
    row: dict[str, object] = {}
    for key, ratios in columns.items():
        found = estimate(ratios)
        if found is not None:
            row[key] = _rounded(found)
            row[f"{key} interval"] = [_r(found.low), _r(found.high)]
    return row


def _others(summary: Summary) -> list[str]:
    """What is no ranking metric: of those, the first few say all."""
    return [
        key
        for key in summary.metrics
        if metric(key).family != "search" or key.startswith("evidence_")
    ]


def _line(key: str, found: Estimate) -> str:
    named = metric(key)
    label = f"{named.name} ({named.term})"
    if named.share:
        value, low, high = (f"{100 * v:.1f} %" for v in (found.value, found.low, found.high))
    else:
        value, low, high = (f"{v:.3g}" for v in (found.value, found.low, found.high))
    return f"  {label:<54} {value:>8}  ({low} to {high}, n {found.n})"


def _value(summary: Summary, key: str) -> float | None:
    found = summary.metrics.get(key)
    return None if found is None else _rounded(found)


def _rounded(found: Estimate) -> float:
    return _r(found.value)


def _r(value: float) -> float:
    return round(value, 4)
