from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import DataFolderError, DataFolderInUse, SettingsError
from rag.events import Finished, Notice
from rag.ingest import Upload
from rag.settings import Settings
from rag.workspace import Workspace
from tests.conftest import MakePdf
from tests.fakes import WordEmbedder

TEXT = b"The warranty of the kettle lasts three years from the date of purchase.\n"


def answer(workspace: Workspace, question: str, **options: object):
    events = list(workspace.ask(question, **options))
    assert isinstance(events[-1], Finished)
    return events, events[-1].answer


def test_a_second_workspace_on_the_folder_is_refused_in_plain_words(
    workspace: Workspace, tmp_path: Path
):
    with pytest.raises(DataFolderInUse, match="in use by another Footnote"):
        Workspace.open(Settings(data=tmp_path / "data"))


def test_a_folder_that_cannot_be_made_is_refused_in_plain_words(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderError, match="FOOTNOTE_DATA"):
        Workspace.open(Settings(data=tmp_path / "file" / "data"))


def test_the_folder_is_free_again_after_closing(tmp_path: Path):
    for _ in range(2):
        Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder()).close()


def test_the_library_survives_a_restart(tmp_path: Path):
    first = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    assert first.add_files([Upload("kettle.txt", TEXT)]).wait(60)
    first.close()
    second = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    assert [d.name for d in second.documents()] == ["kettle.txt"]
    assert second.search("kettle warranty").hits[0].dense_rank == 1
    second.close()


def test_deleting_before_the_models_are_loaded_leaves_no_vectors(tmp_path: Path):
    first = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    assert first.add_files([Upload("a.txt", TEXT), Upload("b.txt", b"Something else.")]).wait(60)
    first.close()
    second = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    second.delete(second.catalog.find("a.txt").id)
    assert second.engines().store.count() == 1
    second.close()


def test_the_reader_answers_with_a_verified_quote(workspace: Workspace):
    assert workspace.add_files([Upload("kettle.txt", TEXT)]).wait(60)
    _, found = answer(workspace, "How long does the warranty of the kettle last?")
    assert not found.refused
    assert "[1]" in found.text
    (citation,) = found.citations
    assert "three years" in citation.quote
    page = workspace.page(citation.document_id, citation.page)
    assert page.text[citation.start : citation.end] == citation.quote
    assert found.receipt.engine == "reader"


def test_a_broken_provider_is_named_and_the_reader_answers(workspace: Workspace):
    assert workspace.add_files([Upload("kettle.txt", TEXT)]).wait(60)
    workspace.connect("openai/none", "sk-secret", "http://127.0.0.1:9/v1")
    events, found = answer(workspace, "How long does the warranty of the kettle last?")
    (notice,) = [e for e in events if isinstance(e, Notice)]
    assert "reader answers instead" in notice.message
    assert "sk-secret" not in notice.message
    assert found.receipt.engine == "reader"
    assert found.receipt.notices == (notice.message,)


def test_the_key_is_never_written_to_the_data_folder(tmp_path: Path):
    workspace = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    workspace.connect("openai/m", "sk-very-secret", "http://127.0.0.1:9/v1")
    workspace.close()
    files = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert files
    assert all(b"sk-very-secret" not in f.read_bytes() for f in files)
    again = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    assert (again.engine, again.settings.llm_api_key) == ("openai/m", None)
    again.close()


def test_only_a_pdf_has_page_images(workspace: Workspace, make_pdf: MakePdf):
    pdf = make_pdf("a.pdf", [["Some words on a page."]])
    assert workspace.add_files([Upload("a.pdf", pdf), Upload("k.txt", TEXT)]).wait(60)
    image = workspace.page_image(workspace.catalog.find("a.pdf").id, 1)
    assert image is not None and image.startswith(b"\x89PNG")
    assert workspace.page_image(workspace.catalog.find("k.txt").id, 1) is None


def test_what_was_tuned_is_kept_unless_the_environment_says_otherwise(tmp_path: Path):
    first = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    with pytest.raises(SettingsError, match="LLM_TEMPERATURE"):
        first.tune({"LLM_FALLBACKS": "openai/b", "LLM_TEMPERATURE": "9"})
    assert first.settings.llm_fallbacks == ()
    first.tune({"LLM_FALLBACKS": "openai/b", "LLM_TEMPERATURE": "0.5"})
    first.close()
    second = Workspace.open(Settings(tmp_path, llm_temperature=1.0), embedder=WordEmbedder())
    assert second.settings.llm_fallbacks == ("openai/b",)
    assert second.settings.llm_temperature == 1.0
    second.tune({})
    second.close()
    third = Workspace.open(Settings(data=tmp_path), embedder=WordEmbedder())
    assert (third.settings.llm_fallbacks, third.settings.llm_temperature) == ((), None)
    third.close()
