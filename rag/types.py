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

PageKind = Literal["text", "repaired", "ocr", "empty", "suspect", "noisy"]
"""`text`: words were found. `repaired`: their letters had to be worked out, because the fonts do
not say them. `ocr`: words were recognised from the page's picture. `empty`: none (a blank page, or
a picture of text). `suspect`: words that cannot be what the page shows; they are kept, but not
searched. `noisy`: text that somebody recognised from a picture with many errors; it is searched."""

PageRepair = Literal["", "due", "done", "declined", "failed"]
"""Of a page whose picture shows more than its text layer says. `due`: text recognition will read
it, or would if it were on. `done`: it has. `declined`: the user stopped it. `failed`: it broke on
this page, and is not tried again by itself."""

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
    error_code: str = ""
    """Of a failed one, as in `FileError.code`."""


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
    due: bool = False
    """Something is drawn on it that its text does not say: text recognition may read more."""


@dataclass(frozen=True, slots=True)
class PageReport:
    """How the pages of one document were read, by their numbers in order."""

    kinds: Mapping[PageKind, tuple[int, ...]]
    """Every page is in one of them; kinds without a page are left out."""
    tables: tuple[int, ...]
    """Pages with at least one table."""
    repairs: Mapping[PageRepair, tuple[int, ...]]
    """Pages that text recognition was, is or would be for; without the "" of all others."""


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
    """How likely it answers, 0 to 1, as the cross-encoder judges; None when re-ranking is off, and
    for hits that are too far down to be read."""
    document_fit: float = 0.0
    """How well the document's name and opening fit: 1 for the one that fits best, 0 for not at
    all."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search: what was asked, what it found, how long each stage took (seconds)."""

    query: str
    hits: tuple[Hit, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    """Document ids searched; empty means all."""
    implied: bool = False
    """True when nobody chose `documents`: the query names them."""
    glosses: Mapping[str, str] = field(default_factory=dict)
    """The query in other languages of the documents, by ISO 639-1, where it was translated."""

    def asked_in(self, language: str) -> str:
        """The query as documents in that language were asked it."""
        return self.glosses.get(language, self.query)


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
class WebCitation:
    """A verified quote from a web page: it stands in the text that was fetched.

    Kept apart from `Citation`: the page can change or vanish, and nothing of it is in the library.
    """

    url: str
    title: str
    quote: str
    context: str = ""
    """The fetched text around the quote."""
    fetched: str = ""
    """UTC, ISO 8601."""


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """A quote that the model claimed, and what became of it.

    `repaired`: it failed at first, and was found once the model had been told why.
    """

    quote: str
    source: str
    """As the model named it, such as "S1"."""
    outcome: Literal["verified", "repaired", "rejected"]
    reason: str = ""
    """Why it was not found, at first or for good; "" when it was found at once."""


StepKind = Literal[
    "rewrite",
    "summary",
    "expand",
    "model",
    "search",
    "read_page",
    "list_documents",
    "find_in_document",
    "web_search",
    "finish",
    "unknown",
]
"""`rewrite`, `expand` and `model` are calls of the model, `summary` is what it was told of a chat;
the others are tools, of which `unknown` is one that the model made up."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done for an answer: a line of its trace. Tuples are in starting order."""

    kind: StepKind
    arguments: str = ""
    """Of a tool: JSON as it was asked for. Of a model call: ""."""
    result: str = ""
    """What came of it on one line, such as "8 passages, weak" or "2 calls"."""
    at: float = 0.0
    """Seconds after the question was asked."""
    seconds: float = 0.0
    error: str = ""
    """What was wrong: with the arguments, the reply, or the provider."""
    repeated: bool = False
    """A call made before, answered from memory."""
    model: str = ""
    """Of a model call: who was asked."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None when unknown, or when this is no model call."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A model that did not answer, so that the next one in the chain was asked."""

    model: str
    reason: str
    """The error in plain words."""


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
    """The bound that ended the loop ("rounds", "tokens", "seconds", "cost"), or ""."""
    notices: tuple[str, ...] = ()
    """What the user should know: a provider that failed, an engine that took over."""
    rewrite: str = ""
    """The question as it was understood after earlier turns; "" when it stood alone."""
    quotes: tuple[QuoteCheck, ...] = ()
    """Every quote that the model claimed, in the order in which it was checked."""
    steps: tuple[Step, ...] = ()
    """The trace."""
    fallbacks: tuple[Fallback, ...] = ()
    """The models that were asked before the one that answered."""
    prompts: str = ""
    """The version of the prompts: a hash of their files; "" when none was used."""

    @property
    def quotes_repaired(self) -> int:
        return sum(check.outcome == "repaired" for check in self.quotes)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user reads. Marker `[n]` in `text` is `citations[n - 1]`, `[Wn]` is `web[n - 1]`."""

    text: str
    citations: tuple[Citation, ...]
    receipt: Receipt
    refused: bool = False
    """True when the documents do not support an answer; `text` then says so."""
    nearest: tuple[Hit, ...] = ()
    """The closest passages, shown with a refusal."""
    web: tuple[WebCitation, ...] = ()
    """Sources from the web, when the user had turned it on."""
    asks_back: bool = False
    """True when `text` is a question to the user, who asked something too open to answer."""
    ungrounded: bool = False
    """True when no quote supports `text`, and it is shown all the same, because of a setting."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer's text, oldest first, for follow-ups."""

    question: str
    answer: str
    cited: tuple[Citation, ...] = ()
    asks_back: bool = False
    """True when the answer is a question back: the next question replies to it."""
