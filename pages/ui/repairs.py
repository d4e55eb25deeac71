"""Text recognition in the background: how far it is, how to stop it, how to take it up again."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.words import many, plain, shorten
from rag.job import Repair
from rag.types import Document, PageReport
from rag.workspace import Workspace

_SHOWN = 3


def draw_repairs(workspace: Workspace) -> None:
    """What is being read in the library; nothing while all is quiet."""
    if active(workspace.repairs):
        st.fragment(_watch, run_every=2.0)(workspace, len(active(workspace.repairs)))


def draw_repair(workspace: Workspace, document: Document, report: PageReport) -> None:
    """How it stands with one document, on its page."""
    if [r for r in active(workspace.repairs) if r.document_id == document.id]:
        st.fragment(_watch_one, run_every=2.0)(workspace, document.id)
        return
    off = workspace.settings.ocr is None
    if told := unread(report, off=off):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/image_search: {told}", width="stretch")
            if not off and _left(report):
                st.button(
                    "Read them",
                    key="repair_again",
                    on_click=workspace.repair_again,
                    args=(document.id,),
                )


def _watch(workspace: Workspace, drawn: int) -> None:
    """`drawn` is how many documents were at work when the page was drawn."""
    going = active(workspace.repairs)
    if len(going) != drawn:
        st.rerun()
    with st.container(border=True):
        st.markdown(
            ":material/image_search: Reading pages that are pictures, in the background. All "
            "other text can be searched already."
        )
        for repair in going[:_SHOWN]:
            _draw_bar(workspace, repair, f"{plain(shorten(repair.name, 60))} · {progress(repair)}")
        if len(going) > _SHOWN:
            st.caption(f"{many(len(going) - _SHOWN, 'more document')} after that")


def _watch_one(workspace: Workspace, document_id: str) -> None:
    for repair in active(workspace.repairs):
        if repair.document_id == document_id:
            _draw_bar(workspace, repair, f"Reading pages that are pictures · {progress(repair)}")
            return
    st.rerun()


def _draw_bar(workspace: Workspace, repair: Repair, text: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(repair.pages_done / max(1, repair.pages_total), text=text)
        st.button(
            "Stop",
            icon=":material/close:",
            key=f"stop_repair_{repair.document_id}",
            help="Pages that have been read stay.",
            on_click=workspace.cancel_repair,
            args=(repair.document_id,),
            width=110,
        )


def active(repairs: Sequence[Repair]) -> list[Repair]:
    """Those that are at work, or whose turn comes."""
    return [repair for repair in repairs if not repair.over]


def progress(repair: Repair) -> str:
    """How far it is, in words."""
    return f"{repair.pages_done:,} of {many(repair.pages_total, 'page')} re-read"


def unread(report: PageReport, *, off: bool) -> str:
    """What text recognition has not read, and why; "" when there is nothing."""
    due = len(report.repairs.get("due", ()))
    left = _left(report)
    if off and (due or left):
        return (
            f"{many(due + left, 'page')} could be read by text recognition (OCR), which is off. "
            "FOOTNOTE_OCR turns it on."
        )
    if due:
        return f"{many(due, 'page')} will be read by text recognition (OCR)."
    if left:
        return f"Text recognition (OCR) was stopped, or failed, on {many(left, 'page')}."
    return ""


def _left(report: PageReport) -> int:
    """Pages that were given up, by the user or by an error."""
    return sum(len(report.repairs.get(state, ())) for state in ("declined", "failed"))
