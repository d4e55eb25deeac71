"""`python -m rag eval`: index a folder, ask a set, print one JSON object, check the gates."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from rag.errors import EvaluationError, NotFound
from rag.evaluate import kept
from rag.evaluate.ablate import Ablation
from rag.evaluate.bench import Bench, LibraryBench, folder_files
from rag.evaluate.judge import Judge
from rag.evaluate.load import CaseSet, load
from rag.evaluate.output import Kept, list_lines, show, tell
from rag.evaluate.passages import passage_files
from rag.evaluate.runner import Progress, plan
from rag.evaluate.runs import Run, RunStore, load_export
from rag.evaluate.tasks import Task, perform
from rag.evaluate.variants import BASE, opener, tasks
from rag.settings import Settings
from rag.workspace import Workspace

RUNS = "runs"
"""The folder inside the data folder."""
_SHOWN_PROBLEMS = 20
_TELL_EVERY_S = 15
_POLL_S = 0.5


def evaluate(options: argparse.Namespace, settings: Settings) -> int:
    """The exit code, see `cli`. Raises FootnoteError for what the user can mend."""
    cases = None if options.questions is None else load(options.questions)
    if cases is not None and cases.unreadable:
        tell(f"{options.questions} cannot be used as it is; nothing was asked:")
        list_lines([str(problem) for problem in cases.unreadable], limit=None)
        return 2
    if not options.docs.is_dir():
        raise EvaluationError(f"There is no folder {str(options.docs)!r} (--docs).")
    workspace = Workspace.open(settings)
    try:
        return evaluate_in(workspace, options, cases)
    finally:
        workspace.close()


def evaluate_in(
    workspace: Workspace, options: argparse.Namespace, cases: CaseSet | None = None
) -> int:
    """The same in a workspace that is open; without `cases`, the run to go on with has them."""
    settings = workspace.settings
    store = RunStore(settings.data / RUNS)
    begun = store.find(options.resume) if options.resume else None
    if cases is None:
        cases = _kept_cases(store, begun)
    earlier = _earlier(store, options, cases) if options.compare else None
    judge = _judge(settings, options.judge, begun)
    with _bench(workspace, options.docs, cases) as bench:
        run = begun or plan(
            bench,
            cases,
            settings,
            mode=options.mode,
            top_k=options.top_k,
            limit=options.limit,
            judge=judge.model if judge else "",
        )
        list_lines(run.problems, limit=_SHOWN_PROBLEMS)
        place = (
            opener(bench, run, settings) if BASE in run.config else lambda tell: nullcontext(bench)
        )
        done = _perform(Task(run, place), cases, store, judge)
        tried = {
            ablation.what: _try(ablation, done, bench, cases, settings, store, judge)
            for ablation in options.ablate
            if done.state == "finished" and _takes_runs(ablation, done)
        }
    return show(
        options,
        (done, store.records(done.id)),
        earlier,
        {
            what: {value: (run, store.records(run.id)) for value, run in runs.items()}
            for what, runs in tried.items()
        },
        partial(kept.export_run, store, done),
    )


def _kept_cases(store: RunStore, begun: Run | None) -> CaseSet:
    cases = kept.questions(store, begun) if begun else None
    if cases is None:
        raise EvaluationError("The questions are not kept with the run: name them (--questions).")
    return cases


def _perform(task: Task, cases: CaseSet, store: RunStore, judge: Judge | None) -> Run:
    try:
        done = perform(task, cases, store, judge=judge, on_progress=_progress())
    except KeyboardInterrupt:
        tell(f"What was asked is kept. Go on with: --resume {task.run.id}")
        raise
    if done.state == "stopped":
        tell(f"Stopped: {done.message} Go on with: --resume {done.id}")
    return done


def _takes_runs(ablation: Ablation, base: Run) -> bool:
    """What fewer passages find can be read off any run; what is answered from them cannot."""
    return ablation.what == "chunk" or (ablation.what == "k" and base.mode != "retrieval")


def _try(
    ablation: Ablation,
    base: Run,
    bench: Bench,
    cases: CaseSet,
    settings: Settings,
    store: RunStore,
    judge: Judge | None,
) -> dict[int, Run]:
    """Value -> its run, in the order of the values, up to one that stops."""
    found = {}
    model = judge.model if judge else ""
    for value, task in tasks(base, bench, cases, settings, ablation, model):
        if task is not None:
            tell(f"Asking with {task.run.label}.")
        found[value] = base if task is None else _perform(task, cases, store, judge)
        if found[value].state != "finished":
            break
    if ablation.what == "chunk" and (cut := [v for v in ablation.values if v not in found]):
        tell(
            f"The embedder reads {bench.max_tokens} tokens: chunks of {', '.join(map(str, cut))} "
            f"were cut to {max(found)}."
        )
    return found


@contextmanager
def _bench(workspace: Workspace, docs: Path, cases: CaseSet) -> Iterator[Bench]:
    if any(case.relevant for case in cases.cases) and passage_files(docs):
        from rag.evaluate.passage_bench import PassageBench

        engines = workspace.engines()
        passages = PassageBench(
            docs, workspace.settings, engines.embedder, engines.retriever.reranker, _indexing()
        )
        try:
            yield passages
        finally:
            passages.close()
    else:
        yield LibraryBench(workspace, _ingest(workspace, docs))


def _ingest(workspace: Workspace, docs: Path) -> dict[str, str]:
    """File name -> document id, for every file that is searchable now. Known files are quick."""
    from rag.ingest import Upload

    files = list(folder_files(docs))
    if not files:
        raise EvaluationError(f"{str(docs)!r} (--docs) holds no files.")
    job = workspace.add_files([Upload(name, path) for name, path in files])
    told = 0
    try:
        while not job.wait(0.5):
            over = sum(file.over for file in job.progress.files)
            if over > told:
                told = over
                tell(f"Indexed {over} of {len(files)} files.")
    except KeyboardInterrupt:
        job.cancel()
        raise
    for file in job.progress.files:
        if file.state in ("failed", "cancelled"):
            tell(f"{file.name}: {file.message}")
    settle(workspace)
    return {
        name: file.document_id
        for (name, _), file in zip(files, job.progress.files, strict=True)
        if file.state not in ("failed", "cancelled")
    }


def settle(workspace: Workspace) -> None:
    """Waits for text recognition in the background: what is searched changes until it is over."""
    last = time.monotonic()
    while waiting := [r for r in workspace.repairs if r.state in ("waiting", "running")]:
        if time.monotonic() - last >= _TELL_EVERY_S:
            last = time.monotonic()
            pages = sum(repair.pages_total - repair.pages_done for repair in waiting)
            tell(f"{pages} pages are still to be read by text recognition.")
        time.sleep(_POLL_S)


def _judge(settings: Settings, wanted: bool, begun: Run | None) -> Judge | None:
    """A run that was begun with a judge goes on with one."""
    if not (begun.config.get("judge") if begun else wanted):
        return None
    from rag.llm import LiteLLM

    return Judge(LiteLLM(settings, temperature=0.0))


def _earlier(store: RunStore, options: argparse.Namespace, cases: CaseSet) -> Kept:
    """The run to compare with, looked up before anything is asked. Raises NotFound."""
    path = Path(options.compare)
    if path.is_file():
        return load_export(path.read_bytes())
    if options.compare == "last":
        alike = (r for r in store.runs() if r.set_digest == cases.digest and r.mode == options.mode)
        found = next(alike, None)
        if found is None:
            raise NotFound(f"There is no earlier {options.mode} run of {cases.name!r}.")
    else:
        found = store.find(options.compare)
    return found, store.records(found.id)


def _progress() -> Callable[[Progress], None]:
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last < _TELL_EVERY_S:
            return
        last = time.monotonic()
        if progress.indexing:
            tell(f"Embedded {progress.indexing}.")
            return
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        failed = f", {progress.errors} failed" if progress.errors else ""
        tell(f"Asked {progress.done} of {progress.total}{failed}{left}.")

    return show


def _indexing() -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def show(name: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _TELL_EVERY_S:
            last = time.monotonic()
            tell(f"Indexed {done} of {total} chunks{' of ' + name if name else ''}.")

    return show
