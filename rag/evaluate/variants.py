"""The same questions under other settings: sizes of chunks, passages that answers are built from.

Each value is a run of its own, over an index that lives as long as it is asked; the library stays
as it is. What each search stage alone would find needs no further run, see `report.ablation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from rag.chunk import largest
from rag.evaluate.ablate import Ablation
from rag.evaluate.bench import Bench
from rag.evaluate.index import OnProgress
from rag.evaluate.load import CaseSet
from rag.evaluate.runner import plan
from rag.evaluate.runs import Mode, Run
from rag.evaluate.tasks import Task
from rag.settings import Settings

BASE = "ablation_of"
"""Configuration of such a run: the id of the run that it is an ablation of."""
CHUNKING = ("chunk_tokens", "chunk_overlap", "collection.chunks")
"""Configuration that differs between runs with chunks of different sizes."""


def variants(bench: Bench, settings: Settings, ablation: Ablation) -> dict[int, Settings]:
    """Value -> settings. A size beyond what the embedder reads becomes the largest that it does."""
    if ablation.what == "k":
        return {k: replace(settings, top_k=k) for k in ablation.values}
    sizes = dict.fromkeys(largest(size, bench.max_tokens) for size in ablation.values)
    return {
        size: replace(
            settings, chunk_tokens=size, chunk_overlap=min(settings.chunk_overlap, size // 2)
        )
        for size in sizes
    }


def tasks(
    base: Run,
    bench: Bench,
    cases: CaseSet,
    settings: Settings,
    ablation: Ablation,
    judge: str = "",
) -> Iterator[tuple[int, Task | None]]:
    """Each value with what has to be run; None where `base` itself has it.

    Raises EvaluationError when nothing can be asked.
    """
    for value, changed in variants(bench, settings, ablation).items():
        if changed == settings:
            yield value, None
            continue
        passages = "1 passage" if value == 1 else f"{value} passages"
        label = f"{value} tokens a chunk" if ablation.what == "chunk" else passages
        run = plan(
            bench,
            cases,
            changed,
            mode=base.mode,
            top_k=base.top_k,
            limit=base.limit,
            label=label,
            judge=judge,
        )
        run = replace(run, config={**run.config, BASE: base.id})
        yield value, Task(run, opener(bench, run, settings))


def opener(
    bench: Bench, run: Run, settings: Settings
) -> Callable[[OnProgress], AbstractContextManager[Bench]]:
    """How the place of an ablation's run is opened: also to go on with it later."""
    changed = replace(
        settings,
        chunk_tokens=int(run.config["chunk_tokens"]),
        chunk_overlap=int(run.config["chunk_overlap"]),
        top_k=int(run.config.get("answer_top_k", settings.top_k)),
    )
    return partial(bench.variant, changed)


def of(base: Run, runs: Iterable[Run]) -> dict[int, Run]:
    """Tokens a chunk -> run: `base`, and the newest run of each other size like it, sorted.

    Alike are runs of the same questions with the same configuration but for the chunks. A run
    from elsewhere whose configuration does not say its size is like none.
    """
    found: dict[int, Run] = {}
    for run in (base, *runs):
        size = run.config.get("chunk_tokens", "")
        if size.isdecimal() and run.state == "finished" and _alike(run) == _alike(base):
            found.setdefault(int(size), run)
    return dict(sorted(found.items()))


def _alike(run: Run) -> tuple[str, Mode, int | None, frozenset[tuple[str, str]]]:
    config = frozenset((k, v) for k, v in run.config.items() if k not in (*CHUNKING, BASE))
    return run.set_digest, run.mode, run.limit, config
