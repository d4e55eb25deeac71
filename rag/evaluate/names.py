"""What each metric is called, for people: a plain name, the technical term, one line about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["search", "answer", "sources", "refusal", "cost", "judge"]


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    term: str
    meaning: str
    family: Family
    higher_is_better: bool = True
    share: bool = True
    """Between 0 and 1; shown as a percentage."""


_METRICS = {
    "hit": Metric(
        "Right page in the first {k}",
        "hit@{k}",
        "How often at least one right page is among the first {k} found.",
        "search",
    ),
    "recall": Metric(
        "Right pages found in the first {k}",
        "recall@{k}",
        "The share of all pages that are needed which is among the first {k}.",
        "search",
    ),
    "mrr": Metric(
        "How high the right page stands",
        "MRR@{k}",
        "1 when the first right page is first, 1/2 when second, ..., 0 below {k}; the mean.",
        "search",
    ),
    "ndcg": Metric(
        "Order of the first {k}",
        "nDCG@{k}",
        "1 when the right ones come first, the best ones before the others.",
        "search",
    ),
    "precision": Metric(
        "Right ones among the first {k}",
        "precision@{k}",
        "The share of the first {k} that is right. It cannot reach 1 where fewer are right.",
        "search",
    ),
    "evidence_recall": Metric(
        "Evidence covered by {k} passages",
        "character recall@{k}",
        "The share of the evidence's characters that the first {k} passages hold.",
        "search",
    ),
    "evidence_precision": Metric(
        "Evidence among what {k} passages hold",
        "character precision@{k}",
        "The share of the passages' characters that is evidence: short passages do well.",
        "search",
    ),
    "evidence_iou": Metric(
        "Overlap of evidence and {k} passages",
        "character IoU@{k}",
        "Characters in both over characters in either.",
        "search",
    ),
    "fact_recall": Metric(
        "Facts said",
        "fact recall",
        "The share of the expected facts that stand in the answer.",
        "answer",
    ),
    "answer_contains_reference": Metric(
        "Says the expected answer",
        "contains reference",
        "How often the expected answer stands in the answer, word for word.",
        "answer",
    ),
    "exact_match": Metric(
        "Is the expected answer",
        "exact match",
        "How often the answer is the expected one, word for word and nothing else.",
        "answer",
    ),
    "token_f1": Metric(
        "Words in common",
        "token F1",
        "How many words answer and expected answer share; more words than needed count against.",
        "answer",
    ),
    "token_recall": Metric(
        "Expected words said",
        "token recall",
        "The share of the expected answer's words that the answer has.",
        "answer",
    ),
    "rouge_l": Metric(
        "Words in the same order",
        "ROUGE-L",
        "The longest run of expected words that the answer has in the same order.",
        "answer",
    ),
    "similarity": Metric(
        "Close in meaning",
        "semantic similarity",
        "How close the embedder finds answer and expected answer (cosine).",
        "answer",
    ),
    "passed": Metric(
        "Good enough answers",
        "pass rate",
        "How often the answer is close both in meaning (0.7) and in wording (ROUGE-L 0.2).",
        "answer",
    ),
    "citation_page_precision": Metric(
        "Cited pages that are right",
        "citation precision",
        "The share of the pages an answer cites that are right.",
        "sources",
    ),
    "citation_page_recall": Metric(
        "Right pages that are cited",
        "citation recall",
        "The share of the needed pages that the answer cites.",
        "sources",
    ),
    "cited": Metric(
        "Answers with a source",
        "citation rate",
        "How many answers cite at least one page.",
        "sources",
    ),
    "quotes_verified": Metric(
        "Quotes that are real",
        "verified quotes",
        "The share of the proposed quotes that stand on their page; others are dropped.",
        "sources",
    ),
    "sentences_marked": Metric(
        "Sentences with a source",
        "marked sentences",
        "The share of an answer's sentences that carry a marker.",
        "sources",
    ),
    "same_language": Metric(
        "Answers in the question's language",
        "language match",
        "How often question and answer are in the same language.",
        "answer",
    ),
    "refusal_precision": Metric(
        "Refusals that are right",
        "refusal precision",
        "The share of the refusals where the documents really do not say.",
        "refusal",
    ),
    "refusal_recall": Metric(
        "Unanswerable questions refused",
        "refusal recall",
        "The share of the questions without an answer that are refused.",
        "refusal",
    ),
    "refusal_f1": Metric(
        "Knowing when to refuse",
        "refusal F1",
        "Both in one number: high only when refusals are right and none is missing.",
        "refusal",
    ),
    "searches": Metric("Searches", "searches", "Searches an answer took.", "cost", False, False),
    "llm_calls": Metric(
        "Model calls", "LLM calls", "Calls of the model an answer took.", "cost", False, False
    ),
    "prompt_tokens": Metric(
        "Tokens read", "prompt tokens", "Tokens sent to the model.", "cost", False, False
    ),
    "completion_tokens": Metric(
        "Tokens written", "completion tokens", "Tokens the model wrote.", "cost", False, False
    ),
    "cost": Metric("Cost", "cost (US$)", "What an answer cost, in US$.", "cost", False, False),
    "judge_grounded": Metric(
        "Supported by its sources (judge)",
        "groundedness",
        "Whether a model finds every claim supported by the cited passages.",
        "judge",
    ),
    "judge_relevant": Metric(
        "Answers the question (judge)",
        "relevance",
        "Whether a model finds that the answer is about what was asked.",
        "judge",
    ),
    "judge_correct": Metric(
        "Correct (judge)",
        "correctness",
        "Whether a model finds that the answer agrees with the expected one.",
        "judge",
    ),
}


def metric(key: str) -> Metric:
    """The Metric of a score's key, such as `hit@5`. Raises KeyError for an unknown one."""
    base, _, k = key.partition("@")
    found = _METRICS[base]
    return Metric(
        name=found.name.format(k=k),
        term=found.term.format(k=k),
        meaning=found.meaning.format(k=k),
        family=found.family,
        higher_is_better=found.higher_is_better,
        share=found.share,
    )
