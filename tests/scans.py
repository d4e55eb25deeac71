"""PDFs whose pages are pictures of text, and a stand-in that reads them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag.errors import Cancelled, FileError
from rag.types import Page, ParsedPage

LINES = ["The boiler room", "Open the red valve before", "the pump is started."]


def scan(path: Path, pages: Sequence[Sequence[str]], *, turn: float = 0, layer: str = "") -> Path:
    """Pages that are pictures of large text, turned clockwise, over an invisible text layer."""
    import pymupdf

    document = pymupdf.open()
    for lines in pages:
        drawn = pymupdf.open()
        page = drawn.new_page(width=420, height=300)
        for i, line in enumerate(lines):
            page.insert_text((40, 80 + 40 * i), line, fontsize=22)
        page.set_rotation(int(turn) // 90 * 90)
        image = page.get_pixmap(matrix=pymupdf.Matrix(2, 2).prerotate(turn % 90))
        width, height = image.width / 2, image.height / 2
        target = document.new_page(width=width, height=height)
        target.insert_image(target.rect, pixmap=image)
        if layer:
            target.insert_text((40, 80), layer, fontsize=10, render_mode=3)
    document.save(path)
    return path


class QuickWorker:
    """Recognises every page at once, as LINES."""

    def __init__(self, timeout_s: float, *, background: bool) -> None:
        self.asked: list[tuple[str, int]] = []

    def read_page(
        self,
        path: Path,
        name: str,
        document_id: str,
        number: int,
        language: str,
        cancelled: Callable[[], bool],
    ) -> ParsedPage:
        if cancelled():
            raise Cancelled("stopped")
        if not path.exists():
            raise FileError("corrupt", "gone")
        self.asked.append((name, number))
        return ParsedPage(Page(document_id, number, "", "\n".join(LINES), "ocr"))

    def close(self) -> None:
        pass
