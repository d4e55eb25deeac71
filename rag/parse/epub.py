"""E-books -> sections of all chapters in reading order."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

from rag.errors import FileError
from rag.parse import html
from rag.parse.archive import Archive, Element, attribute, local
from rag.parse.charset import decode
from rag.parse.sections import Block, Reading, compose, sections
from rag.types import Warning

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def read(path: Path, name: str) -> Reading:
    blocks: list[Block] = []
    warnings: dict[Warning, None] = {}
    hidden = 0
    with Archive(path, name) as archive:
        protected = _protected(archive)
        for member in _spine(archive):
            if member in protected:
                raise FileError(
                    "password_required",
                    f"{name!r} is copy-protected (DRM), so its text cannot be read. "
                    "Add an unprotected edition.",
                )
            data = archive.read(member)
            text, notes = decode(data, html.declared_charset(data))
            converter = html.convert(text)
            blocks.extend(converter.blocks)
            hidden += converter.hidden
            warnings.update(dict.fromkeys(notes))
    text, marks = compose(blocks)
    return Reading("section", sections(text, marks), (*warnings, *html.hidden_warning(hidden)))


def _spine(archive: Archive) -> list[str]:
    """The chapters' members, in reading order; a chapter that is missing is damage."""
    package = next(
        (
            attribute(element, "full-path")
            for element in archive.xml(_CONTAINER).iter()
            if local(element) == "rootfile"
        ),
        "",
    )
    root = archive.xml(package)
    folder = posixpath.dirname(package)
    items = {attribute(e, "id"): e for e in root.iter() if local(e) == "item"}
    chapters = []
    for reference in root.iter():
        item = items.get(attribute(reference, "idref")) if local(reference) == "itemref" else None
        if item is not None and "html" in attribute(item, "media-type") and not _is_contents(item):
            target = unquote(attribute(item, "href"))
            chapters.append(posixpath.normpath(posixpath.join(folder, target)))
    return chapters


def _is_contents(item: Element) -> bool:
    return "nav" in attribute(item, "properties").split()


def _protected(archive: Archive) -> set[str]:
    """Members that are encrypted. Embedded fonts often are, and do no harm."""
    if _ENCRYPTION not in archive:
        return set()
    return {
        unquote(attribute(element, "URI"))
        for element in archive.xml(_ENCRYPTION).iter()
        if local(element) == "CipherReference"
    }
