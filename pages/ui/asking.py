"""Asks, shows the steps and the text as they come, and stores what came of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from contextlib import closing

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.words import found, lines, many, plain, preview, streaming
from rag.errors import FootnoteError
from rag.events import (
    Event,
    Finished,
    Notice,
    PageRead,
    Rewritten,
    SearchFinished,
    SearchStarted,
    TextDelta,
    TextReplaced,
    Waiting,
    WebSearched,
    WordsFound,
)
from rag.history import Exchange, turns
from rag.place import hit_place
from rag.types import Answer, Hit
from rag.workspace import Workspace

_LOG = logging.getLogger("footnote")


def answer(
    workspace: Workspace, exchange: Exchange, earlier: Iterable[Exchange], *, web: bool = False
) -> None:
    """Draws the answer while it is made. Its outcome is in the history afterwards, errors too."""
    history = workspace.history
    _notice_stop(exchange.id)
    st.session_state.answering = exchange.id
    try:
        waiting = workspace.models.state != "ready"
        # Closed at once when the user stops it: the provider then stops generating, too.
        events = workspace.ask(exchange.question, exchange.documents, turns(earlier), web=web)
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
    st.session_state.pop("answering", None)


@st.fragment(run_every=1.5)
def _notice_stop(exchange_id: int) -> None:
    """Draws the page anew after a stop. The run that was stopped cannot: all it draws is stopped,
    too. This waits for the end of the run that it is a part of."""
    if st.session_state.get("answering") == exchange_id:
        del st.session_state.answering
        st.rerun()


def _draw(events: Iterable[Event], *, waiting: bool) -> Answer:
    """Every event draws something, because only then can Streamlit stop this at a click."""
    steps = _Steps(st.container(gap="xsmall"))
    first = ":shimmer[Loading the search models, once after each start]" if waiting else "Searching"
    steps.begin(first)
    text = st.empty()
    written = ""
    for event in events:
        match event:
            case TextDelta(more):
                written += more
                steps.end("Writing the answer")
                text.markdown(streaming(written))
            case TextReplaced(whole):
                written = whole
                text.markdown(streaming(written))
            case Waiting(reason):
                if written:
                    text.markdown(streaming(written))
                else:
                    steps.wait(reason)
            case Rewritten(query):
                steps.done(f"Understood as “{plain(query)}”")
            case SearchStarted(query):
                steps.begin(f"Searching for “{plain(query)}”")
            case SearchFinished(search):
                steps.end(f"Searched {found(search)}", map(_hit_line, search.hits[:5]))
            case PageRead(name, page):
                steps.done(f"Read {plain(name)}, {page}")
            case WordsFound(name, words, pages):
                where = f"on {many(len(pages), 'page')}" if pages else "nowhere"
                steps.done(f"Looked up “{plain(words)}” in {plain(name)}: {where}")
            case WebSearched(query, urls):
                steps.done(f"Searched the web for “{plain(query)}”: {many(len(urls), 'page')}")
            case Notice(message):
                steps.say(message)
            case Finished(made):
                return made
    raise FootnoteError("The answer ended before it was complete. Ask again.")


class _Steps:
    """The steps above the text; at most one is running."""

    def __init__(self, place: DeltaGenerator) -> None:
        self._place = place
        self._running: DeltaGenerator | None = None
        self._since: float | None = None
        """When the model was first found silent."""

    def begin(self, label: str) -> None:
        self._since = None
        if self._running is None:
            self._running = self._place.status(label, type="step")
        else:
            self._running.update(label=label)

    def wait(self, reason: str) -> None:
        """Sent again several times a second, see `_draw`."""
        since = self._since or time.monotonic()
        waited = time.monotonic() - since
        self.begin(plain(reason) or f":shimmer[The model is thinking] · {waited:.0f} s")
        self._since = since

    def end(self, label: str, inside: Iterable[str] = ()) -> None:
        """Closes the running step; does nothing without one, unless there is something to show."""
        inside = list(inside)
        if self._running is None and not inside:
            return
        step = self._running or self._place.status("", type="step")
        for line in inside:
            step.caption(line)
        step.update(label=label, state="complete")
        self._running = self._since = None

    def done(self, label: str) -> None:
        """A step that was over before it could be drawn."""
        self.begin(label)
        self.end(label)

    def say(self, message: str) -> None:
        self.end("Asked the model")
        self._place.warning(lines(message), icon=":material/info:")


def _hit_line(hit: Hit) -> str:
    where = f"**{plain(hit.name)}** · {plain(hit_place(hit))}"
    return f"{where}: {plain(preview(hit.chunk.text, 120))}"
