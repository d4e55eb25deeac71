"""Chats in SQLite: questions in, the same questions and their answers out after any restart.

A question is stored before its answer is sought, so a crash, a stop or an error costs the answer
at most. An answer is stored whole, as JSON: what was shown once can be shown again, sources and
receipt included, even when its documents have been deleted since.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag.errors import NotFound
from rag.place import citation_place
from rag.types import Answer, Citation, Receipt, Turn, WebCitation

TITLE_LENGTH = 60
"""Characters of the first question that make a chat's title; about one line of a sidebar."""

_ANSWER = TypeAdapter(Answer)
_DOCUMENTS = TypeAdapter(tuple[str, ...])

_SCHEMA = """
CREATE TABLE IF NOT EXISTS chats (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS exchanges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    documents TEXT NOT NULL,
    asked TEXT NOT NULL,
    answer TEXT,
    error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS exchanges_by_chat ON exchanges(chat_id, id);
"""


@dataclass(frozen=True, slots=True)
class Chat:
    id: str
    title: str
    """ "" until the first question gives it one."""
    created: str
    """UTC, ISO 8601."""
    updated: str
    """When something was last asked or answered in it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer, if one came.

    Neither `answer` nor `error`: it was stopped, or the app ended before the answer was complete.
    """

    id: int
    chat_id: str
    question: str
    asked: str
    documents: tuple[str, ...] = ()
    """Ids of the documents it was limited to; empty means all."""
    answer: Answer | None = None
    error: str = ""


