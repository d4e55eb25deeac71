"""What runs in the child process: requests on stdin, pages on stdout, both pickled."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from rag.errors import FileError
from rag.parse import open_file
from rag.parse.unlock import unlock

MEMORY_BYTES = 6 * 2**30
"""Address space of the child (Linux and macOS). Recognising a page takes 1 GB of it."""


@dataclass(frozen=True, slots=True)
class FileRequest:
    """The reply: a Parsed without pages, each page, None."""

    path: Path
    name: str
    document_id: str
    password: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The reply: the page, None."""

    path: Path
    name: str
    document_id: str
    number: int
    language: str


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """The reply to each request, or an exception instead of what is left of it."""

    def send(value: object) -> None:
        pickle.dump(value, replies, protocol=pickle.HIGHEST_PROTOCOL)
        replies.flush()

    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        name = request.name
        try:
            for reply in _replies(request):
                send(reply)
            send(None)
        except FileError as error:
            send(error)
        except (MemoryError, RecursionError):
            send(FileError("too_large", f"{name!r} needs too much memory. Split it."))
        except Exception as error:  # a parser's own fault: one line, the batch goes on
            send(
                FileError(
                    "unreadable",
                    f"{name!r} could not be read ({type(error).__name__}: {error}). "
                    "Try to re-save it.",
                )
            )


def _replies(request: FileRequest | PageRequest) -> Iterator[object]:
    path, name, document_id = request.path, request.name, request.document_id
    if isinstance(request, PageRequest):
        from rag.parse.ocr import read_page

        yield read_page(path, name, document_id, request.number, request.language)
        return
    if request.password is not None:
        unlock(path, name, request.password)
    parsed = open_file(path, name, document_id)
    yield replace(parsed, pages=iter(()))
    yield from parsed.pages


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no address space limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main() -> None:
    _limit_memory()
    if sys.argv[1:] == ["background"] and hasattr(os, "nice"):
        os.nice(10)
    # Parsers print; the pipe must carry only replies.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(BrokenPipeError):  # the app is gone
        serve(sys.stdin.buffer, output)
