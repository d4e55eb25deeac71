"""Question sets from uploads, the run in progress, and what a run came to."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.typing import UploadedFile

from pages.ui.words import many, plain
from rag.errors import EvaluationError
from rag.evaluate.blame import EXPLANATIONS
from rag.evaluate.load import CaseSet, load
from rag.evaluate.names import metric
from rag.evaluate.runner import RunJob
from rag.evaluate.runs import Record, Run, RunStore
from rag.evaluate.scores import summarise
from rag.evaluate.stages import ranking

_SHOWN_PAGES = 3


def read_upload(file: UploadedFile) -> CaseSet:
    """The questions of a JSONL or CSV file; its name is no path. Raises EvaluationError."""
    suffix = ".csv" if file.name.lower().endswith(".csv") else ".jsonl"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"set{suffix}"
        path.write_bytes(file.getvalue())
        try:
            return replace(load(path), name=Path(file.name).stem)
        except EvaluationError as error:
            raise EvaluationError(str(error).replace(str(path), file.name)) from error


@st.cache_resource(show_spinner=False)
def jobs(folder: str) -> list[RunJob]:
    """The jobs of one data folder, the latest last: a refreshed browser finds them again."""
    return []


def draw_job(job: RunJob) -> None:
    """Drawn again and again while it runs."""
    st.fragment(_watch, run_every=0.5)(job)


def _watch(job: RunJob) -> None:
    done, total = job.progress.done, job.progress.total
    st.progress(done / total if total else 0.0, text=f"{done:,} of {total:,} questions asked")
    st.button("Cancel", icon=":material/close:", key="cancel_run", on_click=job.cancel)
    if job.finished:
        st.rerun()


def draw_run(store: RunStore, run: Run) -> None:
    records = list(store.records(run.id).values())
    summary = summarise(records)
    if run.message:
        st.warning(plain(run.message), icon=":material/info:")
    with st.container(horizontal=True):
        for key in (f"hit@{run.top_k}", f"mrr@{run.top_k}"):
            if found := summary.metrics.get(key):
                named = metric(key)
                with st.container(border=True, width=300):
                    st.metric(
                        f"{named.name} ({named.term})", f"{found.value:.3f}", help=named.meaning
                    )
                    st.caption(
                        f"95 % interval {found.low:.3f} to {found.high:.3f}, "
                        f"{many(found.n, 'question')}"
                    )
    missed = misses(records, run.top_k)
    st.subheader(f"Missed: {len(missed)}")
    if missed:
        st.dataframe(missed, hide_index=True, alt="Questions whose right page was not found")
    if run.problems:
        with st.expander(many(len(run.problems), "note") + " about the question set"):
            st.markdown("\n".join(f"- {plain(problem)}" for problem in run.problems[:100]))


def misses(records: list[Record], top_k: int) -> list[dict[str, Any]]:
    """Every question that no right page was found for among the first `top_k`, and why."""
    return [
        {
            "Question": record.question,
            "Right": "; ".join(_place(doc, page) for doc, page, _ in record.right),
            "Found instead": "; ".join(
                _place(*place) for place in ranking(record.found)[:_SHOWN_PAGES]
            ),
            "Why": record.error or EXPLANATIONS.get(record.blame, ""),
        }
        for record in records
        if record.error or record.blame
    ]


def _place(document: str, page: int) -> str:
    return f"{document}, {page}" if page else document
