"""Every error of ours. The message is written for the user: what failed, on what, what to do.

FootnoteError
├── SettingsError          a setting has no usable value
├── DataFolderError        the data folder cannot be used
│   └── DataFolderInUse    another process has it open
├── FileError              one file cannot be indexed (`code` names the kind)
├── NotFound               no such document, page or chat
├── ModelError             an embedder or re-ranker cannot be loaded
├── LLMError               the language model did not answer
│   ├── ToolsRefused       it does not accept tool calls
│   └── PromptTooLong      its context does not hold what it was sent
├── EvaluationError        a question set or a run cannot be used
└── Cancelled              the user stopped it
"""

from __future__ import annotations

from typing import Literal

FileErrorCode = Literal[
    "empty_file",
    "unsupported_type",
    "corrupt",
    "password_required",
    "wrong_password",
    "no_pages",
    "no_text",
    "too_large",
    "timeout",
    "unreadable",
]


class FootnoteError(Exception):
    """Base of all; `str(error)` can be shown to the user as it is."""


class SettingsError(FootnoteError):
    pass


class DataFolderError(FootnoteError):
    pass


class DataFolderInUse(DataFolderError):
    pass


class FileError(FootnoteError):
    """`code` is for programs, the message for people; the message names the file."""

    def __init__(self, code: FileErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: FileErrorCode = code

    def __reduce__(self) -> tuple[type[FileError], tuple[FileErrorCode, str]]:
        return type(self), (self.code, str(self))  # it crosses a process border


class NotFound(FootnoteError):
    pass


class ModelError(FootnoteError):
    pass


class LLMError(FootnoteError):
    pass


class ToolsRefused(LLMError):
    pass


class PromptTooLong(LLMError):
    pass


class EvaluationError(FootnoteError):
    pass


class Cancelled(FootnoteError):
    pass
