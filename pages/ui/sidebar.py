"""The lines at the foot of the sidebar: what is at work, are the models there, and who answers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.progress import over
from pages.ui.words import many, plain
from rag.job import Progress, Repair
from rag.workspace import Workspace


def draw_state(workspace: Workspace) -> None:
    """Looks again every second until the models are loaded, then stops asking."""
    settled = workspace.models.state in ("ready", "failed")
    with st.sidebar.container(gap="xxsmall", key="state"):
        # A followed folder may begin with new files at any time, the rest begins with a rerun.
        alive = (
            workspace.adding or working(workspace.repairs) or workspace.following.status is not None
        )
        st.fragment(_work, run_every=3.0 if alive else None)(workspace)
        st.fragment(_models, run_every=None if settled else 1.0)(workspace, settled)
        if workspace.engine == "reader":
            st.caption(":material/menu_book: Answers: reader, no language model")
        else:
            st.caption(f":material/smart_toy: Answers: {plain(workspace.engine)}")


def _work(workspace: Workspace) -> None:
    """What goes on in the background, on whatever page the user is."""
    watching = workspace.following.status
    if watching is not None and watching.error:
        st.caption(":material/error: The followed folder needs a look, see the Library.")
    batches = [job.progress for job in workspace.jobs]
    if watching is not None and watching.progress is not None:
        batches.append(watching.progress)
    if told := reading(batches):
        st.caption(f":material/sync: {told}")
    if told := working(workspace.repairs):
        st.caption(f":material/image_search: {told}")


def reading(batches: Sequence[Progress]) -> str:
    """How many files of the batches that are not over are read; "" when all are."""
    going = [batch for batch in batches if not batch.finished]
    if not going:
        return ""
    done, files = sum(map(over, going)), sum(len(batch.files) for batch in going)
    return f"Adding documents: {done:,} of {files:,}"


def working(repairs: Sequence[Repair]) -> str:
    """How many pages text recognition has read of those it is at; "" when it rests."""
    going = [repair for repair in repairs if not repair.over]
    if not going:
        return ""
    done, pages = sum(r.pages_done for r in going), sum(r.pages_total for r in going)
    return f"Reading pictures: {done:,} of {many(pages, 'page')}"


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
