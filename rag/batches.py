"""The user's batches of files: those that run or wait, and the last ones that have ended.

They are kept apart from the threads that index them, so that a page can show what became of them.
"""

from __future__ import annotations

from rag.job import Job

_ENDED = 3
"""Batches that have ended and are still shown."""


class Batches:
    def __init__(self) -> None:
        self._jobs: tuple[Job, ...] = ()
        self._last: Job | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Those that run, wait, or ended and were not dismissed; oldest first."""
        return self._jobs

    @property
    def last(self) -> Job | None:
        """The one that began last, dismissed or not."""
        return self._last

    def begin(self, job: Job) -> Job:
        """Keep it, in place of the oldest of those that ended if there are too many of them."""
        ended = [j for j in self._jobs if j.progress.finished]
        self._jobs = tuple(j for j in (*self._jobs, job) if j not in ended[:-_ENDED])
        self._last = job
        return job

    def dismiss(self, job: Job) -> None:
        """The user has seen what came of it."""
        self._jobs = tuple(j for j in self._jobs if j is not job)
