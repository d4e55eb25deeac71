"""The watched folder: what is followed there, what is being read, what could not be taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from pages.ui.progress import LOCKED, draw_all, draw_lines, draw_working, over, problems
from pages.ui.words import many, plain
from rag.followed import Problem
from rag.job import FileProgress, Progress
from rag.types import Document
from rag.watch import WatchStatus
from rag.workspace import Workspace


def draw_watched(workspace: Workspace) -> None:
    """Draws itself anew every few seconds, and the whole page when its documents have changed."""
    if status := workspace.following.status:
        st.fragment(_draw, run_every=2.0)(workspace, dealt_with(status))


def _draw(workspace: Workspace, drawn: tuple[int, int]) -> None:
    """`drawn` is how far the folder was when the page was drawn."""
    status = workspace.following.status
    if status is None:
        return
    with st.container(border=True, key="watched"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":material/folder_eye: Following **{plain(str(status.folder))}**", width="stretch"
            )
            named = workspace.settings.watch is not None
            st.button(
                "Stop following",
                key="stop_watching",
                type="tertiary",
                disabled=named,
                help="FOOTNOTE_WATCH names this folder." if named else "Its documents stay.",
                on_click=workspace.following.choose,
                args=(None,),
            )
        if status.error:
            st.error(plain(status.error), icon=":material/error:")
        if status.progress and not status.progress.finished:
            draw_all(status.progress)
            draw_working(status.progress)
        st.caption(state(status))
        draw_lines(told(status.problems, workspace.documents()))
    if dealt_with(status) != drawn:
        st.rerun()


def told(found: Sequence[Problem], documents: Sequence[Document]) -> list[str]:
    """Markdown lines on what could not be taken; not on what was given its password since."""
    ready = {document.name for document in documents if document.state == "ready"}
    files = [
        FileProgress(p.name, "failed", message=p.message, error_code=p.code)
        for p in found
        if not (p.code in LOCKED and p.name in ready)
    ]
    return problems(Progress(tuple(files)))


def dealt_with(status: WatchStatus) -> tuple[int, int]:
    """Changes whenever documents may have come or gone."""
    return status.followed, over(status.progress) if status.progress else 0


def state(status: WatchStatus) -> str:
    """One line on how the folder stands."""
    if not status.looked:
        return "Looking into it for the first time"
    parts = [f"{many(status.followed, 'file')} followed"]
    if status.problems:
        parts.append(f"{len(status.problems):,} could not be read")
    if status.waiting:
        parts.append(f"{status.waiting:,} new or changed")
    seen = datetime.fromisoformat(status.looked).astimezone()
    return " · ".join([*parts, f"last look {seen:%H:%M:%S}"])
