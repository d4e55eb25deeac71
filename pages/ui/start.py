"""How a page gets the workspace, also when it is opened before `streamlit_app.py` ever ran."""

from __future__ import annotations

import streamlit as st

from rag.workspace import Workspace


def workspace(page: str) -> Workspace:
    """The session's workspace. `page` is the calling page's file name.

    Right after the server starts, Streamlit runs a deep link such as /library on its own, because
    it does not know of `st.navigation` yet. Then this notes where the user wanted to go and hands
    over to the entry point, which comes back here.
    """
    if "workspace" not in st.session_state:
        st.session_state.wanted = (f"pages/{page}", st.query_params.to_dict())
        st.switch_page("streamlit_app.py")
    found: Workspace = st.session_state.workspace
    return found
