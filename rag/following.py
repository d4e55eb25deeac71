"""Which folder the library follows, if any: FOOTNOTE_WATCH's, or the one the user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag.catalog import Catalog
from rag.errors import FootnoteError
from rag.ingest import Upload
from rag.job import Job
from rag.settings import Settings
from rag.watch import Watcher, WatchStatus

_MEMORY = "watch"


class Following:
    """Nothing is followed before `start`: a single command does not live long enough."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        add: Callable[[Sequence[Upload]], Job],
        delete: Callable[[str], None],
        rename: Callable[[str, str], None],
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._add, self._delete, self._rename = add, delete, rename
        self._watcher: Watcher | None = None

    @property
    def status(self) -> WatchStatus | None:
        """None while no folder is followed."""
        return None if self._watcher is None else self._watcher.status

    @property
    def job(self) -> Job | None:
        """The files of the folder that are being indexed."""
        return None if self._watcher is None else self._watcher.job

    def start(self) -> None:
        """Follow the folder that the setting or the user named, if there is one."""
        chosen = self._catalog.setting(_MEMORY)
        folder = self._settings.watch or (Path(chosen) if chosen else None)
        if folder is not None and self._watcher is None:
            self._watcher = Watcher(
                folder,
                self._catalog,
                self._add,
                self._delete,
                self._rename,
                leave_out=self._settings.data,
            )
            self._watcher.start()

    def choose(self, folder: Path | None) -> None:
        """Follow another folder from now on, or none; it is remembered. Documents stay.

        Raises FootnoteError for what is no folder of the user's. FOOTNOTE_WATCH comes before it.
        """
        if folder is not None:
            folder = _checked(folder, self._settings.data)
        self.stop(cancel=True)
        self._catalog.save_setting(_MEMORY, None if folder is None else str(folder))
        self.start()

    def stop(self, *, cancel: bool) -> None:
        """`cancel` also gives up the files being indexed; else they are finished later."""
        if self._watcher is not None:
            self._watcher.stop(cancel=cancel)
            self._watcher = None


def _checked(folder: Path, data: Path) -> Path:
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise FootnoteError(f"There is no folder {str(folder)!r} on this computer.")
    if data.resolve() in (folder.resolve(), *folder.resolve().parents):
        raise FootnoteError(f"{str(folder)!r} is in Footnote's own data folder. Choose another.")
    return folder
