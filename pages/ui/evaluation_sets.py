"""The user's own question sets: looked at, added to, edited, exported, deleted."""

from __future__ import annotations

import streamlit as st

from pages.ui.evaluation_drafts import draw_drafts
from pages.ui.evaluation_editor import FIRST_SET, Editing, drafts, edit
from pages.ui.evaluation_place import go
from pages.ui.evaluation_rows import set_rows
from pages.ui.evaluation_source import read_upload
from pages.ui.words import many, plain
from rag.errors import EvaluationError, FootnoteError
from rag.evaluate.cases import Case
from rag.evaluate.library import QuestionSets
from rag.evaluate.load import CaseSet, export
from rag.workspace import Workspace

_HOW = """Three ways to make questions from your own documents:

- :material/forum: **Chat:** under an answer, choose *Good answer* or *Bad answer*. Its sources
  become the evidence.
- :material/library_books: **Library:** open a document and choose *New question* beside a page.
- :material/edit: **Here:** write one by hand, or import a file."""


def draw_sets(workspace: Workspace, sets: QuestionSets) -> None:
    names = list(dict.fromkeys([*sets.names(), *drafts(workspace).names()]))
    if not names:
        with st.container(border=True, key="no_sets"):
            st.markdown("**No question of your own yet**")
            st.markdown(_HOW)
            with st.container(horizontal=True):
                _draw_new(FIRST_SET)
                _draw_import(sets)
        return
    if st.session_state.get("set_shown") not in names:
        last = st.session_state.get("last_set")
        st.session_state.set_shown = last if last in names else names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Question set", names, key="set_shown", persist_state="session")
        _draw_new(name)
        _draw_import(sets)
        _draw_actions(workspace, sets, name)
    try:
        found = sets.load(name) if name in sets.names() else CaseSet(name, ())
    except FootnoteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    for problem in found.unreadable[:10]:
        st.error(plain(str(problem)), icon=":material/error:")
    draw_drafts(workspace, name)
    _draw_table(found)


def _draw_table(found: CaseSet) -> None:
    cases = _chosen(found)
    if not found.cases:
        st.caption("No questions in this set yet.")
        st.markdown(_HOW)
        return

    def open_row() -> None:
        case = cases[st.session_state.edit_case.row]
        edit(Editing(case, "Edit question", kept_in=found.name))

    st.caption(many(len(cases), "question"))
    st.dataframe(
        set_rows(cases),
        hide_index=True,
        height="content" if len(cases) <= 12 else 460,
        placeholder="",
        key="set_cases",
        alt=f"The questions of {found.name}",
        column_config={
            "Edit": st.column_config.ButtonColumn("", key="edit_case", on_click=open_row),
            "Question": st.column_config.TextColumn(width=360),
            "Answer": st.column_config.TextColumn(width=240),
            "Evidence": st.column_config.TextColumn(width=200),
            "Tags": st.column_config.ListColumn(),
        },
    )
    st.button(
        "Measure with this set",
        icon=":material/play_circle:",
        key="measure_set",
        on_click=_measure,
        args=(found.name,),
    )


def _measure(name: str) -> None:
    st.session_state.set = name
    go("measure")


def _chosen(found: CaseSet) -> list[Case]:
    tags = sorted({tag for case in found.cases for tag in case.tags})
    wanted = st.pills("Tags", tags, selection_mode="multi", key="set_tags") if tags else []
    return [case for case in found.cases if set(wanted) <= set(case.tags)]


def _draw_new(name: str) -> None:
    st.button(
        "New question",
        icon=":material/add:",
        key="new_case",
        on_click=_new,
        args=(name,),
    )


def _new(name: str) -> None:
    st.session_state.last_set = name
    edit(Editing(Case("", ""), "New question"))


def _draw_import(sets: QuestionSets) -> None:
    with st.popover("Import", icon=":material/upload:", key="set_import"):
        number = st.session_state.setdefault("set_imports", 0)
        st.file_uploader(
            "Questions as JSONL or CSV",
            type=["jsonl", "csv"],
            key=f"import_set_{number}",
            on_change=_import,
            args=(sets, f"import_set_{number}"),
        )
        st.caption("The file's name becomes the set's name.")
    if problem := st.session_state.pop("set_problem", None):
        st.toast(plain(problem), icon=":material/error:")


def _import(sets: QuestionSets, key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    st.session_state.set_imports += 1  # an empty uploader in place of this one
    try:
        found = read_upload(file)
        if found.unreadable:
            lost = many(len(found.unreadable), "line")
            raise EvaluationError(f"{lost} cannot be read; first {found.unreadable[0]}.")
        st.session_state.set_shown = sets.create(found.name, found.cases)
    except EvaluationError as error:
        st.session_state.set_problem = f"{file.name} was not imported: {error}"


def _draw_actions(workspace: Workspace, sets: QuestionSets, name: str) -> None:
    with st.popover("Actions", icon=":material/more_horiz:", key="set_actions"):
        if name not in sets.names():
            st.caption("It has only drafts so far.")
            return
        st.text_input(
            "Name",
            value=name,
            max_chars=60,
            key=f"set_name_{name}",
            on_change=_rename,
            args=(workspace, sets, name),
        )
        st.download_button(
            "Export as JSONL",
            data=lambda: export(sets.load(name).cases),
            file_name=f"{name}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            key="export_set",
            on_click="ignore",
            width="stretch",
        )
        st.button(
            "Delete this set",
            icon=":material/delete:",
            key="delete_set",
            width="stretch",
            help="Its questions are gone for good. Runs keep theirs.",
            on_click=_delete,
            args=(workspace, sets, name),
        )


def _rename(workspace: Workspace, sets: QuestionSets, name: str) -> None:
    try:
        new = sets.rename(name, st.session_state[f"set_name_{name}"])
    except FootnoteError as error:
        st.session_state.set_problem = str(error)
        return
    if name in drafts(workspace).names():
        drafts(workspace).rename(name, new)
    st.session_state.set_shown = new


def _delete(workspace: Workspace, sets: QuestionSets, name: str) -> None:
    sets.delete(name)
    if name in drafts(workspace).names():
        drafts(workspace).delete(name)
    st.toast(f"{plain(name)} was deleted.", icon=":material/delete:")
