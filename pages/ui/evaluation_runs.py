"""The runs that are kept: choosing one, going on with it, naming, exporting, deleting it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from pages.ui.evaluation_jobs import active, last_of, resume
from pages.ui.evaluation_place import go
from pages.ui.evaluation_words import drift, run_labels
from pages.ui.words import many, plain
from rag.errors import EvaluationError, FootnoteError, NotFound
from rag.evaluate import kept
from rag.evaluate.bench import LibraryBench
from rag.evaluate.config import describe
from rag.evaluate.runs import Record, Run, RunStore
from rag.evaluate.scores import Summary, summarise
from rag.evaluate.stats import Estimate, estimate
from rag.evaluate.variants import BASE, CHUNKING
from rag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Loaded:
    run: Run
    records: Mapping[str, Record]
    """By case id, in the order in which they were asked."""
    summary: Summary

    @property
    def listed(self) -> list[Record]:
        return list(self.records.values())


def load_run(store: RunStore, run: Run) -> Loaded:
    """Raises EvaluationError for a damaged run."""
    records, summary = _records(str(store.folder), run.id, _stamp(store, run.id))
    return Loaded(run, records, summary)


def estimate_of(store: RunStore, run: Run, key: str) -> Estimate | None:
    """One metric of a run; None when the run does not have it."""
    return _estimate(str(store.folder), run.id, key, _stamp(store, run.id))


@st.cache_resource(max_entries=6, show_spinner=False)
def _records(folder: str, run_id: str, stamp: tuple[int, int]) -> tuple[dict[str, Record], Summary]:
    records = RunStore(Path(folder)).records(run_id)
    return records, summarise(records.values())


@st.cache_data(max_entries=2000, show_spinner=False)
def _estimate(folder: str, run_id: str, key: str, stamp: tuple[int, int]) -> Estimate | None:
    records = RunStore(Path(folder)).records(run_id).values()
    return estimate([r.scores[key] for r in records if key in r.scores and not r.error])


def _stamp(store: RunStore, run_id: str) -> tuple[int, int]:
    """Changes with every case that is added."""
    path = store.folder / run_id / "cases.jsonl"
    if not path.exists():
        return 0, 0
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def kept_runs(store: RunStore) -> tuple[dict[str, Run], list[str]]:
    """The runs by id, newest first, and what is wrong with those that cannot be read."""
    runs, damaged = [], []
    for path in store.folder.glob("*/run.json"):
        try:
            runs.append(store.run(path.parent.name))
        except (EvaluationError, NotFound) as error:
            damaged.append(str(error))
    runs.sort(key=lambda run: (run.created, run.id), reverse=True)
    return {run.id: run for run in runs}, damaged


def draw_picker(runs: Mapping[str, Run], chosen: str, key: str, label: str = "Run") -> str:
    """The id of the run to show; the choice is in the URL."""
    labels = run_labels(runs)
    st.session_state[key] = chosen if chosen in runs else next(iter(runs))
    return st.selectbox(
        label,
        list(runs),
        format_func=labels.__getitem__,
        key=key,
        on_change=lambda: go("results", run=st.session_state[key]),
    )


def draw_state(workspace: Workspace, store: RunStore, run: Run) -> None:
    """Why a run is not complete, and how it goes on."""
    job = last_of(workspace, run.id)
    if job is not None and not job.finished:
        return
    if job is not None and job.error:
        st.error(plain(job.error), icon=":material/error:")
    if run.state == "finished":
        return
    reason = run.message or "It was interrupted: Footnote was closed or stopped before its end."
    st.warning(
        f"This run is not complete. {plain(reason)} What was asked is kept and shown here.",
        icon=":material/pause_circle:",
    )
    _draw_go_on(workspace, store, run, "Go on")


def draw_failed(workspace: Workspace, store: RunStore, run: Run, count: int) -> None:
    """That questions failed, and how they are asked again."""
    if not count:
        return
    st.warning(
        f"{many(count, 'question')} could not be asked and count nowhere; see Failed below.",
        icon=":material/error:",
    )
    if run.state == "finished":  # else going on asks them again
        _draw_go_on(workspace, store, run, "Ask them again")


def _draw_go_on(workspace: Workspace, store: RunStore, run: Run, label: str) -> None:
    if kept.questions(store, run) is None:
        st.caption("Its questions are not kept with it, so it cannot go on here.")
        return
    try:
        now = describe(workspace.settings, run.mode, LibraryBench(workspace).describe())
    except EvaluationError as error:  # documents are being indexed
        st.caption(plain(str(error)))
        return
    if BASE in run.config:  # it goes on with its own chunks
        now |= {key: run.config[key] for key in CHUNKING if key in run.config}
    if changed := drift(run.config, now):
        st.caption(
            f"Since it began, {' and '.join(changed)} changed: its numbers would mix both. A new "
            "run is cleaner."
        )
    st.button(
        label,
        icon=":material/play_arrow:",
        key="resume_run",
        disabled=active(workspace) is not None,
        on_click=_resume,
        args=(workspace, store, run),
    )


def _resume(workspace: Workspace, store: RunStore, run: Run) -> None:
    try:
        resume(workspace, store, run)
    except FootnoteError as error:
        st.toast(plain(str(error)), icon=":material/error:")


def draw_actions(workspace: Workspace, store: RunStore, run: Run) -> None:
    busy = (job := active(workspace)) is not None and job.run.id == run.id
    with st.popover("Actions", icon=":material/more_horiz:", key="run_actions"):
        st.text_input(
            "Note",
            value=run.label,
            max_chars=80,
            key=f"note_{run.id}",
            disabled=busy,
            on_change=_rename,
            args=(store, run.id),
        )
        st.download_button(
            "Export as JSON",
            data=lambda: kept.export_run(store, run),
            file_name=f"run-{run.id}.json",
            mime="application/json",
            icon=":material/download:",
            key="export_run",
            on_click="ignore",
            width="stretch",
        )
        draw_import(store, key="import_run")
        st.button(
            "Delete this run",
            icon=":material/delete:",
            key="delete_run",
            width="stretch",
            disabled=busy,
            help="Its numbers and answers are gone for good.",
            on_click=_delete,
            args=(store, run),
        )


def draw_import(store: RunStore, key: str) -> None:
    number = st.session_state.setdefault("run_imports", 0)
    st.file_uploader(
        "Import a run",
        type=["json"],
        key=f"{key}_{number}",
        on_change=_import,
        args=(store, f"{key}_{number}"),
    )


def _import(store: RunStore, key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    st.session_state.run_imports += 1  # an empty uploader in place of this one
    try:
        run = kept.import_run(store, file.getvalue())
    except EvaluationError as error:
        st.session_state.import_problem = f"{file.name}: {error}"
    else:
        go("results", run=run.id)


def draw_import_problem() -> None:
    if problem := st.session_state.pop("import_problem", None):
        st.error(plain(problem), icon=":material/error:")


def _rename(store: RunStore, run_id: str) -> None:
    label = st.session_state[f"note_{run_id}"].strip()
    store.save(replace(store.run(run_id), label=label))


def _delete(store: RunStore, run: Run) -> None:
    store.delete(run.id)
    go("results")
    st.toast("The run was deleted.", icon=":material/delete:")
