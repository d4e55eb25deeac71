from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag.ingest import Upload
from rag.settings import Settings
from rag.workspace import Workspace
from tests.app import OPEN, ROOT, run
from tests.app import workspace as opened_by
from tests.fakes import WordEmbedder

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

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
    opened = Workspace.open(Settings(data=tmp_path / "data", ocr=None), embedder=WordEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """The app, as an AppTest, on an empty data folder; the embedding model is a stand-in."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    for name in [
        name for name in os.environ if name.startswith("LLM_") or name == "TAVILY_API_KEY"
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9")  # whatever runs on this computer
    monkeypatch.setenv("FOOTNOTE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTNOTE_OCR", "off")
    monkeypatch.setattr(
        Workspace, "open", classmethod(lambda cls, s: OPEN(s, embedder=WordEmbedder()))
    )
    monkeypatch.setattr("rag.llm.load_litellm", lambda: None)  # the warm-up would import it
    yield AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=20)
    st.cache_resource.clear()  # it outlives an AppTest; this closes the workspace


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the sample documents in it, made once."""
    folder = tmp_path_factory.mktemp("sampled")
    opened = OPEN(Settings(data=folder), embedder=WordEmbedder())
    uploads = [Upload(path.name, path) for path in opened.sample_files()]
    assert opened.add_files(uploads).wait(60)
    opened.close()
    return folder


@pytest.fixture
def filled(app: AppTest, sampled: Path, tmp_path: Path) -> AppTest:
    """The app with the sample documents."""
    shutil.copytree(sampled, tmp_path / "data")
    return run(app)


@pytest.fixture
def connected(filled: AppTest) -> AppTest:
    """The same with a language model, which is not there: what asks it is replaced by a test."""
    opened_by(filled).connect("openai/stub", None, None)
    return filled
