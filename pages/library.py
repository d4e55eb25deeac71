"""Add documents, see how each was read, delete them."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pages.ui.adding import draw_adding
from pages.ui.document import draw_document, show
from pages.ui.locked import draw_locked
from pages.ui.progress import draw_jobs
from pages.ui.repairs import draw_repairs
from pages.ui.samples import draw_sample_button
from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace
from pages.ui.watched import draw_watched
from pages.ui.words import document_rows, many
from rag.errors import NotFound
from rag.types import Document

workspace = get_workspace("library.py")
draw_state(workspace)


def draw_empty() -> None:
    with st.container(border=True, horizontal_alignment="center", key="empty"):
        st.markdown("**Nothing here yet**", text_alignment="center")
        st.markdown(
            "Drop your files above, or look around with documents that come along.",
            text_alignment="center",
        )
        draw_sample_button(workspace)


def draw_table(documents: list[Document]) -> None:
    def open_row() -> None:
        show(documents[st.session_state.open_row.row].id)

    failed = [d for d in documents if d.state == "failed" and not workspace.can_unlock(d)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(many(len(documents), "document"), width="stretch")
        if failed:
            st.button(
                f"Remove {len(failed):,} that failed",
                key="clear_failed",
                type="tertiary",
                help="Takes them off this list. Nothing of them is kept.",
                on_click=remove,
                args=(failed,),
            )
    st.dataframe(
        [{"Open": "Open", **row} for row in document_rows(documents)],
        hide_index=True,
        height="content" if len(documents) <= 15 else 560,
        placeholder="",
        key="documents",
        alt="The documents in the library with their state, size and language",
        column_config={
            "Open": st.column_config.ButtonColumn("", key="open_row", on_click=open_row),
            "Name": st.column_config.TextColumn(width=230),
            "State": st.column_config.MultiselectColumn(
                options=["Ready", "Reading", "Waiting", "Failed"],
                color=["green", "blue", "gray", "red"],
            ),
            "Pages": st.column_config.TextColumn(width=90),
            "Notes": st.column_config.NumberColumn(help="What to know about how it was read."),
            "Added": st.column_config.DatetimeColumn(format="D MMM YYYY"),
        },
    )


def remove(documents: list[Document]) -> None:
    for document in documents:
        with suppress(NotFound):  # removed in another window
            workspace.delete(document.id)


def chosen() -> Document | None:
    """The document in the URL."""
    document_id = st.query_params.get("document")
    if document_id is None:
        return None
    try:
        return workspace.catalog.document(document_id)
    except NotFound:
        st.warning("This document is no longer in the library.", icon=":material/info:")
        show(None)
        return None


if document := chosen():
    draw_document(workspace, document)
else:
    st.title("Library")
    draw_adding(workspace)
    draw_jobs(workspace)
    documents = workspace.documents()
    draw_locked(workspace, documents)
    draw_watched(workspace)
    draw_repairs(workspace)
    if documents:
        draw_table(documents)
    elif all(job.progress.finished for job in workspace.jobs):
        draw_empty()
