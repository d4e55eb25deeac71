"""Where a set is asked: the documents of a folder in the library, through the app's own paths.

Places are named by file name, so that records stay readable. A file that the library has under
another name (the same bytes) is the same document.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, Protocol

from rag.errors import EvaluationError, NotFound
from rag.evaluate.cases import Case, Evidence, Problem
from rag.evaluate.evidence import PageSpan, locate
from rag.evaluate.metrics.answers import Embed
from rag.evaluate.metrics.retrieval import Gold, Place
from rag.evaluate.metrics.spans import Span
from rag.evaluate.passages import is_passage_file
from rag.events import Event, Finished
from rag.reader import standalone
from rag.types import Answer, Document, Page, Search, Turn

if TYPE_CHECKING:
    from rag.catalog import Catalog
    from rag.evaluate.index import OnProgress
    from rag.ingest import Engines
    from rag.job import Job
    from rag.settings import Settings


class Bench(Protocol):
    """What a run needs of the place where it is held."""

    @property
    def embed(self) -> Embed: ...

    @property
    def max_tokens(self) -> int:
        """The longest input that the embedder reads whole."""
        ...

    def check(self, cases: Sequence[Case]) -> list[Problem]:
        """What of the cases does not fit the documents; none of it stops a run."""
        ...

    def gold(self, case: Case) -> Gold | None:
        """None when the case says no right place. A missing document's pages are in it all the
        same, so that the case counts as missed."""
        ...

    def spans(self, case: Case) -> tuple[Span, ...]:
        """The evidence's characters, where they can be located."""
        ...

    def missing(self, case: Case) -> bool:
        """Whether a document that holds the answer is not there."""
        ...

    def without_text(self, gold: Gold) -> bool:
        """Whether none of the right places has any text to find."""
        ...

    def search(self, case: Case) -> Search:
        """Every candidate, so that each stage can be told."""
        ...

    def ask(self, case: Case, engine: Literal["reader", "agent"]) -> Answer:
        """Raises LLMError when the provider fails."""
        ...

    def place(self, document_id: str, page: int) -> Place: ...

    def variant(self, settings: Settings, on_progress: OnProgress) -> AbstractContextManager[Bench]:
        """The same documents under other settings: sizes of chunks, passages to answer from.

        Chunks of another size are embedded first; `on_progress` tells how much of it is done.
        """
        ...

    def describe(self) -> Mapping[str, str]:
        """The collection, as configuration of a run."""
        ...


class Library(Protocol):
    """What is asked: the workspace, or an `Index` of the same documents cut in another way."""

    @property
    def job(self) -> Job | None: ...

    catalog: Catalog
    settings: Settings

    def documents(self) -> list[Document]: ...

    def page(self, document_id: str, number: int) -> Page: ...

    def engines(self) -> Engines: ...

    def ask(
        self,
        question: str,
        documents: Sequence[str],
        history: Sequence[Turn],
        engine: Literal["reader", "agent"],
    ) -> Iterator[Event]: ...


def asked(case: Case) -> str:
    """What is searched for: the question, with the one before it where it is a short follow-up."""
    return standalone(case.question, case.history)


def finished(events: Iterable[Event]) -> Answer:
    """The answer at the end of the events. Raises EvaluationError when there is none."""
    for event in events:
        if isinstance(event, Finished):
            return event.answer
    raise EvaluationError("The answer ended without a result.")


