"""Collections of passages (a benchmark's own): every passage is one page of one document.

A passage's title is the heading above its text, as it would be in a Markdown file. A collection
is indexed once, into a folder of its own beside the library.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rag import chunk as chunking
from rag.chunk import largest
from rag.embed import Embedder
from rag.errors import EvaluationError
from rag.evaluate.index import Index
from rag.rerank import Reranker
from rag.retrieve import searched_text
from rag.settings import Settings
from rag.types import Document, Heading, Page, ParsedPage

_LAYOUT = 1
"""Counts up when `_page` changes, so that what was indexed before is not used again."""

Progress = Callable[[str, int, int], None]
"""Collection, chunks embedded, chunks in all."""


@dataclass(frozen=True, slots=True)
class Passage:
    id: str
    title: str
    text: str


def is_passage_file(path: Path) -> bool:
    """`passages.jsonl`, `<collection>.passages.jsonl`, `passages.<lang>.jsonl`, `corpus.jsonl`."""
    return path.suffix == ".jsonl" and (path.stem == "corpus" or "passages" in path.stem.split("."))


def passage_files(folder: Path) -> dict[str, Path]:
    """Collection -> file. A collection is named by what is beside `passages` in its file's name."""
    found = {}
    for path in sorted(folder.rglob("*.jsonl")):
        if is_passage_file(path):
            parts = [part for part in path.stem.split(".") if part not in ("passages", "corpus")]
            found[".".join(parts)] = path
    return found


def read_passages(path: Path) -> list[Passage]:
    """One object a line: doc_id (or _id), title, text. Raises EvaluationError naming the line."""
    passages = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            name = record.get("doc_id") or record["_id"]
            passages.append(Passage(str(name), str(record.get("title") or ""), record["text"]))
        except (json.JSONDecodeError, KeyError, AttributeError) as error:
            raise EvaluationError(
                f"{str(path)!r}, line {number}: not a passage ({error}). A line needs doc_id (or "
                "_id) and text."
            ) from error
    if not passages:
        raise EvaluationError(f"{str(path)!r} holds no passages.")
    return passages


class Collection:
    """One indexed collection. `numbers` and `ids` translate between passages and pages."""

    def __init__(
        self,
        name: str,
        passages: Sequence[Passage],
        folder: Path,
        settings: Settings,
        embedder: Embedder,
        reranker: Reranker | None,
        on_progress: Progress = lambda name, done, total: None,
    ) -> None:
        """Indexes the passages unless `folder` has them already (same texts and settings)."""
        self.name = name
        self.ids = [passage.id for passage in passages]
        self.numbers = {passage_id: number for number, passage_id in enumerate(self.ids, 1)}
        if len(self.numbers) != len(self.ids):
            raise EvaluationError(f"The collection {name!r} uses a passage id twice.")
        self.digest = _digest(passages, settings, embedder)
        place = folder / f"{self.digest[:16]}-{embedder.fingerprint}"
        self.index = Index.create(place, settings, embedder, reranker)
        if any(document.state == "ready" for document in self.index.documents()):
            return
        added = datetime.now(UTC).isoformat(timespec="milliseconds")
        size = sum(len(passage.text) for passage in passages)
        self.index.add(
            Document(self.digest, self.name, "text/plain", size, added, unit="section"),
            [_page(self.digest, number, passage) for number, passage in enumerate(passages, 1)],
            lambda done, total: on_progress(name, done, total),
        )

    @property
    def document(self) -> Document:
        return self.index.documents()[0]

    def close(self) -> None:
        self.index.close()


def _page(document_id: str, number: int, passage: Passage) -> ParsedPage:
    text = f"{passage.title}\n\n{passage.text}" if passage.title else passage.text
    # A heading on every page, even without a title, else the last title would be carried on.
    heading = Heading(start=0, level=1, title=passage.title)
    return ParsedPage(Page(document_id, number, passage.title, text, headings=(heading,)))


def _digest(passages: Sequence[Passage], settings: Settings, embedder: Embedder) -> str:
    """Changes with all that chunks and vectors depend on, so that no stale ones are used."""
    content = json.dumps(
        [
            _LAYOUT,
            inspect.getsource(chunking),
            inspect.getsource(searched_text),
            largest(settings.chunk_tokens, embedder.max_tokens),
            settings.chunk_overlap,
            [(passage.id, passage.title, passage.text) for passage in passages],
        ]
    )
    return hashlib.sha256(content.encode()).hexdigest()
