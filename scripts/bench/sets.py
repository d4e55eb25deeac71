"""Question sets of a folder, each opened as the bench that asks it, on the code as it is."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cache import Scores, Vectors, parser_version, weights_version

from rag.embed import SentenceTransformerEmbedder
from rag.evaluate.bench import Bench, LibraryBench, folder_files
from rag.evaluate.cases import Case
from rag.evaluate.command import settle
from rag.evaluate.index import Cut, Index, load_reranker
from rag.evaluate.load import CaseSet, load
from rag.evaluate.passage_bench import PassageBench
from rag.evaluate.passages import passage_files
from rag.ingest import Upload
from rag.rerank import Reranker
from rag.settings import Settings
from rag.workspace import Workspace

QUESTIONS = "questions.dev.jsonl"
_LAST = "finance"
"""Sets whose name has this take an hour to read once: they come last."""


@dataclass(frozen=True, slots=True)
class Source:
    """A folder with questions and `docs/`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def of_passages(self) -> bool:
        return bool(passage_files(self.docs))

    def cases(self, scope: str = "") -> CaseSet:
        """`scope`: "corpus" or "document" for every question that names a document; "": its own."""
        found = load(self.folder / QUESTIONS)
        if not scope:
            return found
        cases = tuple(_asked_in(scope, case) for case in found.cases)
        digest = hashlib.sha256(f"{found.digest} {scope}".encode()).hexdigest()
        return replace(found, name=f"{found.name} ({scope})", cases=cases, digest=digest)


def sources(folder: Path, wanted: Sequence[str]) -> list[Source]:
    """Those with files first, small before large; then passages. `wanted` keeps its own order."""
    found = {p.parent.name: Source(p.parent) for p in sorted(folder.glob(f"*/{QUESTIONS}"))}
    if unknown := set(wanted) - set(found):
        sys.exit(f"{folder} has no set {', '.join(sorted(unknown))}; it has {', '.join(found)}.")
    if wanted:
        return [found[name] for name in wanted]
    return sorted(found.values(), key=_effort)


@dataclass(frozen=True, slots=True)
class Kitchen:
    """What every set is opened with."""

    settings: Settings
    embedder: Vectors
    reranker: Reranker | None
    cache: Path
    any_parser: bool
    """Whether pages that earlier versions of the parsers read will do."""

    def place(self, source: Source) -> Path:
        """The data folder in which the set's files have been read, or will be."""
        current = self.cache / f"parsed-{parser_version()}" / source.name
        earlier = sorted(
            self.cache.glob(f"parsed-*/{source.name}"), key=lambda path: path.stat().st_mtime
        )
        return earlier[-1] if self.any_parser and earlier else current


def kitchen(cache: Path, *, any_parser: bool = False, timed: bool = False) -> Kitchen:
    """Models and settings (from the environment), with what `cache` has of earlier runs.

    `any_parser`: pages of the last run, whatever the parsers have become since. `timed`: nothing
    of the re-ranker comes from the cache; `Vectors.live` does the same for the embedder.
    """
    cache.mkdir(parents=True, exist_ok=True)
    settings = Settings.from_env({**os.environ, "FOOTNOTE_DATA": str(cache), "LLM_MODEL": "off"})
    embedder = Vectors(cache / "vectors.db", SentenceTransformerEmbedder(settings.embedder))
    reranker = load_reranker(settings)
    if reranker is not None and not timed:
        weights = weights_version(str(settings.reranker))
        reranker = Scores(cache / "scores.db", reranker, weights)
    return Kitchen(settings, embedder, reranker, cache, any_parser)


@contextmanager
def opened(source: Source, kitchen: Kitchen, cut: Cut | None = None) -> Iterator[Bench]:
    """Indexed anew, in a folder that goes with it. `cut` replaces the app's chunker."""
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(kitchen.settings, data=Path(folder))
        if source.of_passages:
            tell = _teller(source.name)
            bench = PassageBench(
                source.docs,
                settings,
                kitchen.embedder,
                kitchen.reranker,
                lambda name, done, total: tell(done, total),
            )
            try:
                yield bench
            finally:
                bench.close()
            return
        index = Index.create(Path(folder), settings, kitchen.embedder, kitchen.reranker, cut)
        try:
            with _library(source, kitchen) as library:
                ready = [d for d in library.documents() if d.state == "ready"]
                index.copy(ready, library.catalog)
            yield LibraryBench(index)
        finally:
            index.close()


@contextmanager
def _library(source: Source, kitchen: Kitchen) -> Iterator[Workspace]:
    """The set's files as the app reads them, by its own workspace; the second time they are there.

    What else it does to pages after a file is searchable (text recognition) is waited for.
    """
    settings = replace(kitchen.settings, data=kitchen.place(source))
    workspace = Workspace.open(settings, embedder=kitchen.embedder)
    try:
        job = workspace.add_files([Upload(name, path) for name, path in folder_files(source.docs)])
        tell = _teller(source.name)
        while not job.wait(1):
            files = job.progress.files
            tell(sum(f.over for f in files), len(files))
        for file in job.progress.files:
            if file.state in ("failed", "cancelled"):
                print(f"{source.name}: {file.name}: {file.message}", file=sys.stderr)
        settle(workspace)
        yield workspace
    finally:
        workspace.close()


def _asked_in(scope: str, case: Case) -> Case:
    if scope == "document" and case.doc:
        return replace(case, scope="document")
    return replace(case, scope="corpus")


def _effort(source: Source) -> tuple[bool, bool, int]:
    size = sum(path.stat().st_size for path in source.docs.rglob("*"))
    return _LAST in source.name, source.of_passages, size


def _teller(name: str) -> Callable[[int, int], None]:
    told = 0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if done * 10 // max(1, total) > told:
            told = done * 10 // total
            print(f"{name}: read and embedded {done} of {total}", file=sys.stderr, flush=True)

    return tell
