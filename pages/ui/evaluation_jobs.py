"""Runs in the background: begun, gone on with, watched. They belong to the server, not to a tab."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from pages.ui.evaluation_words import MODES, time_left
from pages.ui.words import plain
from rag.errors import EvaluationError
from rag.evaluate import kept
from rag.evaluate.ablate import Ablation
from rag.evaluate.bench import LibraryBench
from rag.evaluate.judge import Judge
from rag.evaluate.load import CaseSet
from rag.evaluate.runner import plan
from rag.evaluate.runs import Mode, Run, RunStore
from rag.evaluate.tasks import RunJob, Task
from rag.evaluate.variants import BASE, opener, tasks
from rag.workspace import Workspace


def _stop(jobs: Sequence[RunJob]) -> None:
    for job in jobs:
        job.cancel()


@st.cache_resource(on_release=_stop, show_spinner=False)
def jobs(folder: str) -> list[RunJob]:
    """The jobs of one data folder, the latest last: a refreshed browser finds them again."""
    return []


def active(workspace: Workspace) -> RunJob | None:
    """The run that is going on now."""
    started = jobs(str(workspace.settings.data))
    return started[-1] if started and not started[-1].finished else None


def last_of(workspace: Workspace, run_id: str) -> RunJob | None:
    """The latest job of a run since the server started."""
    started = jobs(str(workspace.settings.data))
    return next((job for job in reversed(started) if job.run.id == run_id), None)


def start(
    workspace: Workspace,
    store: RunStore,
    cases: CaseSet,
    *,
    mode: Mode,
    top_k: int,
    limit: int | None,
    label: str,
    judged: bool,
) -> Run:
    """Begins a run. Raises EvaluationError when it cannot be, or another one is going on."""
    if active(workspace) is not None:
        raise EvaluationError("A run is going on. Cancel it or wait until it has ended.")
    bench = LibraryBench(workspace)
    run = plan(
        bench,
        cases,
        workspace.settings,
        mode=mode,
        top_k=top_k,
        limit=limit,
        label=label,
        judge=(workspace.settings.llm_model or "") if judged else "",
    )
    kept.create(store, run, cases)
    _begin(workspace, [_asking(run, bench)], cases, store)
    return run


def resume(workspace: Workspace, store: RunStore, run: Run) -> None:
    """Goes on where the run stopped. Raises EvaluationError."""
    if active(workspace) is not None:
        raise EvaluationError("Another run is going on. Cancel it or wait until it has ended.")
    cases = kept.questions(store, run)
    if cases is None:
        raise EvaluationError("The questions of this run are not kept with it. Start a new run.")
    if run.mode == "agent" and not workspace.settings.llm_model:
        raise EvaluationError("No language model is connected. Connect one in Settings first.")
    if "collection.passages" in run.config:
        raise EvaluationError(
            "This run asks a collection of passages, not the library. Go on with it on the "
            f"command line: --resume {run.id}"
        )
    bench = LibraryBench(workspace)
    if BASE in run.config:
        task = Task(run, opener(bench, run, workspace.settings))
    else:
        task = _asking(run, bench)
    _begin(workspace, [task], cases, store)


def try_sizes(
    workspace: Workspace, store: RunStore, base: Run, sizes: Sequence[int], known: Sequence[int]
) -> None:
    """Asks the questions of `base` again with chunks of each size but the known ones.

    Raises EvaluationError when that cannot be, or another run is going on.
    """
    if active(workspace) is not None:
        raise EvaluationError("A run is going on. Cancel it or wait until it has ended.")
    cases = kept.questions(store, base)
    if cases is None:
        raise EvaluationError("The questions of this run are not kept with it. Start a new run.")
    bench = LibraryBench(workspace)
    ablation = Ablation("chunk", tuple(sizes))
    judge = base.config.get("judge", "")
    planned = [
        task
        for size, task in tasks(base, bench, cases, workspace.settings, ablation, judge)
        if task is not None and size not in known
    ]
    if not planned:
        raise EvaluationError(
            f"The embedder reads {bench.max_tokens} tokens: there is no larger size to try."
        )
    _begin(workspace, planned, cases, store)


def _asking(run: Run, bench: LibraryBench) -> Task:
    return Task(run, lambda tell: nullcontext(bench))


def _begin(workspace: Workspace, planned: Sequence[Task], cases: CaseSet, store: RunStore) -> None:
    judge = None
    if planned[0].run.config.get("judge"):
        from rag.llm import LiteLLM

        judge = Judge(LiteLLM(workspace.settings, temperature=0.0))
    st.session_state.pop("stopping", None)
    jobs(str(workspace.settings.data)).append(RunJob(planned, cases, store, judge))


def draw_progress(workspace: Workspace) -> None:
    """The run that is going on, drawn again and again until it has ended."""
    if (job := active(workspace)) is not None:
        st.fragment(_watch, run_every=0.5)(workspace, job)


def _watch(workspace: Workspace, job: RunJob) -> None:
    progress, run = job.progress, job.run
    with st.container(border=True, key="run_progress"):
        asked = f"**Asking {plain(run.set_name)}** · {MODES[run.mode].lower()}"
        st.markdown(f"{asked} · {plain(run.label)}" if BASE in run.config else asked)
        told = [f"{progress.done:,} of {progress.total:,} questions"]
        if progress.errors:
            told.append(f"{progress.errors:,} failed")
        if left := time_left(progress.seconds_left):
            told.append(left)
        if progress.indexing:
            told = [f"Documents are cut and embedded anew: {progress.indexing} pages"]
        if workspace.models.state != "ready":
            told = [":shimmer[Loading the search models, once after each start]"]
        share = progress.done / progress.total if progress.total else 0.0
        st.progress(min(1.0, share), text=" · ".join(told))
        stopping = st.session_state.get("stopping") == run.id
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Stopping after this question" if stopping else "Cancel",
                icon=":material/close:",
                key="cancel_run",
                disabled=stopping,
                on_click=_cancel,
                args=(job,),
            )
            st.caption(
                "You can leave this page or close the browser. What has been asked is kept, and "
                "a cancelled run can go on later."
            )
        if workspace.adding or any(not repair.over for repair in workspace.repairs):
            st.warning(
                "Documents are being added to the library, or their pictures read, meanwhile: the "
                "first questions are asked without them, the last ones with them. For clean "
                "numbers, run again then.",
                icon=":material/warning:",
            )
    if job.finished:
        st.rerun()  # the whole page: there are results now


def _cancel(job: RunJob) -> None:
    st.session_state.stopping = job.run.id
    job.cancel()
