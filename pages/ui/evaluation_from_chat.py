"""An answer of a chat becomes a question of a set: one click, then a look, then saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from pages.ui.evaluation_editor import Editing, edit
from rag.evaluate.making import from_answer
from rag.history import Exchange, turns

_HELP = "Keep this question in a question set, to measure with it on the Evaluation page. "


def draw_verdict(exchange: Exchange, earlier: Iterable[Exchange], names: Mapping[str, str]) -> None:
    """Two buttons under an answer. `names`: of the documents by id."""
    answer = exchange.answer
    if answer is None:
        return
    good, bad = ("Good answer", "Bad answer")
    good_help = "The answer is the expected one, its sources are the evidence."
    bad_help = "You say what would have been right."
    if answer.refused:
        good, bad = ("Rightly refused", "Wrongly refused")
        good_help = "The documents do not say, so a refusal is right."
        bad_help = "The documents do say: you show where."
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"verdict_{exchange.id}"
    ):
        st.caption("Add to a question set:", width="content")
        for label, is_good, icon, why in (
            (good, True, "thumb_up", good_help),
            (bad, False, "thumb_down", bad_help),
        ):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{'good' if is_good else 'bad'}_{exchange.id}",
                type="tertiary",
                help=_HELP + why,
                on_click=_edit,
                args=(exchange, tuple(earlier), names, is_good),
            )


def _edit(
    exchange: Exchange, earlier: Iterable[Exchange], names: Mapping[str, str], good: bool
) -> None:
    assert exchange.answer is not None
    only = [names[d] for d in exchange.documents if d in names]
    case = from_answer(
        exchange.question,
        exchange.answer,
        good=good,
        document=only[0] if len(exchange.documents) == 1 and only else "",
        history=turns(earlier),
    )
    edit(Editing(case, "Add to a question set"))
