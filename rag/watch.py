"""A folder on this computer that the library follows: new, changed, renamed and removed files.

It is looked at again and again, by size and time of each file: no notification service works on
every system and on network drives.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rag.catalog import Catalog
from rag.dropin import distinct, is_junk, name_in, walk
from rag.followed import Followed, Problem, Stamp
from rag.ingest import Upload
from rag.job import Job, Progress
from rag.unzip import members

INTERVAL_S = 3.0
_REST = 20
"""A look that takes t seconds is followed by at least t times this, for very large folders."""
_BATCH = 20
"""Files handed over at once: what the user adds meanwhile waits for no more than these."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    folder: Path
    looked: str = ""
    """When it was last read, UTC, ISO 8601; "" before that."""
    followed: int = 0
    """Files that have been dealt with and are the same since."""
    waiting: int = 0
    """Files that are still being written, or whose turn has not come."""
    progress: Progress | None = None
    """Of the files being indexed."""
    problems: tuple[Problem, ...] = ()
    """The files, and folders inside, that could not be taken."""
    error: str = ""
    """Why nothing can be followed at the moment."""


@dataclass(frozen=True, slots=True)
class _Seen:
    path: Path
    stamp: Stamp


class Watcher:
    """`look` does one round; `start` does so on a thread until `stop`.

    `add` indexes in the background; `delete` and `rename` are the library's, by document id.
    """

    def __init__(
        self,
        folder: Path,
        catalog: Catalog,
        add: Callable[[Sequence[Upload]], Job],
        delete: Callable[[str], None],
        rename: Callable[[str, str], None],
        *,
        leave_out: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.status = WatchStatus(folder)
        self._folder = folder
        self._add = add
        self._leave_out = leave_out
        self._now = now
        self._followed = Followed(folder, catalog, delete, rename)
        self._unsettled: dict[str, Stamp] = {}
        self._missing: set[str] = set()
        self._job: Job | None = None
        self._handed: list[tuple[str, Stamp, int]] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, interval_s: float = INTERVAL_S) -> None:
        def run() -> None:
            while True:
                began = time.monotonic()
                self.look()
                rest = max(interval_s, _REST * (time.monotonic() - began))
                if self._stop.wait(rest):
                    return

        self._thread = threading.Thread(target=run, name="watch", daemon=True)
        self._thread.start()

    def stop(self, *, cancel: bool) -> None:
        """`cancel` also gives up the files being indexed; they are taken again another time."""
        self._stop.set()
        if cancel and self._job is not None:
            self._job.cancel()
        if self._thread is not None:
            self._thread.join(timeout=30)

    @property
    def job(self) -> Job | None:
        """The files of the folder that are being indexed."""
        return self._job

    def look(self) -> None:
        """One round: what came of the files handed over, what is new, what is gone."""
        try:
            seen, hidden, problems = self._scan()
            self._collect()
            differs = self._followed.differs
            changed = {name: file for name, file in seen.items() if differs(name, file.stamp)}
            for name in [n for n, file in changed.items() if not os.access(file.path, os.R_OK)]:
                del changed[name]  # it is not tried until it may be read
                problems.append(Problem(name, f"{name!r} may not be read.", "unreadable"))
            self._hand_over(changed)
            error = self._forget_missing(seen, hidden, changed)
            self._followed.put_right()
        except Exception as failure:  # the disk full, a drive gone: the next look may go well
            self.status = replace(self.status, error=str(failure))
            return
        records = self._followed.records
        self.status = WatchStatus(
            self._folder,
            self._now().isoformat(timespec="seconds"),
            len(records),
            len(changed),
            self._job.progress if self._job else None,
            (*problems, *(p for record in records.values() for p in record.problems)),
            error,
        )

    def _scan(self) -> tuple[dict[str, _Seen], tuple[str, ...], list[Problem]]:
        """The files by their names in the folder, the folders that could not be looked into."""
        found = walk(self._folder, self._leave_out)
        seen = {}
        for path in found.files:
            with suppress(OSError):  # gone since
                stat = path.stat()
                stamp = (stat.st_size, stat.st_mtime_ns)
                seen[name_in(self._folder, path)] = _Seen(path, stamp)
        hidden = tuple(name_in(self._folder, place) for place, _ in found.unreadable)
        problems = [
            Problem(name, f"The folder {name!r} could not be looked into: {reason}.", "unreadable")
            for name, (_, reason) in zip(hidden, found.unreadable, strict=True)
        ]
        return seen, hidden, problems

    def _collect(self) -> None:
        """Records what came of the files handed over, once all of them are dealt with."""
        if self._job is None or not self._job.progress.finished:
            return
        files = iter(self._job.progress.files)
        for name, stamp, count in self._handed:
            self._followed.record(name, stamp, [next(files) for _ in range(count)])
        self._job = None
        self._handed = []

    def _hand_over(self, changed: Mapping[str, _Seen]) -> None:
        """Gives a batch to the library; only files that are as they were at the last look."""
        settled = [n for n, file in changed.items() if self._unsettled.get(n) == file.stamp]
        self._unsettled = {name: file.stamp for name, file in changed.items()}
        if self._job is not None or not settled or self._stop.is_set():
            return
        uploads: list[Upload] = []
        handed: list[tuple[str, Stamp, int]] = []
        top = f"{self._folder.name}/" if self._folder.name else ""
        for name in settled[:_BATCH]:
            file = changed[name]
            taken = self._followed.taken(name) | {upload.name for upload in uploads}
            before = len(uploads)
            for member in members(Upload(top + name, file.path), is_junk):
                uploads.append(replace(member, name=distinct(member.name, taken)))
                taken.add(uploads[-1].name)
            handed.append((name, file.stamp, len(uploads) - before))
        self._followed.handed_over(settled[:_BATCH])
        self._job = self._add(uploads)
        self._handed = handed

    def _forget_missing(
        self, seen: Mapping[str, _Seen], hidden: Sequence[str], changed: Mapping[str, _Seen]
    ) -> str:
        """Why the files that are gone are not taken for removed ones, or ""."""
        records = self._followed.records
        missing = {
            name
            for name in records
            if name not in seen and not any(name.startswith(f"{place}/") for place in hidden)
        }
        if not seen and len(missing) > 1:
            return (
                f"All {len(missing)} files are gone from {str(self._folder)!r} at once, as when a "
                "drive is not connected. Their documents are kept."
            )
        arriving = {file.stamp[0] for file in changed.values()}
        for name in missing & self._missing:  # some programs remove a file to write it anew
            # A renamed file comes back under another name; its document waits for it.
            if records[name].stamp[0] not in arriving:
                self._followed.forget(name)
        self._missing = missing
        return ""
