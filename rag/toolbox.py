"""Runs the model's tool calls: blocks for the model and events for the user out.

A `Toolbox` lives for one answer. A batch of calls is checked first, then looked up all at the same
time, then shown in order, so that the numbers of the sources do not depend on which was faster.
Mistakes (an unknown document, a page out of range) are answered in words that let the model mend
them, and a call made before from memory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

from rag.agent_tools import BadCall, Lookup, SearchArguments
from rag.errors import NotFound
from rag.events import Event, Notice, SearchFinished, SearchStarted
from rag.expand import merged
from rag.lookups import Lookups, Work, summary
from rag.pack import Block
from rag.trace import Trace
from rag.types import Hit, Search, StepKind
from rag.web import WebError

T = TypeVar("T")

AT_ONCE = 4
"""Lookups that run at the same time."""
LONGEST_WRITTEN = 1_000
"""Characters of a call's arguments that the trace keeps."""

REPEATED = (
    "You made this same call before, and its result still stands above. "
    "Search with other words, read a page, or call finish."
)
_KINDS: dict[str, StepKind] = {
    "search": "search",
    "read_page": "read_page",
    "list_documents": "list_documents",
    "find_in_document": "find_in_document",
    "web_search": "web_search",
}


@dataclass(frozen=True, slots=True)
class Call:
    """What the model asked for: as it wrote it, and what was made of that."""

    name: str
    written: str
    asked: Lookup | BadCall


class Toolbox:
    def __init__(self, lookups: Lookups, trace: Trace) -> None:
        self.notices: list[str] = []
        """What the user should know: the web could not be searched."""
        self._lookups = lookups
        self._trace = trace
        self._made: set[Lookup] = set()

    def nearest(self, count: int) -> tuple[Hit, ...]:
        """The best hits, those of the question's own search first."""
        hits: dict[str, Hit] = {}
        for search in self._lookups.searches:
            for hit in search.hits:
                hits.setdefault(hit.chunk.id, hit)
        return tuple(hits.values())[:count]

    def first(self, wordings: Sequence[str]) -> Generator[Event, None, list[Block]]:
        """The passages for the question, before the model has asked for any.

        What several wordings find is merged into one list; the first is the question.
        """
        steps: list[int] = []
        for wording in wordings:
            steps.append(self._trace.begin("search", _json(query=wording)))
            self._made.add(self._lookups.work(SearchArguments(wording), 0.0)[0])
            yield SearchStarted(wording)
        searches: list[Search] = []
        found = _at_once([partial(self._lookups.search, wording) for wording in wordings])
        for step, (search, seconds) in zip(steps, found, strict=True):
            if isinstance(search, Exception):
                raise search
            searches.append(search)
            self._trace.end(step, summary(search), seconds=seconds)
            yield SearchFinished(search)
        self._lookups.searches += searches
        hits = searches[0].hits if len(searches) == 1 else merged(searches)
        return self._lookups.found(wordings[0], hits)

    def run(
        self, calls: Sequence[Call], timeout_s: float
    ) -> Generator[Event, None, list[list[Block]]]:
        """What each call brought, in their order. `timeout_s` bounds a search of the web."""
        steps = [
            self._trace.begin(_KINDS.get(call.name, "unknown"), call.written[:LONGEST_WRITTEN])
            for call in calls
        ]
        works = [self._checked(call, timeout_s) for call in calls]
        for call, work in zip(calls, works, strict=True):
            if isinstance(call.asked, SearchArguments) and not isinstance(work, str):
                yield SearchStarted(call.asked.query)
        results = iter(_at_once([work for work in works if not isinstance(work, str)]))
        brought: list[list[Block]] = []
        for step, work in zip(steps, works, strict=True):
            if isinstance(work, str):
                again = work == REPEATED
                self._trace.end(step, error="" if again else work, seconds=0.0, repeated=again)
                brought.append([Block(work)])
                continue
            show, seconds = next(results)
            if isinstance(show, Exception):
                self._trace.end(step, error=str(show), seconds=seconds)
                brought.append([(yield from self._failed(show))])
                continue
            blocks, said = yield from show()
            self._trace.end(step, said, seconds=seconds)
            brought.append(blocks)
        return brought

    def _checked(self, call: Call, timeout_s: float) -> Work | str:
        """The work to be done, or what the model is told instead."""
        if isinstance(call.asked, BadCall):
            return str(call.asked)
        try:
            known, work = self._lookups.work(call.asked, timeout_s)
        except (BadCall, NotFound) as error:
            return str(error)
        if known in self._made:
            return REPEATED
        self._made.add(known)
        return work

    def _failed(self, error: Exception) -> Generator[Event, None, Block]:
        """What the model is told of work that failed. Raises what it can do nothing about."""
        if isinstance(error, WebError):
            notice = f"The web was not searched. {error}"
            self.notices.append(notice)
            yield Notice(notice)
            return Block(notice)
        if isinstance(error, NotFound):
            return Block(str(error))
        raise error


def _at_once(works: Sequence[Callable[[], T]]) -> list[tuple[T | Exception, float]]:
    """What each returned or raised, and the seconds that it took; one alone needs no thread."""
    if len(works) == 1:
        return [_timed(works[0])]
    return list(_threads().map(_timed, works))


@cache
def _threads() -> ThreadPoolExecutor:
    """The same for all answers: the catalog keeps a connection for every thread that asks it."""
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="lookup")


def _timed(work: Callable[[], T]) -> tuple[T | Exception, float]:
    started = time.monotonic()
    try:
        result: T | Exception = work()
    except Exception as error:  # raised again, or told to the model, by whoever asked
        result = error
    return result, time.monotonic() - started


def _json(**fields: str) -> str:
    return json.dumps(fields, ensure_ascii=False)
