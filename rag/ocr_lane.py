"""The slow lane: pages of searchable documents that only their picture can tell, read one by one.

A document can be searched from its plain text first; each page that needs it is then recognised
and put in the place of the stored one. What is left when the app ends goes on at the next start,
because the catalog knows the pages that are due.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rag.catalog import Catalog
from rag.chunk import chunk, largest
from rag.errors import Cancelled, FileError, NotFound
from rag.indexing import Engines
from rag.job import Repair
from rag.language import detect_language
from rag.page_notes import CODES, page_notes
from rag.parse.worker import ParseWorker
from rag.retrieve import searched_text
from rag.types import Document, Page, ParsedPage, Warning

_LOOK_S = 0.2
_TIMEOUT_S = 600.0
"""For one page. It takes 5 s of a processor, but all others may have that first."""
_SAMPLE_CHARACTERS = 20_000


@dataclass(slots=True)
class _Run:
    """One turn of a document, until it is over. Asked for again, the document gets a new one, so
    that what the thread still had to say of the old one cannot end it."""

    repair: Repair

    @property
    def over(self) -> bool:
        return self.repair.over


class OcrLane:
    """Works on one page at a time, on a thread of its own, while `may_work` is set."""

    def __init__(
        self,
        catalog: Catalog,
        files: Path,
        engines: Callable[[], Engines],
        may_work: threading.Event,
        *,
        language: str,
        chunk_tokens: int,
        chunk_overlap: int,
    ) -> None:
        """`may_work` is not set while files are being indexed: they go first. `language` as in
        `ocr.read_page`."""
        self._catalog = catalog
        self._files = files
        self._engines = engines
        self._may_work = may_work
        self._language = language
        self._chunk_tokens = chunk_tokens
        self._chunk_overlap = chunk_overlap
        self._worker = ParseWorker(_TIMEOUT_S, background=True)
        self._runs: dict[str, _Run] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        with self._changed:
            return tuple(run.repair for run in self._runs.values())

    def add(self, document_id: str) -> None:
        """The pages of this document that are due; nothing happens when there are none."""
        with suppress(NotFound):
            name = self._catalog.document(document_id).name
            due = len(self._catalog.report(document_id).repairs.get("due", ()))
            if not due:
                return
            with self._changed:
                known = self._runs.pop(document_id, None)
                if known is not None and not known.over:
                    self._runs[document_id] = known
                    return
                self._runs[document_id] = _Run(Repair(document_id, name, "waiting", 0, due))
                self._changed.notify_all()
                if self._thread is None and not self._closing:
                    self._thread = threading.Thread(target=self._run, name="ocr", daemon=True)
                    self._thread.start()

    def cancel(self, document_id: str) -> None:
        """Its remaining pages are left as they are, until `again`."""
        self.drop(document_id)
        self._catalog.mark_repairs(document_id, ("due",), "declined")
        with suppress(NotFound):  # deleted meanwhile: nothing is left to be said of it
            self._settle(document_id)

    def again(self, document_id: str) -> None:
        """Read the pages that were left, or that could not be read."""
        self._catalog.mark_repairs(document_id, ("declined", "failed"), "due")
        self.add(document_id)

    def drop(self, document_id: str) -> None:
        """Stop working on a document, because it is gone."""
        with self._changed:
            run = self._runs.get(document_id)
        if run is not None:
            self._update(run, state="cancelled")

    def wait(self, timeout_s: float | None = None) -> bool:
        """True when nothing is left to do."""
        with self._changed:
            return self._changed.wait_for(
                lambda: all(run.over for run in self._runs.values()), timeout_s
            )

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=30)
        self._worker.close()

    def _run(self) -> None:
        while (run := self._next()) is not None:
            try:
                self._read(run)
            except Exception as error:  # disk full, a model that cannot be loaded
                self._update(run, state="failed", message=str(error))

    def _next(self) -> _Run | None:
        with self._changed:
            while not self._closing:
                for run in self._runs.values():
                    if run.repair.state == "waiting":
                        return run
                self._worker.close()  # the models hold a gigabyte
                self._changed.wait()
        return None

    def _read(self, run: _Run) -> None:
        document_id = run.repair.document_id
        failures = 0
        message = ""
        for number in self._catalog.report(document_id).repairs.get("due", ()):
            if not self._turn(run):
                return
            found = False
            try:
                found = self._read_page(run, number)
            except (Cancelled, NotFound):
                self._update(run, state="cancelled")
                return
            except FileError as error:  # of this page only
                self._catalog.mark_repairs(document_id, ("due",), "failed", number)
                failures += 1
                message = str(error)
            self._advance(run, found)
        try:
            self._settle(document_id)
        except NotFound:  # it was deleted before its pages were asked for, or after the last
            self._update(run, state="cancelled")
            return
        failed = failures == run.repair.pages_total
        self._update(run, state="failed" if failed else "done", message=message)

    def _turn(self, run: _Run) -> bool:
        """Waits while files are being indexed; False when this document is to be left."""
        while not self._is_stopped(run):
            if self._may_work.wait(_LOOK_S):
                self._update(run, state="running")
                return not self._is_stopped(run)
            self._update(run, state="waiting")
        return False

    def _is_stopped(self, run: _Run) -> bool:
        return self._closing or run.over

    def _read_page(self, run: _Run, number: int) -> bool:
        """Whether words were found, and the page was replaced."""
        document_id = run.repair.document_id
        document = self._catalog.document(document_id)
        old = self._catalog.page(document_id, number)
        parsed = self._worker.read_page(
            self._files / document_id,
            document.name,
            document_id,
            number,
            self._language,
            lambda: self._is_stopped(run),
        )
        parsed = replace(parsed, page=replace(parsed.page, label=old.label))
        if not is_better(parsed.page, old):
            self._catalog.mark_repairs(document_id, ("due",), "done", number)
            return False
        self._replace(document, parsed)
        return True

    def _replace(self, document: Document, parsed: ParsedPage) -> None:
        """New vectors, the page, then the old vectors go: a search always finds either page."""
        engines = self._engines()
        size = largest(self._chunk_tokens, engines.embedder.max_tokens)
        chunks = list(chunk([parsed], engines.embedder.count_tokens, size, self._chunk_overlap))
        ids = [c.id for c in chunks]
        if chunks:
            texts = [searched_text(document.name, c.heading, c.text) for c in chunks]
            engines.store.upsert(document.id, ids, engines.embedder.embed(texts))
        try:
            with engines.retriever.changing():
                replaced = self._catalog.replace_page(parsed, chunks)
        except NotFound:
            engines.store.delete_chunks(ids)
            raise
        engines.store.delete_chunks(set(replaced) - set(ids))

    def _settle(self, document_id: str) -> None:
        """What can be said of the document now that pages of it have been read. Raises NotFound."""
        document = self._catalog.document(document_id)
        warnings = warnings_now(self._catalog, document, recognises=True)
        if document.language or not self._catalog.report(document_id).kinds.get("ocr"):
            self._catalog.settle(document_id, document.language, warnings)
            return
        pages = (p.text for p in self._catalog.pages(document_id))
        language = detect_language("\n".join(pages)[:_SAMPLE_CHARACTERS])
        with self._engines().retriever.changing():  # words are stemmed by it
            self._catalog.settle(document_id, language, warnings)

    def _advance(self, run: _Run, found: bool) -> None:
        repair = run.repair
        self._update(run, pages_done=repair.pages_done + 1, pages_read=repair.pages_read + found)

    def _update(self, run: _Run, **changes: object) -> None:
        """A run that is over stays so."""
        with self._changed:
            if not run.over:
                run.repair = replace(run.repair, **changes)  # type: ignore[arg-type]
                self._changed.notify_all()


def warnings_now(catalog: Catalog, document: Document, *, recognises: bool) -> tuple[Warning, ...]:
    """A document's warnings with those about its pages made anew; `recognises`: the lane is on."""
    notes = page_notes(
        catalog.report(document.id),
        document.unit,
        document.page_count,
        has_text=document.chunk_count > 0,
        recognises=recognises,
    )
    return (*(w for w in document.warnings if w.code not in CODES), *notes)


def is_better(new: Page, old: Page) -> bool:
    """Whether a page that was read from its picture should take the place of the stored one.

    A layer of badly recognised text stays where the picture gives less than half as many words,
    good text unless the picture gives twice as many.
    """
    if new.kind != "ocr":
        return False
    least = {"noisy": 0.5, "text": 2.0, "repaired": 2.0}.get(old.kind, 0.0)
    return len(new.text.split()) >= least * len(old.text.split())
