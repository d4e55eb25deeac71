"""Ingests that are killed, and what must be true after each: the crash test's own machinery.

A child process indexes a batch of mixed files into one data folder; its parent kills it at a random
moment, looks at what is on the disk, opens the folder again and looks once more.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import rag.ocr_lane
from rag.catalog import Catalog
from rag.ingest import Upload
from rag.settings import Settings
from rag.types import Document, Page, ParsedPage
from rag.workspace import Workspace
from tests.fakes import WordEmbedder
from tests.scans import QuickWorker, scan

ROOT = Path(__file__).parents[1]
PAGES = {"manual.pdf": 20, "scan.pdf": 4, "guide.md": 6, "table.csv": 1, "letter.txt": 1}
"""Files that every batch holds in a new version, and how many pages they have."""
_VERSION = re.compile(r"version(\d+)end")
_OPEN = "open\n"


class _Recogniser(QuickWorker):
    """Reads from a picture what its page is known to show."""

    def read_page(self, path: Path, name: str, document_id: str, number: int, *_: object):
        return ParsedPage(Page(document_id, number, "", f"The recognised page {number}.", "ocr"))


def write_batch(folder: Path, version: int) -> list[Path]:
    """Every file says on every page which version it is."""
    import pymupdf

    folder.mkdir(parents=True)
    mark = f"version{version}end"
    manual = pymupdf.open()
    for number in range(PAGES["manual.pdf"]):
        page = manual.new_page()
        for line in range(12):
            page.insert_text((72, 90 + 20 * line), f"Page {number}, line {line}, of {mark}.")
    manual.save(folder / "manual.pdf")
    scan(folder / "scan.pdf", [[f"Picture {n} of {mark}"] for n in range(PAGES["scan.pdf"])])
    sections = [f"# Part {n}\n\nThis part of the guide is {mark}.\n" for n in range(6)]
    (folder / "guide.md").write_text("\n".join(s + "Word. " * 400 for s in sections))
    rows = "\n".join(f"row {n},{mark}" for n in range(60))
    (folder / "table.csv").write_text("name,version\n" + rows)
    (folder / "letter.txt").write_text(f"Dear reader, this letter is {mark}.")
    (folder / f"new-{version}.txt").write_text(f"A file that is added once, {mark}.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nbroken " + mark.encode())
    return sorted(folder.iterdir())


def run_child(data: Path, batch: Path) -> None:
    """What the child does, until it is killed."""
    rag.ocr_lane.ParseWorker = _Recogniser  # type: ignore[misc, assignment]
    workspace = Workspace.open(Settings(data=data), embedder=WordEmbedder())
    workspace.engines()
    sys.stdout.write(_OPEN)
    sys.stdout.flush()
    workspace.add_files([Upload(p.name, p) for p in sorted(batch.iterdir())]).wait()
    workspace.recognise()
    workspace.wait_for_repairs()
    workspace.close()


@dataclass
class Round:
    after_s: float
    """When it was killed, after the workspace was open; more than it took: not at all."""
    killed: bool
    states: dict[str, int]
    """Documents by state, right after."""


@dataclass
class CrashTest:
    data: Path
    batches: Path
    seed: int
    version: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    """Name -> the version that was searchable."""

    def run(self, kills: int, within_s: float | None = None) -> list[Round]:
        """Batches until so many were killed, each at a random moment `within_s`; by default the
        time that a first batch takes which is not killed. Raises AssertionError with what was
        found amiss."""
        chance = random.Random(self.seed)
        rounds: list[Round] = []
        if within_s is None:
            rounds.append(self._round(None))
            within_s = rounds[0].after_s
        while sum(r.killed for r in rounds) < kills:
            rounds.append(self._round(chance.uniform(0, within_s)))
        return rounds

    def _round(self, kill_after_s: float | None) -> Round:
        self.version += 1
        batch = self.batches / str(self.version)
        write_batch(batch, self.version)
        command = [sys.executable, "-m", "tests.crash", str(self.data), str(batch)]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == _OPEN
        started = time.perf_counter()
        try:
            child.wait(kill_after_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        after_s = time.perf_counter() - started
        child.stdout.close()
        killed = child.returncode != 0
        states = self._on_disk()
        self._after_restart()
        return Round(after_s, killed, states)

    def _on_disk(self) -> dict[str, int]:
        """Nothing lost, nothing half searchable, before anything is put right."""
        catalog = Catalog(self.data / "catalog.db")
        documents = catalog.documents()
        ready = {d.name: d for d in documents if d.state == "ready"}
        assert len(ready) == sum(d.state == "ready" for d in documents), "two versions at once"
        for name, version in self.seen.items():
            assert name in ready, f"{name} is lost"
            assert self._version(catalog, ready[name]) >= version, f"{name} is an older version"
        for document in ready.values():
            self._is_whole(catalog, document)
        states: dict[str, int] = {}
        for document in documents:
            states[document.state] = states.get(document.state, 0) + 1
        catalog.close()
        return states

    def _is_whole(self, catalog: Catalog, document: Document) -> None:
        pages = catalog.pages(document.id)
        expected = PAGES.get(document.name, 1)
        assert len(pages) == document.page_count == expected, f"{document.name} is not whole"
        chunks = catalog.chunks(document.id)
        for page in pages:
            if page.kind not in ("empty", "ocr"):
                assert _VERSION.search(page.text), f"{document.name}, page {page.number}"
            with_text = page.kind != "empty"
            assert with_text == any(c.page == page.number for c in chunks), "a page without passage"

    def _version(self, catalog: Catalog, document: Document) -> int:
        """A scan says nothing; it counts as the newest."""
        found = [_VERSION.search(page.text) for page in catalog.pages(document.id)]
        return max((int(match[1]) for match in found if match), default=self.version)

    def _after_restart(self) -> None:
        """Everything kept is searchable, and there is one vector for each passage, no more."""
        rag.ocr_lane.ParseWorker = _Recogniser  # type: ignore[misc, assignment]
        workspace = Workspace.open(Settings(data=self.data), embedder=WordEmbedder())
        try:
            engines = workspace.engines()
            job = workspace.job
            assert job is None or job.wait(120), "the interrupted batch is not resumed"
            workspace.recognise()
            assert workspace.wait_for_repairs(120), "pages stay due"
            catalog = workspace.catalog
            documents = catalog.documents()
            assert {d.state for d in documents} <= {"ready", "failed"}, "not finished"
            assert all(d.name == "broken.pdf" for d in documents if d.state == "failed")
            ready = [d for d in documents if d.state == "ready"]
            passages = {d.id: catalog.chunk_ids(d.id) for d in ready}
            assert engines.store.by_document() == passages, "vectors are not those of the passages"
            kept = {p.name for p in (self.data / "files").iterdir()}
            assert kept == set(passages), "bytes without a document, or the reverse"
            for document in ready:
                self._is_whole(catalog, document)
                self.seen[document.name] = self._version(catalog, document)
            found = workspace.search(f"letter version{self.seen.get('letter.txt', 0)}end").hits
            assert "letter.txt" not in self.seen or found[0].name == "letter.txt", "not found"
        finally:
            workspace.close()


if __name__ == "__main__":
    run_child(Path(sys.argv[1]), Path(sys.argv[2]))
