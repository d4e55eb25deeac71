"""The chats in the sidebar: open, start, rename, export and delete them."""

from __future__ import annotations

import streamlit as st

from pages.ui.words import plain
from rag.errors import NotFound
from rag.history import Chat, History, markdown

_SHOWN = 20
"""Chats listed before "Show all": about one screen."""


def current(history: History) -> Chat | None:
    """The chat in the URL, else the one that was open before another page was visited."""
    chat_id = st.query_params.get("chat") or st.session_state.get("chat")
    if chat_id is None:
        return None
    try:
        chat = history.chat(chat_id)
    except NotFound as error:
        go_to(None)
        st.toast(str(error), icon=":material/info:")
        return None
    go_to(chat.id)
    return chat


def go_to(chat_id: str | None) -> None:
    """Makes a chat the open one; None starts a new one."""
    st.session_state.chat = chat_id
    if chat_id is None:
        st.query_params.pop("chat", None)
    elif st.query_params.get("chat") != chat_id:
        st.query_params["chat"] = chat_id


def draw_chats(history: History, open_chat: Chat | None) -> None:
    st.button(
        "New chat",
        icon=":material/add:",
        key="new_chat",
        width="stretch",
        on_click=go_to,
        args=(None,),
    )
    chats = history.chats()
    if not chats:
        return
    shown = chats if st.session_state.get("all_chats") else chats[:_SHOWN]
    with st.container(gap="xxsmall", key="chats"):
        for chat in shown:
            _draw_row(history, chat, chat.id == (open_chat.id if open_chat else None))
    if len(chats) > _SHOWN:
        st.toggle(f"Show all {len(chats)} chats", key="all_chats")


def _draw_row(history: History, chat: Chat, is_open: bool) -> None:
    title = plain(chat.title or "New chat")
    if not is_open:
        st.button(
            title,
            key=f"chat_{chat.id}",
            type="tertiary",
            wrap=False,
            on_click=go_to,
            args=(chat.id,),
        )
        return
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="xsmall"):
        st.markdown(f"**{title}**", width="stretch", wrap=False)
        with st.popover(
            ":material/more_horiz:",
            type="tertiary",
            help="Rename, export or delete this chat",
            key="chat_actions",
        ):
            _draw_actions(history, chat)


def _draw_actions(history: History, chat: Chat) -> None:
    st.text_input(
        "Name",
        value=chat.title,
        max_chars=200,
        key=f"name_{chat.id}",
        on_change=_rename,
        args=(history, chat.id),
    )
    st.download_button(
        "Export to Markdown",
        data=lambda: markdown(chat, history.exchanges(chat.id)),
        file_name=f"{_file_name(chat.title)}.md",
        mime="text/markdown",
        icon=":material/download:",
        key="export_chat",
        on_click="ignore",
        width="stretch",
    )
    st.button(
        "Delete this chat",
        icon=":material/delete:",
        key="delete_chat",
        width="stretch",
        on_click=_delete,
        args=(history, chat.id),
    )
    st.caption("Your documents stay.")


def _rename(history: History, chat_id: str) -> None:
    history.rename(chat_id, st.session_state[f"name_{chat_id}"])


def _delete(history: History, chat_id: str) -> None:
    history.delete(chat_id)
    go_to(None)


def _file_name(title: str) -> str:
    kept = "".join(char if char.isalnum() or char in " -" else " " for char in title)
    return " ".join(kept.split())[:60] or "chat"
