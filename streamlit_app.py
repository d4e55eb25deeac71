"""Footnote's entry point: settings -> one workspace per data folder -> navigation -> a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import streamlit as st

from rag.errors import DataFolderError, DataFolderInUse, SettingsError
from rag.settings import Settings
from rag.workspace import Workspace

ICON = str(Path(__file__).parent / "pages" / "ui" / "icon.svg")
# Before the pages are named: Streamlit would take their icons for the tab, from the network.
st.set_page_config(page_title="Footnote", page_icon=ICON)


@st.cache_resource(on_release=Workspace.close, show_spinner=False)
def open_workspace(folder: str, _settings: Settings) -> Workspace:
    """One per data folder: a second one on the same folder would be refused."""
    opened = Workspace.open(_settings)
    opened.following.start()
    return opened


def stop(title: str, error: Exception) -> NoReturn:
    """A page that says what to do, in place of the app."""
    st.title(title, icon=":material/error:")
    st.error(str(error))
    st.button("Try again", icon=":material/refresh:", key="try_again")
    st.stop()


def to_chat() -> None:
    """The chat is the first page, at /, but /chat is what people try."""
    st.switch_page("pages/chat.py", query_params=st.query_params.to_dict())


try:
    settings = Settings.from_env(os.environ)
    workspace = open_workspace(str(settings.data), settings)
except SettingsError as error:
    stop("Footnote cannot start", error)
except DataFolderInUse as error:
    stop("Footnote is open already", error)
except DataFolderError as error:
    stop("The data folder cannot be used", error)
st.session_state.workspace = workspace

page = st.navigation(
    [
        st.Page(
            "pages/chat.py",
            title="Chat",
            icon=":material/forum:",
            default=True,
            url_path="ask",  # never in the address bar, but "chat" would be taken otherwise
            help="Ask your documents; every answer shows the exact words it rests on.",
        ),
        st.Page(
            "pages/library.py",
            title="Library",
            icon=":material/library_books:",
            help="Add documents, see how they were read, delete them.",
        ),
        st.Page(
            "pages/evaluation.py",
            title="Evaluation",
            icon=":material/fact_check:",
            help="Measure how well questions are answered, and look at every miss.",
        ),
        st.Page(
            "pages/settings.py",
            title="Settings",
            icon=":material/tune:",
            help="Connect a language model; see what is used and where it is stored.",
        ),
        st.Page(to_chat, title="Chat", url_path="chat", visibility="hidden"),
    ]
)
if "wanted" in st.session_state:  # a deep link that came before this script ever ran
    wanted, query = st.session_state.pop("wanted")
    st.switch_page(wanted, query_params=query)

st.set_page_config(
    page_title=f"{page.title} · Footnote",
    layout="wide" if page.title in ("Library", "Evaluation") else "centered",
)
st.logo(ICON)
try:
    page.run()
finally:
    workspace.warm_up()  # last, so that the page is on screen before torch is imported
