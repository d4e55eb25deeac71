"""What was dropped in -> the files to index: folders are walked, ZIP archives are opened."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rag.errors import FootnoteError
from rag.ingest import Upload, shown
from rag.unzip import MAX_FILES, Refused, members

_SYSTEM_FILES = {"thumbs.db", "desktop.ini", ".ds_store", "icon\r"}
_UNFINISHED = (".part", ".partial", ".crdownload")


@dataclass(frozen=True, slots=True)
class DropIn:
    uploads: tuple[Upload, ...]
    skipped: tuple[str, ...] = ()
    """Names of what is no document of the user's: hidden and system files, locks, downloads that
    are not complete. A hidden folder on disk is named once, whatever it holds."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The files below a folder, in order of their paths."""

    files: tuple[Path, ...]
    skipped: tuple[str, ...]
    unreadable: tuple[tuple[Path, str], ...]
    """Folders that cannot be looked into, and why."""


def drop_in(uploads: Iterable[Upload]) -> DropIn:
    """Files as a browser hands them over: those of a chosen folder have its path in their names."""
    taken: list[Upload] = []
    skipped: list[str] = []
    for upload in uploads:
        if is_junk(upload.name):
            skipped.append(upload.name)
        else:
            taken.append(upload)
    return _opened(taken, skipped)


def from_path(text: str, leave_out: Path) -> DropIn:
    """A folder or a file on this computer, by its path as a person types or pastes it.

    Files of a folder have its name in theirs, as when it is chosen in a browser. Raises
    FootnoteError when there is none, or the folder cannot be read.
    """
    path = pasted(text)
    if path.is_dir():
        return folder(path, f"{path.name}/" if path.name else "", leave_out)
    if not path.exists():
        raise FootnoteError(f"There is no folder or file {str(path)!r} on this computer.")
    return drop_in([Upload(path.name, path)])


def pasted(text: str) -> Path:
    """An absolute path; quotes around it, as Windows copies them, are dropped."""
    return Path(text.strip().strip("\"'")).expanduser().absolute()


def folder(path: Path, prefix: str = "", leave_out: Path | None = None) -> DropIn:
    """All files below a folder on this computer, named `prefix` and their path inside it.

    `leave_out` is a folder that is not looked into: Footnote's own. Raises FootnoteError when the
    folder cannot be read, or holds more than MAX_FILES.
    """
    found = walk(path, leave_out)
    uploads = [Upload(prefix + name_in(path, file), file) for file in found.files]
    for place, reason in found.unreadable:
        name = prefix + name_in(path, place)
        message = f"The folder {name!r} could not be looked into: {reason}."
        uploads.append(Upload(name, Refused("unreadable", message)))
    return _opened(uploads, list(found.skipped))


def walk(path: Path, leave_out: Path | None = None) -> Walk:
    """Every file below `path`; links to folders are not followed. Raises FootnoteError."""
    files: list[Path] = []
    skipped: list[str] = []
    unreadable: list[tuple[Path, str]] = []

    def note(error: OSError) -> None:
        reason = error.strerror or "it cannot be read"
        place = Path(error.filename or path)
        if place == path:
            raise FootnoteError(f"The folder {str(path)!r} cannot be read: {reason}.") from error
        unreadable.append((place, reason))

    left_out = leave_out.resolve() if leave_out else None
    for place, folders, names in os.walk(path, onerror=note):
        here = Path(place)
        inner = sorted(f for f in folders if (here / f).resolve() != left_out)
        folders[:] = [f for f in inner if not is_junk(f"/{f}")]
        skipped += [name_in(path, here / f) for f in inner if f not in folders]
        for name in names:
            if is_junk(f"/{name}"):
                skipped.append(name_in(path, here / name))
            elif (here / name).is_file():
                files.append(here / name)
        if len(files) > MAX_FILES:
            raise FootnoteError(
                f"The folder {str(path)!r} holds more than {MAX_FILES:,} files. Take the folders "
                "inside it one after another."
            )
    return Walk(tuple(sorted(files)), tuple(skipped), tuple(unreadable))


def name_in(top: Path, path: Path) -> str:
    """A path below `top`, the same on every system; bytes that are no text are replaced."""
    inside = path.relative_to(top).as_posix()
    return inside.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_junk(name: str) -> bool:
    """Whether a file is not the user's own document.

    A hidden file is, inside a folder or an archive; who picks one by itself means it.
    """
    *above, last = name.replace("\\", "/").split("/")
    plain = last.lower()
    return (
        any(_hidden(part) for part in above)
        or (bool(above) and _hidden(last))
        or "__MACOSX" in (*above, last)
        or plain in _SYSTEM_FILES
        or plain.startswith(("~$", "._"))
        or plain.endswith(_UNFINISHED)
    )


def _hidden(part: str) -> bool:
    return part.startswith(".") and part not in (".", "..")


def _opened(uploads: Iterable[Upload], skipped: list[str]) -> DropIn:
    def left_out(name: str) -> bool:
        if is_junk(name):
            skipped.append(name)
            return True
        return False

    taken = [member for upload in uploads for member in members(upload, left_out)]
    return DropIn(tuple(_distinct(taken)), tuple(skipped))


def _distinct(uploads: Iterable[Upload]) -> Iterator[Upload]:
    """A dropped folder comes without its paths, so its files may share their names."""
    taken: set[str] = set()
    for upload in uploads:
        name = distinct(upload.name, taken)
        taken.add(name)
        yield replace(upload, name=name)


def distinct(name: str, taken: Container[str]) -> str:
    """A name that is not taken, because a file replaces the earlier one of its name.

    Names are compared as they are shown: what two of them differ in may not be.
    """
    found = shown(name)
    path = PurePosixPath(found)
    number = 1
    while found in taken:
        number += 1
        found = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    return found
