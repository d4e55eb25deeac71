"""Connect a language model; see what is used and where it is stored."""

from __future__ import annotations

import streamlit as st

from pages.ui.connection import key_for, try_model
from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace
from pages.ui.words import many, plain, size
from rag.settings import BUNDLED_EMBEDDER

workspace = get_workspace("settings.py")
draw_state(workspace)
settings = workspace.settings

st.title("Settings")

st.header("Language model")
if workspace.engine == "reader":
    st.markdown(
        "None is connected. The **reader** answers: it picks sentences from your documents, word "
        "for word, and writes none of its own. A language model can also combine, compare and "
        "explain what it finds; each of its quotes is still checked against your files."
    )
else:
    st.markdown(f"**{plain(workspace.engine)}** answers. If it fails, the reader takes over.")

with st.form("model", border=True):
    model = st.text_input(
        "Model",
        value=settings.llm_model or "",
        placeholder="ollama_chat/qwen3:8b, openai/gpt-5-mini, anthropic/claude-sonnet-4-5",
        help="Provider and model as litellm names them. Leave it empty for the reader.",
        key="model_name",
    )
    key = st.text_input(
        "API key",
        type="password",
        key="model_key",
        placeholder="Kept as it is" if settings.llm_api_key else "",
        help="Kept in memory until Footnote is closed, never written to disk. Without one, the "
        "provider's own variable, such as OPENAI_API_KEY, is used.",
    )
    base_url = st.text_input(
        "Server address",
        value=settings.llm_base_url or "",
        placeholder="Only for a server of your own, such as http://localhost:8080/v1",
        key="model_url",
    )
    with st.container(horizontal=True):
        save = st.form_submit_button("Save", type="primary", key="save_model")
        test = st.form_submit_button("Save and test", icon=":material/bolt:", key="test_model")

if save or test:
    name, address = model.strip(), base_url.strip() or None
    workspace.connect(name or None, key_for(settings, name, address, key), address)
    if test and name:
        with st.spinner("Asking the model for one word"):
            problem = try_model(workspace.settings)
        st.session_state.test_result = problem or f"{name} answers."
        st.session_state.test_failed = bool(problem)
    else:
        st.session_state.test_result = "Saved."
        st.session_state.test_failed = False
    st.rerun()
if result := st.session_state.pop("test_result", None):
    if st.session_state.pop("test_failed", False):
        st.error(plain(result), icon=":material/error:")
    else:
        st.success(plain(result), icon=":material/check_circle:")

with st.expander("Free and on this computer, with Ollama", icon=":material/computer:"):
    st.markdown(
        "1. Install Ollama from ollama.com and start it.\n"
        "2. In a terminal: `ollama pull qwen3:8b`. It needs about 6 GB of memory.\n"
        "3. Above, enter `ollama_chat/qwen3:8b` as the model, leave the key empty, then choose "
        "Save and test.\n\n"
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
