"""Running work, drawn again and again until it ends; then what came of each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePosixPath

import streamlit as st

from pages.ui.words import many, plain, shorten
from rag.errors import NotFound
from rag.job import FileProgress, Job, Progress
from rag.workspace import Workspace

LOCKED = ("password_required", "wrong_password")
"""Codes of failures that a password may mend."""
_SHOWN = 5
"""Files drawn with a bar of their own: more than one or two are never worked on at once."""
_LINES = 8
"""Lines of a list that are in view; a longer one is folded."""
_MOST_LINES = 200
"""Lines of a list that are drawn at all: thousands would hold up the browser."""
_SAME = 3
"""More files than this that fail for being of an unknown kind share a line."""


def draw_jobs(workspace: Workspace) -> None:
    """They belong to the workspace, so a refreshed browser finds them again."""
    for job in reversed(workspace.jobs):  # what was added last stands first
        if not job.progress.finished:
            st.fragment(_watch, run_every=1.0)(workspace, job, job.progress)
        elif not _only_locked(job):
            _draw_summary(workspace, job)


def _watch(workspace: Workspace, job: Job, drawn: Progress) -> None:
    """`drawn` is what the rest of the page shows."""
    progress = job.progress
    with st.container(border=True):
        if workspace.models.state != "ready":
            st.caption(":shimmer[Loading the search models, once after each start]")
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_all(progress)
            st.button(
                "Cancel",
                icon=":material/close:",
                key=f"cancel_job_{id(job)}",
                on_click=job.cancel,
                width=110,
            )
        draw_working(progress)
    if over(progress) != over(drawn):
        st.rerun()  # the whole page: the table below has changed


def draw_all(progress: Progress) -> None:
    """All files together."""
    if len(progress.files) == 1:
        st.caption(tally(progress), width="stretch")
        return
    done = sum(1.0 if file.over else fraction(file) for file in progress.files)
    st.progress(done / len(progress.files), text=tally(progress))


def draw_working(progress: Progress) -> None:
    """A bar for each file that is worked on."""
    working = [f for f in progress.files if f.state in ("reading", "embedding")]
    for file in working[:_SHOWN]:
        st.progress(fraction(file), text=f"{plain(shorten(file.name, 80))} · {activity(file)}")


def _draw_summary(workspace: Workspace, job: Job) -> None:
    progress = job.progress
    lines = problems(Progress(tuple(f for f in progress.files if not _opened(workspace, f))))
    if job.skipped:
        lines.append(skipped(job.skipped))
    failed = any(file.state == "failed" for file in progress.files)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            icon = "warning" if failed else "info" if progress.cancelled else "check_circle"
            st.markdown(f":material/{icon}: {tally(progress)}", width="stretch")
            st.button(
                "Dismiss",
                key=f"dismiss_job_{id(job)}",
                type="tertiary",
                on_click=workspace.dismiss,
                args=(job,),
            )
        draw_lines(lines)


def _only_locked(job: Job) -> bool:
    """A password was tried and was wrong: the field for another one says so."""
    return [file.error_code for file in job.progress.files] == ["wrong_password"]


def _opened(workspace: Workspace, file: FileProgress) -> bool:
    """Whether a file that needed a password was given it since."""
    if file.error_code not in LOCKED:
        return False
    with suppress(NotFound):
        return workspace.catalog.document(file.document_id).state == "ready"
    return False


def draw_lines(lines: Sequence[str]) -> None:
    """Markdown lines as a list; only the first ones are in view."""
    if lines:
        st.markdown(_listed(lines[:_LINES]))
    if len(lines) > _LINES:
        with st.expander(f"{len(lines) - _LINES:,} more"):
            st.markdown(_listed(lines[_LINES:_MOST_LINES]))
            if len(lines) > _MOST_LINES:
                st.caption(f"and {len(lines) - _MOST_LINES:,} more like these")


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


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
    """One Markdown line per file that did not simply go in, the worst first.

    Plain successes say nothing. Many files of kinds that cannot be read, as in a folder of
    pictures, share a line.
    """
    unknown = [f for f in progress.files if f.error_code == "unsupported_type"]
    shared = len(unknown) > _SAME
    lines = [
        _line(file)
        for state in ("failed", "indexed", "replaced", "duplicate", "cancelled")
        for file in progress.files
        if file.state == state
        and (file.message or file.warnings)
        and not (shared and file.error_code == "unsupported_type")
    ]
    return [_unknown_kinds(unknown), *lines] if shared else lines


def _line(file: FileProgress) -> str:
    name = plain(file.name)
    if file.state == "indexed" and file.warnings:
        notes = many(len(file.warnings), "note")
        return f"**{name}**: added, with {notes} on how it was read"
    return (
        plain(file.message) if file.name in file.message else f"**{name}**: {plain(file.message)}"
    )


def _unknown_kinds(files: Sequence[FileProgress]) -> str:
    kinds = Counter(PurePosixPath(file.name).suffix.lower() or "no ending" for file in files)
    told = ", ".join(f"{plain(kind)} ({count:,})" for kind, count in kinds.most_common())
    return f"{many(len(files), 'file')} of kinds that cannot be read: {told}"


def skipped(names: Sequence[str]) -> str:
    """One Markdown line for what came along and is no document."""
    some = ", ".join(plain(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
    return f"Left out {many(len(names), 'hidden or system file')}: {some}"
