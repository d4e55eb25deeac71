"""Documents of the library by file name, at any time: also while others are being indexed."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rag.types import Document, Page, Unit

if TYPE_CHECKING:
    from rag.workspace import Workspace


class Shelf:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        ready = [d for d in workspace.documents() if d.state == "ready"]
        self._documents = {_key(document.name): document for document in ready}

    def document(self, name: str) -> Document | None:
        """With or without the folder that a set may name it with; None when it is not there."""
        return self._documents.get(_key(name)) or self._documents.get(
            _key(PurePosixPath(name).name)
        )

    @property
    def units(self) -> dict[str, Unit]:
        """What each document, by its name, is divided into."""
        return {document.name: document.unit for document in self._documents.values()}

    def page(self, document: Document, number: int) -> Page:
        """Raises NotFound."""
        return self._workspace.page(document.id, number)

    def pages(self, document: Document) -> list[Page]:
        return self._workspace.pages(document.id)


def _key(name: str) -> str:
    # A file system may hand out the accents of a name apart from their letters.
    return unicodedata.normalize("NFC", name)
