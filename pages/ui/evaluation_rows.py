"""The tables and chart data of an evaluation, from its records. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pages.ui.evaluation_words import (
    amount,
    change,
    change_interval,
    counted,
    interval,
    named,
    page_name,
    where,
)
from pages.ui.words import preview, shorten, stages
from rag.evaluate import report
from rag.evaluate.blame import EXPLANATIONS
from rag.evaluate.cases import Case
from rag.evaluate.compare import Comparison, Flip
from rag.evaluate.metrics.text import without_markers
from rag.evaluate.outcome import outcome
from rag.evaluate.runs import Record, Run
from rag.evaluate.scores import CUTS, Summary, slices
from rag.evaluate.stages import STAGE_NAMES, Stage, ranking, stage_rankings, stage_ranks
from rag.evaluate.stats import Estimate, estimate
from rag.types import Unit

Rows = list[dict[str, Any]]
STAGES: Mapping[Stage, str] = {
    "keyword": "By words",
    "pages": "By words, whole pages",
    "dense": "By meaning",
    "fused": "All merged",
    "reranked": "Merged and re-ranked",
}
FAMILIES = {
    "search": "Search",
    "answer": "Answers",
    "sources": "Sources",
    "refusal": "Refusals",
    "cost": "Effort",
    "judge": "Judge",
}
_COLUMNS: Mapping[Stage, str] = {"keyword": "Words", "pages": "Page words", "dense": "Meaning"}
_LISTED = 10


def metric_rows(summary: Summary, records: Sequence[Record]) -> Rows:
    """Every number of a run, plain name first."""
    return [
        {
            "About": FAMILIES[named(key).family],
            "What": named(key).name,
            "Value": amount(key, found.value, 1),
            "95 % interval": interval(key, found, 1),
            "Questions": counted(key, records),
            "Term": named(key).term,
            "Meaning": named(key).meaning,
        }
        for key, found in summary.metrics.items()
    ]


def group_rows(records: Sequence[Record], key: str, by: Callable[[Record], str]) -> Rows:
    """One metric for each group that has it; records without a group are "(none)"."""
    rows = []
    for name, group in slices(records, by).items():
        found = estimate([r.scores[key] for r in group if key in r.scores and not r.error])
        if found is not None:
            rows.append(_point(f"{(name or '(none)').replace('_', ' ')} ({found.n})", found))
    return rows


def cut_rows(summary: Summary) -> Rows:
    """How often the right page is among the first 1, 3, 5, ..."""
    return [
        _point(f"first {k}" if k > 1 else "the first", summary.metrics[f"hit@{k}"])
        for k in CUTS
        if f"hit@{k}" in summary.metrics
    ]


def size_rows(summaries: Mapping[int, tuple[Summary, str]], key: str) -> Rows:
    """One metric by the size of the chunks; with each summary, how many chunks there were."""
    return [
        _point(f"{size} tokens ({chunks})", summary.metrics[key])
        for size, (summary, chunks) in summaries.items()
        if key in summary.metrics
    ]


def stage_rows(run: Run, records: Sequence[Record]) -> Rows:
    """What each search stage would find without the others."""
    table = report.ablation(run, records)
    rows = []
    for stage, name in STAGES.items():
        row: dict[str, Any] = dict(table.get(STAGE_NAMES[stage], {}))
        key = f"hit@{run.top_k}"
        if key in row:
            low, high = row[f"{key} interval"]
            rows.append(
                {
                    "Group": name,
                    "Value": row[key],
                    "Low": low,
                    "High": high,
                    "Very first": amount("hit@1", row["hit@1"]),
                    "How high": amount("mrr@5", row[f"mrr@{run.top_k}"]),
                }
            )
    return rows


def miss_rows(records: Sequence[Record]) -> Rows:
    """Why right pages were lost, the most frequent reason first."""
    return [
        {"Reason": blame, "Questions": count, "Meaning": EXPLANATIONS[blame]}
        for blame, count in report.misses(records).items()
    ]


def latency_rows(records: Sequence[Record]) -> Rows:
    """Milliseconds of each question, all in all."""
    return [
        {"ms": 1000 * record.seconds["total"], "Question": record.question}
        for record in records
        if "total" in record.seconds and not record.error
    ]


def stage_times(summary: Summary) -> Rows:
    """How long each stage takes."""
    rows = []
    for stage, spent in summary.latency_ms.items():
        named_times = [stages({stage: spent[p] / 1000}) for p in ("p50", "p95")]
        ((name, half),), ((_, most),) = (times.items() for times in named_times)
        rows.append({"Stage": name, "Half take less than": half, "1 of 20 takes longer than": most})
    return rows


def case_rows(run: Run, records: Sequence[Record], units: Mapping[str, Unit]) -> Rows:
    """The table of cases, in the order of the set."""
    rows = []
    for record in records:
        gold = record.gold
        ranks = stage_ranks(record.found, gold) if gold else {}
        rows.append(
            {
                "Open": "Open",
                "Question": record.question,
                "Result": [outcome(run, record)],
                "Rank": ranks.get("reranked", ranks.get("fused")),
                "Right": "; ".join(where(doc, page, units) for doc, page, _ in record.right),
                "Why": record.error or EXPLANATIONS.get(record.blame, ""),
                "Category": record.category.replace("_", " "),
                "Language": record.language,
                "Seconds": record.seconds.get("total"),
            }
        )
    return rows


def rank_rows(record: Record) -> Rows:
    """Where the first right page stood in each stage."""
    gold = record.gold
    if gold is None:
        return []
    ranks = stage_ranks(record.found, gold)
    return [
        {"Stage": name, "Right page": "not found" if (r := ranks[stage]) is None else f"no. {r}"}
        for stage, name in STAGES.items()
        if stage in ranks
    ]


def found_rows(record: Record, units: Mapping[str, Unit]) -> Rows:
    """The first pages that came back, and the right ones below, with their rank in each stage."""
    right = {(doc, page) for doc, page, _ in record.right}
    ranked = stage_rankings(record.found)
    rows = []
    for number, (doc, page) in enumerate(ranking(record.found), 1):
        if number <= _LISTED or (doc, page) in right:
            mark = "✓ " if (doc, page) in right else ""
            row: dict[str, Any] = {
                "No.": number,
                "Page": f"{mark}{page_name(page, units.get(doc, 'page'))} · {shorten(doc, 20)}",
            }
            for stage, name in _COLUMNS.items():
                places = ranked[stage]
                row[name] = places.index((doc, page)) + 1 if (doc, page) in places else None
            rows.append(row)
    return rows


def score_rows(record: Record) -> Rows:
    """A case's own scores, the search's in full last."""
    rows = [
        {"What": named(key).name, "Value": amount(key, top / bottom, 1), "Term": named(key).term}
        for key, (top, bottom) in record.scores.items()
        if bottom
    ]
    return sorted(rows, key=lambda row: "@" in row["Term"])


def difference_rows(
    compared: Comparison,
    values: Mapping[str, tuple[float, float]],
    keys: Sequence[str] = (),
) -> Rows:
    """The comparison's metrics, or those of `keys`; `values`: before and after."""
    rows = []
    for key in keys or compared.metrics:
        found = compared.metrics.get(key)
        if found is None:
            continue
        before, after = values[key]
        rows.append(
            {
                "What": named(key).name,
                "Before": amount(key, before, 1),
                "After": amount(key, after, 1),
                "Difference": change(key, found.value),
                "Verdict": [found.direction(named(key).higher_is_better)],
                "95 % interval": change_interval(key, found),
                "Up": found.wins,
                "Down": found.losses,
                "Term": named(key).term,
            }
        )
    return rows


