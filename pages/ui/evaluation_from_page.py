"""A page of the library becomes questions of a set: written by the user, or drafted by a model."""

from __future__ import annotations

import streamlit as st

from pages.ui.evaluation_drafts import draw_drafting, order
from pages.ui.evaluation_editor import Editing, draw_editor, edit
from rag.evaluate.cases import Case
from rag.evaluate.making import NUMBERED, Quoted
from rag.types import Document, Page
from rag.workspace import Workspace


def draw_making(workspace: Workspace, document: Document, page: Page) -> None:
    """Two buttons beside a page, and their drawers."""
    st.button(
        "New question",
        icon=":material/edit_note:",
        key="question_from_page",
        disabled=page.kind == "empty",
        help="Write a question that this page answers, to measure with it on the Evaluation page.",
        on_click=_edit,
        args=(document, page),
    )
    connected = workspace.engine != "reader"
    st.button(
        "Draft questions",
        icon=":material/auto_awesome:",
        key="draft_from_page",
        disabled=not connected,
        help="The connected language model proposes questions; you decide on each."
        if connected
        else "This needs a language model, which reads the pages and proposes questions. Connect "
        "one in Settings.",
        on_click=order,
        args=(document, page.number),
    )
    draw_editor(workspace)
    draw_drafting(workspace)


def _edit(document: Document, page: Page) -> None:
    number = page.number if document.unit in NUMBERED else None
    given = (Quoted(document.name, number),)
    edit(Editing(Case("", ""), "New question", given=given, page=page))
