"""Connect a language model; see what is used and where it is stored."""

from __future__ import annotations

import streamlit as st

from pages.ui.model import draw_model
from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace
from pages.ui.words import many, plain, size
from rag.settings import BUNDLED_EMBEDDER

workspace = get_workspace("settings.py")
draw_state(workspace)
settings = workspace.settings

st.title("Settings")

st.header("Language model")
draw_model(workspace)

with st.expander("Free and on this computer, with Ollama", icon=":material/computer:"):
    st.markdown(
        "1. Install Ollama from ollama.com and start it.\n"
        "2. In a terminal: `ollama pull qwen3:8b`. It needs about 6 GB of memory.\n"
        "3. Above, choose Ollama as the provider, then your model, then Save and test.\n\n"
        "Nothing leaves this computer then. With any other provider, your question and the "
        "passages found for it are sent to that provider."
    )

st.header("Search models")
bundled = " (comes with Footnote)" if settings.embedder == BUNDLED_EMBEDDER else ""
st.table(
    {
        "Embedding model": plain(settings.embedder) + bundled,
        "Re-ranker": plain(settings.reranker) if settings.reranker else "off",
        "Passages per answer": str(settings.top_k),
        "Passage size": f"at most {settings.chunk_tokens} tokens",
    },
    border="horizontal",
    width="content",
)
st.caption(
    "Set with FOOTNOTE_EMBEDDER, FOOTNOTE_RERANKER, FOOTNOTE_TOP_K and "
    "FOOTNOTE_CHUNK_TOKENS before Footnote starts."
)

st.header("Storage")
st.table(
    {
        "Data folder": f"`{settings.data}`",
        "Used": size(workspace.storage_bytes()),
        "Documents": many(len(workspace.documents()), "document"),
        "Chats": many(len(workspace.history.chats()), "chat"),
    },
    border="horizontal",
    width="content",
)
st.caption("Everything is in this folder; copy it to make a backup. FOOTNOTE_DATA names another.")
