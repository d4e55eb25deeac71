"""The lines at the foot of the sidebar: are the models there, and who answers."""

from __future__ import annotations

import streamlit as st

from pages.ui.words import plain
from rag.workspace import Workspace


def draw_state(workspace: Workspace) -> None:
    """Looks again every second until the models are loaded, then stops asking."""
    settled = workspace.models.state in ("ready", "failed")
    with st.sidebar.container(gap="xxsmall", key="state"):
        st.fragment(_models, run_every=None if settled else 1.0)(workspace, settled)
        if workspace.engine == "reader":
            st.caption(":material/menu_book: Answers: reader, no language model")
        else:
            st.caption(f":material/smart_toy: Answers: {plain(workspace.engine)}")


def _models(workspace: Workspace, settled: bool) -> None:
    models = workspace.models
    if models.state == "failed":
        st.error(plain(models.error), icon=":material/error:")
    elif models.state == "ready":
        st.caption(":material/check_circle: Search models: ready")
    else:
        st.caption(":material/hourglass_top: :shimmer[Search models: loading…]")
    if not settled and models.state in ("ready", "failed"):
        st.rerun()
