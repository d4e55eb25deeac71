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
from rag.parse import Parsed
from rag.parse.child import FileRequest, PageRequest
from rag.types import ParsedPage

TIMEOUT_S = 120.0
"""Longest silence of the child: it sends every page as soon as it is read."""
_POLL_S = 0.1
_CHILD = "from rag.parse.child import main; main()"


class ParseWorker:
    """One file at a time; not thread-safe. A context manager."""

    def __init__(self, timeout_s: float = TIMEOUT_S, *, background: bool = False) -> None:
        """`background`: the child leaves the processor to everything else."""
        self._timeout_s = timeout_s
        self._background = background
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
        self._ask(name, FileRequest(path, name, document_id, password))
        parsed: Parsed = self._next(name, cancelled)
        return Parsed(
            parsed.media_type,
            parsed.unit,
            parsed.page_count,
            parsed.warnings,
            self._pages(name, cancelled),
        )

    def read_page(
        self,
        path: Path,
        name: str,
        document_id: str,
        number: int,
        language: str,
        cancelled: Callable[[], bool],
    ) -> ParsedPage:
        """As `ocr.read_page`; also raises FileError("timeout" | "unreadable") and Cancelled."""
        self._ask(name, PageRequest(path, name, document_id, number, language))
        page: ParsedPage = self._next(name, cancelled)
        self._next(name, cancelled)  # the end of the reply
        return page

    def _ask(self, name: str, request: FileRequest | PageRequest) -> None:
        child = self._started()
        assert child.stdin is not None
        try:
            pickle.dump(request, child.stdin)
            child.stdin.flush()
        except OSError:
            raise self._crashed(name) from None

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
                [sys.executable, "-c", _CHILD, *(["background"] * self._background)],
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
