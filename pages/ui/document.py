"""One document, page by page: what was read beside what is printed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui import marked
from pages.ui.evaluation_from_page import draw_making
from pages.ui.locked import draw_password
from pages.ui.repairs import draw_repair
from pages.ui.report import draw_badges, draw_report
from pages.ui.words import about, plain
from rag.place import page_place
from rag.types import Document, Page, Warning
from rag.workspace import Workspace


def show(document_id: str | None, page: int = 1) -> None:
    """Opens a document by putting it in the URL; None goes back to the table."""
    if document_id is None:
        st.query_params.pop("document", None)
    else:
        st.query_params["document"] = document_id
        st.session_state.page = page
        st.session_state.pop(f"kinds_{document_id}", None)


def draw_document(workspace: Workspace, document: Document) -> None:
    st.button(
        "All documents",
        icon=":material/arrow_back:",
        key="back",
        type="tertiary",
        on_click=show,
        args=(None,),
    )
    st.title(plain(document.name))
    st.caption(about(document))
    with st.container(horizontal=True):
        _draw_download(workspace, document)
        _draw_delete(workspace, document)
    if document.state == "failed":
        if workspace.can_unlock(document):
            draw_password(workspace, document)
        else:
            st.error(plain(document.error), icon=":material/error:")
        return
    if document.state != "ready":
        st.info("This document is still being read.", icon=":material/sync:")
        return
    for warning in document.warnings:
        _draw_warning(document, warning)
    report = workspace.report(document.id)
    draw_repair(workspace, document, report)
    number = _draw_pager(document, draw_report(document, report))
    page = workspace.page(document.id, number)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(page_place(page, document.unit), width="stretch")
        draw_badges(report, number)
        draw_making(workspace, document, page)
    due = workspace.settings.ocr is not None and number in report.repairs.get("due", ())
    _draw_page(workspace, document, page, due=due)


def _draw_page(workspace: Workspace, document: Document, page: Page, *, due: bool) -> None:
    """`due`: text recognition has yet to read it."""
    image = workspace.page_image(document.id, page.number)
    if image is None:
        with st.container(border=True):
            st.html(marked.whole(page.text))
        return
    left, right = st.columns(2)
    left.image(image, width="stretch", alt=f"{document.name}, file page {page.number}")
    if page.kind == "empty":
        right.info(
            "This page is a picture. Its words will be read in the background (OCR)."
            if due
            else "No text was found on this page: it is blank or a picture."
        )
        return
    right.caption(
        "The text as it was read. It cannot be right, so it is not searched."
        if page.kind == "suspect"
        else "The text as it was read. Searches and quotes rest on it."
    )
    right.container(border=True).html(marked.whole(page.text))


def _draw_pager(document: Document, numbers: Sequence[int]) -> int:
    """The page to show, 1-based; the URL names it and follows it.

    While only some pages are leafed through, they are counted by themselves, and the URL is left
    at the page of which the choice was made.
    """
    if len(numbers) < document.page_count:
        which = st.pagination(len(numbers), key=f"among_{document.id}_{hash(tuple(numbers))}")
        return numbers[which - 1]
    if document.page_count <= 1:
        return 1
    return st.pagination(document.page_count, key="page", bind="query-params")


def _draw_warning(document: Document, warning: Warning) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/warning: {plain(warning.message)}", width="stretch")
        if warning.page is not None:
            st.button(
                f"Go to {document.unit} {warning.page}",
                key=f"note_{warning.code}_{warning.page}",
                on_click=show,
                args=(document.id, warning.page),
            )


def _draw_download(workspace: Workspace, document: Document) -> None:
    st.download_button(
        "Download",
        data=lambda: workspace.original(document.id).read_bytes(),
        file_name=document.name,
        icon=":material/download:",
        key="download",
        on_click="ignore",
    )


def _draw_delete(workspace: Workspace, document: Document) -> None:
    with st.popover("Delete", icon=":material/delete:", key="delete"):
        st.markdown(f"Delete **{plain(document.name)}** from the library?")
        st.caption("Answers in your chats keep their quotes, but the pages can no longer be shown.")
        st.button(
            "Delete for good",
            type="primary",
            key="delete_document",
            on_click=_delete,
            args=(workspace, document),
        )


def _delete(workspace: Workspace, document: Document) -> None:
    workspace.delete(document.id)
    show(None)
    st.toast(f"{plain(document.name)} was deleted.", icon=":material/delete:")
