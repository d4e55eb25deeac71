"""What a run came to: the verdict in words, the first numbers, and charts of where it is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui import evaluation_charts as charts
from pages.ui.evaluation_cases import draw_cases
from pages.ui.evaluation_chunks import draw_sizes
from pages.ui.evaluation_jobs import active
from pages.ui.evaluation_rows import (
    cut_rows,
    group_rows,
    latency_rows,
    metric_rows,
    miss_rows,
    stage_rows,
    stage_times,
)
from pages.ui.evaluation_runs import (
    Loaded,
    draw_actions,
    draw_failed,
    draw_import,
    draw_picker,
    draw_state,
    estimate_of,
    load_run,
)
from pages.ui.evaluation_words import (
    MODES,
    about_run,
    amount,
    counted,
    headline,
    interval,
    named,
    verdict_of,
    when,
)
from pages.ui.words import many, plain
from rag.errors import EvaluationError
from rag.evaluate.runs import Record, Run, RunStore
from rag.evaluate.scores import slices
from rag.workspace import Workspace

_HISTORY = 30
"""Runs in the history: each is read from disk once."""


def draw_results(
    workspace: Workspace, store: RunStore, runs: Mapping[str, Run], chosen: str
) -> None:
    if not runs:
        st.info(
            "No run yet. Choose questions under Measure and start one; its results appear here.",
            icon=":material/info:",
        )
        with st.container(width=420):
            draw_import(store, key="first_import")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width="stretch"):
            run = runs[draw_picker(runs, chosen, "run_shown")]
        draw_actions(workspace, store, run)
    draw_state(workspace, store, run)
    if (job := active(workspace)) is not None and job.run.id == run.id:
        st.caption("The results appear here when all questions have been asked.")
        return
    try:
        loaded = load_run(store, run)
    except EvaluationError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    if not loaded.records:
        st.info("Nothing was asked before this run stopped.", icon=":material/info:")
        return
    st.caption(plain(about_run(run, loaded.listed)))
    st.markdown(verdict_of(run, loaded.listed))
    draw_failed(workspace, store, run, loaded.summary.errors)
    _draw_cards(loaded)
    _draw_charts(workspace, store, runs, loaded)
    draw_cases(workspace, loaded)
    _draw_fine_print(run)


def _draw_cards(loaded: Loaded) -> None:
    with st.grid(4, min_column_width=170, key="headline"):
        for key in headline(loaded.run, loaded.summary):
            found, words = loaded.summary.metrics[key], named(key)
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(words.name)
                st.metric(words.name, amount(key, found.value), label_visibility="collapsed")
                st.caption(
                    f"**{interval(key, found)}** · {many(counted(key, loaded.listed), 'question')}"
                )
                st.caption(f"{plain(words.meaning)} ({words.term})")
    st.caption(
        "The range under a number is its 95 % interval: with other questions of the same kind, "
        "the number would be expected there. Few questions make it wide."
    )


def _draw_charts(
    workspace: Workspace, store: RunStore, runs: Mapping[str, Run], loaded: Loaded
) -> None:
    listed = loaded.listed
    drawn: dict[str, Callable[[], None]] = {}
    if len(slices(listed, lambda r: r.category)) > 1:
        drawn["By category"] = lambda: _draw_groups(loaded, "category", lambda r: r.category)
    if len(slices(listed, lambda r: r.language)) > 1:
        drawn["By language"] = lambda: _draw_groups(loaded, "language", lambda r: r.language)
    if any(record.right for record in listed):
        drawn["Search stages"] = lambda: _draw_stages(loaded)
    drawn["Chunk sizes"] = lambda: draw_sizes(workspace, store, runs, loaded)
    drawn["Time"] = lambda: _draw_latency(loaded)
    drawn["Over runs"] = lambda: _draw_history(store, runs, loaded)
    drawn["All numbers"] = lambda: _draw_all(loaded)
    tabs = st.tabs(list(drawn), key="charts", on_change="rerun")
    for tab, draw in zip(tabs, drawn.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _choose_metric(loaded: Loaded, key: str) -> str:
    keys = [*headline(loaded.run, loaded.summary)]
    keys += [k for k in loaded.summary.metrics if k not in keys and named(k).share]
    return st.selectbox(
        "What is shown",
        keys,
        format_func=lambda k: f"{named(k).name} ({named(k).term})",
        key=key,
        width=420,
    )


def _percent(key: str) -> bool:
    return amount(key, 0.5).endswith(" %")


def _draw_groups(loaded: Loaded, what: str, by: Callable[[Record], str]) -> None:
    key = _choose_metric(loaded, f"metric_by_{what}")
    if rows := group_rows(loaded.listed, key, by):
        st.altair_chart(
            charts.groups(rows, named(key).name, percent=_percent(key)),
            alt=f"{named(key).name} by {what}, with 95 % intervals",
        )
        st.caption(
            "The dot is the value, the line its 95 % interval. Where lines overlap widely, the "
            f"groups may not differ at all. In brackets: the questions of the {what}."
        )
    else:
        st.caption("No group has this number.")


def _draw_stages(loaded: Loaded) -> None:
    run = loaded.run
    left, right = st.columns(2)
    with left:
        st.markdown(f"**Right page among the first {run.top_k}, by each search alone**")
        rows = stage_rows(run, loaded.listed)
        st.altair_chart(
            charts.groups(rows, "Questions whose right page is found"),
            alt="How often each search stage alone finds the right page",
        )
        st.caption(
            "By words is BM25, by meaning the embedding model. Merging should beat each of them, "
            "and a re-ranker should beat the merging."
        )
    with right:
        st.markdown("**Right page, by how far one looks**")
        st.altair_chart(
            charts.groups(cut_rows(loaded.summary), "Questions whose right page is found"),
            alt="How often the right page is among the first 1, 3, 5, 10 and 20",
        )
    if misses := miss_rows(loaded.listed):
        st.markdown("**What lost the right page**")
        st.dataframe(misses, hide_index=True, alt="Reasons for misses and how often they occur")


def _draw_latency(loaded: Loaded) -> None:
    rows = latency_rows(loaded.listed)
    stages = loaded.summary.latency_ms
    if not rows or "total" not in stages:
        st.caption("No times were kept.")
        return
    total = stages["total"]
    st.altair_chart(
        charts.latency(
            rows, {"Half take less (p50)": total["p50"], "1 of 20 longer (p95)": total["p95"]}
        ),
        alt="How many questions took how long",
    )
    st.dataframe(
        stage_times(loaded.summary), hide_index=True, width="content", alt="Time of each stage"
    )


def _draw_history(store: RunStore, runs: Mapping[str, Run], loaded: Loaded) -> None:
    alike = [run for run in runs.values() if run.set_digest == loaded.run.set_digest][:_HISTORY]
    key = _choose_metric(loaded, "metric_over_runs")
    rows = []
    for run in reversed(alike):
        if (found := estimate_of(store, run, key)) is not None:
            name = f"{run.label} · {when(run.created)}" if run.label else when(run.created)
            rows.append(
                {
                    "Run": f"{name} ({run.id[-4:]})",
                    "Mode": MODES[run.mode],
                    "Value": found.value,
                    "Low": found.low,
                    "High": found.high,
                }
            )
    st.altair_chart(
        charts.history(rows, named(key).name, percent=_percent(key)),
        alt=f"{named(key).name} over the runs of this question set",
    )
    st.caption(
        f"{many(len(rows), 'run')} of the same questions, the oldest first. Whether two of them "
        "really differ is told under Compare."
    )


def _draw_all(loaded: Loaded) -> None:
    st.dataframe(
        metric_rows(loaded.summary, loaded.listed),
        hide_index=True,
        alt="Every number of this run with its interval and its meaning",
        column_config={"What": st.column_config.TextColumn(width=280)},
    )


def _draw_fine_print(run: Run) -> None:
    if run.problems:
        with st.expander(
            f"{many(len(run.problems), 'note')} about the questions of this run",
            icon=":material/rule:",
            type="compact",
        ):
            st.markdown("\n".join(f"- {plain(problem)}" for problem in run.problems[:100]))
    with st.expander("Configuration of this run", icon=":material/tune:", type="compact"):
        st.table(
            {
                plain(key.replace("collection.", "library, ")): plain(v)
                for key, v in run.config.items()
            },
            border="horizontal",
            width="content",
        )
