"""Asks every case of a set and keeps what comes back; can be stopped, and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rag.errors import EvaluationError, LLMError
from rag.evaluate import kept
from rag.evaluate.bench import Bench
from rag.evaluate.blame import Blame, blame_answer, blame_retrieval
from rag.evaluate.cases import Case
from rag.evaluate.config import describe
from rag.evaluate.judge import Judge
from rag.evaluate.load import CaseSet
from rag.evaluate.metrics.citations import page_recall
from rag.evaluate.metrics.retrieval import Place
from rag.evaluate.runs import Mode, Record, Run, RunStore, new_id
from rag.evaluate.scores import score_answer, score_search
from rag.evaluate.stages import Found, stage_ranks
from rag.settings import Settings
from rag.types import Answer, Hit, Search

FAILURES_IN_A_ROW = 3
"""After so many a run stops: the provider is down, and each further try would cost time."""


@dataclass(frozen=True, slots=True)
class Progress:
    run_id: str
    done: int
    total: int
    errors: int = 0
    seconds_left: float | None = None
    """None before the first case is done."""

    indexing: str = ""
    """What is done before the first question, such as "1,200 of 2,500"; "" once it is over."""


OnProgress = Callable[[Progress], None]


def plan(
    bench: Bench,
    cases: CaseSet,
    settings: Settings,
    *,
    mode: Mode,
    top_k: int = 5,
    limit: int | None = None,
    label: str = "",
    judge: str = "",
) -> Run:
    """A new run with its full configuration; `judge` names the model that judges its answers.

    Raises EvaluationError when there is nothing to ask, or no model to ask with.
    """
    if mode == "agent" and not settings.llm_model:
        raise EvaluationError(
            "The agent needs a language model: set LLM_MODEL, or run with the reader."
        )
    chosen = applicable(bench, cases, mode, limit)
    if not chosen:
        raise EvaluationError(
            f"Nothing in {cases.name!r} can be asked: "
            + (
                "no question says which page or passage is right."
                if mode == "retrieval"
                else "it has no questions."
            )
        )
    now = datetime.now(UTC)
    problems = [*cases.problems, *bench.check(chosen)]
    return Run(
        id=new_id(now),
        created=now.isoformat(timespec="seconds"),
        set_name=cases.name,
        set_digest=cases.digest,
        mode=mode,
        top_k=top_k,
        cases=len(chosen),
        limit=limit,
        config=describe(settings, mode, bench.describe(), judge),
        problems=tuple(str(problem) for problem in problems),
        label=label,
    )


def applicable(bench: Bench, cases: CaseSet, mode: Mode, limit: int | None) -> list[Case]:
    """Retrieval asks only what has a right place; answers are asked for everything."""
    chosen = [case for case in cases.cases if mode != "retrieval" or bench.gold(case) is not None]
    return chosen if limit is None else chosen[:limit]


def execute(
    run: Run,
    bench: Bench,
    cases: CaseSet,
    store: RunStore,
    *,
    judge: Judge | None = None,
    on_progress: OnProgress = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Run:
    """Asks what the run has not asked yet, and saves each case at once.

    Returns the run `finished`, or `stopped` with the reason. Raises EvaluationError when the set
    is not the one that the run was begun with.
    """
    if run.set_digest != cases.digest:
        raise EvaluationError(
            f"The run {run.id!r} was begun with other questions. Start a new run."
        )
    if not (store.folder / run.id).exists():
        kept.create(store, run, cases)
    chosen = applicable(bench, cases, run.mode, run.limit)
    asked = {name for name, record in store.records(run.id).items() if not record.error}
    waiting = [case for case in chosen if case.id not in asked]
    run = replace(run, state="running", message="")
    store.save(run)
    state, message = "finished", ""
    errors, in_a_row, began = 0, 0, time.perf_counter()
    on_progress(Progress(run.id, len(asked), len(chosen)))
    try:
        for number, case in enumerate(waiting, 1):
            if cancelled():
                state, message = "stopped", "Cancelled."
                break
            record = _ask(run, bench, case, judge)
            store.append(run.id, record)
            errors += bool(record.error)
            in_a_row = in_a_row + 1 if record.error else 0
            each = (time.perf_counter() - began) / number
            left = each * (len(waiting) - number)
            on_progress(Progress(run.id, len(asked) + number, len(chosen), errors, left))
            if in_a_row == FAILURES_IN_A_ROW:
                state, message = "stopped", f"{in_a_row} failures in a row: {record.error}"
                break
    except BaseException as error:
        # Ctrl-C, or a fault of ours: what was computed stays, and the run can be resumed.
        store.save(replace(run, state="stopped", message=f"{type(error).__name__}: {error}"))
        raise
    run = replace(run, state="finished" if state == "finished" else "stopped", message=message)
    store.save(run)
    return run


def _ask(run: Run, bench: Bench, case: Case, judge: Judge | None) -> Record:
    gold = bench.gold(case)
    grades = gold.grades if gold else {}
    record = Record(
        id=case.id,
        question=case.question,
        category=case.category,
        language=case.language,
        answerable=case.answerable,
        scope=case.scope,
        right=tuple((doc, page, grade) for (doc, page), grade in grades.items()),
        needed=gold.needed if gold else 0,
        evidence=bench.spans(case),
    )
    try:
        began = time.perf_counter()
        search = bench.search(case)
        record = _searched(run, bench, case, record, search, time.perf_counter() - began)
        if run.mode != "retrieval":
            began = time.perf_counter()
            answer = bench.ask(case, run.mode)
            record = _answered(bench, case, record, answer, time.perf_counter() - began)
            if judge is not None and not answer.refused:
                verdicts, scores = judge.judge(case, answer)
                record = replace(record, verdicts=verdicts, scores={**record.scores, **scores})
    except (LLMError, EvaluationError) as error:
        return replace(record, error=str(error), scores={}, blame="")
    return record


def as_found(search: Search, bench: Bench) -> tuple[Found, ...]:
    """The hits of a search, best first, by the names of the bench's places."""
    return tuple(_found(hit, bench.place) for hit in search.hits)


