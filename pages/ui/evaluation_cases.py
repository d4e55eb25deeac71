"""The table of a run's cases, and what to show of it."""

from __future__ import annotations

import streamlit as st

from pages.ui.evaluation_place import go
from pages.ui.evaluation_rows import case_rows
from pages.ui.evaluation_runs import Loaded
from pages.ui.words import many
from rag.evaluate.outcome import MEANINGS, WRONG, Filter, Outcome, outcomes
from rag.evaluate.runs import Record
from rag.evaluate.shelf import Shelf
from rag.workspace import Workspace

_COLOURS = {
    "Found": "green",
    "Right page cited": "green",
    "Refused rightly": "green",
    "Answered": "gray",
    "Missed": "red",
    "Other pages cited": "orange",
    "Refused wrongly": "red",
    "Should have refused": "red",
    "Failed": "gray",
}
_ALL, _WRONG = "All", "Went wrong"


def chosen_cases(loaded: Loaded) -> list[Record]:
    """The cases that the filters let through; the filters outlive a look at one case."""
    state = st.session_state
    shown = state.get("case_outcome") or _ALL
    outcome: frozenset[Outcome] = {_ALL: frozenset(), _WRONG: WRONG}.get(shown, frozenset([shown]))
    wanted = Filter(
        outcomes=outcome,
        blame=state.get("case_blame") or "",
        category=state.get("case_category") or "",
        language=state.get("case_language") or "",
        text=state.get("case_text") or "",
    )
    return [r for r in loaded.listed if wanted.keeps(loaded.run, r)]


def draw_cases(workspace: Workspace, loaded: Loaded) -> None:
    st.subheader("Questions")
    _draw_filters(loaded)
    shown = chosen_cases(loaded)

    def open_row() -> None:
        go("results", run=loaded.run.id, case=shown[st.session_state.open_case.row].id)

    rows = case_rows(loaded.run, shown, Shelf(workspace).units)
    st.caption(
        f"{many(len(shown), 'question')} of {len(loaded.records):,}"
        if len(shown) < len(loaded.records)
        else many(len(shown), "question")
    )
    if not rows:
        st.caption("No question passes these filters.")
        return
    st.dataframe(
        rows,
        hide_index=True,
        height="content" if len(rows) <= 12 else 460,
        placeholder="",
        key="cases",
        alt="The questions of this run with their results",
        column_config={
            "Open": st.column_config.ButtonColumn("", key="open_case", on_click=open_row),
            "Question": st.column_config.TextColumn(width=380),
            "Result": st.column_config.MultiselectColumn(
                options=list(_COLOURS), color=list(_COLOURS.values())
            ),
            "Rank": st.column_config.NumberColumn(
                help="Where the first right page stood in the search; empty when it was not found."
            ),
            "Right": st.column_config.TextColumn("Right page", width=220),
            "Why": st.column_config.TextColumn(width=260),
            "Seconds": st.column_config.NumberColumn(format="%.2f"),
        },
    )


def _draw_filters(loaded: Loaded) -> None:
    counts = outcomes(loaded.run, loaded.listed)
    wrong = sum(count for name, count in counts.items() if name in WRONG)
    totals: dict[str, int] = {_ALL: len(loaded.records), _WRONG: wrong}
    totals.update(counts)
    options = [name for name, count in totals.items() if count or name == _ALL]
    if st.session_state.get("case_outcome") not in options:
        st.session_state.case_outcome = _ALL
    st.pills(
        "Show",
        options,
        format_func=lambda name: f"{name} ({totals[name]})",
        key="case_outcome",
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    if meaning := MEANINGS.get(st.session_state.case_outcome):
        st.caption(meaning)
    listed = loaded.listed
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Search",
            type="search",
            placeholder="Words of the question or the answer",
            key="case_text",
            persist_state="session",
            width=260,
        )
        for label, key, values in (
            ("Category", "case_category", {r.category for r in listed}),
            ("Language", "case_language", {r.language for r in listed}),
            ("Lost by", "case_blame", {str(r.blame) for r in listed}),
        ):
            offered = sorted(value for value in values if value)
            if st.session_state.get(key) not in offered:
                st.session_state[key] = None  # of another run
            if len(offered) > 1 or (key == "case_blame" and offered):
                st.selectbox(
                    label,
                    offered,
                    index=None,
                    format_func=lambda value: value.replace("_", " "),
                    placeholder="All",
                    key=key,
                    persist_state="session",
                    width=160,
                )
