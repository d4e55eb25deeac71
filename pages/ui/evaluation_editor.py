"""The drawer in which a question of a set is written, checked and kept.

It opens prefilled: from a chat's answer, from a page, from a draft, or from a kept question.
What is being edited lives in the session until it is saved or dismissed, so a rerun of the page
below does not close it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import streamlit as st

from pages.ui.evaluation_fields import Fields, fields, filled, paragraphs
from pages.ui.evaluation_lines import draw_lines, fill_lines, given_lines
from pages.ui.words import plain, preview
from rag.errors import FootnoteError
from rag.evaluate.cases import Case
from rag.evaluate.library import DRAFTS, FOLDER, QuestionSets
from rag.evaluate.making import Quoted, lines, settle
from rag.evaluate.shelf import Shelf
from rag.types import Page
from rag.workspace import Workspace

FIRST_SET = "My questions"
_WIDTH = 700
_OPEN = "editing"
"""Holds the Editing while the drawer is open."""


@dataclass(frozen=True, slots=True)
class Editing:
    case: Case
    title: str
    kept_in: str = ""
    """The set that has the case; "" for a new one, whose set is chosen in the drawer."""
    draft_of: str = ""
    """The set that a draft is meant for."""
    given: tuple[Quoted, ...] = ()
    """Evidence to begin with, in place of the case's own."""
    page: Page | None = None
    """A page whose paragraphs are offered as evidence."""


def question_sets(workspace: Workspace) -> QuestionSets:
    return QuestionSets(workspace.settings.data / FOLDER)


def drafts(workspace: Workspace) -> QuestionSets:
    """Drafts by the name of the set that they are meant for."""
    return QuestionSets(workspace.settings.data / FOLDER / DRAFTS)


def edit(editing: Editing) -> None:
    """Opens the drawer in the next run of the page; for a callback."""
    st.session_state[_OPEN] = editing
    st.session_state.pop("case_problems", None)
    _fill(editing)


def editing_now() -> bool:
    """Whether the drawer is open: a page can show one dialog at a time."""
    return st.session_state.get(_OPEN) is not None


def draw_editor(workspace: Workspace) -> None:
    """Draws the drawer if it is open; the last thing that a page does."""
    if said := st.session_state.pop("editor_said", None):
        st.toast(said, icon=":material/check_circle:")
    editing: Editing | None = st.session_state.get(_OPEN)
    if editing is None:
        return
    if "case_question" not in st.session_state:
        _fill(editing)  # another page was visited meanwhile
    show = st.dialog(
        editing.title,
        position="right",
        width=_WIDTH,
        icon=":material/edit_note:",
        on_dismiss=_close,
    )
    show(_draw)(workspace, editing)


def _fill(editing: Editing) -> None:
    for name, value in asdict(fields(editing.case)).items():
        st.session_state[f"case_{name}"] = value
    fill_lines(editing.given or lines(editing.case))


def _draw(workspace: Workspace, editing: Editing) -> None:
    sets = question_sets(workspace)
    if not editing.kept_in and not editing.draft_of:
        _draw_set_choice(sets)
    st.text_area("Question", key="case_question", height=80)
    unanswerable = st.toggle(
        "The documents do not answer this",
        key="case_unanswerable",
        help="Then a refusal is the right answer.",
    )
    if not unanswerable:
        st.text_area(
            "Right answer",
            key="case_answer",
            height=100,
            persist_state="page",
            placeholder="In a few words; you can leave it empty when the evidence is enough.",
        )
        if editing.page is not None:
            _draw_paragraphs(editing.page)
        draw_lines(workspace, Shelf(workspace))
    if editing.case.history:
        earlier = plain(preview(editing.case.history[-1].question, 80))
        st.checkbox(
            f"It is a follow-up: keep what was asked before (“{earlier}”)", key="case_follow_up"
        )
    with st.expander("More", type="compact", icon=":material/tune:", key="case_more"):
        _draw_more(unanswerable)
    for problem in st.session_state.get("case_problems", ()):
        st.error(plain(problem), icon=":material/error:")
    with st.container(horizontal=True):
        st.button(
            "Save",
            type="primary",
            icon=":material/check:",
            key="save_case",
            on_click=_save,
            args=(workspace, editing),
        )
        if editing.kept_in:
            st.button(
                "Delete this question",
                icon=":material/delete:",
                key="delete_case",
                on_click=_delete,
                args=(sets, editing),
            )


