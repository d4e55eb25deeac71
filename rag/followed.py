"""Which documents came from which file of the watched folder, remembered in the catalog.

Only a document that came from the folder goes with its file, and only when no other file there
holds the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rag.catalog import Catalog
from rag.errors import FootnoteError, NotFound
from rag.job import FileProgress

_MEMORY = "watched"

Stamp = tuple[int, int]
"""Bytes, and the time of the last change in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or a file of an archive, that could not be taken."""

    name: str
    message: str
    code: str
    """As in `FileError.code`."""


@dataclass(frozen=True, slots=True)
class Record:
    """A file as it was handed over, and what came of it."""

    stamp: Stamp
    owned: Mapping[str, str] = field(default_factory=dict)
    """The documents that it brought in, with the names it gives them; several for an archive."""
    problems: tuple[Problem, ...] = ()


class Followed:
    """Files are named by their path in the folder. `delete` and `rename` are the library's."""

    def __init__(
        self,
        folder: Path,
        catalog: Catalog,
        delete: Callable[[str], None],
        rename: Callable[[str, str], None],
    ) -> None:
        self.records: dict[str, Record] = {}
        self._folder = folder
        self._catalog = catalog
        self._delete, self._rename = delete, rename
        self._orphans: set[str] = set()
        self._interrupted: set[str] = set()
        self._stale = True
        """Whether documents may have to go, or be named anew."""
        self._recall()

    def differs(self, name: str, stamp: Stamp) -> bool:
        """Whether a file is new, or another than the one that was handed over."""
        return name not in self.records or self.records[name].stamp != stamp

    def taken(self, name: str) -> set[str]:
        """The names of documents that came from other files than this one."""
        others = (record for other, record in self.records.items() if other != name)
        return {document for record in others for document in record.owned.values()}

    def handed_over(self, names: Iterable[str]) -> None:
        """Notes, before the library gets them, which files it is about to index."""
        self._interrupted.update(names)
        self._save()

    def record(self, name: str, stamp: Stamp, files: Sequence[FileProgress]) -> None:
        """What came of a file: one document, or several for an archive."""
        if any(file.state == "cancelled" for file in files):
            return  # it is taken again at another look
        earlier = self.records.get(name, Record((0, 0)))
        owned = {f.document_id: f.name for f in files if f.document_id and self._is_ours(name, f)}
        problems = tuple(
            Problem(file.name, file.message, file.error_code)
            for file in files
            if file.state == "failed"
        )
        if problems:
            owned = {**earlier.owned, **owned}  # the last version that could be read stays
        if any(file.state == "replaced" for file in files):
            # Another file with the bytes of the old version has lost its document with it.
            for other in [n for n, r in self.records.items() if n != name and _share(r, earlier)]:
                del self.records[other]
        self.records[name] = Record(stamp, owned, problems)
        self._orphans |= set(earlier.owned) - set(owned)
        self._interrupted.discard(name)
        self._stale = True

    def forget(self, name: str) -> None:
        """A file that is gone."""
        self._orphans.update(self.records.pop(name).owned)
        self._stale = True

    def put_right(self) -> None:
        """Documents without a file go, those of a renamed file get its name."""
        if not self._stale:
            return
        names: dict[str, list[str]] = {}
        for record in self.records.values():
            for document_id, name in record.owned.items():
                names.setdefault(document_id, []).append(name)
        self._orphans -= set(names)
        for document_id in sorted(self._orphans):
            try:
                self._delete(document_id)
            except NotFound:
                pass
            except FootnoteError:  # it is being indexed: the next look tries again
                continue
            self._orphans.discard(document_id)
        for document in self._catalog.documents():
            if document.id in names and document.name not in names[document.id]:
                self._rename(document.id, names[document.id][0])
        self._stale = bool(self._orphans)
        self._save()

    def _is_ours(self, name: str, file: FileProgress) -> bool:
        """Not a document that was in the library before, unless it came from this folder."""
        if file.state != "duplicate":
            return True
        owners = (self._orphans, *(record.owned for record in self.records.values()))
        if any(file.document_id in owned for owned in owners):
            return True
        with suppress(NotFound):  # it was indexed, but the end came before that was noted
            known = self._catalog.document(file.document_id)
            return name in self._interrupted and known.name == file.name
        return False

    def _save(self) -> None:
        state = {
            "folder": str(self._folder),
            "files": {name: asdict(record) for name, record in self.records.items()},
            "orphans": sorted(self._orphans),
            "handed": sorted(self._interrupted),
        }
        self._catalog.save_setting(_MEMORY, json.dumps(state))

    def _recall(self) -> None:
        state = json.loads(self._catalog.setting(_MEMORY) or "{}")
        if state.get("folder") != str(self._folder):
            return
        self._orphans = set(state["orphans"])
        self._interrupted = set(state["handed"])
        for name, record in state["files"].items():
            size, changed = record["stamp"]
            problems = tuple(Problem(**problem) for problem in record["problems"])
            self.records[name] = Record((size, changed), record["owned"], problems)


def _share(one: Record, other: Record) -> bool:
    return not set(one.owned).isdisjoint(other.owned)
