"""Where on the evaluation page the user is: in the URL, so that a refresh or a link leads back."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

VIEWS: Mapping[str, str] = {
    "measure": ":material/play_circle: Measure",
    "results": ":material/bar_chart: Results",
    "compare": ":material/compare_arrows: Compare",
    "sets": ":material/checklist: Question sets",
}


def place() -> dict[str, str]:
    """The URL's `view`, `run`, `case`, `other`; on coming back, what they were on leaving."""
    here = st.query_params.to_dict()
    if here.get("view") not in VIEWS:
        here = dict(st.session_state.get("evaluation_place", {}))
        if here:
            st.query_params.from_dict(here)
    st.session_state.evaluation_place = here
    return here


def go(view: str, **where: str) -> None:
    """Shows a view in the next run of the page; empty parts are left out of the URL."""
    here = {"view": view, **{name: value for name, value in where.items() if value}}
    st.query_params.from_dict(here)
    st.session_state.evaluation_place = here


def draw_views(current: str) -> None:
    st.session_state.view = current
    st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        key="view",
        required=True,
        label_visibility="collapsed",
        on_change=_chosen,
    )


def _chosen() -> None:
    # The run that was looked at stays the one of every view.
    run = st.session_state.get("evaluation_place", {}).get("run", "")
    go(st.session_state.view, run=run)
