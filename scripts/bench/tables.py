"""Runs as the Markdown of docs/benchmarks.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag.evaluate.runs import Record, Run
from rag.evaluate.scores import Summary, slices
from rag.evaluate.stages import STAGE_NAMES, ranking, stage_ranks
from rag.evaluate.stats import Estimate, estimate

_MAIN = ("hit@1", "hit@5", "mrr@5", "recall@5", "recall@20", "ndcg@10")
_READER = (
    "citation_page_precision",
    "citation_page_recall",
    "refusal_precision",
    "refusal_recall",
    "answer_contains_reference",
    "quotes_verified",
)
_FEWEST_LANGUAGES = 3


@dataclass(frozen=True, slots=True)
class Done:
    name: str
    run: Run
    records: Sequence[Record]
    extra: Mapping[str, str]
    """What was measured beside the run's own metrics: name -> value as text."""
    summary: Summary


def retrieval_table(done: Sequence[Done], timed: bool) -> str:
    heads = ["set", "n", "hit@1", "hit@5", "MRR@5", "recall@5", "recall@20", "nDCG@10"]
    rows = [
        [one.name, str(one.summary.counts["with_gold"])]
        + [_cell(one.summary.metrics.get(key)) for key in _MAIN]
        + ([_seconds(one)] if timed else [])
        for one in done
        if one.summary.counts["with_gold"]
    ]
    return _table(heads + (["s / 100 questions"] if timed else []), rows)


def evidence_table(done: Sequence[Done]) -> str:
    """The share of the evidence's characters; "" where no set knows them."""
    names = ("evidence_recall@5", "evidence_precision@5", "evidence_iou@5")
    rows = [
        [one.name, *(_cell(one.summary.metrics.get(name)) for name in names)]
        for one in done
        if names[0] in one.summary.metrics
    ]
    heads = ["set", "evidence in the first 5 passages", "of which is evidence", "IoU"]
    return _table(heads, rows) if rows else ""


def language_table(done: Sequence[Done]) -> str:
    """hit@1 by the question's language, where a set has several."""
    lines = []
    for one in done:
        groups = slices(one.records, lambda record: record.language)
        if len(groups) >= _FEWEST_LANGUAGES:
            cells = [(name, _of(group, "hit@1")) for name, group in groups.items()]
            rows = [["hit@1", *(_cell(found) for _, found in cells)]]
            lines.append(_table([one.name, *(name for name, _ in cells)], rows))
    return "\n\n".join(lines)


def reader_table(done: Sequence[Done], timed: bool) -> str:
    heads = ["set", "n", "answered", "cited pages right", "right pages cited"]
    heads += ["refusals right", "unanswerable refused", "says the answer", "quotes real"]
    rows = []
    for one in done:
        summary = one.summary
        row = [one.name, str(summary.n), str(summary.counts.get("answered", 0))]
        row += [_cell(summary.metrics.get(key)) for key in _READER]
        if timed:
            total = summary.latency_ms.get("total", {"p50": 0.0, "p95": 0.0})
            row.append(f"{total['p50'] / 1000:.2f} / {total['p95'] / 1000:.2f} s")
        rows.append(row)
    extra = [f"- {one.name}: {name} {value}" for one in done for name, value in one.extra.items()]
    table = _table(heads + (["p50 / p95"] if timed else []), rows)
    return table + ("\n\n" + "\n".join(extra) if extra else "")


def blame_table(done: Sequence[Done]) -> str:
    rows = [
        [one.name, ", ".join(f"{count} {blame}" for blame, count in _blames(one).most_common())]
        for one in done
        if _blames(one)
    ]
    return _table(["set", "misses by the stage that lost the page"], rows) if rows else ""


def telling_misses(done: Sequence[Done], most: int = 5) -> Iterator[str]:
    """One miss for each of the commonest reasons, over all sets; a set comes twice only if it must.

    Of the misses of one reason that is shown whose right page some stage had highest: it says
    most clearly what went wrong.
    """
    groups = [
        (count, one, blame) for one in done for blame, count in _blames(one).most_common() if blame
    ]
    groups.sort(key=lambda group: -group[0])
    shown: list[tuple[int, Done, str]] = []
    for fresh_reason, fresh_set in ((True, True), (True, False), (False, True), (False, False)):
        for group in groups:
            _, one, blame = group
            known = any(blame == b for _, _, b in shown)
            seen = any(one is o for _, o, _ in shown)
            if group in shown or (fresh_reason and known) or (fresh_set and seen):
                continue
            shown.append(group)
            if len(shown) == most:
                break
        if len(shown) == most:
            break
    for count, one, blame in shown:
        record = min((r for r in one.records if r.blame == blame), key=_closest)
        yield _miss(one, record, count)


def _miss(one: Done, record: Record, count: int) -> str:
    gold = record.gold
    ranks = stage_ranks(record.found, gold) if gold else {}
    stages = ", ".join(f"{STAGE_NAMES[s]} {rank or '-'}" for s, rank in ranks.items())
    right = ", ".join(f"{doc} p. {page}" for doc, page, _ in record.right[:3])
    places = ranking(record.found)
    got = f"{places[0][0]} p. {places[0][1]}" if places else "nothing"
    question = " ".join(record.question.split())
    return (
        f"- **{record.blame}** ({count} of {one.name}): “{question[:200]}” ({record.id}). "
        f"Right: {right}. First found: {got}. Rank of the right page: {stages}."
    )


def _closest(record: Record) -> tuple[int, str]:
    ranks = stage_ranks(record.found, record.gold).values() if record.gold else ()
    return min((rank for rank in ranks if rank is not None), default=10_000), record.id


def _blames(one: Done) -> Counter[str]:
    return Counter(record.blame for record in one.records if record.blame)


def _of(records: Iterable[Record], key: str) -> Estimate | None:
    return estimate([r.scores[key] for r in records if key in r.scores and not r.error])


def _cell(found: Estimate | None) -> str:
    if found is None:
        return ""
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _seconds(one: Done) -> str:
    spent = [r.seconds.get("search_only", r.seconds["total"]) for r in one.records if r.seconds]
    return f"{100 * sum(spent) / len(spent):.1f}" if spent else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