class LibraryBench:
    """Documents of a library, or those of it that `names` lists."""

    def __init__(self, library: Library, names: Mapping[str, str] | None = None) -> None:
        """`names`: file name -> document id; None means every document that is ready.

        An id that is not in the library, or not ready, counts as missing. Raises EvaluationError
        while files are being indexed: what is searched must not change during a run.
        """
        if library.job is not None and not library.job.progress.finished:
            raise EvaluationError("Files are being indexed. Evaluate when that is done.")
        self._library = library
        ready = {d.id: d for d in library.documents() if d.state == "ready"}
        if names is None:
            names = {d.name: d.id for d in ready.values()}
        self._ids = {_key(name): i for name, i in names.items() if i in ready}
        self._documents = {i: ready[i] for i in self._ids.values()}
        self._given = {name: i for name, i in names.items() if i in ready}
        self._names: dict[str, str] = {}
        for name, document_id in names.items():
            self._names.setdefault(document_id, name)
        # The whole library is asked without a filter, as the app does.
        self._scope = () if len(self._documents) == len(ready) else tuple(self._documents)

    @property
    def embed(self) -> Embed:
        return self._library.engines().embedder.embed

    @property
    def max_tokens(self) -> int:
        return self._library.engines().embedder.max_tokens

    def check(self, cases: Sequence[Case]) -> list[Problem]:
        from rag.evaluate.validate import check

        return check(cases, self)

    def document(self, name: str) -> Document | None:
        """By file name, with or without its folder; None when it is missing."""
        found = self._ids.get(_key(name)) or self._ids.get(_key(PurePosixPath(name).name))
        if found is None:
            ends = {i for key, i in self._ids.items() if key.endswith("/" + _key(name))}
            found = ends.pop() if len(ends) == 1 else None
        return self._documents.get(found) if found else None

    def page_text(self, document: Document, page: int) -> str:
        return self._library.page(document.id, page).text

    def page(self, name: str, number: int) -> Page:
        """A page of a place's document. Raises NotFound."""
        document = self.document(name)
        if document is None:
            raise NotFound(f"{name!r} is not among the documents.")
        return self._library.page(document.id, number)

    def located(self, evidence: Evidence, document: Document) -> list[PageSpan]:
        return locate(evidence, document, self._library.catalog)

    def gold(self, case: Case) -> Gold | None:
        pages = [self._named(doc, page) for doc, page in case.pages]
        for evidence in case.evidence:
            if evidence.page is None:  # a document without pages: the section that holds it
                pages += [(doc, section) for doc, section, _, _ in self._spans(evidence)]
        pages = list(dict.fromkeys(pages))
        if not pages:
            return None
        also = [self._named(doc, page) for doc, page in case.also_pages]
        needed = 1 if case.pages_needed == "any" else len(pages)
        return Gold(dict.fromkeys((*pages, *also), 1.0), needed)

    def spans(self, case: Case) -> tuple[Span, ...]:
        return tuple(span for evidence in case.evidence for span in self._spans(evidence))

    def missing(self, case: Case) -> bool:
        return any(self.document(name) is None for name in case.named_documents)

    def without_text(self, gold: Gold) -> bool:
        for name, page in gold.grades:
            document = self.document(name)
            if document is None or page > document.page_count:
                continue
            if self._library.page(document.id, page).kind != "empty":
                return False
        return True

    def search(self, case: Case) -> Search:
        documents = self._asked(case)
        if documents is None:
            return Search(case.question, ())
        return self._library.engines().retriever.search_all(asked(case), documents)

    def ask(self, case: Case, engine: Literal["reader", "agent"]) -> Answer:
        documents = self._asked(case)
        if documents is None:
            raise EvaluationError(f"{case.doc!r}, in which to ask, is not in the library.")
        return finished(self._library.ask(case.question, documents, case.history, engine))

    def place(self, document_id: str, page: int) -> Place:
        return self._names.get(document_id, document_id), page

    @contextmanager
    def variant(self, settings: Settings, on_progress: OnProgress) -> Iterator[LibraryBench]:
        from rag.evaluate.index import Index

        engines = self._library.engines()
        reranker = engines.retriever.reranker
        if _chunking(settings) == _chunking(self._library.settings):
            catalog = self._library.catalog
            yield LibraryBench(
                Index(catalog, engines.store, settings, engines.embedder, reranker), self._given
            )
            return
        with TemporaryDirectory(prefix="footnote-") as folder:
            index = Index.create(Path(folder), settings, engines.embedder, reranker)
            try:
                index.copy(list(self._documents.values()), self._library.catalog, on_progress)
                yield LibraryBench(index, self._given)
            finally:
                index.close()

    def describe(self) -> Mapping[str, str]:
        documents = hashlib.sha256("\n".join(sorted(self._documents)).encode()).hexdigest()
        pages = sum(d.page_count for d in self._documents.values())
        chunks = sum(d.chunk_count for d in self._documents.values())
        return {
            "documents": f"{len(self._documents)} ({documents[:12]})",
            "pages": str(pages),
            "chunks": str(chunks),
        }

    def _spans(self, evidence: Evidence) -> list[Span]:
        document = self.document(evidence.doc)
        if document is None:
            return []
        name = self._names[document.id]
        return [(name, *span) for span in self.located(evidence, document)]

    def _named(self, doc: str, page: int) -> Place:
        document = self.document(doc)
        return (doc if document is None else self._names[document.id]), page

    def _asked(self, case: Case) -> tuple[str, ...] | None:
        """Document ids to ask in, () for all; None when the one asked about is missing."""
        if case.scope != "document":
            return self._scope
        document = self.document(case.doc)
        return None if document is None else (document.id,)


def folder_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, path) of the documents in a folder; a name keeps the folders inside it.

    Hidden files and passage files are no documents.
    """
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if path.is_file() and not hidden and not is_passage_file(path):
            yield inside.as_posix(), path


def _chunking(settings: Settings) -> tuple[int, int]:
    return settings.chunk_tokens, settings.chunk_overlap


def _key(name: str) -> str:
    # A file system may hand out the accents of a name apart from their letters.
    return unicodedata.normalize("NFC", name)
