"""The sample documents that a first-time user can try, and questions that go with them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag import samples
from rag.ingest import Upload
from rag.types import Document
from rag.workspace import Workspace

_SHOWN = 4


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
    if all_added(documents):
        st.pills(
            "Questions about the sample documents",
            samples.featured()[:_SHOWN],
            key="examples",
            on_change=_suggest,
        )


def all_added(documents: Sequence[Document]) -> bool:
    """Whether every sample document can be searched."""
    ready = {document.name for document in documents if document.state == "ready"}
    return all(path.name in ready for path in samples.files())


def _suggest() -> None:
    st.session_state.suggested = st.session_state.examples
