"""A library of a few pages with its search."""

from collections.abc import Sequence

from rag.errors import NotFound
from rag.keyword import tokens
from rag.types import Chunk, Document, Hit, Page, Search


class Shelf:
    """A library and a searcher over whole pages, best word overlap first."""

    def __init__(self, *pages: Page, language: str = "en", unit: str = "page") -> None:
        self.pages = {(page.document_id, page.number): page for page in pages}
        self.language = language
        self.unit = unit
        self.queries: list[str] = []

    def documents(self) -> list[Document]:
        ids = sorted({document_id for document_id, _ in self.pages})
        return [self.document(document_id) for document_id in ids]

    def document(self, document_id: str) -> Document:
        return Document(
            document_id,
            f"{document_id}.pdf",
            "application/pdf",
            1,
            "2026-01-01T00:00:00Z",
            state="ready",
            unit=self.unit,
            language=self.language,
        )

    def page(self, document_id: str, number: int) -> Page:
        try:
            return self.pages[document_id, number]
        except KeyError:
            raise NotFound(f"no page {number}") from None

    def search(self, query: str, documents: Sequence[str] = (), top_k: int | None = None) -> Search:
        self.queries.append(query)
        asked = set(tokens(query))
        found = [p for p in self.pages.values() if not documents or p.document_id in documents]
        found.sort(key=lambda page: -len(asked & set(tokens(page.text))))
        hits = [
            Hit(
                Chunk(
                    f"{page.document_id}-{page.number}",
                    page.document_id,
                    page.number,
                    0,
                    len(page.text),
                    page.text,
                    "",
                ),
                f"{page.document_id}.pdf",
                page.label,
                self.unit,
            )
            for page in found
        ]
        return Search(query, tuple(hits), {"dense": 0.01}, tuple(documents))
