"""Ways into the library: files and archives, a whole folder, a folder by its path."""

from __future__ import annotations

import streamlit as st

from pages.ui.words import many, plain
from rag.dropin import DropIn, drop_in, from_path, pasted
from rag.errors import FootnoteError
from rag.ingest import Upload
from rag.workspace import Workspace

_FILES = "Files and ZIPs"
_FOLDER = "Whole folder"
_PATH = "Folder by path"


def draw_adding(workspace: Workspace) -> None:
    ways = [_FILES, _FOLDER]
    # A path is one on the computer that Footnote runs on: nobody else's business.
    if st.get_option("server.address") in ("localhost", "127.0.0.1", "::1"):
        ways.append(_PATH)
    way = st.segmented_control(
        "Add documents", ways, default=_FILES, required=True, key="way", width="stretch"
    )
    if way == _PATH:
        _draw_path(workspace)
        return
    _draw_uploader(workspace, directory=way == _FOLDER)
    inside = " Folders inside the folder are taken too." if way == _FOLDER else ""
    st.caption(
        f"PDF, Word, PowerPoint, Excel, CSV, HTML, EPUB, Markdown, text and e-mail.{inside} They "
        "stay on this computer."
    )


def _draw_uploader(workspace: Workspace, *, directory: bool) -> None:
    number = st.session_state.setdefault("uploads", 0)
    st.file_uploader(
        "A folder with all that is in it" if directory else "Files, ZIP archives",
        accept_multiple_files="directory" if directory else True,
        max_upload_size=workspace.settings.max_file_mb,
        label_visibility="collapsed",
        key=f"uploader_{number}",
        on_change=_add_uploads,
        args=(workspace, number),
    )


def _add_uploads(workspace: Workspace, number: int) -> None:
    """Hands the files over and puts a new, empty uploader in place of this one.

    The browser reports the old one's files once more with the next partial rerun; its number then
    tells that they have been taken.
    """
    files = st.session_state[f"uploader_{number}"]
    if files and number == st.session_state.uploads:
        _add(workspace, drop_in(Upload(f.name, f.getvalue()) for f in files))
        st.session_state.uploads += 1


def _draw_path(workspace: Workspace) -> None:
    with st.form("by_path", border=False):
        st.text_input(
            "Folder or file on this computer",
            placeholder="Paste its path, such as /home/me/Papers",
            key="path",
        )
        with st.container(horizontal=True):
            st.form_submit_button(
                "Add",
                icon=":material/add:",
                key="add_path",
                help="Adds the files that are in it now.",
                on_click=_add_path,
                args=(workspace,),
            )
            named = workspace.settings.watch is not None
            st.form_submit_button(
                "Add and follow",
                icon=":material/sync:",
                key="watch_path",
                disabled=named,
                help="FOOTNOTE_WATCH names the folder that is followed."
                if named
                else "Also picks up what is added, changed or removed there later.",
                on_click=_watch_path,
                args=(workspace,),
            )
    if error := st.session_state.pop("path_error", None):
        st.error(plain(error), icon=":material/error:")


def _add_path(workspace: Workspace) -> None:
    if not st.session_state.path.strip():
        st.session_state.path_error = "Enter the path of a folder or file first."
        return
    try:
        found = from_path(st.session_state.path, workspace.settings.data)
    except FootnoteError as error:
        st.session_state.path_error = str(error)
        return
    if not found.uploads:
        hidden = f", only {many(len(found.skipped), 'hidden file')}" if found.skipped else ""
        st.session_state.path_error = f"There are no documents in this folder{hidden}."
        return
    _add(workspace, found)
    st.session_state.path = ""


def _watch_path(workspace: Workspace) -> None:
    if not st.session_state.path.strip():
        st.session_state.path_error = "Enter the path of a folder first."
        return
    try:
        workspace.following.choose(pasted(st.session_state.path))
    except FootnoteError as error:
        st.session_state.path_error = str(error)
        return
    st.session_state.path = ""


def _add(workspace: Workspace, found: DropIn) -> None:
    workspace.add_files(found.uploads).skipped = found.skipped
