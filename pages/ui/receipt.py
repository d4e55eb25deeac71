"""What an answer rests on and how it came about, under the answer."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.trace import draw_trace
from pages.ui.words import (
    cost,
    found,
    hit_rows,
    lines,
    many,
    nearest_label,
    plain,
    preview,
    quotes,
    search_time,
    source_label,
    stages,
    summary,
    translated,
    web_label,
)
from rag.explain import reasons
from rag.types import Answer, Receipt

Open = Callable[[str, int], None]
"""Opens the source of a kind ("citation", "web", "nearest") by its 1-based number."""


def draw_sources(answer: Answer, key: str, on_open: Open) -> None:
    """Every source as a plain button: for keyboards, screen readers, and a look at all of them."""
    if not (answer.citations or answer.web):
        return
    with st.container(gap="xxsmall", key=f"sources_{key}"):
        for number, citation in enumerate(answer.citations, 1):
            st.button(
                plain(source_label(number, citation)),
                key=f"source_{key}_{number}",
                icon=":material/format_quote:",
                type="tertiary",
                help=plain(preview(citation.quote)),
                on_click=on_open,
                args=("citation", number),
            )
        for number, page in enumerate(answer.web, 1):
            st.button(
                plain(web_label(number, page)),
                key=f"web_{key}_{number}",
                icon=":material/public:",
                type="tertiary",
                help=plain(preview(page.quote)),
                on_click=on_open,
                args=("web", number),
            )


def draw_nearest(answer: Answer, key: str, on_open: Open) -> None:
    """The passages closest to a question that the documents do not answer."""
    if not answer.nearest:
        return
    st.caption("Nearest passages")
    for number, hit in enumerate(answer.nearest, 1):
        with st.container(border=True, gap="xsmall"):
            st.button(
                plain(nearest_label(hit)),
                key=f"nearest_{key}_{number}",
                icon=":material/search:",
                type="tertiary",
                on_click=on_open,
                args=("nearest", number),
            )
            st.caption(plain(preview(hit.chunk.text)))
            if answer.receipt.searches:
                st.caption(plain(" ".join(reasons(answer.receipt.searches[0], hit))))


def draw_receipt(receipt: Receipt, key: str) -> None:
    """One line; the rest is drawn only when it is unfolded."""
    for notice in receipt.notices:
        st.warning(lines(notice), icon=":material/info:")
    fold = st.expander(
        plain(summary(receipt)),
        key=f"receipt_{key}",
        type="compact",
        icon=":material/receipt_long:",
        on_change="rerun",
    )
    if not fold.open:
        return
    with fold:
        _draw_engine(receipt)
        for fallback in receipt.fallbacks:
            st.markdown(
                f"**Failed before that: {plain(fallback.model)}.** {lines(fallback.reason)}"
            )
        st.markdown(
            f"**Quotes:** {quotes(receipt)}. A quote that is not there word for word is dropped."
        )
        for rejection in receipt.rejections if not receipt.quotes else ():
            st.caption(f"Dropped: “{plain(rejection.quote)}” {plain(rejection.reason)}")
        for search in receipt.searches:
            st.markdown(f"**Search** {found(search)}")
            if into := translated(search):
                st.caption(into)
            if search.hits:
                st.dataframe(
                    hit_rows(search),
                    hide_index=True,
                    height="content",
                    placeholder="",
                    alt=f"Passages found for {search.query}, with their scores",
                    column_config={
                        "Document": st.column_config.TextColumn(width=170),
                        "Place": st.column_config.TextColumn(width=120),
                    }
                    | {
                        name: st.column_config.NumberColumn(format="%.3f", help=why)
                        for name, why in _SCORES.items()
                    },
                )
                st.caption(plain(search_time(search)))
        st.table(stages(receipt.seconds), border="horizontal", width="content")
        draw_trace(receipt, key)


_SCORES = {
    "By meaning": "Cosine similarity of the embeddings, -1 to 1.",
    "By words": "BM25; only comparable within one search.",
    "Merged": "Reciprocal rank fusion of the rankings, more where the document's name fits.",
    "Re-ranked": "How likely it answers, 0 to 1; empty where the re-ranker did not read it.",
}


def _draw_engine(receipt: Receipt) -> None:
    if receipt.engine == "reader":
        st.markdown(
            "**Answered by the reader**, without a language model: it picks sentences from your "
            "documents and writes none of its own."
        )
        if receipt.llm_calls:
            st.markdown(f"Models that failed before it used {_used(receipt)}.")
        if not receipt.fallbacks:
            st.page_link(
                "pages/settings.py", label="Connect a language model", icon=":material/tune:"
            )
        return
    st.markdown(f"**Answered by {plain(receipt.model)}** in {_used(receipt)}.")
    if receipt.stopped_by:
        st.caption(f"It was stopped by the limit on {plain(receipt.stopped_by)}.")
    if receipt.prompts:
        st.caption(f"Prompts: version {plain(receipt.prompts)}")


def _used(receipt: Receipt) -> str:
    return (
        f"{many(receipt.llm_calls, 'call')}, {receipt.prompt_tokens:,} tokens read, "
        f"{receipt.completion_tokens:,} written, {plain(cost(receipt))}"
    )
