"""Questions that the connected model drafts from pages, each waiting for the user's approval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.evaluation_editor import FIRST_SET, Editing, drafts, edit, editing_now, question_sets
from pages.ui.words import many, pages, plain, preview
from rag.errors import EvaluationError, FootnoteError
from rag.evaluate.cases import Case
from rag.evaluate.drafting import draft
from rag.types import Document, Page
from rag.workspace import Workspace

_MOST_PAGES = 20
"""A model call each."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the drawer was opened for."""

    document: Document
    page: int


def order(document: Document, page: int) -> None:
    """Opens the drawer in the next run of the page; for a callback."""
    st.session_state.drafting = Order(document, page)


def draw_drafting(workspace: Workspace) -> None:
    """The drawer, if it is open and no other dialog is."""
    wanted: Order | None = st.session_state.get("drafting")
    if wanted is None or editing_now():
        return
    show = st.dialog(
        "Draft questions",
        position="right",
        width=620,
        icon=":material/auto_awesome:",
        on_dismiss=_close,
    )
    show(_draw)(workspace, wanted)


def _close() -> None:
    st.session_state.drafting = None


def _draw(workspace: Workspace, wanted: Order) -> None:
    document = wanted.document
    st.markdown(f"**{plain(document.name)}**")
    st.caption(
        f"{plain(workspace.engine)} reads the pages and proposes questions. Only those count that "
        "you keep, and only those are shown whose quote is on the page."
    )
    last = document.page_count
    unit = document.unit.capitalize()
    first, second, third = st.columns(3)
    start = first.number_input(
        f"{unit} from", min_value=1, max_value=last, value=wanted.page, key="draft_from"
    )
    end = second.number_input("to", min_value=1, max_value=last, value=wanted.page, key="draft_to")
    each = third.number_input(
        f"Questions a {document.unit}", min_value=1, max_value=10, value=3, key="draft_each"
    )
    sets = question_sets(workspace)
    names = list(dict.fromkeys([*sets.names(), *drafts(workspace).names()])) or [FIRST_SET]
    last_set = st.session_state.get("last_set")
    name = st.selectbox(
        "For the question set",
        names,
        index=names.index(last_set) if last_set in names else 0,
        key="draft_set",
        accept_new_options=True,
    )
    numbers = range(int(start), min(int(end), int(start) + _MOST_PAGES - 1) + 1)
    if int(end) - int(start) >= _MOST_PAGES:
        st.caption(f"The first {_MOST_PAGES} {document.unit}s of these, one model call each.")
    if st.button(
        f"Draft from {pages(len(numbers), document.unit)}",
        type="primary",
        icon=":material/auto_awesome:",
        key="draft",
        disabled=not numbers,
    ):
        chosen = [workspace.page(document.id, number) for number in numbers]
        _run(workspace, document, chosen, int(each), name)
    draw_drafts(workspace, name, where="drawer")


def _run(
    workspace: Workspace, document: Document, chosen: Sequence[Page], each: int, name: str
) -> None:
    """Each page's drafts are on disk before the next page is read."""
    from rag.llm import LiteLLM

    store, made, dropped = drafts(workspace), 0, list[str]()
    st.session_state.last_set = name
    bar = st.progress(0.0, text="Waiting for the model")
    try:
        for drafted in draft(LiteLLM(workspace.settings), document, chosen, each):
            for case in drafted.cases:
                try:
                    store.add(name, case)
                except EvaluationError as error:  # drafted before
                    dropped.append(str(error))
                else:
                    made += 1
            dropped += drafted.dropped
            done = drafted.page.number - chosen[0].number + 1
            bar.progress(done / len(chosen), text=f"{many(made, 'draft')} so far")
    except FootnoteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        if made:
            st.caption(f"{many(made, 'draft')} made before that are kept below.")
        return
    bar.empty()
    if not made:
        st.info("The model found nothing to ask on these pages.", icon=":material/info:")
    if dropped:
        with st.expander(f"{many(len(dropped), 'draft')} dropped", type="compact"):
            st.markdown("\n".join(f"- {plain(line)}" for line in dropped))


def draw_drafts(workspace: Workspace, name: str, where: str = "page") -> None:
    """The drafts that wait for a set, each to be kept, edited or discarded."""
    if problem := st.session_state.pop("draft_problem", None):
        st.error(plain(problem), icon=":material/error:")
    store = drafts(workspace)
    if name not in store.names():
        return
    try:
        waiting = store.load(name).cases
    except FootnoteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    if not waiting:
        return
    st.markdown(f"**{many(len(waiting), 'draft')} waiting for you**")
    for case in waiting:
        with st.container(border=True, gap="xsmall", key=f"draft_{where}_{case.id}"):
            _draw_draft(workspace, name, case, where)


def _draw_draft(workspace: Workspace, name: str, case: Case, where: str) -> None:
    st.markdown(f"**{plain(case.question)}**")
    if case.answers:
        st.markdown(plain(case.answers[0]))
    for evidence in case.evidence:
        page = f", file page {evidence.page}" if evidence.page else ""
        st.caption(f"“{plain(preview(evidence.text, 160))}” · {plain(evidence.doc)}{page}")
    with st.container(horizontal=True):
        st.button(
            "Keep",
            icon=":material/check:",
            key=f"keep_{where}_{case.id}",
            on_click=_keep,
            args=(workspace, name, case),
        )
        st.button(
            "Edit",
            icon=":material/edit:",
            key=f"edit_{where}_{case.id}",
            on_click=_edit,
            args=(name, case),
        )
        st.button(
            "Discard",
            icon=":material/close:",
            key=f"discard_{where}_{case.id}",
            on_click=_discard,
            args=(workspace, name, case),
        )


def _keep(workspace: Workspace, name: str, case: Case) -> None:
    try:
        question_sets(workspace).add(name, case)
        drafts(workspace).remove(name, case.id)
    except FootnoteError as error:
        st.session_state.draft_problem = str(error)


def _edit(name: str, case: Case) -> None:
    edit(Editing(case, "Edit draft", draft_of=name))
    st.rerun()  # the whole page: a drawer cannot open over this one


def _discard(workspace: Workspace, name: str, case: Case) -> None:
    try:
        drafts(workspace).remove(name, case.id)
    except FootnoteError as error:
        st.session_state.draft_problem = str(error)
