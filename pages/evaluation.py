"""Measure how well questions are answered, see what goes wrong, compare, keep questions."""

from __future__ import annotations

import streamlit as st

from pages.ui.evaluation_case import draw_case
from pages.ui.evaluation_compare import draw_comparison
from pages.ui.evaluation_editor import draw_editor
from pages.ui.evaluation_jobs import draw_progress
from pages.ui.evaluation_place import draw_views, place
from pages.ui.evaluation_results import draw_results
from pages.ui.evaluation_runs import draw_import_problem, kept_runs
from pages.ui.evaluation_sets import draw_sets
from pages.ui.evaluation_setup import draw_setup
from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace
from pages.ui.words import plain
from rag.evaluate.library import FOLDER, QuestionSets
from rag.evaluate.runs import RunStore

workspace = get_workspace("evaluation.py")
draw_state(workspace)
store = RunStore(workspace.settings.data / "runs")
sets = QuestionSets(workspace.settings.data / FOLDER)
runs, damaged = kept_runs(store)
here = place()
run_id, case_id, other = (here.get(name, "") for name in ("run", "case", "other"))

if case_id and run_id in runs:
    draw_case(workspace, store, runs, runs[run_id], case_id, other)
else:
    st.title("Evaluation")
    st.write(
        "How good are the answers from your documents? Ask questions whose right pages are known, "
        "see how often they are found, and look at every miss."
    )
    view = here.get("view") or ("results" if runs else "measure")
    draw_views(view)
    draw_progress(workspace)
    draw_import_problem()
    for problem in damaged:
        st.error(plain(problem), icon=":material/error:")
    if view == "measure":
        draw_setup(workspace, store, sets)
    elif view == "results":
        draw_results(workspace, store, runs, run_id)
    elif view == "compare":
        draw_comparison(workspace, store, runs, run_id, other)
    else:
        draw_sets(workspace, sets)
draw_editor(workspace)
