"""The same questions with chunks of other sizes: started with one click, shown beside the run."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.ui import evaluation_charts as charts
from pages.ui.evaluation_jobs import active, try_sizes
from pages.ui.evaluation_rows import size_rows
from pages.ui.evaluation_runs import Loaded, load_run
from pages.ui.evaluation_words import amount, drift, headline, named
from pages.ui.words import plain
from rag.errors import EvaluationError, FootnoteError
from rag.evaluate import kept
from rag.evaluate.bench import LibraryBench
from rag.evaluate.config import describe
from rag.evaluate.runs import Run, RunStore
from rag.evaluate.variants import BASE, of
from rag.workspace import Workspace

_SIZES = (64, 96, 128, 160, 200, 256, 320, 400, 512)
_OFFERED = 3


def draw_sizes(
    workspace: Workspace, store: RunStore, runs: Mapping[str, Run], shown: Loaded
) -> None:
    base = runs.get(shown.run.config.get(BASE, ""), shown.run)
    try:
        sizes = of(base, runs.values())
        loaded = {size: load_run(store, run) for size, run in sizes.items()}
    except EvaluationError as error:  # a damaged run
        st.error(plain(str(error)), icon=":material/error:")
        return
    st.markdown("**The same questions with chunks of other sizes**")
    if len(loaded) > 1:
        key = headline(shown.run, shown.summary)[0]
        st.altair_chart(
            charts.groups(
                size_rows(
                    {
                        size: (one.summary, one.run.config.get("collection.chunks", ""))
                        for size, one in loaded.items()
                    },
                    key,
                ),
                named(key).name,
                percent=amount(key, 0.5).endswith(" %"),
            ),
            alt=f"{named(key).name} by the size of the chunks, with 95 % intervals",
        )
        st.caption(
            "Where lines overlap widely, the sizes may not differ at all: see Compare. In "
            "brackets: the chunks that the documents make."
        )
    _draw_start(workspace, store, base, tuple(sizes))


def _draw_start(workspace: Workspace, store: RunStore, base: Run, known: tuple[int, ...]) -> None:
    if problem := _problem(workspace, store, base):
        st.caption(plain(problem))
        return
    usual = workspace.settings.chunk_tokens
    near = sorted(set(_SIZES) - set(known), key=lambda size: abs(size - usual))
    with st.form("sizes", border=False):
        chosen = st.multiselect(
            "Sizes to try, in tokens",
            sorted(near),
            default=sorted(near[:_OFFERED]),
            key="chunk_sizes",
            help="The documents are cut and embedded anew for each size, which takes about as "
            "long as adding them. The library itself stays as it is.",
        )
        clicked = st.form_submit_button(
            "Try these sizes",
            icon=":material/content_cut:",
            key="try_sizes",
            disabled=active(workspace) is not None,
        )
    if clicked and chosen:
        try:
            try_sizes(workspace, store, base, chosen, known)
        except FootnoteError as error:
            st.error(plain(str(error)), icon=":material/error:")
        else:
            st.rerun()


def _problem(workspace: Workspace, store: RunStore, base: Run) -> str:
    """Why the sizes cannot be tried; "" when they can."""
    if "collection.passages" in base.config:
        return (
            "This run asked a collection of passages, not the library: try sizes on the command "
            "line (--ablate chunk=128,200)."
        )
    if kept.questions(store, base) is None:
        return "The questions of this run are not kept with it, so that it cannot be repeated."
    try:
        now = describe(workspace.settings, base.mode, LibraryBench(workspace).describe())
    except EvaluationError as error:  # documents are being indexed
        return str(error)
    if changed := drift(base.config, now):
        return (
            f"Since this run, {' and '.join(changed)} changed. Run the questions again first, so "
            "that only the size differs."
        )
    return ""