def paired_values(
    compared: Comparison, first: Mapping[str, Record], second: Mapping[str, Record]
) -> dict[str, tuple[float, float]]:
    """Each compared metric before and after, over the cases that both runs have."""
    names = [
        name
        for name, record in first.items()
        if name in second
        and not record.error
        and not second[name].error
        and record.question == second[name].question
    ]
    values = {}
    for key in compared.metrics:
        both = [n for n in names if key in first[n].scores and key in second[n].scores]
        values[key] = (_mean(first, both, key), _mean(second, both, key))
    return values


def flip_rows(flips: Sequence[Flip], gained: bool, after: Mapping[str, Record]) -> Rows:
    return [
        {
            "Open": "Open",
            "Question": flip.question,
            "Why": EXPLANATIONS.get(after[flip.id].blame, ""),
            "id": flip.id,
        }
        for flip in flips
        if flip.gained == gained
    ]


def set_rows(cases: Sequence[Case]) -> Rows:
    """A question set as a table."""
    return [
        {
            "Edit": "Edit",
            "Question": case.question,
            "Answer": preview(without_markers(case.answers[0]), 120)
            if case.answers
            else ("" if case.answerable else "(the documents do not say)"),
            "Evidence": "; ".join(
                dict.fromkeys(
                    [f"{e.doc}, file page {e.page}" if e.page else e.doc for e in case.evidence]
                    + [f"{doc}, file page {page}" for doc, page in case.pages if not case.evidence]
                )
            ),
            "Tags": list(case.tags),
            "Category": case.category.replace("_", " "),
            "Language": case.language,
        }
        for case in cases
    ]


def _point(name: str, found: Estimate) -> dict[str, Any]:
    return {"Group": name, "Value": found.value, "Low": found.low, "High": found.high}


def _mean(records: Mapping[str, Record], names: Sequence[str], key: str) -> float:
    top, bottom = (sum(records[name].scores[key][i] for name in names) for i in (0, 1))
    return top / bottom if bottom else 0.0
