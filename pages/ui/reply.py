"""An answer with all that belongs to it: what kind it is, its sources, its receipt."""

from __future__ import annotations

import streamlit as st

from pages.ui.answer import draw_answer
from pages.ui.receipt import Open, draw_nearest, draw_receipt, draw_sources
from rag.types import Answer


def draw_reply(answer: Answer, key: str, on_open: Open) -> None:
    if answer.asks_back:
        st.badge("A question back to you", icon=":material/help:", color="blue")
    if answer.ungrounded:
        st.warning(
            "No quote from your documents supports this answer. Do not rely on it.",
            icon=":material/warning:",
        )
    draw_answer(answer, key=f"answer_{key}", on_open=on_open)
    draw_sources(answer, key, on_open)
    if answer.refused:
        draw_nearest(answer, key, on_open)
    draw_receipt(answer.receipt, key)
