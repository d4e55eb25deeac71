"""Answers with a language model that may search again, read pages, and must quote: events out.

Only what the model says in `finish` is shown, and only quotes found on the page of a source that it
was shown become sources. `conversation.py` is the loop; this is the way in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.conversation import Conversation
from rag.errors import SettingsError
from rag.events import Event
from rag.llm import LLM, count_tokens
from rag.lookups import Lookups
from rag.pack import CountTokens
from rag.retrieve import Searcher
from rag.settings import Settings
from rag.sources import Library
from rag.types import Turn
from rag.web import Tavily, WebSearcher


class Agent:
    def __init__(
        self,
        llm: LLM,
        searcher: Searcher,
        library: Library,
        settings: Settings,
        web: WebSearcher | None = None,
    ) -> None:
        """`web` is Tavily by default, if its key is set."""
        self._llm = llm
        self._searcher = searcher
        self._library = library
        self._settings = settings
        self._web = web or (Tavily(settings.tavily_api_key) if settings.tavily_api_key else None)

    def answer(
        self,
        question: str,
        documents: Sequence[str] = (),
        history: Sequence[Turn] = (),
        *,
        web: bool = False,
    ) -> Iterator[Event]:
        """Events in the order in which things happen; the last is Finished.

        `documents` are ids, empty for the whole library; `history` is what was asked and answered
        before, oldest first; `web` lets the model search the web for this question. Streamed text
        is replaced when its quotes turn out to be made up: Finished is authoritative. Raises
        LLMError when no model can be brought to call `finish`, and SettingsError for `web` without
        a key.
        """
        if web and self._web is None:
            raise SettingsError(
                "The web cannot be searched without a key. Set TAVILY_API_KEY, or turn it off."
            )
        count = _counter(self._llm)
        lookups = Lookups(
            self._searcher,
            self._library,
            question,
            documents,
            count,
            self._settings.llm_context // 2,
            self._web if web else None,
        )
        return Conversation(self._llm, lookups, self._settings, question, count).events(history)


def _counter(llm: LLM) -> CountTokens:
    """Counts every text once: the same passages are sent with every call."""
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in known:
            known[text] = count_tokens(llm.model, text)
        return known[text]

    return count
