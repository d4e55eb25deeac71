"""Question sets of a folder, each opened as the bench that asks it, on the code as it is."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cache import Scores, Vectors, parser_version, weights_version
from pydantic import TypeAdapter

from rag.embed import SentenceTransformerEmbedder
from rag.evaluate.bench import Bench, LibraryBench, folder_files
from rag.evaluate.cases import Case
from rag.evaluate.command import settle
from rag.evaluate.index import Cut, Index, stored_pages
from rag.evaluate.load import CaseSet, load
from rag.evaluate.passage_bench import PassageBench
from rag.evaluate.passages import passage_files
from rag.ingest import Upload
from rag.rerank import CrossEncoderReranker, Reranker
from rag.settings import Settings
from rag.types import Document, ParsedPage
from rag.workspace import Workspace

Read = list[tuple[Document, list[ParsedPage]]]
_READ: TypeAdapter[Read] = TypeAdapter(Read)
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

    def cases(self, scope: str = "", collection: str = "") -> CaseSet:
        """`scope`: "corpus" or "document" for every question that names a document; "": its own.
        `collection`: the passages that every question is asked of; "": its own, or its language's.
        """
        found = load(self.folder / QUESTIONS)
        if not scope and not collection:
            return found
        cases = tuple(_asked_in(scope, case) if scope else case for case in found.cases)
        if collection:
            cases = tuple(replace(case, corpus=collection) for case in cases)
        said = " ".join(filter(None, (scope, collection)))
        digest = hashlib.sha256(f"{found.digest} {said}".encode()).hexdigest()
        return replace(found, name=f"{found.name} ({said})", cases=cases, digest=digest)


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
        """The file that holds the set's pages, or will."""
        current = self.cache / f"pages-{parser_version()}" / f"{source.name}.json"
        earlier = sorted(
            self.cache.glob(f"pages-*/{source.name}.json"), key=lambda path: path.stat().st_mtime
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
    reranker: Reranker | None = None
    if settings.reranker:
        reranker = CrossEncoderReranker(settings.reranker)
        if not timed:
            weights = weights_version(settings.reranker)
            reranker = Scores(cache / "scores.db", reranker, weights)
    return Kitchen(settings, embedder, reranker, cache, any_parser)


@contextmanager
def opened(source: Source, kitchen: Kitchen, cut: Cut | None = None) -> Iterator[Bench]:
    """Indexed anew, in a folder that goes with it. `cut` replaces the app's chunker."""
    with TemporaryDirectory(prefix="footnote-") as folder:
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
            for document, pages in _read(source, kitchen):
                index.add(document, pages)
            yield LibraryBench(index)
        finally:
            index.close()


def _read(source: Source, kitchen: Kitchen) -> Read:
    """The set's files as the app reads them, kept as one file for the next time.

    A data folder of its own is thrown away each time, so that two of these can run at once.
    """
    place = kitchen.place(source)
    if place.exists():
        return _READ.validate_json(place.read_bytes())
    with TemporaryDirectory(prefix="footnote-") as folder:
        settings = replace(kitchen.settings, data=Path(folder))
        workspace = Workspace.open(settings, embedder=kitchen.embedder)
        try:
            found = _ingested(source, workspace)
        finally:
            workspace.close()
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(f".{os.getpid()}")
    draft.write_bytes(_READ.dump_json(found))
    draft.replace(place)
    return found


def _ingested(source: Source, workspace: Workspace) -> Read:
    """Text recognition in the background is waited for."""
    job = workspace.add_files([Upload(name, path) for name, path in folder_files(source.docs)])
    tell = _teller(source.name)
    while not job.wait(1):
        files = job.progress.files
        tell(sum(f.over for f in files), len(files))
    for file in job.progress.files:
        if file.state in ("failed", "cancelled"):
            print(f"{source.name}: {file.name}: {file.message}", file=sys.stderr)
    settle(workspace)
    ready = [document for document in workspace.documents() if document.state == "ready"]
    return [(document, stored_pages(workspace.catalog, document.id)) for document in ready]


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
