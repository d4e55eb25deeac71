"""The sample documents that a first-time user can try, and questions that go with them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag.ingest import Upload
from rag.types import Document
from rag.workspace import Workspace


def draw_sample_button(workspace: Workspace) -> None:
    st.button(
        "Try it with the sample documents",
        icon=":material/auto_stories:",
        type="primary",
        key="samples",
        on_click=_add,
        args=(workspace,),
    )


def _add(workspace: Workspace) -> None:
    workspace.add_files([Upload(path.name, path) for path in workspace.sample_files()])


def draw_examples(documents: Sequence[Document]) -> None:
    """Questions to click on, as long as the sample documents are there."""
    questions = _examples(documents)
    if questions:
        st.pills(
            "Questions about the sample documents", questions, key="examples", on_change=_suggest
        )


def _suggest() -> None:
    st.session_state.suggested = st.session_state.examples


def _examples(documents: Sequence[Document]) -> list[str]:
    return ["Did solar output fall?", "What about pensions?"]
