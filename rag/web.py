"""A query -> web pages as plain text, through Tavily's HTTP interface.

What comes back was written by strangers: it is text to quote from, like a document, and nothing in
it is loaded, rendered or followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from rag.errors import FootnoteError

URL = "https://api.tavily.com/search"
RESULTS = 5
CHARACTERS = 6_000
"""Kept of each page, about 1,500 tokens."""
TIMEOUT_S = 15.0
LONGEST_QUERY = 300


class WebError(FootnoteError):
    """The web could not be searched; holds no key."""


@dataclass(frozen=True, slots=True)
class WebPage:
    url: str
    title: str
    text: str
    fetched: str
    """UTC, ISO 8601."""


class WebSearcher(Protocol):
    def search(self, query: str, timeout_s: float) -> list[WebPage]:
        """Best first. Raises WebError."""
        ...


class Tavily:
    """https://docs.tavily.com: the search that also returns the pages' text."""

    def __init__(self, api_key: str, url: str = URL) -> None:
        self._key = api_key
        self._url = url

    def search(self, query: str, timeout_s: float = TIMEOUT_S) -> list[WebPage]:
        import httpx

        body = {"query": query, "max_results": RESULTS, "include_raw_content": "text"}
        try:
            response = httpx.post(
                self._url,
                json=body,
                headers={"Authorization": f"Bearer {self._key}"},
                timeout=min(timeout_s, TIMEOUT_S),
            )
        except httpx.TimeoutException as error:
            raise WebError("Tavily did not answer in time. Ask again.") from error
        except httpx.HTTPError as error:
            raise WebError(
                f"Tavily cannot be reached: {type(error).__name__}. Check your connection."
            ) from error
        if response.status_code in (401, 403):
            raise WebError("Tavily refused the key. Check TAVILY_API_KEY.")
        if response.status_code in (429, 432, 433):
            raise WebError("Tavily's limit is reached. Wait, or check your plan.")
        if response.status_code != 200:
            raise WebError(f"Tavily failed with status {response.status_code}. Ask again.")
        try:
            value = response.json()
        except ValueError as error:
            raise WebError("Tavily's reply is not JSON. Ask again.") from error
        return _pages(value)


def _pages(value: object) -> list[WebPage]:
    """Results without an http address or without text are left out.

    The part of a page that answers the query stands before its whole text.
    """
    results = value.get("results") if isinstance(value, dict) else None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    pages = []
    for result in results if isinstance(results, list) else []:
        if not isinstance(result, dict):
            continue
        url = _string(result, "url")
        text = "\n\n".join(
            filter(None, (_string(result, "content"), _string(result, "raw_content")))
        )
        if is_web_address(url) and text:
            title = " ".join(_string(result, "title").split()) or url
            pages.append(WebPage(url, title[:200], text[:CHARACTERS], now))
    return pages[:RESULTS]


def is_web_address(url: str) -> bool:
    """Absolute http or https, without a password and without white space."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.username is None
            and not re.search(r"\s", url)
        )
    except ValueError:
        return False


def _string(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    return found.strip() if isinstance(found, str) else ""
