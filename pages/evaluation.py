"""Measure how well the right pages are found."""

from __future__ import annotations

import streamlit as st

from pages.ui.evaluating import draw_job, draw_run, jobs, read_upload
from pages.ui.samples import all_added, draw_sample_button
from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace
from pages.ui.words import day, many, plain
from rag import samples
from rag.errors import EvaluationError
from rag.evaluate.bench import LibraryBench
from rag.evaluate.load import CaseSet, load
from rag.evaluate.runner import RunJob, plan
from rag.evaluate.runs import RunStore

workspace = get_workspace("evaluation.py")
draw_state(workspace)
store = RunStore(workspace.settings.data / "runs")
running = jobs(str(workspace.settings.data))
busy = bool(running) and not running[-1].finished

st.title("Evaluation")
st.write(
    "Ask the library questions whose right pages are known, and see how often they are found. No "
    "language model takes part."
)
SETS = ["The sample questions", "A file of mine"]
with_samples = all_added(workspace.documents())
source = st.segmented_control("Questions", SETS, default=SETS[not with_samples], key="set")
questions: CaseSet | None = None
try:
    if source == SETS[1]:
        file = st.file_uploader("JSONL or CSV", type=["jsonl", "csv"], key="question_set")
        questions = read_upload(file) if file else None
    elif with_samples:
        questions = load(samples.questions())
    else:
        st.caption("They need the sample documents in the library.")
        draw_sample_button(workspace)
    for problem in questions.unreadable[:10] if questions else ():
        st.warning(plain(str(problem)), icon=":material/warning:")
    if questions:
        total = many(len(questions.cases), "question")
        st.caption(f"{total}. Those whose right page is not known are left out.")
    if questions and st.button(
        "Ask them",
        icon=":material/play_arrow:",
        type="primary",
        key="run",
        disabled=busy,
    ):
        bench = LibraryBench(workspace)
        run = plan(bench, questions, workspace.settings, mode="retrieval")
        running.append(RunJob(run, bench, questions, store))
        st.rerun()
except EvaluationError as error:
    st.error(plain(str(error)), icon=":material/error:")

if busy:
    draw_job(running[-1])
elif running and running[-1].error:
    st.error(plain(running[-1].error), icon=":material/error:")

runs = {run.id: run for run in store.runs() if run.mode == "retrieval"}
if runs and not busy:
    chosen = st.selectbox(
        "Run",
        list(runs),
        format_func=lambda i: f"{runs[i].set_name}, {day(runs[i].created)} ({i})",
        key="run_shown",
    )
    draw_run(store, runs[chosen])
