"""From records to numbers: each case's scores, and a set's metrics with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag.evaluate.cases import Case
from rag.evaluate.metrics import answers, citations, cost, language, refusal, retrieval, spans
from rag.evaluate.metrics.retrieval import Gold, Place
from rag.evaluate.metrics.spans import Span
from rag.evaluate.runs import Record
from rag.evaluate.stages import Found, ranking
from rag.evaluate.stats import Estimate, Ratio, estimate
from rag.types import Answer

CUTS = (1, 3, 5, 10, 20)
Scores = dict[str, Ratio]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a set of records comes to."""

    n: int
    """Cases without an error."""
    errors: int
    metrics: Mapping[str, Estimate]
    latency_ms: Mapping[str, Mapping[str, float]]
    """Stage -> {"p50", "p95"}; `total` is wall time of a search or an answer."""
    counts: Mapping[str, int]
    """answered, refused (only where answers were made), and cases with gold places."""


def score_ranking(places: Sequence[Place], gold: Gold, top_k: int = 5) -> Scores:
    """Ranking metrics of distinct places, best first; `top_k` adds one more cut."""
    cuts = sorted({*CUTS, top_k})
    scores: dict[str, float] = {}
    for k in cuts:
        scores[f"hit@{k}"] = retrieval.hit(places, gold, k)
        scores[f"recall@{k}"] = retrieval.recall(places, gold, k)
        scores[f"mrr@{k}"] = retrieval.reciprocal_rank(places, gold, k)
        scores[f"ndcg@{k}"] = retrieval.ndcg(places, gold, k)
        scores[f"precision@{k}"] = retrieval.precision(places, gold, k)
    return _plain(scores)


def score_search(
    found: Sequence[Found], gold: Gold | None, evidence: Sequence[Span], top_k: int
) -> Scores:
    """Ranking metrics, and the share of the evidence that the first `top_k` passages hold."""
    scores = score_ranking(ranking(found), gold, top_k) if gold else {}
    if evidence:
        passages = [(hit.doc, hit.page, hit.start, hit.end) for hit in found[:top_k]]
        scores |= _plain(
            {
                f"evidence_recall@{top_k}": spans.recall(passages, evidence),
                f"evidence_precision@{top_k}": spans.precision(passages, evidence),
                f"evidence_iou@{top_k}": spans.iou(passages, evidence),
            }
        )
    return scores


def score_answer(
    case: Case,
    answer: Answer,
    gold: Gold | None,
    cited: Sequence[Place],
    embed: answers.Embed | None,
) -> Scores:
    """Every metric that applies. A refusal of an answerable question scores 0 on its answer.

    `cited` are the places of the answer's citations. `embed` gives semantic similarity; None
    leaves it out.
    """
    scores = {
        "refusal_precision": refusal.precision(answer.refused, case.answerable),
        "refusal_recall": refusal.recall(answer.refused, case.answerable),
        "refusal_f1": refusal.f1(answer.refused, case.answerable),
    }
    plain = dict(cost.per_answer(answer.receipt))
    if not answer.refused:
        plain |= _cited(case, answer, gold, cited)
    if case.answerable:
        plain |= _content(case, answer, embed)
    return scores | _plain(plain)


def summarise(records: Iterable[Record]) -> Summary:
    kept, errors = [], 0
    for record in records:
        if record.error:
            errors += 1
        else:
            kept.append(record)
    columns: dict[str, list[Ratio]] = defaultdict(list)
    for record in kept:
        for name, ratio in record.scores.items():
            columns[name].append(ratio)
    answered = [record.answer for record in kept if record.answer is not None]
    counts = {"with_gold": sum(record.gold is not None for record in kept)}
    if answered:
        counts["refused"] = sum(answer.refused for answer in answered)
        counts["answered"] = len(answered) - counts["refused"]
    return Summary(
        n=len(kept),
        errors=errors,
        metrics={n: e for n, column in columns.items() if (e := estimate(column)) is not None},
        latency_ms=cost.latencies_ms(record.seconds for record in kept),
        counts=counts,
    )


def slices(records: Iterable[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    """Records by category, language, ...; those without one are under ""."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return dict(sorted(groups.items()))


def _cited(
    case: Case, answer: Answer, gold: Gold | None, cited: Sequence[Place]
) -> dict[str, float]:
    receipt = answer.receipt
    found: dict[str, float | None] = {
        "cited": float(bool(cited)),
        "quotes_verified": citations.verified_share(
            receipt.quotes_verified, len(receipt.rejections)
        ),
        "sentences_marked": citations.marked_share(answer.text),
        "same_language": language.same(case.question, answer.text, case.language),
    }
    if gold is not None and case.answerable:
        found["citation_page_precision"] = citations.page_precision(cited, gold)
        found["citation_page_recall"] = citations.page_recall(cited, gold)
    return {name: value for name, value in found.items() if value is not None}


def _content(case: Case, answer: Answer, embed: answers.Embed | None) -> dict[str, float]:
    text = "" if answer.refused else answer.text
    scores = {"fact_recall": answers.fact_recall(text, case.facts)} if case.facts else {}
    if not case.answers:
        return scores
    scores |= {
        "answer_contains_reference": answers.contains_reference(text, case.answers),
        "exact_match": answers.exact_match(text, case.answers),
        "token_f1": answers.token_f1(text, case.answers),
        "token_recall": answers.token_recall(text, case.answers),
        "rouge_l": answers.rouge_l(text, case.answers),
    }
    if embed is not None:
        similar = answers.similarity(text, case.answers, embed) if text else 0.0
        scores["similarity"] = similar
        scores["passed"] = answers.passed(similar, scores["rouge_l"])
    return scores


def _plain(values: Mapping[str, float]) -> Scores:
    return {name: (value, 1.0) for name, value in values.items()}
