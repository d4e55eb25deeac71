"""What is asked of which questions; what is wrong with them, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.evaluation_jobs import active, start
from pages.ui.evaluation_place import go
from pages.ui.evaluation_source import draw_source
from pages.ui.evaluation_words import MODES
from pages.ui.progress import draw_jobs
from pages.ui.samples import draw_sample_button
from pages.ui.words import many, plain
from rag import samples
from rag.errors import FootnoteError
from rag.evaluate.bench import LibraryBench
from rag.evaluate.cases import Problem
from rag.evaluate.library import QuestionSets
from rag.evaluate.load import CaseSet
from rag.evaluate.runner import applicable
from rag.evaluate.runs import Mode, RunStore
from rag.workspace import Workspace

_LISTED = 100


@dataclass(frozen=True, slots=True)
class Checked:
    """What a set comes to in the library as it is."""

    problems: tuple[Problem, ...]
    missing: tuple[str, ...]
    """Names of documents that are not there."""
    searchable: int
    """Questions whose right place is known."""
    ready: int
    """Documents of the library that can be searched."""


def draw_setup(workspace: Workspace, store: RunStore, sets: QuestionSets) -> None:
    with st.container(border=True, key="setup"):
        cases = draw_source(sets)
        mode, judged = _draw_mode(workspace)
        with st.expander("Options", icon=":material/tune:", type="compact", key="setup_options"):
            top_k, limit, label = _draw_options()
        begin = st.container(horizontal=True, vertical_alignment="center")
    if workspace.adding:
        st.info(
            "Documents are being read right now. You can start when they are done, so that every "
            "question is asked of the same library.",
            icon=":material/sync:",
        )
        draw_jobs(workspace)
        return
    if cases is None:
        return
    checked = check(workspace, cases)
    asked = checked.searchable if mode == "retrieval" else len(cases.cases)
    if limit is not None:
        asked = min(asked, limit)
    clicked = begin.button(
        "Start",
        icon=":material/play_arrow:",
        type="primary",
        key="run",
        disabled=not (asked and checked.ready) or active(workspace) is not None,
    )
    begin.caption(_will_ask(cases, asked, mode, checked))
    _draw_missing(workspace, checked)
    _draw_problems(cases, checked)
    if clicked:
        try:
            run = start(
                workspace,
                store,
                cases,
                mode=mode,
                top_k=top_k,
                limit=limit,
                label=label,
                judged=judged,
            )
        except FootnoteError as error:
            st.error(plain(str(error)), icon=":material/error:")
        else:
            go("results", run=run.id)
            st.rerun()


def _draw_mode(workspace: Workspace) -> tuple[Mode, bool]:
    model = workspace.settings.llm_model
    labels: dict[Mode, str] = dict(MODES)
    if model:
        labels["agent"] = f"Answers by {model}"
    else:
        del labels["agent"]
    if st.session_state.get("mode") not in labels:
        st.session_state.mode = "retrieval"
    chosen = st.segmented_control(
        "What is measured",
        list(labels),
        format_func=lambda name: plain(labels[name]),
        required=True,
        key="mode",
        persist_state="session",
    )
    mode: Mode = chosen or "retrieval"
    st.caption(
        {
            "retrieval": "Is the right page found? No answer is written and no language model "
            "takes part, so it is quick.",
            "reader": "Is the right page found, and what does the built-in reader answer? No "
            "language model takes part.",
            "agent": f"Every question is answered by {plain(model or '')}. That takes a while, "
            "and a provider may charge for it.",
        }[mode]
    )
    if not model:
        st.page_link(
            "pages/settings.py",
            label="Connect a language model to measure its answers, too",
            icon=":material/smart_toy:",
        )
        return mode, False
    if mode == "retrieval":
        return mode, False
    judged = st.toggle(
        f"Let {plain(model)} judge the answers",
        key="judged",
        help="Is each claim supported, is the question answered, is it correct? An opinion, and "
        "three more calls a question. What it says is kept with the run.",
    )
    return mode, judged


def _draw_options() -> tuple[int, int | None, str]:
    first, second, third = st.columns(3)
    top_k = first.number_input(
        "A page counts as found among the first",
        min_value=1,
        max_value=50,
        value=5,
        key="top_k",
        help="The k of hit@k.",
    )
    limit = second.number_input(
        "Ask at most",
        min_value=1,
        value=None,
        placeholder="All questions",
        key="limit",
        help="A first look at a large set.",
    )
    label = third.text_input(
        "Note",
        max_chars=80,
        placeholder="Such as: with the re-ranker",
        key="run_note",
        help="It helps to tell runs apart later.",
    )
    return int(top_k), None if limit is None else int(limit), label.strip()


def check(workspace: Workspace, cases: CaseSet) -> Checked:
    """Remembered for a session as long as neither the set nor the library changes."""
    ready = tuple(sorted(d.id for d in workspace.documents() if d.state == "ready"))
    key = (cases.digest, ready)
    kept = st.session_state.get("checked_set")
    if kept is None or kept[0] != key:
        with st.spinner("Checking the questions against the library"):
            kept = (key, _check(LibraryBench(workspace), cases, len(ready)))
        st.session_state.checked_set = kept
    found: Checked = kept[1]
    return found


def _check(bench: LibraryBench, cases: CaseSet, ready: int) -> Checked:
    names = dict.fromkeys(name for case in cases.cases for name in case.named_documents)
    return Checked(
        problems=tuple(bench.check(cases.cases)),
        missing=tuple(name for name in names if bench.document(name) is None),
        searchable=len(applicable(bench, cases, "retrieval", None)),
        ready=ready,
    )


def _will_ask(cases: CaseSet, asked: int, mode: Mode, checked: Checked) -> str:
    told = f"{many(asked, 'question')} will be asked."
    rest = len(cases.cases) - checked.searchable
    if mode == "retrieval" and rest and not checked.missing:
        told += f" The other {rest:,} name no right page: only a run with answers can ask them."
    return told


def _draw_missing(workspace: Workspace, checked: Checked) -> None:
    """Documents that the questions are about and that are not there, and how to get them."""
    if not checked.missing:
        return
    st.warning(
        f"{many(len(checked.missing), 'document')} that the questions are about cannot be "
        f"searched: {plain(_listed(checked.missing))}. Their questions will count as missed.",
        icon=":material/warning:",
    )
    if set(checked.missing) & {path.name for path in samples.files()}:
        draw_sample_button(workspace)
    else:
        st.page_link("pages/library.py", label="Add documents", icon=":material/upload:")


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _draw_problems(cases: CaseSet, checked: Checked) -> None:
    if lost := cases.unreadable:
        st.error(
            f"{many(len(lost), 'line')} cannot be read and will not be asked:\n\n" + _lines(lost),
            icon=":material/error:",
        )
    told = [p for p in checked.problems if p.code != "missing_document"]
    if told:
        with st.expander(
            f"{many(len(told), 'note')} about the questions, which are asked all the same",
            icon=":material/rule:",
            type="compact",
        ):
            st.markdown(_lines(told))


def _lines(problems: Sequence[Problem]) -> str:
    lines = [f"- {plain(str(problem))}" for problem in problems[:_LISTED]]
    if len(problems) > _LISTED:
        lines.append(f"- and {len(problems) - _LISTED:,} more")
    return "\n".join(lines)
