"""Who answers a question: the models that are connected, or the reader. In: a question and the
settings of the moment; out: events, with all that went wrong on the way told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rag.catalog import Catalog
from rag.errors import LLMError
from rag.events import Event, Finished, Notice, TextDelta, TextReplaced
from rag.ingest import Engines
from rag.settings import Settings
from rag.types import Fallback, Turn

if TYPE_CHECKING:
    from rag.agent import Agent
    from rag.llm import LLM, Usage
    from rag.reader import Reader

Engine = Literal["auto", "reader", "agent"]


@dataclass(frozen=True, slots=True)
class Answering:
    settings: Settings
    catalog: Catalog
    engines: Callable[[], Engines]
    """Loads them if need be; raises ModelError, DataFolderError."""

    def ask(
        self,
        question: str,
        documents: Sequence[str],
        history: Sequence[Turn],
        engine: Engine,
        web: bool,
    ) -> Generator[Event, None, None]:
        """See `Workspace.ask`."""
        if engine == "reader" or (engine == "auto" and not self.settings.llm_model):
            yield from self._reader().answer(question, documents, history)
            return
        from rag.llm_chain import connect

        chain = connect(self.settings)
        notices: list[str] = []
        streamed = False
        try:
            for event in self._agent(chain).answer(question, documents, history, web=web):
                if isinstance(event, Notice):
                    notices.append(event.message)
                if isinstance(event, Finished):
                    event = _told(event, notices, event.answer.receipt.fallbacks)
                streamed = streamed or isinstance(event, TextDelta)
                yield event
            return
        except LLMError as error:
            if engine == "agent":
                raise
            told = [n for n in notices if not any(f.reason in n for f in chain.fallbacks)]
            notices = [*told, f"{error}\nThe built-in reader answers instead."]
        if streamed:
            yield TextReplaced("")
        yield Notice(notices[-1])
        for event in self._reader().answer(question, documents, history):
            if isinstance(event, Finished):
                event = _charged(_told(event, notices, chain.fallbacks), chain.used)
            yield event

    def _reader(self) -> Reader:
        from rag.reader import Reader

        engines = self.engines()
        retriever = engines.retriever
        return Reader(retriever, engines.embedder, self.catalog, retriever.reranker)

    def _agent(self, llm: LLM) -> Agent:
        from rag.agent import Agent

        return Agent(llm, self.engines().retriever, self.catalog, self.settings)


def _told(event: Finished, notices: Sequence[str], fallbacks: tuple[Fallback, ...]) -> Finished:
    """With what the user was told on the way, in that order, so that the chat says it later."""
    receipt = event.answer.receipt
    told = tuple(dict.fromkeys((*notices, *receipt.notices)))
    return Finished(
        replace(event.answer, receipt=replace(receipt, notices=told, fallbacks=fallbacks))
    )


def _charged(event: Finished, used: Sequence[Usage]) -> Finished:
    """With what models used in vain before the reader answered."""
    costs = [usage.cost for usage in used if usage.cost is not None]
    receipt = replace(
        event.answer.receipt,
        llm_calls=len(used),
        prompt_tokens=sum(usage.prompt_tokens for usage in used),
        completion_tokens=sum(usage.completion_tokens for usage in used),
        cost=sum(costs) if costs else None,
    )
    return Finished(replace(event.answer, receipt=receipt))
