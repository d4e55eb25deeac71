"""What the agent costs beside the model: milliseconds of our code an answer, and tokens sent.

    PYTHONPATH=. python scripts/bench_agent.py [ROUNDS]

The sample documents are indexed into a temporary data folder; the model is a scripted server on
this machine, so only what does not depend on a model is measured. The overhead is the CPU time of
the thread that answers, without what it spends in the model's client and in searching: on an idle
machine that is its wall time, and on a busy one it stays the same.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rag.agent import Agent
from rag.events import Finished
from rag.ingest import Upload
from rag.llm import LiteLLM, Message, Piece, Tool, count_tokens
from rag.retrieve import Retriever
from rag.settings import Settings
from rag.types import Receipt, Search
from rag.workspace import Workspace
from tests.stub_llm import SOURCE, Reply, StubLLM, calls, finish

TYPICAL = "How wide is the turning circle of the Dunnock 60?"
HOPS = "Which costs more to replace, the tyres or the battery, and who pays for it on a trip?"


class TimedLLM(LiteLLM):
    waited = 0.0

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        timeout_s: float | None = None,
    ) -> Generator[Piece]:
        pieces = super().stream(messages, tools, tool_choice, timeout_s)
        while True:
            since = time.thread_time()
            piece = next(pieces, None)
            self.waited += time.thread_time() - since
            if piece is None:
                return
            yield piece


class TimedSearcher:
    searched = 0.0

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        since = time.thread_time()
        found = self._retriever.search(query, documents, top_k)
        if threading.current_thread() is threading.main_thread():  # others have clocks of their own
            self.searched += time.thread_time() - since
        return found


def answer(request: dict[str, Any]) -> Reply:
    """Eight claims with quotes from what was shown, in pieces of four characters."""
    shown = SOURCE.findall("\n".join(m["content"] or "" for m in request["messages"]))
    claims = []
    for _, source, text in shown[:8]:
        quote = " ".join(text.split()[:15])
        claims.append((f"The document says this: {quote}", source, quote))
    return finish(claims, piece=4)


SCRIPTS = {
    TYPICAL: [answer],
    HOPS: [
        calls(("search", {"query": "tyres"}), ("search", {"query": "battery price"})),
        calls(
            ("search", {"query": "who pays for repairs on a trip"}),
            ("read_page", {"document": "dunnock-60-manual.pdf", "page": 8}),
        ),
        answer,
    ],
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as data:
        workspace = Workspace.open(Settings(data=Path(data)))
        workspace.add_files([Upload(p.name, p) for p in workspace.sample_files()]).wait()
        for question, script in SCRIPTS.items():
            measure(workspace, question, script, rounds)
        workspace.close()


def measure(workspace: Workspace, question: str, script: list[Any], rounds: int) -> None:
    with StubLLM(script * (rounds + 1), default=answer) as stub:
        settings = Settings(
            data=workspace.settings.data, llm_model="openai/stub", llm_base_url=stub.url
        )
        searcher = TimedSearcher(workspace.engines().retriever)
        overheads, receipts = [], []
        for _ in range(rounds + 1):
            llm = TimedLLM(settings)
            searcher.searched = 0.0
            since = time.thread_time()
            receipts.append(ask(Agent(llm, searcher, workspace.catalog, settings), question))
            spent = time.thread_time() - since
            overheads.append(spent - llm.waited - searcher.searched)
        # The first answer pays for what is loaded once: the tokenizer, the prompts.
        times = sorted(1000 * overhead for overhead in overheads[1:])
        sent = [tokens(request) for request in stub.requests[-len(script) :]]
        print(
            f"{question}\n"
            f"  {receipts[-1].llm_calls} calls, {len(receipts[-1].searches)} searches, "
            f"{receipts[-1].quotes_verified} quotes verified\n"
            f"  our code: p50 {median(times):.1f} ms, max {times[-1]:.1f} ms ({rounds} answers)\n"
            f"  tokens sent: {' + '.join(f'{n:,}' for n in sent)} = {sum(sent):,}"
        )


def ask(agent: Agent, question: str) -> Receipt:
    *_, last = agent.answer(question)
    assert isinstance(last, Finished)
    return last.answer.receipt


def tokens(request: dict[str, Any]) -> int:
    """Of the messages and the tools, as the request spells them."""
    words = [m["content"] or "" for m in request["messages"]]
    words += [json.dumps(m["tool_calls"]) for m in request["messages"] if "tool_calls" in m]
    return count_tokens("openai/stub", "\n".join([*words, json.dumps(request["tools"])]))


if __name__ == "__main__":
    main()
