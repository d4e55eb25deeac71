"""Zip containers (Office, EPUB) under limits: nothing is unpacked to disk, nothing expands.

Python's zipfile never returns more bytes than the directory declares for a member, so a limit on
the declared sizes also bounds what is read. XML is parsed without entities, DTDs and network.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from lxml import etree

from rag.errors import FileError

Element: TypeAlias = Any
"""An element of lxml, which ships no types."""

LIMIT = 200 * 1024 * 1024
"""Bytes that all members may have together, uncompressed."""
RATIO = 200
"""Uncompressed to compressed size. Real documents stay below 100; a bomb is near 1,000."""
RATIO_FROM = 20 * 1024 * 1024
"""Bytes; below this the ratio does not matter."""


class Archive:
    """A zip file whose members are found in any letter case and with any slash.

    Raises FileError: `corrupt` when it is damaged or has a member that cannot be read,
    `too_large` when it expands too much, `password_required` when members are encrypted.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise _damaged(name) from error
        members = self._zip.infolist()
        total = sum(member.file_size for member in members)
        packed = sum(member.compress_size for member in members)
        if total > LIMIT or (total > RATIO_FROM and total > RATIO * packed):
            self._zip.close()
            raise FileError(
                "too_large",
                f"{name!r} would unpack to {total // 2**20:,} MB, more than is safe to read "
                f"({LIMIT // 2**20} MB, or {RATIO} times its size). Split it or export it anew.",
            )
        self._members = {_key(member.filename): member for member in reversed(members)}

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def __contains__(self, member: str) -> bool:
        return _key(member) in self._members

    @property
    def members(self) -> list[str]:
        return [info.filename for info in self._members.values()]

    def read(self, member: str, size: int = -1) -> bytes:
        """The first `size` bytes of a member, all by default."""
        info = self._members.get(_key(member))
        if info is None:
            raise FileError(
                "corrupt", f"{self.name!r} is damaged: its part {member!r} is missing. {_AGAIN}"
            )
        if info.flag_bits & 1:
            raise FileError(
                "password_required",
                f"{self.name!r} is protected with a password. Remove it and add the file again.",
            )
        try:
            with self._zip.open(info) as stream:
                return stream.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise _damaged(self.name) from error

    def xml(self, member: str) -> Element:
        """The root of a member, without comments."""
        try:
            return parse(self.read(member))
        except (etree.XMLSyntaxError, ValueError) as error:
            raise self._bad_xml(error) from error

    def children(self, member: str, parent: str) -> Iterator[Element]:
        """The children of the element `parent` (local name), one after another.

        Each is freed before the next one is read, so that a long document fits into memory.
        """
        stream = io.BytesIO(self.read(member))
        try:
            for _, element in etree.iterparse(
                stream, events=("end",), resolve_entities=False, no_network=True, load_dtd=False,
                remove_comments=True, remove_pis=True,
            ):  # fmt: skip
                above = element.getparent()
                if above is None or local(above) != parent:
                    continue
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del above[0]
        except etree.XMLSyntaxError as error:
            raise self._bad_xml(error) from error

    def refuse_entities(self) -> None:
        """Office files have no DTD; one with a DTD is an attack on what reads it."""
        for member in self.members:
            if member.lower().endswith((".xml", ".rels")):
                start = self.read(member, 4096).replace(b"\0", b"")
                if b"<!DOCTYPE" in start or b"<!ENTITY" in start:
                    raise FileError(
                        "corrupt",
                        f"{self.name!r} defines XML entities, which no Office program writes; "
                        "it was not opened. Save it anew from the program that made it.",
                    )

    def _bad_xml(self, error: Exception) -> FileError:
        return FileError("corrupt", f"{self.name!r} is damaged: {error}. {_AGAIN}")


_AGAIN = "Open it in the program that made it, save it anew and add it again."


def _damaged(name: str) -> FileError:
    return FileError(
        "corrupt",
        f"{name!r} is damaged or incomplete: its zip container cannot be read. "
        "Get the file again, or save it anew.",
    )


def parse(data: bytes) -> Element:
    """The root of an XML text, without comments; entities, DTDs and network stay unused."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    return etree.fromstring(data, parser)


def _key(member: str) -> str:
    return member.replace("\\", "/").lstrip("/").lower()


def local(element: Element) -> str:
    """The tag without its namespace: Strict and Transitional Office files differ only there."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """An attribute by local name, "" when it is missing."""
    for key, value in element.attrib.items():
        if key == name or (key.endswith(name) and key[: -len(name)].endswith("}")):
            return str(value)
    return ""


def child(element: Element | None, *names: str) -> Element | None:
    """The first child with this local name, and so on down the path."""
    for name in names:
        if element is None:
            return None
        element = next((c for c in element if local(c) == name), None)
    return element
