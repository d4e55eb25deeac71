"""A ZIP archive of documents -> an upload for each member, under limits; nothing is unpacked.

A member is read when its turn comes. What cannot be taken becomes an upload too, one that fails
when it is read, so that it has its line in the summary.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rag.errors import FileError, FileErrorCode
from rag.ingest import Upload
from rag.parse.archive import RATIO, RATIO_FROM
from rag.parse.detect import DOCUMENT_PARTS

MAX_FILES = 10_000
MAX_BYTES = 4 * 2**30
"""That all members may have together, uncompressed."""
_MAX_DIRECTORY = 16 * 2**20
"""Bytes of an archive's table of contents; reading it takes many times as much memory."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A source that is never read: its turn is its failure."""

    code: FileErrorCode
    message: str
    size: int = 0

    def read(self) -> bytes:
        raise FileError(self.code, self.message)


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside an archive, which stays open as long as one of its members is wanted."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    name: str

    @property
    def size(self) -> int:
        """Bytes, as the archive declares them; `zipfile` never returns more."""
        return self.info.file_size

    def read(self) -> bytes:
        """Raises FileError."""
        try:
            return self.archive.read(self.info)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise FileError(
                "corrupt",
                f"{self.name!r} is damaged inside its ZIP archive ({error}). Get that again.",
            ) from error
        except NotImplementedError as error:
            raise FileError(
                "unsupported_type",
                f"{self.name!r} is packed in a way that cannot be read here ({error}). Unpack the "
                "archive and add the file itself.",
            ) from error


def members(upload: Upload, left_out: Callable[[str], bool]) -> Iterator[Upload]:
    """The files in an archive, or the upload itself when it is not an archive.

    Those for which `left_out` is true have no line of their own. Only a name ending in .zip is
    taken for an archive: a damaged Office file would otherwise be added as its parts.
    """
    archive = _open(upload)
    if not isinstance(archive, zipfile.ZipFile):
        yield upload if archive is None else replace(upload, source=archive)
        return
    infos = [info for info in archive.infolist() if not info.is_dir()]
    prefix = _prefix(upload.name, infos)
    wanted = [(info, name) for info in infos if not left_out(name := prefix + _name(info))]
    locked = sum(info.flag_bits & 1 for info, _ in wanted)
    if locked:
        yield replace(upload, source=_locked(upload.name, locked, len(wanted)))
    for info, name in wanted:
        if name.lower().endswith(".zip"):
            yield Upload(name, _nested(name))
        elif not info.flag_bits & 1:
            yield Upload(name, Member(archive, info, name))


def _open(upload: Upload) -> zipfile.ZipFile | Refused | None:
    """The open archive, why it is refused, or None for a file that is not one."""
    source = upload.source
    if not upload.name.lower().endswith(".zip") or not isinstance(source, bytes | Path):
        return None
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
            start = stream.read(2)
            size = _directory_size(stream)
        if start != b"PK" and size == 0:
            return None  # named .zip, but something else
        if size > _MAX_DIRECTORY:
            return _too_many(upload.name)
        archive = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return Refused(
            "corrupt",
            f"{upload.name!r} is damaged or incomplete: it cannot be opened as a ZIP archive. Get "
            "it again.",
        )
    except OSError:
        return None  # indexing it says why
    names = {name.lower() for name in archive.namelist()}
    is_document = not names.isdisjoint(DOCUMENT_PARTS)
    refused = None if is_document else _refusal(archive, upload.name)
    if not is_document and refused is None:
        return archive
    archive.close()
    return refused


def _directory_size(stream: io.BufferedIOBase | io.BytesIO) -> int:
    """Bytes of the table of contents, by the record at the archive's end; 0 when there is none."""
    end = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, end - 2**16 - 512))
    tail = stream.read()
    stream.seek(0)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + 22:
        return 0
    size: int = struct.unpack_from("<L", tail, at + 12)[0]
    large = tail.rfind(b"PK\6\6", 0, at)
    if size == 0xFFFFFFFF and large >= 0:
        size = struct.unpack_from("<Q", tail, large + 40)[0]
    return max(size, 1)


def _refusal(archive: zipfile.ZipFile, name: str) -> Refused | None:
    infos = archive.infolist()
    total = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if len(infos) > MAX_FILES:
        return _too_many(name)
    if total > MAX_BYTES or (total > RATIO_FROM and total > RATIO * packed):
        return Refused(
            "too_large",
            f"{name!r} would unpack to {total // 2**20:,} MB, more than is safe "
            f"({MAX_BYTES // 2**30} GB, or {RATIO} times its size). Unpack it and add the folder.",
        )
    if not infos:
        return Refused("empty_file", f"{name!r} is an empty ZIP archive.")
    return None


def _too_many(name: str) -> Refused:
    return Refused(
        "too_large",
        f"{name!r} holds more than {MAX_FILES:,} files. Unpack it and add its folders one after "
        "another.",
    )


def _locked(name: str, locked: int, count: int) -> Refused:
    what = "is protected" if locked == count else f"has {locked} of {count} files protected"
    return Refused(
        "password_required",
        f"{name!r} {what} with a password. Unpack it and add the files themselves.",
    )


def _nested(name: str) -> Refused:
    return Refused(
        "unsupported_type",
        f"{name!r} is a ZIP archive inside another. Unpack it and add the files in it.",
    )


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name. Many programs write UTF-8 without saying so, which then reads as cp437."""
    name = info.filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with suppress(UnicodeError):  # an old archive: its names are as they were
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/").lstrip("/")


def _prefix(name: str, infos: Sequence[zipfile.ZipInfo]) -> str:
    """What stands before the members' names: the archive's, unless their own folder says it."""
    path = PurePosixPath(name[: -len(".zip")])
    said = all(_name(info).split("/")[0] == path.name for info in infos)
    place = path.parent if said else path
    return "" if place == PurePosixPath() else f"{place}/"