class History:
    """Every chat in one SQLite file. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        with self._lock, self._db:
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def chats(self) -> list[Chat]:
        """All chats, the one used last first."""
        return [_chat(r) for r in self._rows("SELECT * FROM chats ORDER BY updated DESC, rowid")]

    def chat(self, chat_id: str) -> Chat:
        """Raises NotFound."""
        rows = self._rows("SELECT * FROM chats WHERE id = ?", chat_id)
        if not rows:
            raise NotFound("This chat no longer exists. Start a new one.")
        return _chat(rows[0])

    def new(self, title: str = "") -> Chat:
        """An empty chat. Without a title, the first question becomes the title."""
        now = _now()
        chat = Chat(uuid.uuid4().hex, _one_line(title), now, now)
        self._change(
            "INSERT INTO chats (id, title, created, updated) VALUES (?, ?, ?, ?)",
            (chat.id, chat.title, chat.created, chat.updated),
        )
        return chat

    def rename(self, chat_id: str, title: str) -> None:
        """A blank title changes nothing. Raises NotFound."""
        self.chat(chat_id)
        if name := _one_line(title):
            self._change("UPDATE chats SET title = ? WHERE id = ?", (name, chat_id))

    def delete(self, chat_id: str) -> None:
        """Deletes the chat with everything in it; deleting it twice is no error."""
        self._change("DELETE FROM chats WHERE id = ?", (chat_id,))

    def ask(self, chat_id: str, question: str, documents: Sequence[str] = ()) -> Exchange:
        """Stores the question, before any answer is sought. Raises NotFound."""
        chat, now = self.chat(chat_id), _now()
        with self._lock, self._db:
            row = self._db.execute(
                "INSERT INTO exchanges (chat_id, question, documents, asked) VALUES (?, ?, ?, ?)"
                " RETURNING *",
                (chat_id, question, _DOCUMENTS.dump_json(tuple(documents)).decode(), now),
            ).fetchone()
            self._db.execute(
                "UPDATE chats SET updated = ?, title = ? WHERE id = ?",
                (now, chat.title or title_for(question), chat_id),
            )
        return _exchange(row)

    def answered(self, exchange_id: int, answer: Answer) -> None:
        """Replaces an earlier answer or error; does nothing when the chat was deleted meanwhile."""
        self._finish(exchange_id, _ANSWER.dump_json(answer).decode(), "")

    def failed(self, exchange_id: int, message: str) -> None:
        """Like `answered`, with the message that the user saw in place of an answer."""
        self._finish(exchange_id, None, message)

    def exchanges(self, chat_id: str) -> list[Exchange]:
        """Oldest first; empty for an unknown chat."""
        return [
            _exchange(r)
            for r in self._rows("SELECT * FROM exchanges WHERE chat_id = ? ORDER BY id", chat_id)
        ]

    def _rows(self, sql: str, *values: str) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def _change(self, sql: str, values: Sequence[str | int | None]) -> None:
        with self._lock, self._db:
            self._db.execute(sql, values)

    def _finish(self, exchange_id: int, answer: str | None, error: str) -> None:
        with self._lock, self._db:
            self._db.execute(
                "UPDATE exchanges SET answer = ?, error = ? WHERE id = ?",
                (answer, error, exchange_id),
            )
            self._db.execute(
                "UPDATE chats SET updated = ?"
                " WHERE id = (SELECT chat_id FROM exchanges WHERE id = ?)",
                (_now(), exchange_id),
            )


def turns(exchanges: Iterable[Exchange]) -> tuple[Turn, ...]:
    """What a follow-up question may build on: the answered exchanges, oldest first."""
    return tuple(
        Turn(e.question, e.answer.text, e.answer.citations, e.answer.asks_back)
        for e in exchanges
        if e.answer is not None
    )


def title_for(question: str) -> str:
    """The question on one line, cut at a word when it is long."""
    line = _one_line(question)
    if len(line) <= TITLE_LENGTH:
        return line
    head = line[:TITLE_LENGTH]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:.") + "…"


def markdown(chat: Chat, exchanges: Iterable[Exchange]) -> str:
    """The chat as one Markdown document, every source with its name, place and exact quote."""
    blocks = [f"# {_escape(chat.title or 'New chat')}"]
    for exchange in exchanges:
        blocks.append(f"## {_escape(_one_line(exchange.question))}")
        if exchange.answer is None:
            blocks.append(f"*{_escape(_one_line(exchange.error) or 'Not answered: stopped.')}*")
            continue
        blocks.append(_still(exchange.answer.text))
        blocks.extend(_source(n, c) for n, c in enumerate(exchange.answer.citations, 1))
        blocks.extend(_web_source(n, w) for n, w in enumerate(exchange.answer.web, 1))
        blocks.append(f"*{_escape(_origin(exchange.answer.receipt))}*")
    return "\n\n".join(blocks) + "\n"


def _source(number: int, citation: Citation) -> str:
    place = _escape(citation_place(citation))
    return f"**\\[{number}\\] {_escape(citation.name)}**, {place}\n\n{_quoted(citation.quote)}"


def _web_source(number: int, page: WebCitation) -> str:
    """The address as text: nothing is a link that the user did not make one."""
    where = f"from the web, `{page.url.replace('`', '%60')}`, {page.fetched[:10]}"
    return f"**\\[W{number}\\] {_escape(page.title)}**, {where}\n\n{_quoted(page.quote)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _origin(receipt: Receipt) -> str:
    engine = (
        f"Answered by {receipt.model}"
        if receipt.engine == "agent"
        else "Answered by the reader, without a language model"
    )
    found = receipt.quotes_verified
    return f"{engine}. Quotes found in the documents: {found} of {found + len(receipt.rejections)}."


def _chat(row: sqlite3.Row) -> Chat:
    return Chat(row["id"], row["title"], row["created"], row["updated"])


def _exchange(row: sqlite3.Row) -> Exchange:
    answer, error = None, row["error"]
    if row["answer"] is not None:
        try:
            answer = _ANSWER.validate_json(row["answer"])
        except ValidationError:
            error = "This answer was stored by another version of Footnote and cannot be shown."
    return Exchange(
        id=row["id"],
        chat_id=row["chat_id"],
        question=row["question"],
        asked=row["asked"],
        documents=_DOCUMENTS.validate_json(row["documents"]),
        answer=answer,
        error=error,
    )


def _still(text: str) -> str:
    """The answer's Markdown without what would load or run when the export is opened."""
    return re.sub(r"!(?=\[)|<", r"\\\g<0>", text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
