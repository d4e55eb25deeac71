"""The source view: a drawer beside the answer, with the quoted words marked where they stand."""

from __future__ import annotations

import streamlit as st

from pages.ui import marked
from pages.ui.words import day, plain
from rag.cite import verify
from rag.errors import FootnoteError
from rag.place import citation_place, page_place
from rag.types import Answer, Citation, Document, Hit, Page, WebCitation
from rag.workspace import Workspace

_WIDTH = 700
"""Pixels: a page is readable, and on a wide screen the answer stays in view beside it."""


def open_source(exchange_id: int, kind: str, number: int) -> None:
    """Remembers which source to show in this run; `kind` is "citation", "web" or "nearest"."""
    st.session_state.source = (exchange_id, kind, number)
    st.session_state.pop("source_page", None)


def draw_source(workspace: Workspace, answer: Answer, kind: str, number: int) -> None:
    """Opens the drawer. `number` is 1-based, as in the answer's markers."""
    if kind == "web":
        show = st.dialog(f"Web source {number}", position="right", icon=":material/public:")
        show(_draw_web)(answer.web[number - 1])
    elif kind == "citation":
        _drawer(f"Source {number}", workspace, answer.citations[number - 1])
    else:
        _drawer("Nearest passage", workspace, answer.nearest[number - 1])


def _drawer(title: str, workspace: Workspace, passage: Citation | Hit) -> None:
    show = st.dialog(title, position="right", width=_WIDTH, icon=":material/format_quote:")
    show(_draw)(workspace, passage)


def _draw(workspace: Workspace, passage: Citation | Hit) -> None:
    document_id = (
        passage.document_id if isinstance(passage, Citation) else passage.chunk.document_id
    )
    st.markdown(f"**{plain(passage.name)}**")
    try:
        document = workspace.catalog.document(document_id)
        citation = (
            passage if isinstance(passage, Citation) else _cited(workspace, document, passage)
        )
        number = st.session_state.get("source_page", citation.page)
        page = workspace.page(document_id, number)
    except FootnoteError:
        quote = passage.quote if isinstance(passage, Citation) else passage.chunk.text
        st.caption("This document is no longer in the library. These are the words it held:")
        st.html(marked.quote(quote))
        return
    here = number == citation.page
    st.caption(citation_place(citation) if here else page_place(page, document.unit))
    _draw_page(workspace, document, page, citation if here else None)
    _draw_ways_on(document, number, citation.page)


def _draw_web(page: WebCitation) -> None:
    """Nothing of the page is loaded: its address is opened by a click, in a tab of its own."""
    st.markdown(f"**{plain(page.title or page.url)}**")
    st.caption("From the web, not from your documents. The page may have changed since.")
    st.html(marked.quote(page.quote))
    start = page.context.find(page.quote)
    if start >= 0:
        with st.container(border=True):
            st.html(marked.around(page.context, start, start + len(page.quote)))
    if page.url.startswith(("http://", "https://")):
        st.link_button("Open the page", page.url, icon=":material/open_in_new:")
    st.caption(plain(page.url) + (f" · fetched {day(page.fetched)}" if page.fetched else ""))


def _cited(workspace: Workspace, document: Document, hit: Hit) -> Citation:
    """A found passage, checked against the stored page like any quote."""
    page = workspace.page(document.id, hit.chunk.page)
    found = verify(hit.chunk.text, page, document, hit.chunk.heading, near=hit.chunk.start)
    if not isinstance(found, Citation):
        raise FootnoteError(found.reason)
    return found


def _draw_page(
    workspace: Workspace, document: Document, page: Page, citation: Citation | None
) -> None:
    try:
        image = workspace.page_image(document.id, page.number, citation)
    except FootnoteError as error:
        st.caption(plain(str(error)))
        image = None
    if image is None:
        with st.container(border=True):
            st.html(
                marked.around(page.text, citation.start, citation.end)
                if citation
                else marked.whole(page.text)
            )
        return
    alt = f"{document.name}, file page {page.number}"
    if citation:
        st.html(marked.quote(citation.quote))
        alt += f", with the quote marked: {citation.quote}"
    st.image(image, width="stretch", alt=alt)


def _draw_ways_on(document: Document, number: int, cited: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Previous {document.unit}",
            icon=":material/arrow_back:",
            key="source_previous",
            disabled=number <= 1,
            on_click=_turn,
            args=(number - 1,),
        )
        st.button(
            f"Next {document.unit}",
            icon=":material/arrow_forward:",
            key="source_next",
            disabled=number >= document.page_count,
            on_click=_turn,
            args=(number + 1,),
        )
        if number != cited:
            st.button("Back to the quote", key="source_back", on_click=_turn, args=(cited,))
        st.page_link(
            "pages/library.py",
            label="Open the whole document",
            icon=":material/menu_book:",
            query_params={"document": document.id, "page": str(number)},
        )


def _turn(number: int) -> None:
    st.session_state.source_page = number