def _draw_set_choice(sets: QuestionSets) -> None:
    names = sets.names() or [FIRST_SET]
    last = st.session_state.get("last_set")
    st.selectbox(
        "Question set",
        names,
        index=names.index(last) if last in names else 0,
        key="case_set",
        accept_new_options=True,
        help="Type a name to begin a new set.",
    )


def _draw_paragraphs(page: Page) -> None:
    """A paragraph of the page becomes the first quote; it can be cut down there."""
    offered = paragraphs(page.text)
    if not offered:
        return

    def take() -> None:
        if (chosen := st.session_state.case_paragraph) is not None:
            first = st.session_state.case_lines[0]
            st.session_state[f"case_quote_{first}"] = offered[chosen]

    st.selectbox(
        "Take a paragraph of the page",
        range(len(offered)),
        index=None,
        format_func=lambda i: f"{i + 1}. {preview(offered[i], 90)}",
        placeholder="Choose one, or paste words below",
        key="case_paragraph",
        on_change=take,
    )


def _draw_more(unanswerable: bool) -> None:
    if not unanswerable:
        st.text_area(
            "Other wordings of the answer, one a line",
            key="case_others",
            height=70,
            persist_state="page",
            help="Each is as good as the answer above.",
        )
        st.text_area(
            "Facts that a right answer must say, one a line",
            key="case_facts",
            height=70,
            persist_state="page",
            help="Short, such as 5.8 m. Write `a | b` where either wording will do.",
        )
        st.checkbox(
            "Each piece of evidence is enough alone", key="case_any_page", persist_state="page"
        )
    first, second = st.columns(2)
    first.text_input("Category", key="case_category", placeholder="Such as: table")
    second.text_input("Language", key="case_language", max_chars=2, placeholder="Such as: en")
    st.text_input("Tags", key="case_tags", placeholder="Separated by commas")


def _given(case: Case) -> Fields:
    """What is typed; a field that was never on screen is what the case has."""
    state = st.session_state
    return Fields(**{n: state.get(f"case_{n}", v) for n, v in asdict(fields(case)).items()})


def _save(workspace: Workspace, editing: Editing) -> None:
    given = _given(editing.case)
    evidence = [] if given.unanswerable else given_lines()
    case, problems = settle(filled(editing.case, given), evidence, Shelf(workspace))
    sets = question_sets(workspace)
    name = editing.kept_in or editing.draft_of or st.session_state.get("case_set") or FIRST_SET
    if not problems:
        problems = _keep(sets, name, case, editing)
    if problems:
        st.session_state.case_problems = problems
        return
    if editing.draft_of:
        drafts(workspace).remove(editing.draft_of, editing.case.id)
    st.session_state.last_set = name
    _done(f"Kept in {plain(name)}.")


def _keep(sets: QuestionSets, name: str, case: Case, editing: Editing) -> tuple[str, ...]:
    try:
        if editing.kept_in:
            sets.put(name, case)
        else:
            sets.add(name, case)
    except FootnoteError as error:
        return (str(error),)
    return ()


def _delete(sets: QuestionSets, editing: Editing) -> None:
    try:
        sets.remove(editing.kept_in, editing.case.id)
    except FootnoteError as error:
        st.session_state.case_problems = (str(error),)
        return
    _done("The question was deleted.")


def _done(said: str) -> None:
    """Closes the drawer. What is said waits for the page: a callback in a drawer cannot draw."""
    st.session_state[_OPEN] = None
    st.session_state.editor_said = said
    st.rerun()


def _close() -> None:
    st.session_state[_OPEN] = None
