"""The right pages of a case, and those that came first instead, with the evidence marked."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.ui import marked
from pages.ui.evaluation_words import where
from pages.ui.words import plain
from rag.cite import verify
from rag.errors import FootnoteError
from rag.evaluate.runs import Record
from rag.evaluate.shelf import Shelf
from rag.place import page_place
from rag.types import Citation, Document
from rag.workspace import Workspace

_INSTEAD = 3
"""Wrong pages that are offered: the ones that an answer would have been built from."""


@dataclass(frozen=True, slots=True)
class Place:
    """A page to look at. `spans`: the evidence on it, as characters of its text."""

    label: str
    document: Document | None
    name: str
    page: int
    spans: tuple[tuple[int, int], ...] = ()


def places_of(shelf: Shelf, record: Record) -> list[Place]:
    """The right places, those with evidence first, then what stood above them."""
    units = shelf.units
    spans: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for doc, page, start, end in record.evidence:
        spans.setdefault((doc, page), []).append((start, end))
    right = dict.fromkeys([*spans, *((doc, page) for doc, page, _ in record.right)])
    found = dict.fromkeys(hit.place for hit in record.found)
    instead = [place for place in found if place not in right][:_INSTEAD]
    order = list(found)
    return [
        Place(
            ("Right: " if (doc, page) in right else f"Found no. {order.index((doc, page)) + 1}: ")
            + where(doc, page, units),
            shelf.document(doc),
            doc,
            page,
            tuple(spans.get((doc, page), ())),
        )
        for doc, page in [*right, *instead]
    ]


def draw_places(workspace: Workspace, places: list[Place]) -> None:
    if not places:
        st.caption("The question names no page, and the search found none.")
        return
    at = st.selectbox(
        "Page",
        range(len(places)),
        format_func=lambda i: places[i].label,
        key="case_place",
        label_visibility="collapsed",
    )
    _draw_place(workspace, places[at])


def _draw_place(workspace: Workspace, place: Place) -> None:
    document = place.document
    if document is None:
        st.warning(
            f"{plain(place.name)} is not in the library, so its page cannot be shown.",
            icon=":material/info:",
        )
        return
    try:
        page = workspace.page(document.id, place.page)
    except FootnoteError:
        st.warning(
            f"{plain(document.name)} has no {document.unit} {place.page} any more.",
            icon=":material/info:",
        )
        return
    st.caption(f"{plain(document.name)} · {plain(page_place(page, document.unit))}")
    citations = []
    for start, end in place.spans:
        found = verify(page.text[start:end], page, document, near=start)
        if isinstance(found, Citation):
            citations.append(found)
    for citation in citations:
        st.html(marked.quote(citation.quote))
    first = citations[0] if citations else None
    image = workspace.page_image(document.id, page.number, first)
    if image is not None:
        alt = f"{document.name}, file page {page.number}"
        st.image(image, width="stretch", alt=f"{alt}, evidence marked" if first else alt)
    else:
        with st.container(border=True):
            st.html(
                marked.around(page.text, first.start, first.end)
                if first
                else marked.whole(page.text)
            )
    st.page_link(
        "pages/library.py",
        label="Open the document",
        icon=":material/menu_book:",
        query_params={"document": document.id, "page": str(page.number)},
    )
