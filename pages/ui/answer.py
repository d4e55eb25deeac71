"""An answer whose markers are buttons inside its sentences.

A custom component, because Markdown links would reload the page and lose the session. It loads
nothing from outside and takes its colours from the theme.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.ui.markup import tree
from rag.types import Answer

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_answer",
    html='<div class="answer"></div>',
    css=(_HERE / "answer.css").read_text("utf-8"),
    js=(_HERE / "answer.js").read_text("utf-8"),
)


def draw_answer(answer: Answer, *, key: str, on_open: Callable[[str, int], None]) -> None:
    """Calls `on_open` with a marker's kind and number, before the run that follows the click."""

    def opened() -> None:
        if (marker := st.session_state[key].opened) is not None:
            on_open("web" if marker["kind"] == "web" else "citation", int(marker["number"]))

    _COMPONENT(
        key=key,
        data={"nodes": tree(answer.text, answer.citations, answer.web)},
        on_opened_change=opened,
    )
