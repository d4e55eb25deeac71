"""Runs the parsers in a child process that can be killed.

A hostile or broken file can crash, hang or fill the memory of its child only; the app goes on
and reports one line. The child is started once and takes one file after another, because
starting Python and importing PyMuPDF takes most of a second.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from rag.errors import Cancelled, FileError
from rag.parse import Parsed, open_file
from rag.parse.unlock import unlock

TIMEOUT_S = 120.0
"""Longest silence of the child: it sends every page as soon as it is read."""
MEMORY_BYTES = 6 * 2**30
"""Address space of the child (Linux and macOS)."""
_POLL_S = 0.1


class ParseWorker:
    """One file at a time; not thread-safe. A context manager."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._child: subprocess.Popen[bytes] | None = None
        self._replies: queue.Queue[Any] = queue.Queue(maxsize=64)

    def __enter__(self) -> ParseWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self._child = None

    def open(
        self,
        path: Path,
        name: str,
        document_id: str,
        cancelled: Callable[[], bool],
        password: str | None = None,
    ) -> Parsed:
        """As `parse.open_file`; also raises FileError("timeout" | "unreadable") and Cancelled.

        With a password, an encrypted PDF is first replaced by its decrypted copy.
        """
        child = self._started()
        assert child.stdin is not None
        try:
            pickle.dump((str(path), name, document_id, password), child.stdin)
            child.stdin.flush()
        except OSError:
            raise self._crashed(name) from None
        parsed: Parsed = self._next(name, cancelled)
        return Parsed(
            parsed.media_type,
            parsed.unit,
            parsed.page_count,
            parsed.warnings,
            self._pages(name, cancelled),
        )

    def _pages(self, name: str, cancelled: Callable[[], bool]) -> Iterator[Any]:
        while (page := self._next(name, cancelled)) is not None:
            yield page

    def _next(self, name: str, cancelled: Callable[[], bool]) -> Any:
        waited = 0.0
        while True:
            try:
                reply = self._replies.get(timeout=_POLL_S)
            except queue.Empty:
                waited += _POLL_S
                if cancelled():
                    self.close()
                    raise Cancelled(f"Reading {name!r} was cancelled.") from None
                if waited >= self._timeout_s:
                    self.close()
                    raise FileError(
                        "timeout",
                        f"{name!r} took longer than {self._timeout_s:.0f} s for one page and was "
                        "given up. Try to re-save it, or split it.",
                    ) from None
                continue
            if isinstance(reply, _Gone):
                raise self._crashed(name)
            if isinstance(reply, BaseException):
                raise reply
            return reply

    def _crashed(self, name: str) -> FileError:
        self.close()
        return FileError(
            "unreadable",
            f"{name!r} could not be read: it crashed the reader or needs too much memory. "
            "Try to re-save it, or split it.",
        )

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._replies = queue.Queue(maxsize=64)
            self._child = subprocess.Popen(
                [sys.executable, "-m", "rag.parse.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
            )
            threading.Thread(
                target=_receive, args=(self._child.stdout, self._replies), daemon=True
            ).start()
        return self._child


class _Gone:
    """The child's output has ended."""


def _receive(pipe: BinaryIO, replies: queue.Queue[Any]) -> None:
    try:
        while True:
            replies.put(pickle.load(pipe))
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        replies.put(_Gone())


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """For each request: a Parsed without pages, each page, None; or an exception instead."""

    def send(value: object) -> None:
        pickle.dump(value, replies, protocol=pickle.HIGHEST_PROTOCOL)
        replies.flush()

    while True:
        try:
            path, name, document_id, password = pickle.load(requests)
        except EOFError:
            return
        try:
            if password is not None:
                unlock(Path(path), name, password)
            parsed = open_file(Path(path), name, document_id)
            send(
                Parsed(parsed.media_type, parsed.unit, parsed.page_count, parsed.warnings, iter(()))
            )
            for page in parsed.pages:
                send(page)
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


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no address space limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    import os

    _limit_memory()
    # Parsers print; the pipe must carry only replies.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.stdin.buffer, output)
