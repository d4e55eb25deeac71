"""Frozen values that cross module borders. Imports nothing of ours.

Pages are 1-based. Offsets are Python string offsets, half-open: `page.text[start:end]`.
Rectangles are in points, in the page as displayed (after rotation), origin top left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["page", "slide", "sheet", "section"]
"""What a document is divided into. Only a `page` has a number printed on paper."""

PageKind = Literal["text", "empty", "suspect", "noisy"]
"""`text`: words were found. `empty`: none (a blank page, or a picture of text). `suspect`: words
that cannot be what the page shows; they are kept, but not searched. `noisy`: text that was
recognised from a picture with many errors; it is searched."""

DocumentState = Literal["queued", "indexing", "ready", "failed"]
"""`queued`: bytes are kept, not read yet. `indexing`: being read and embedded.
`ready`: searchable. `failed`: `Document.error` says why; never searchable."""


@dataclass(frozen=True, slots=True)
class Warning:
    """Something the user should know about a file that was indexed all the same."""

    code: str
    message: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One file. `id` is the SHA-256 of its bytes in hex: the same bytes are the same document."""

    id: str
    name: str
    media_type: str
    size: int
    """Bytes."""
    added: str
    """UTC, ISO 8601."""
    state: DocumentState = "queued"
    unit: Unit = "page"
    page_count: int = 0
    chunk_count: int = 0
    language: str = ""
    """ISO 639-1 code, or "" when there is too little text to tell."""
    warnings: tuple[Warning, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a page's text; `level` 1 is the highest."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Word:
    """Where `page.text[start:end]` stands; a word split over two lines is two of these."""

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide, sheet or section: what a citation points into.

    `number` is physical. `label` is what a reader sees instead of the number: the printed page
    label, a sheet's name, a section's heading path; "" when there is none.
    """

    document_id: str
    number: int
    label: str
    text: str
    kind: PageKind = "text"
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page with the rectangles of its words; `words` is empty for formats without a layout."""

    page: Page
    words: tuple[Word, ...] = ()
    furniture: tuple[tuple[int, int], ...] = ()
    """Spans at the beginning and the end of the text that are not searched: running headers and
    footers, page numbers."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched: `page.text[start:end] == chunk.text`, always within one page."""

    id: str
    """A UUID derived from document, page and offsets: the same passage has the same id again."""
    document_id: str
    page: int
    start: int
    end: int
    text: str
    heading: str = ""
    """The headings above it, outermost first, joined by " › "."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found, with every score, so that its rank can be explained.

    Ranks are 1-based; None means that this stage did not return the chunk.
    """

    chunk: Chunk
    name: str
    """The document's name."""
    label: str
    """The page's label."""
    unit: Unit
    dense_rank: int | None = None
    dense_score: float | None = None
    """Cosine similarity, -1 to 1."""
    keyword_rank: int | None = None
    keyword_score: float | None = None
    """BM25, unbounded."""
    page_rank: int | None = None
    """The rank of its page by BM25 over whole pages."""
    fused_score: float = 0.0
    """Reciprocal rank fusion, of the chunk's ranks and of its page's."""
    rerank_score: float | None = None
    """The cross-encoder's score; None when re-ranking is off."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search: what was asked, what it found, how long each stage took (seconds)."""

    query: str
    hits: tuple[Hit, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    """Document ids searched; empty means all."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified quote: `quote == page.text[start:end]`. Only `cite.py` builds one."""

    document_id: str
    name: str
    page: int
    label: str
    unit: Unit
    start: int
    end: int
    quote: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A claimed quote that was not found; never shown as a source, counted in the receipt."""

    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an answer came about."""

    engine: Literal["reader", "agent"]
    model: str = ""
    """The litellm model that answered; "" for the reader."""
    searches: tuple[Search, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Per stage; `total` is wall time."""
    quotes_verified: int = 0
    rejections: tuple[Rejection, ...] = ()
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars by litellm's price data; None when the model has no known price."""
    stopped_by: str = ""
    """The bound that ended the loop ("rounds", "tokens", "seconds"), or ""."""
    notices: tuple[str, ...] = ()
    """What the user should know: a provider that failed, an engine that took over."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user reads. Marker `[n]` in `text` is `citations[n - 1]`."""

    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt
    refused: bool = False
    """True when the documents do not support an answer; `text` then says so."""
    nearest: tuple[Hit, ...] = ()
    """The closest passages, shown with a refusal."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer's text, oldest first, for follow-ups."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class SearchStarted:
    query: str


@dataclass(frozen=True, slots=True)
class SearchFinished:
    search: Search


@dataclass(frozen=True, slots=True)
class PageRead:
    name: str
    page: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should see at once, such as "the model did not answer: ..."."""

    message: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event. `answer.text` is authoritative: it replaces the text streamed before."""

    answer: Answer


Event = TextDelta | SearchStarted | SearchFinished | PageRead | Notice | Finished
