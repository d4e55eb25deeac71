"""The evidence in the editor: for each piece its document, its page and its words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import streamlit as st

from pages.ui.words import plain
from rag.evaluate.making import NUMBERED, Documents, Quoted, check
from rag.types import Document
from rag.workspace import Workspace

_LINES = "case_lines"
"""The numbers of the lines on screen; each names the widgets of its line."""
_numbers = itertools.count(1)
"""A number is never used twice, so that no line takes over what was typed into another."""
_EMPTY = Quoted("")


def fill_lines(found: Iterable[Quoted]) -> None:
    """Replaces what is there; a first empty line is offered when there is none."""
    st.session_state[_LINES] = []
    for line in list(found) or [_EMPTY]:
        _add(line)


def given_lines() -> list[Quoted]:
    """The lines that say something."""
    lines = [_line(number) for number in st.session_state[_LINES]]
    return [line for line in lines if line.text or (line.doc and line.page)]


def draw_lines(workspace: Workspace, library: Documents) -> None:
    ready = {d.name: d for d in workspace.documents() if d.state == "ready"}
    st.markdown("**Evidence:** the words in your documents that hold the answer")
    for number in st.session_state[_LINES]:
        with st.container(border=True, gap="xsmall"):
            _draw_line(number, ready, library)
    st.button(
        "Add another quote", icon=":material/add:", key="add_line", type="tertiary", on_click=_add
    )


def _draw_line(number: int, ready: dict[str, Document], library: Documents) -> None:
    here = st.session_state[f"case_doc_{number}"]
    names = list(ready)
    if here and here not in ready:
        names.append(here)
    columns = st.columns([5, 2, 1], vertical_alignment="bottom")
    name = columns[0].selectbox(
        "Document",
        names,
        key=f"case_doc_{number}",
        index=None,
        placeholder="Choose a document",
        persist_state="page",
    )
    document = ready.get(name or "")
    if document is None or document.unit in NUMBERED:
        columns[1].number_input(
            "Slide" if document and document.unit == "slide" else "Page",
            min_value=1,
            max_value=document.page_count if document else None,
            key=f"case_page_{number}",
            value=None,
            persist_state="page",
            help="Counted from the first page of the file.",
        )
    columns[2].button(
        ":material/close:",
        key=f"remove_line_{number}",
        type="tertiary",
        help="Take this evidence out",
        on_click=_remove,
        args=(number,),
    )
    st.text_area(
        "Words, copied from the page",
        key=f"case_quote_{number}",
        height=90,
        persist_state="page",
        placeholder="Paste the sentence or the table row",
    )
    line = _line(number)
    if not (line.text and line.doc):
        return
    checked = check(line, library)
    if isinstance(checked, str):
        st.caption(f":material/error: {plain(checked)}")
    else:
        st.caption(":material/check_circle: These words are there.")


def _add(line: Quoted = _EMPTY) -> None:
    number = next(_numbers)
    st.session_state[_LINES] = [*st.session_state[_LINES], number]
    st.session_state[f"case_doc_{number}"] = line.doc or None
    st.session_state[f"case_page_{number}"] = line.page
    st.session_state[f"case_quote_{number}"] = line.text


def _remove(number: int) -> None:
    st.session_state[_LINES] = [n for n in st.session_state[_LINES] if n != number]
    if not st.session_state[_LINES]:
        _add()


def _line(number: int) -> Quoted:
    state = st.session_state
    return Quoted(
        state.get(f"case_doc_{number}") or "",
        state.get(f"case_page_{number}"),
        (state.get(f"case_quote_{number}") or "").strip(),
    )
