"""Documents that need a password: a field for each, and another try."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.words import plain
from rag.errors import NotFound
from rag.types import Document
from rag.workspace import Workspace

_SHOWN = 5


def draw_locked(workspace: Workspace, documents: Sequence[Document]) -> None:
    """Those of the library, whether they were added just now or long ago."""
    locked = [document for document in documents if workspace.can_unlock(document)]
    for document in locked[:_SHOWN]:
        draw_password(workspace, document)
    if len(locked) > _SHOWN:
        st.caption(f"{len(locked) - _SHOWN} more need a password: open them from the table below.")


def draw_password(workspace: Workspace, document: Document) -> None:
    files = [file for job in workspace.jobs for file in job.progress.files]
    if any(file.document_id == document.id and not file.over for file in files):
        return  # being tried
    with st.form(f"unlock_{document.id}", clear_on_submit=True):
        wrong = document.error_code == "wrong_password"
        if wrong:
            st.markdown(f":material/lock: That password does not open **{plain(document.name)}**.")
        else:
            st.markdown(f":material/lock: **{plain(document.name)}** needs its password.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Password",
                type="password",
                key=f"password_{document.id}",
                label_visibility="collapsed",
                placeholder="Another password" if wrong else "Password",
                autocomplete="off",
            )
            st.form_submit_button(
                "Try again" if wrong else "Open",
                key=f"unlock_button_{document.id}",
                on_click=_unlock,
                args=(workspace, document.id),
            )
        st.caption("It is used once and kept nowhere; the file is kept without it.")


def _unlock(workspace: Workspace, document_id: str) -> None:
    password = st.session_state[f"password_{document_id}"]
    if not password:
        return
    try:
        workspace.unlock(document_id, password)
    except NotFound as error:  # deleted in another window
        st.toast(plain(str(error)), icon=":material/error:")