def _searched(
    run: Run, bench: Bench, case: Case, record: Record, search: Search, seconds: float
) -> Record:
    found = as_found(search, bench)
    gold = record.gold
    blame: Blame = ""
    if gold is not None:
        ranks = stage_ranks(found, gold)
        blame = blame_retrieval(ranks, run.top_k)
        if blame:
            blame = blame_retrieval(
                ranks,
                run.top_k,
                missing_document=bench.missing(case),
                pages_without_text=bench.without_text(gold),
            )
    return replace(
        record,
        found=found,
        seconds={**search.seconds, "total": seconds},
        scores=score_search(found, gold, record.evidence, run.top_k),
        blame=blame,
    )


def _answered(bench: Bench, case: Case, record: Record, answer: Answer, seconds: float) -> Record:
    cited = tuple(bench.place(c.document_id, c.page) for c in answer.citations)
    gold = record.gold
    blame = record.blame
    if gold is not None and case.answerable:
        right = page_recall(cited, gold) > 0
        blame = blame_answer(blame, refused=answer.refused, cites_gold=right)
    return replace(
        record,
        answer=answer,
        cited=cited,
        seconds={
            **answer.receipt.seconds,
            "search_only": record.seconds["total"],
            "total": seconds,
        },
        scores={**record.scores, **score_answer(case, answer, gold, cited, bench.embed)},
        blame=blame,
    )


def _found(hit: Hit, place: Callable[[str, int], Place]) -> Found:
    doc, page = place(hit.chunk.document_id, hit.chunk.page)
    return Found(
        doc=doc,
        page=page,
        start=hit.chunk.start,
        end=hit.chunk.end,
        keyword_rank=hit.keyword_rank,
        keyword_score=hit.keyword_score,
        dense_rank=hit.dense_rank,
        dense_score=hit.dense_score,
        page_rank=hit.page_rank,
        document_fit=hit.document_fit,
        fused_score=hit.fused_score,
        rerank_score=hit.rerank_score,
    )
