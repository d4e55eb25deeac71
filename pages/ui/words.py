"""Values in words: what the screens say about files, receipts and searches. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from rag.draft import UNVERIFIED
from rag.explain import matched_words
from rag.place import citation_place, hit_place
from rag.tongue import name
from rag.types import Citation, Document, Hit, Receipt, Search, Unit, WebCitation

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$~:])")
_ADDRESS = re.compile(r"(?:https?|ftp)\\:|\bwww(?=\.)", re.IGNORECASE)
_JOINER = "\u2060"
"""Has no width. An address with it inside is not turned into a link, which an escape allows."""
MOST_NAMED = 4
"""Documents that a narrowed search lists by name."""

_STAGES = {
    "keyword": "by words",
    "embed": "embedding the question",
    "dense": "by meaning",
    "fuse": "merging",
    "rerank": "re-ranking",
    "rewrite": "Understanding the question",
    "expand": "Finding other wordings",
    "search": "Searching",
    "read": "Reading",
    "web": "Searching the web",
    "model": "Language model",
    "verify": "Checking quotes",
    "total": "In all",
}


def plain(text: str) -> str:
    """Text that Markdown shows as it is: names and queries come from outside."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def lines(text: str) -> str:
    """Like `plain`, but what stood on its own line still does."""
    return "\n\n".join(plain(line) for line in text.splitlines() if line.strip())


def streaming(text: str) -> str:
    """An unfinished answer as Markdown that can load nothing: no images, links, HTML or maths."""
    still = re.sub(r"([\[\]<$:])", r"\\\1", text)
    still = _ADDRESS.sub(f"\\g<0>{_JOINER}", still)
    still = re.sub(r"\\\[(W?)(\d{1,3})\\\]", _badge, still)
    return still.replace(UNVERIFIED, ":orange-badge[no source]")


def _badge(marker: re.Match[str]) -> str:
    return f":gray-badge[{'web ' if marker[1] else ''}{marker[2]}]"


def size(count: int) -> str:
    """Bytes, as people write them."""
    amount = float(count)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def many(count: int, one: str, plural: str = "") -> str:
    """ "1 page", "2 pages", "1,204 pages"."""
    return f"{count:,} {one if count == 1 else plural or one + 's'}"


def pages(count: int, unit: Unit) -> str:
    return many(count, unit)


def day(moment: str) -> str:
    """An ISO 8601 moment as the local date."""
    return f"{datetime.fromisoformat(moment).astimezone():%d %b %Y}"


def moment(iso: str) -> datetime:
    """For a table's date column, in local time."""
    return datetime.fromisoformat(iso).astimezone().replace(tzinfo=None)


def about(document: Document) -> str:
    """One line under a document's name."""
    parts = [pages(document.page_count, document.unit), many(document.chunk_count, "passage")]
    if document.language:
        parts.append(f"language {document.language}")
    return " · ".join([*parts, size(document.size), f"added {day(document.added)}"])


def source_label(number: int, citation: Citation) -> str:
    return f"[{number}] {shorten(citation.name)} · {citation_place(citation)}"


def web_label(number: int, page: WebCitation) -> str:
    """The address goes before the title: it is what tells whose words these are."""
    site = urlsplit(page.url).hostname or page.url
    return f"[web {number}] {shorten(site)}" + (f" · {shorten(page.title)}" if page.title else "")


def nearest_label(hit: Hit) -> str:
    return f"{shorten(hit.name)} · {hit_place(hit)}"


def shorten(name: str, length: int = 40) -> str:
    """A long file name without its middle: beginning and ending tell files apart."""
    if len(name) <= length:
        return name
    tail = length // 3
    return f"{name[: length - tail - 1].rstrip()}…{name[-tail:].lstrip()}"


def preview(text: str, length: int = 240) -> str:
    """The beginning of a passage on one line, without the marks of headings and tables."""
    text = re.sub(r"^#{1,6} |^\|[ :|-]+\|$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\| *| *\|$", "", text, flags=re.MULTILINE).replace(" | ", " · ")
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def summary(receipt: Receipt) -> str:
    """The receipt on one line, for the fold that hides the rest of it."""
    engine = receipt.model if receipt.engine == "agent" else "Reader, no language model"
    parts = [engine, quotes(receipt), many(len(receipt.searches), "search", "searches")]
    if total := receipt.seconds.get("total"):
        parts.append(seconds(total))
    if receipt.engine == "agent":
        parts.append(cost(receipt))
    return " · ".join(parts)


def quotes(receipt: Receipt) -> str:
    found = receipt.quotes_verified
    if not found and not receipt.rejections:
        return "no quotes"
    return f"{found} of {found + len(receipt.rejections)} quotes found in your files"


def cost(receipt: Receipt) -> str:
    if receipt.cost is None:
        return "price not known"
    return "free" if receipt.cost == 0 else f"${receipt.cost:.4f}"


def seconds(amount: float) -> str:
    return f"{amount * 1000:.0f} ms" if amount < 0.1 else f"{amount:.1f} s"


def stages(spent: Mapping[str, float]) -> dict[str, str]:
    """Each stage with its time, in the order in which they ran."""
    return {_STAGES.get(name, name): seconds(amount) for name, amount in spent.items()}


def found(search: Search) -> str:
    """What a search was for, where, and what it brought."""
    where = f" in {many(len(search.documents), 'document')}" if search.documents else ""
    return f"“{plain(search.query)}”{where}: {many(len(search.hits), 'passage')}"


def narrowed(search: Search, names: Mapping[str, str]) -> str:
    """That only the documents were searched that the question means; `names` by document id."""
    only = [names.get(i, "a deleted document") for i in search.documents]
    named, more = ", ".join(only[:MOST_NAMED]), len(only) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return f"Searched only in {plain(named)}{rest}, which the question is about."


def search_time(search: Search) -> str:
    """The stages of a search on one line."""
    return ", ".join(f"{name} {time}" for name, time in stages(search.seconds).items())


def translated(search: Search) -> str:
    """How documents in other languages were asked the question; "" when none was."""
    said = [f"in {name(code)}: “{plain(text)}”" for code, text in search.glosses.items()]
    return f"Searched, translated word by word, {'; '.join(said)}." if said else ""


def hit_rows(search: Search) -> list[dict[str, Any]]:
    """A table of hits; a score stays empty for a stage that did not return the passage."""
    rows: list[dict[str, Any]] = [
        {
            "Rank": rank,
            "Document": hit.name,
            "Place": hit_place(hit),
            "By meaning": hit.dense_score,
            "By words": hit.keyword_score,
            "Merged": hit.fused_score,
            "Re-ranked": hit.rerank_score,
            "Your words in it": ", ".join(matched_words(search, hit)),
            "Passage": preview(hit.chunk.text),
        }
        for rank, hit in enumerate(search.hits, 1)
    ]
    if all(hit.rerank_score is None for hit in search.hits):
        for row in rows:
            del row["Re-ranked"]
    return rows


def document_rows(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """The library's table."""
    return [
        {
            "Name": d.name,
            "State": [STATES[d.state]],
            "Pages": pages(d.page_count, d.unit) if d.page_count else "",
            "Passages": d.chunk_count or None,
            "Notes": len(d.warnings) or None,
            "Language": d.language,
            "Size": size(d.size),
            "Added": moment(d.added),
        }
        for d in documents
    ]


STATES = {"queued": "Waiting", "indexing": "Reading", "ready": "Ready", "failed": "Failed"}
