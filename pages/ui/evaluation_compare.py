"""Two runs of the same questions: what differs beyond noise, and which questions flipped."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.ui import evaluation_charts as charts
from pages.ui.evaluation_place import go
from pages.ui.evaluation_rows import Rows, difference_rows, flip_rows, paired_values
from pages.ui.evaluation_runs import Loaded, load_run
from pages.ui.evaluation_words import compared_in_words, headline, named, run_labels
from pages.ui.words import many, plain
from rag.errors import EvaluationError
from rag.evaluate.compare import Comparison, compare
from rag.evaluate.runs import Run, RunStore
from rag.workspace import Workspace

_VERDICTS = {"better": "green", "worse": "red", "no difference beyond noise": "gray"}


def draw_comparison(
    workspace: Workspace, store: RunStore, runs: Mapping[str, Run], chosen: str, other: str
) -> None:
    """`chosen`: the later run; `other`: the one it is compared with; "" for a sensible choice."""
    if len(runs) < 2:
        st.info(
            "A comparison takes two runs. Run the same questions again after a change: another "
            "model, another setting, more documents.",
            icon=":material/info:",
        )
        return
    first, second = _draw_choice(runs, chosen, other)
    if first == second:
        st.info("Choose two different runs.", icon=":material/info:")
        return
    try:
        before, after = load_run(store, runs[first]), load_run(store, runs[second])
        compared = compare((before.run, before.records), (after.run, after.records))
    except EvaluationError as error:
        st.warning(plain(str(error)), icon=":material/info:")
        return
    keys = [key for key in headline(after.run, after.summary) if key in compared.metrics]
    left_out = ""
    if compared.left_out:
        left_out = f" {many(compared.left_out, 'question')} only one of them has are left out."
    st.caption(f"{many(compared.n, 'question')} asked in both runs.{left_out}")
    st.markdown(compared_in_words(compared, keys))
    _draw_differences(compared, before, after, keys)
    _draw_flips(compared, after)
    _draw_changes(compared)


def _draw_choice(runs: Mapping[str, Run], chosen: str, other: str) -> tuple[str, str]:
    second = chosen if chosen in runs else next(iter(runs))
    if other not in runs or other == second:
        other = _partner(runs, second)
    st.session_state.compare_before, st.session_state.compare_after = other, second

    def choose() -> None:
        state = st.session_state
        go("compare", run=state.compare_after, other=state.compare_before)

    labels = run_labels(runs)
    columns = st.columns(2)
    for column, label in zip(columns, ("Before", "After"), strict=True):
        column.selectbox(
            label,
            list(runs),
            format_func=labels.__getitem__,
            key=f"compare_{label.lower()}",
            on_change=choose,
        )
    return st.session_state.compare_before, st.session_state.compare_after


def _partner(runs: Mapping[str, Run], run_id: str) -> str:
    """The run before it with the same questions, in the same mode if there is one."""
    run, ids = runs[run_id], list(runs)
    older = ids[ids.index(run_id) + 1 :] + ids[: ids.index(run_id)]
    alike = [i for i in older if runs[i].set_digest == run.set_digest]
    same = [i for i in alike if runs[i].mode == run.mode]
    return next(iter(same or alike or older))


def _draw_differences(compared: Comparison, before: Loaded, after: Loaded, keys: list[str]) -> None:
    values = paired_values(compared, before.records, after.records)
    shown = [key for key in keys if named(key).share]
    if any(compared.metrics[key].wins or compared.metrics[key].losses for key in shown):
        rows = []
        for key in shown:
            d = compared.metrics[key]
            rows.append({"Group": named(key).name, "Value": d.value, "Low": d.low, "High": d.high})
        st.altair_chart(
            charts.differences(rows), alt="The difference of each number with its 95 % interval"
        )
        st.caption(
            "Right of the line, the later run is higher. Where an interval crosses the line, "
            "chance alone can explain the difference."
        )
    _draw_table(difference_rows(compared, values, keys), "The first numbers of both runs")
    with st.expander("All numbers", icon=":material/123:", type="compact"):
        _draw_table(difference_rows(compared, values), "All numbers of both runs")


def _draw_table(rows: Rows, alt: str) -> None:
    st.dataframe(
        rows,
        hide_index=True,
        height="content" if len(rows) <= 10 else 420,
        alt=alt,
        column_config={
            "What": st.column_config.TextColumn(width=220),
            "Verdict": st.column_config.MultiselectColumn(
                options=list(_VERDICTS), color=list(_VERDICTS.values()), width=220
            ),
            "Up": st.column_config.NumberColumn(help="Questions where the number went up."),
            "Down": st.column_config.NumberColumn(help="Questions where it went down."),
        },
    )


def _draw_flips(compared: Comparison, after: Loaded) -> None:
    words = named(compared.flip_metric)
    st.subheader("Questions that flipped")
    st.caption(f"Right in one run and wrong in the other, by: {words.name} ({words.term}).")
    columns = st.columns(2)
    for column, gained in zip(columns, (False, True), strict=True):
        rows = flip_rows(compared.flips, gained, after.records)
        with column:
            name = "Now right" if gained else "Now wrong"
            st.markdown(f"**{name}: {len(rows)}**")
            if rows:
                _draw_flipped(compared, rows, "gained" if gained else "lost")


def _draw_flipped(compared: Comparison, rows: Rows, key: str) -> None:
    def open_row() -> None:
        row = st.session_state[f"open_{key}"].row
        go("results", run=compared.second, case=rows[row]["id"], other=compared.first)

    st.dataframe(
        [{name: value for name, value in row.items() if name != "id"} for row in rows],
        hide_index=True,
        height="content" if len(rows) <= 10 else 420,
        key=key,
        alt=f"Questions that were {key}",
        column_config={
            "Open": st.column_config.ButtonColumn("", key=f"open_{key}", on_click=open_row),
            "Question": st.column_config.TextColumn(width=300),
        },
    )


def _draw_changes(compared: Comparison) -> None:
    st.subheader("What was different")
    if not compared.changed:
        st.caption("Nothing: both runs have the same configuration.")
        return
    st.table(
        [
            {
                "Setting": plain(key.replace("collection.", "library, ")),
                "Before": plain(before or "not set"),
                "After": plain(after or "not set"),
            }
            for key, (before, after) in compared.changed.items()
        ],
        border="horizontal",
        width="content",
    )
