"""One case of a run: the question, the right page with the evidence marked, what came of it.

Beside it, on demand, the same case in another run.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.ui.evaluation_cases import chosen_cases
from pages.ui.evaluation_evidence import draw_places, places_of
from pages.ui.evaluation_place import go
from pages.ui.evaluation_rows import found_rows, rank_rows, score_rows
from pages.ui.evaluation_runs import Loaded, load_run
from pages.ui.evaluation_words import run_labels
from pages.ui.reply import draw_reply
from pages.ui.source import draw_source
from pages.ui.words import plain
from rag.errors import EvaluationError
from rag.evaluate import kept
from rag.evaluate.blame import EXPLANATIONS
from rag.evaluate.cases import Case
from rag.evaluate.outcome import MEANINGS, WRONG, outcome
from rag.evaluate.runs import Record, Run, RunStore
from rag.evaluate.shelf import Shelf
from rag.types import Unit
from rag.workspace import Workspace


def draw_case(
    workspace: Workspace,
    store: RunStore,
    runs: Mapping[str, Run],
    run: Run,
    case_id: str,
    other: str,
) -> None:
    """`other`: the id of the run to compare with, or ""."""
    try:
        loaded = load_run(store, run)
    except EvaluationError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    _draw_way_back(loaded, case_id, other)
    record = loaded.records.get(case_id)
    if record is None:
        st.warning("This question is not in this run.", icon=":material/info:")
        return
    questions = kept.questions(store, run)
    case = next((c for c in questions.cases if c.id == case_id), None) if questions else None
    st.header(plain(record.question))
    _draw_facts(record, case)
    beside = _draw_other(store, runs, loaded, record, other)
    shelf = Shelf(workspace)
    units, places = shelf.units, places_of(shelf, record)
    if beside is None:
        left, right = st.columns(2, gap="large")
        with left:
            draw_places(workspace, places)
        with right:
            _draw_outcome(workspace, loaded.run, record, units)
        return
    with st.expander(
        "The page", icon=":material/menu_book:", key="case_page", on_change="rerun"
    ) as fold:
        if fold.open:
            draw_places(workspace, places)
    columns = st.columns(2, gap="large", border=True)
    for column, which in zip(columns, (loaded, beside), strict=True):
        with column:
            st.markdown(f"**{plain(run_labels(runs)[which.run.id])}**")
            _draw_outcome(workspace, which.run, which.records[case_id], units)


def _draw_way_back(loaded: Loaded, case_id: str, other: str) -> None:
    ids = [record.id for record in chosen_cases(loaded)]
    at = ids.index(case_id) if case_id in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "All questions",
            icon=":material/arrow_back:",
            key="back_to_run",
            type="tertiary",
            on_click=go,
            args=("results",),
            kwargs={"run": loaded.run.id},
        )
        for label, icon, step in (("Previous", "arrow_upward", -1), ("Next", "arrow_downward", 1)):
            to = None if at is None else at + step
            there = to is not None and 0 <= to < len(ids)
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"case_{label.lower()}",
                type="tertiary",
                disabled=not there,
                on_click=go,
                args=("results",),
                kwargs={
                    "run": loaded.run.id,
                    "case": ids[to] if there and to is not None else "",
                    "other": other,
                },
            )
        if at is not None:
            st.caption(f"{at + 1} of {len(ids)} in the list")


def _draw_facts(record: Record, case: Case | None) -> None:
    """What is known about the question before anything was asked."""
    with st.container(horizontal=True, gap="small"):
        for text in (record.category.replace("_", " "), record.language):
            if text:
                st.badge(plain(text), color="gray")
        if not record.answerable:
            st.badge("the documents do not answer this", color="violet")
        for tag in case.tags if case else ():
            st.badge(plain(tag), color="gray", icon=":material/sell:")
    if case is None:
        return
    if case.answers:
        st.markdown(f"**Expected answer:** {plain(case.answers[0])}")
    if case.answers[1:]:
        st.caption("As good: " + plain("; ".join(case.answers[1:])))
    if case.facts:
        facts = "; ".join(" or ".join(wordings) for wordings in case.facts)
        st.caption("It must say: " + plain(facts))
    for turn in case.history:
        st.caption(f"Asked before: {plain(turn.question)}")


def _draw_other(
    store: RunStore, runs: Mapping[str, Run], loaded: Loaded, record: Record, other: str
) -> Loaded | None:
    """The run chosen to look at beside this one, if it has the question."""
    run = loaded.run
    alike = [r for r in runs.values() if r.id != run.id and r.set_digest == run.set_digest]
    if not alike:
        return None
    st.session_state.case_other = other if other in {r.id for r in alike} else None
    chosen = st.selectbox(
        "Beside another run",
        [r.id for r in alike],
        index=None,
        format_func=run_labels(runs).__getitem__,
        placeholder="Choose a run to see the same question there",
        key="case_other",
        on_change=lambda: go(
            "results", run=run.id, case=record.id, other=st.session_state.case_other or ""
        ),
        width=620,
    )
    if chosen is None:
        return None
    try:
        beside = load_run(store, runs[chosen])
    except EvaluationError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    if record.id not in beside.records:
        st.caption("That run did not get to this question.")
        return None
    return beside


def _draw_outcome(
    workspace: Workspace, run: Run, record: Record, units: Mapping[str, Unit]
) -> None:
    result = outcome(run, record)
    if result in WRONG:
        st.badge(result, color="red", icon=":material/close:")
    else:
        st.badge(result, color="green", icon=":material/check:")
    st.markdown(plain(record.error or EXPLANATIONS.get(record.blame, "") or MEANINGS[result]))
    key = f"{run.id}_{record.id}"
    if record.answer is not None:
        _draw_answer(workspace, record, key)
    if ranks := rank_rows(record):
        st.markdown("**Where the right page stood in the search**")
        st.dataframe(
            ranks,
            hide_index=True,
            height="content",
            alt="The rank of the first right page in each search stage",
        )
    if record.found:
        st.markdown("**What the search found first**")
        st.dataframe(
            found_rows(record, units),
            hide_index=True,
            height="content",
            placeholder="",
            alt="The first pages found, with their rank in each search stage",
            column_config={
                "No.": st.column_config.NumberColumn(width=45),
                "Page": st.column_config.TextColumn(width=190),
                "Words": st.column_config.NumberColumn(
                    width=65, help="Its rank by words: BM25 over passages."
                ),
                "Page words": st.column_config.NumberColumn(
                    width=65, help="Its rank by words: BM25 over whole pages."
                ),
                "Meaning": st.column_config.NumberColumn(
                    width=65, help="Its rank by meaning: the embedding model."
                ),
            },
        )
    if scores := score_rows(record):
        with st.expander("Numbers of this question", type="compact", icon=":material/123:"):
            st.dataframe(scores, hide_index=True, alt="The scores of this question")
    for aspect, reply in record.verdicts.items():
        with st.expander(f"The judge on: {plain(aspect)}", type="compact", icon=":material/gavel:"):
            st.text(reply)


def _draw_answer(workspace: Workspace, record: Record, key: str) -> None:
    answer = record.answer
    assert answer is not None
    if st.session_state.get("case_source", ("",))[0] == key:
        _, kind, number = st.session_state.pop("case_source")
        draw_source(workspace, answer, kind, number)

    def show(kind: str, number: int) -> None:
        st.session_state.case_source = (key, kind, number)
        st.session_state.pop("source_page", None)

    st.markdown("**Answer**")
    with st.container(border=True):
        draw_reply(answer, key, show)
