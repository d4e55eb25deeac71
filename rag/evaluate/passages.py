"""Collections of passages (a benchmark's own): every passage is one page of one document.

A passage's title is the heading above its text, as it would be in a Markdown file; chunking,
embedding, BM25 and fusion are the app's own. A collection is indexed once, into a folder of its
own beside the library.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rag.catalog import Catalog
from rag.chunk import chunk
from rag.embed import Embedder
from rag.errors import EvaluationError
from rag.language import detect_language
from rag.rerank import Reranker
from rag.retrieve import Retriever, searched_text
from rag.settings import Settings
from rag.store import VectorStore
from rag.types import Document, Heading, Page, ParsedPage

_LAYOUT = 1
"""Counts up when `_page` changes, so that what was indexed before is not used again."""
_BATCH = 64
_SAMPLE = 50

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
        self.digest = _digest(passages, settings)
        place = folder / f"{self.digest[:16]}-{embedder.fingerprint}"
        place.mkdir(parents=True, exist_ok=True)
        self.catalog = Catalog(place / "catalog.db")
        self._store = VectorStore(place / "vectors", embedder.fingerprint, embedder.dimension)
        if not any(document.state == "ready" for document in self.catalog.documents()):
            self._index(passages, settings, embedder, on_progress)
        self.retriever = Retriever(
            self.catalog,
            self._store,
            embedder,
            reranker,
            top_k=settings.top_k,
            candidates=settings.candidates,
        )

    @property
    def document(self) -> Document:
        return self.catalog.documents()[0]

    def close(self) -> None:
        self._store.close()
        self.catalog.close()

    def _index(
        self,
        passages: Sequence[Passage],
        settings: Settings,
        embedder: Embedder,
        on_progress: Progress,
    ) -> None:
        added = datetime.now(UTC).isoformat(timespec="milliseconds")
        size = sum(len(passage.text) for passage in passages)
        self.catalog.add(Document(self.digest, self.name, "text/plain", size, added))
        self.catalog.start(self.digest, "text/plain", "section")
        pages = [_page(self.digest, number, p) for number, p in enumerate(passages, 1)]
        chunks = list(
            chunk(pages, embedder.count_tokens, settings.chunk_tokens, settings.chunk_overlap)
        )
        self.catalog.add_pages(pages, chunks)
        for at in range(0, len(chunks), _BATCH):
            part = chunks[at : at + _BATCH]
            texts = [searched_text("", c.heading, c.text) for c in part]
            self._store.upsert(self.digest, [c.id for c in part], embedder.embed(texts))
            on_progress(self.name, at + len(part), len(chunks))
        sample = "\n".join(passage.text for passage in passages[:_SAMPLE])
        self.catalog.publish(self.digest, len(pages), detect_language(sample), ())


def _page(document_id: str, number: int, passage: Passage) -> ParsedPage:
    text = f"{passage.title}\n\n{passage.text}" if passage.title else passage.text
    # A heading on every page, even without a title, else the last title would be carried on.
    heading = Heading(start=0, level=1, title=passage.title)
    return ParsedPage(Page(document_id, number, passage.title, text, headings=(heading,)))


def _digest(passages: Sequence[Passage], settings: Settings) -> str:
    content = json.dumps(
        [
            _LAYOUT,
            settings.chunk_tokens,
            settings.chunk_overlap,
            [(passage.id, passage.title, passage.text) for passage in passages],
        ]
    )
    return hashlib.sha256(content.encode()).hexdigest()
