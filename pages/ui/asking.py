"""Asks, shows the steps and the text as they come, and stores what came of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import closing

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.words import found, plain, preview, streaming
from rag.errors import FootnoteError
from rag.history import Exchange, turns
from rag.place import hit_place
from rag.types import (
    Answer,
    Event,
    Finished,
    Notice,
    PageRead,
    SearchFinished,
    SearchStarted,
    TextDelta,
)
from rag.workspace import Workspace

_LOG = logging.getLogger("footnote")


def answer(workspace: Workspace, exchange: Exchange, earlier: Iterable[Exchange]) -> None:
    """Draws the answer while it is made. Its outcome is in the history afterwards, errors too."""
    history = workspace.history
    try:
        waiting = workspace.models.state != "ready"
        # Closed at once when the user stops it: the provider then stops generating, too.
        events = workspace.ask(exchange.question, exchange.documents, turns(earlier))
        with closing(events):
            made = _draw(events, waiting=waiting)
    except FootnoteError as error:
        history.failed(exchange.id, str(error))
    except Exception as error:
        # The last border before the user: the chat must survive whatever happens in there.
        _LOG.exception("Answering %r failed", exchange.question)
        history.failed(
            exchange.id,
            f"Something unexpected went wrong: {type(error).__name__}: {error}. "
            "The terminal that Footnote runs in shows the details.",
        )
    else:
        history.answered(exchange.id, made)


def _draw(events: Iterable[Event], *, waiting: bool) -> Answer:
    steps, text = st.container(gap="xsmall"), st.empty()
    first = ":shimmer[Loading the search models, once after each start]" if waiting else "Searching"
    running: DeltaGenerator | None = steps.status(first, type="step")
    written = ""
    for event in events:
        match event:
            case TextDelta(more):
                written += more
                text.markdown(streaming(written))
            case SearchStarted(query):
                label = f"Searching for “{plain(query)}”"
                if running is None:
                    running = steps.status(label, type="step")
                else:
                    running.update(label=label)
            case SearchFinished(search):
                running = running or steps.status("", type="step")
                for hit in search.hits[:5]:
                    where = f"**{plain(hit.name)}** · {plain(hit_place(hit))}"
                    running.caption(f"{where}: {plain(preview(hit.chunk.text, 120))}")
                running.update(label=f"Searched {found(search)}", state="complete")
                running = None
            case PageRead(name, page):
                steps.status(f"Read {plain(name)}, {page}", state="complete", type="step")
            case Notice(message):
                steps.warning(plain(message), icon=":material/info:")
            case Finished(made):
                return made
    raise FootnoteError("The answer ended before it was complete. Ask again.")
