from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rag.settings import Settings
from rag.workspace import Workspace
from tests.fakes import WordEmbedder

os.environ["HF_HUB_OFFLINE"] = "1"  # a test that would download something fails instead

MakePdf = Callable[..., Path]


@pytest.fixture
def make_pdf(tmp_path: Path) -> MakePdf:
    """Builds a PDF; each page is a list of lines, or of (x, y, text[, size]) in points."""
    import pymupdf

    def make(name: str, pages: Sequence[Sequence[object]], **save: object) -> Path:
        document = pymupdf.open()
        for lines in pages:
            page = document.new_page(width=595, height=842)
            for i, line in enumerate(lines):
                x, y, text, size = 72.0, 90.0 + 18 * i, line, 11.0
                if isinstance(line, tuple):
                    x, y, text, *rest = line
                    size = rest[0] if rest else 11.0
                page.insert_text((x, y), text, fontsize=size)
        path = tmp_path / name
        document.save(path, **save)
        document.close()
        return path

    return make


@pytest.fixture
def shared() -> Path:
    """The evaluation sets and the corpus of difficult files, kept beside the checkout."""
    folder = Path(os.environ.get("FOOTNOTE_SHARED", Path(__file__).parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("FOOTNOTE_SHARED does not name a folder with evaluation sets")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A whole workspace on an empty data folder; only the embedding model is a stand-in."""
    opened = Workspace.open(Settings(data=tmp_path / "data"), embedder=WordEmbedder())
    yield opened
    opened.close()
