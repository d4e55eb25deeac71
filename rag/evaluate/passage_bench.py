"""Where a set over passages is asked: each case in its own collection, outside the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from rag.embed import Embedder
from rag.errors import EvaluationError
from rag.evaluate.bench import asked, finished
from rag.evaluate.cases import Case, Problem
from rag.evaluate.index import OnProgress
from rag.evaluate.metrics.answers import Embed
from rag.evaluate.metrics.retrieval import Gold, Place
from rag.evaluate.metrics.spans import Span
from rag.evaluate.passages import Collection, Progress, passage_files, read_passages
from rag.rerank import Reranker
from rag.settings import Settings
from rag.types import Answer, Search


class PassageBench:
    """A place is a passage: (its id, 1)."""

    def __init__(
        self,
        source: Path,
        settings: Settings,
        embedder: Embedder,
        reranker: Reranker | None,
        on_progress: Progress = lambda name, done, total: None,
    ) -> None:
        """`source` holds the passage files. Indexing is kept in the data folder, in `eval/`."""
        self._source = source
        self._embedder = embedder
        self._reranker = reranker
        self._collections: dict[str, Collection] = {}
        try:
            for name, path in passage_files(source).items():
                self._collections[name] = Collection(
                    name,
                    read_passages(path),
                    settings.data / "eval",
                    settings,
                    embedder,
                    reranker,
                    on_progress,
                )
        except BaseException:
            self.close()
            raise
        self._by_document = {c.digest: c for c in self._collections.values()}

    def close(self) -> None:
        for collection in self._collections.values():
            collection.close()

    @property
    def embed(self) -> Embed:
        return self._embedder.embed

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    def check(self, cases: Sequence[Case]) -> list[Problem]:
        problems = []
        for case in cases:
            collection = self._collection(case)
            if collection is None:
                names = ", ".join(self._collections)
                message = f"none of the collections ({names}) is the case's"
                problems.append(Problem(case.line, case.id, "no_collection", message))
                continue
            for passage in case.relevant:
                if passage not in collection.numbers:
                    message = f"the passage {passage!r} is not in the collection"
                    problems.append(Problem(case.line, case.id, "missing_document", message))
        return problems

    def gold(self, case: Case) -> Gold | None:
        grades = {(name, 1): grade for name, grade in case.relevant.items() if grade > 0}
        return Gold(grades, len(grades)) if grades else None

    def spans(self, case: Case) -> tuple[Span, ...]:
        return ()

    def missing(self, case: Case) -> bool:
        collection = self._collection(case)
        return collection is None or any(p not in collection.numbers for p in case.relevant)

    def without_text(self, gold: Gold) -> bool:
        return False

    def search(self, case: Case) -> Search:
        collection = self._collection(case)
        if collection is None:
            return Search(case.question, ())
        return collection.index.retriever.search_all(asked(case))

    def ask(self, case: Case, engine: Literal["reader", "agent"]) -> Answer:
        collection = self._collection(case)
        if collection is None:
            raise EvaluationError("None of the collections is this question's.")
        return finished(collection.index.ask(case.question, (), case.history, engine))

    def place(self, document_id: str, page: int) -> Place:
        return self._by_document[document_id].ids[page - 1], 1

    @contextmanager
    def variant(self, settings: Settings, on_progress: OnProgress) -> Iterator[PassageBench]:
        def show(name: str, done: int, total: int) -> None:
            on_progress(done, total)

        bench = PassageBench(self._source, settings, self._embedder, self._reranker, show)
        try:
            yield bench
        finally:
            bench.close()

    def describe(self) -> Mapping[str, str]:
        return {
            "documents": ", ".join(
                f"{c.name or 'passages'} ({c.digest[:12]})" for c in self._collections.values()
            ),
            "passages": str(sum(len(c.ids) for c in self._collections.values())),
            "chunks": str(sum(c.document.chunk_count for c in self._collections.values())),
        }

    def _collection(self, case: Case) -> Collection | None:
        """The one that the case names, else the one of its language, else the only one."""
        for name in (case.corpus, case.language):
            if name and name in self._collections:
                return self._collections[name]
        only = list(self._collections.values())
        return only[0] if len(only) == 1 else None
