"""A running job, drawn again and again until it ends; then what came of each file."""

from __future__ import annotations

import streamlit as st

from pages.ui.words import many, plain
from rag.job import FileProgress, Job, Progress
from rag.workspace import Workspace

_SHOWN = 5
"""Files drawn with a bar of their own: more than one or two are never worked on at once."""


def draw_job(workspace: Workspace) -> None:
    """The job belongs to the workspace, so a refreshed browser finds it again."""
    job = workspace.job
    if job is None or st.session_state.get("dismissed_job") is job:
        return
    if job.progress.finished:
        _draw_summary(job)
    else:
        st.fragment(_watch, run_every=1.0)(workspace, job, job.progress)


def _watch(workspace: Workspace, job: Job, drawn: Progress) -> None:
    """`drawn` is what the rest of the page shows."""
    progress = job.progress
    with st.container(border=True, key="job"):
        if workspace.models.state != "ready":
            st.caption(":shimmer[Loading the search models, once after each start]")
        working = [f for f in progress.files if f.state in ("reading", "embedding")]
        for file in working[:_SHOWN]:
            st.progress(fraction(file), text=f"{plain(file.name)} · {activity(file)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(tally(progress), width="stretch")
            st.button(
                "Cancel", icon=":material/close:", key="cancel_job", on_click=job.cancel, width=110
            )
    if over(progress) != over(drawn):
        st.rerun()  # the whole page: the table below has changed


def _draw_summary(job: Job) -> None:
    progress = job.progress
    lines = problems(progress)
    with st.container(border=True, key="job_summary"):
        with st.container(horizontal=True, vertical_alignment="center"):
            icon = "info" if lines or progress.cancelled else "check_circle"
            st.markdown(f":material/{icon}: {tally(progress)}", width="stretch")
            st.button("Dismiss", key="dismiss_job", type="tertiary", on_click=_dismiss, args=(job,))
        if lines:
            st.markdown("\n".join(f"- {line}" for line in lines))


def _dismiss(job: Job) -> None:
    st.session_state.dismissed_job = job


def over(progress: Progress) -> int:
    """Files that nothing more will happen to."""
    return sum(file.over for file in progress.files)


def fraction(file: FileProgress) -> float:
    """How much of a file is done, 0 to 1; reading counts a tenth, embedding takes the time."""
    read = file.pages_done / file.pages_total if file.pages_total else 0.0
    embedded = file.chunks_done / file.chunks_total if file.chunks_total else 0.0
    return min(1.0, 0.1 * read + 0.9 * embedded)


def activity(file: FileProgress) -> str:
    """What has been done; totals that are not known yet are left out."""
    total = f" of {file.pages_total:,}" if file.pages_total else ""
    unit = "pages" if file.name.lower().endswith(".pdf") else "sections"
    read = f"{file.pages_done:,}{total} {unit} read"
    if not file.chunks_total:
        return read
    return f"{read}, {file.chunks_done:,} of {file.chunks_total:,} passages indexed"


def tally(progress: Progress) -> str:
    """One line for all files of the job."""
    states = [f.state for f in progress.files]
    counts = {
        "added": states.count("indexed") + states.count("replaced"),
        "already there": states.count("duplicate"),
        "failed": states.count("failed"),
        "cancelled": states.count("cancelled"),
        "to go": states.count("waiting") + states.count("reading") + states.count("embedding"),
    }
    told = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"{many(len(states), 'file')}: {', '.join(told)}" if told else "Nothing to add"


def problems(progress: Progress) -> list[str]:
    """One Markdown line per file that did not simply go in; plain successes say nothing."""
    lines = []
    for file in progress.files:
        if file.state in ("duplicate", "replaced", "failed", "cancelled"):
            named = file.name in file.message
            lines.append(
                plain(file.message) if named else f"**{plain(file.name)}**: {plain(file.message)}"
            )
        elif file.warnings:
            notes = many(len(file.warnings), "note")
            lines.append(f"**{plain(file.name)}**: added, with {notes} on how it was read")
    return lines
