"""What passes between the stages of indexing: a document on its way, and parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag.job import Job
from rag.types import Chunk, Document, Warning


@dataclass(slots=True, eq=False)
class Task:
    """One document of a job. The reading stage fills it before it hands anything over."""

    job: Job
    index: int
    """In the job's files."""
    document: Document
    reusable: dict[str, str] = field(default_factory=dict)
    """Searched text -> a passage of the version that will be replaced, which has its vector."""
    written: set[str] = field(default_factory=set)
    """Passages of this very document that an interrupted run has given a vector."""
    truncated: int = 0
    """Passages that the embedder did not read to their end."""
    error: Exception | None = None
    """What broke while its vectors were made."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Part of a document, in the catalog already, that needs vectors."""

    task: Task
    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class ReadWhole:
    """After the last passages of a document that was read from its file."""

    task: Task
    page_count: int
    language: str
    warnings: tuple[Warning, ...]


@dataclass(frozen=True, slots=True)
class FoundWhole:
    """After the last passages of a searchable document whose vectors were missing."""

    task: Task


@dataclass(frozen=True, slots=True)
class Broken:
    """Instead of more passages."""

    task: Task
    error: Exception


@dataclass(frozen=True, slots=True)
class JobOver:
    job: Job


Part = Passages | ReadWhole | FoundWhole | Broken | JobOver
