"""All that a page or a command needs, over one data folder. One process at a time.

Opening is cheap: models and vectors are loaded by `warm_up` on a thread, or by the first call
that needs them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from rag import connection
from rag.answering import Answering, Engine
from rag.batches import Batches
from rag.catalog import Catalog
from rag.errors import DataFolderError, DataFolderInUse, FootnoteError, NotFound
from rag.events import Event
from rag.following import Following
from rag.history import History
from rag.ingest import Engines, Ingester, Upload
from rag.job import Job, Repair
from rag.loading import Models, ModelState
from rag.ocr_lane import OcrLane, warnings_now
from rag.reconcile import reconcile
from rag.rerank import CrossEncoderReranker
from rag.retrieve import Retriever
from rag.settings import Settings
from rag.types import Citation, Document, Page, PageReport, Search, Turn

if TYPE_CHECKING:
    from rag.embed import Embedder


class Workspace:
    @classmethod
    def open(cls, settings: Settings, embedder: Embedder | None = None) -> Workspace:
        """Raises DataFolderInUse, DataFolderError. Unfinished documents are resumed.

        `embedder`: one that is loaded already, instead of the models that the settings name; the
        re-ranker is off then, and `settings` says so.
        """
        try:
            settings.data.mkdir(parents=True, exist_ok=True)
            lock = FileLock(settings.data / "lock")
            lock.acquire(blocking=False)
        except Timeout:
            raise DataFolderInUse(
                f"The data folder {str(settings.data)!r} is in use by another Footnote. Close "
                "that one, or set FOOTNOTE_DATA to another folder."
            ) from None
        except OSError as error:
            raise DataFolderError(
                f"The data folder {str(settings.data)!r} cannot be used: {error}. Set "
                "FOOTNOTE_DATA to a folder that can be written."
            ) from error
        if embedder is not None:
            settings = replace(settings, reranker=None)
        return cls(settings, lock, embedder)

    def __init__(self, settings: Settings, lock: FileLock, embedder: Embedder | None) -> None:
        self._lock = lock
        self._embedder = embedder
        self.catalog = Catalog(settings.data / "catalog.db")
        self.history = History(settings.data / "history.db")
        self.settings = connection.remembered(settings, self.catalog)
        self._models = Models(self._load)
        self._batches = Batches()
        self._ocr: OcrLane | None = None
        self._ingester = Ingester(
            self.catalog,
            settings.data / "files",
            self.engines,
            chunk_tokens=settings.chunk_tokens,
            chunk_overlap=settings.chunk_overlap,
            max_file_mb=settings.max_file_mb,
            recognises=settings.ocr is not None,
            on_ready=self._recognise,
        )
        if settings.ocr is not None:
            self._ocr = OcrLane(
                self.catalog,
                settings.data / "files",
                self.engines,
                self._ingester.idle,
                language=settings.ocr,
                chunk_tokens=settings.chunk_tokens,
                chunk_overlap=settings.chunk_overlap,
            )
        self._tidy()
        self._tell_of_recognition()
        self.following = Following(
            settings, self.catalog, self._ingester.add, self.delete, self.rename
        )
        unfinished = [d for d in self.documents() if d.state in ("queued", "indexing")]
        if unfinished:
            self._batches.begin(self._ingester.resume(unfinished))

    def _tidy(self) -> None:
        """Removes bytes that a crash left without a document; none if the catalog was lost."""
        known = {d.id for d in self.documents()}
        for path in (self.settings.data / "files").glob("*"):
            if path.name not in known and (known or path.suffix):
                path.unlink(missing_ok=True)

    def _tell_of_recognition(self) -> None:
        """What documents with pages for it say, after it was turned on or off."""
        state = "off" if self.settings.ocr is None else "on"
        if self.catalog.setting("recognition") != state:
            for document in map(self.catalog.document, self.catalog.due()):
                warnings = warnings_now(self.catalog, document, recognises=state == "on")
                self.catalog.settle(document.id, document.language, warnings)
            self.catalog.save_setting("recognition", state)

    def close(self) -> None:
        self.following.stop(cancel=False)  # its files are resumed by the next start
        self._ingester.close()
        if self._ocr is not None:
            self._ocr.close()  # the pages that are due are read after the next start
        self._models.close()
        self.history.close()
        self.catalog.close()
        self._lock.release()

    # Models

    @property
    def models(self) -> ModelState:
        return self._models.state

    def warm_up(self) -> None:
        """Start loading the models, unless they are loaded or loading; returns at once."""
        self._models.warm_up(self._warm_up)

    def _warm_up(self) -> None:
        with suppress(FootnoteError):  # kept in `models`, raised to who needs them
            self.engines()
            self.recognise()
        if self.settings.llm_model:  # 4 s that the first answer would have to wait
            from rag.llm import load_litellm

            load_litellm()

    def engines(self) -> Engines:
        """Embedder, vectors and retriever, loaded once. Raises ModelError, DataFolderError."""
        return self._models.engines()

    def _load(self) -> Engines:
        from rag.embed import SentenceTransformerEmbedder
        from rag.store import VectorStore

        settings = self.settings
        embedder = self._embedder or SentenceTransformerEmbedder(settings.embedder)
        store = VectorStore(settings.data / "vectors", embedder.fingerprint, embedder.dimension)
        reranker = CrossEncoderReranker(settings.reranker) if settings.reranker else None
        retriever = Retriever(
            self.catalog,
            store,
            embedder,
            reranker,
            top_k=settings.top_k,
            candidates=settings.candidates,
        )
        if lacking := reconcile(self.catalog, store):
            self._batches.begin(self._ingester.resume(lacking))
        return Engines(embedder, store, retriever)

    # Documents

    @property
    def job(self) -> Job | None:
        """The running batch, or the last one."""
        return self._batches.last

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The user's batches that run, wait, or ended and were not dismissed; oldest first."""
        return self._batches.jobs

    @property
    def adding(self) -> bool:
        """Whether documents are being indexed, the user's or those of the watched folder."""
        jobs = (*self.jobs, self.following.job)
        return any(job is not None and not job.progress.finished for job in jobs)

    def dismiss(self, job: Job) -> None:
        """The user has seen what came of it."""
        self._batches.dismiss(job)

    def add_files(self, uploads: Sequence[Upload]) -> Job:
        """Index in the background; a file that fails does not stop the rest."""
        return self._batches.begin(self._ingester.add(uploads))

    def unlock(self, document_id: str, password: str) -> Job:
        """Index a document that failed with `password_required` or `wrong_password`.

        Raises NotFound, also when its bytes are no longer kept.
        """
        self.original(document_id)
        return self._batches.begin(
            self._ingester.unlock(self.catalog.document(document_id), password)
        )

    def can_unlock(self, document: Document) -> bool:
        """Whether a password would help: a protected PDF, whose bytes are kept for that."""
        if document.error_code not in ("password_required", "wrong_password"):
            return False
        with suppress(NotFound), self.original(document.id).open("rb") as file:
            return b"%PDF-" in file.read(1024)
        return False

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """Text recognition in the background since the start, in the order in which it is done.

        Empty while it is off or nothing needs it.
        """
        return self._ocr.repairs if self._ocr is not None else ()

    def recognise(self) -> None:
        """Go on with the pages that an earlier run left due; new documents need no call.

        For the app, which lives long enough; `warm_up` does it.
        """
        for document_id in self.catalog.due():
            self._recognise(document_id)

    def cancel_repair(self, document_id: str) -> None:
        """Leave its remaining pages as they are, until `repair_again`."""
        if self._ocr is not None:
            self._ocr.cancel(document_id)

    def repair_again(self, document_id: str) -> None:
        """Recognise the pages that were declined or failed; nothing happens where it is off."""
        if self._ocr is not None:
            self._ocr.again(document_id)

    def wait_for_repairs(self, timeout_s: float | None = None) -> bool:
        """True when no page is left for text recognition."""
        return self._ocr is None or self._ocr.wait(timeout_s)

    def _recognise(self, document_id: str) -> None:
        if self._ocr is not None:
            self._ocr.add(document_id)

    def report(self, document_id: str) -> PageReport:
        """How each of its pages was read. Raises NotFound."""
        self.catalog.document(document_id)
        return self.catalog.report(document_id)

    def documents(self) -> list[Document]:
        """Newest first, in any state."""
        return self.catalog.documents()

    def delete(self, document_id: str) -> None:
        """Removes pages, vectors and the original. Raises NotFound, and FootnoteError while the
        document is being indexed."""
        document = self.catalog.document(document_id)
        if self.adding and document.state in ("queued", "indexing"):
            raise FootnoteError(f"{document.name!r} is being indexed. Cancel that first.")
        self.catalog.delete(document_id)
        if self._ocr is not None:
            self._ocr.drop(document_id)
        (self.settings.data / "files" / document_id).unlink(missing_ok=True)
        # Vectors that are not open yet are put right when they are, see `reconcile`.
        if loaded := self._models.loaded:
            loaded.retriever.invalidate()
            loaded.store.delete([document_id])

    def rename(self, document_id: str, name: str) -> None:
        """Its vectors stay: they hold the name that it was indexed under. Raises NotFound."""
        self.catalog.rename(document_id, name)
        if loaded := self._models.loaded:
            loaded.retriever.invalidate()

    def original(self, document_id: str) -> Path:
        """The file as it was added. Raises NotFound."""
        path = self.settings.data / "files" / self.catalog.document(document_id).id
        if not path.exists():
            raise NotFound(f"The original file of document {document_id!r} is not kept.")
        return path

    def page(self, document_id: str, number: int) -> Page:
        """`number` is 1-based. Raises NotFound."""
        return self.catalog.page(document_id, number)

    def pages(self, document_id: str) -> list[Page]:
        return self.catalog.pages(document_id)

    def page_image(
        self, document_id: str, number: int, citation: Citation | None = None
    ) -> bytes | None:
        """PNG of a PDF page, the cited words marked; None for formats without a page image."""
        document = self.catalog.document(document_id)
        if document.media_type != "application/pdf":
            return None
        from rag.highlight import render

        start, end = 0, 0
        if citation is not None:
            text = self.catalog.page(document_id, number).text
            start, end = citation.start, citation.end
            if text[start:end] != citation.quote:  # the page was read again since
                start = max(0, text.find(citation.quote))
                end = start + len(citation.quote) if citation.quote in text else start
        words = self.catalog.words(document_id, number)
        return render(self.original(document_id), number, words, start, end)

    def storage_bytes(self) -> int:
        return sum(f.stat().st_size for f in self.settings.data.rglob("*") if f.is_file())

    def sample_files(self) -> list[Path]:
        from rag import samples

        return samples.files()

    # Answers

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        """Raises ModelError when the models cannot be loaded."""
        return self.engines().retriever.search(query, documents, top_k)

    @property
    def engine(self) -> str:
        """What answers: a litellm model, or "reader"."""
        return self.settings.llm_model or "reader"

    def connect(self, model: str | None, api_key: str | None, base_url: str | None) -> None:
        """Use a language model, or none; the key is kept in memory only, the rest on disk."""
        self.settings = connection.connect(self.settings, self.catalog, model, api_key, base_url)

    def tune(self, values: Mapping[str, str]) -> None:
        """Change how a model is asked: fallbacks, temperature, reasoning and length of replies, by
        the names of their variables. What is left out or blank is as by default. They are kept on
        disk. Raises SettingsError for a value that does not fit.
        """
        self.settings = connection.tune(self.settings, self.catalog, values)

    def ask(
        self,
        question: str,
        documents: Sequence[str] = (),
        history: Sequence[Turn] = (),
        engine: Engine = "auto",
        web: bool = False,
    ) -> Generator[Event, None, None]:
        """Events, the last of them Finished; closing it stops the model's reply.

        "auto" takes the models that are connected, one after the other, and the reader when all of
        them fail, each time saying so; "agent" raises LLMError in place of the reader. `web` lets
        a model search the web for this question; the reader never does. Raises ModelError when the
        embedder cannot be loaded, and SettingsError for `web` without a key.
        """
        answering = Answering(self.settings, self.catalog, self.engines)
        return answering.ask(question, documents, history, engine, web)
