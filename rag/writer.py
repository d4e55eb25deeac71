"""The arguments of `finish`, while they arrive -> the text that the user sees grow."""

from __future__ import annotations

from collections.abc import Generator

from rag.draft import Verify, draft
from rag.events import Event, TextDelta, TextReplaced
from rag.settings import Unsupported

STEP = 6
SHARE = 128
"""The text is made anew after `STEP` more characters of arguments, or a `SHARE`th of them: else a
long answer that arrives letter by letter is read from its beginning thousands of times."""


class Writer:
    def __init__(self, verify: Verify, unsupported: Unsupported) -> None:
        self._verify = verify
        self._unsupported = unsupported
        self._shown = ""
        self._read = 0

    def grow(self, arguments: str) -> Generator[Event]:
        """What the arguments so far add to the text; nothing if they begin another text."""
        if 0 <= len(arguments) - self._read < max(STEP, len(arguments) // SHARE):
            return
        self._read = len(arguments)
        text = draft(arguments, self._verify, growing=True, unsupported=self._unsupported).text
        if text.startswith(self._shown) and text != self._shown:
            yield TextDelta(text[len(self._shown) :])
            self._shown = text

    def settle(self, text: str) -> Generator[Event]:
        """Show the final text: what is missing of it, or all of it when it became another."""
        if not text.startswith(self._shown):
            yield TextReplaced(text)
        elif text != self._shown:
            yield TextDelta(text[len(self._shown) :])
        self._shown = text

    def withdraw(self) -> Generator[Event]:
        """Take back what was shown."""
        self._read = 0
        if self._shown:
            yield TextReplaced("")
            self._shown = ""
