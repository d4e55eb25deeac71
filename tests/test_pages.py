"""Stories in the real app, without a browser; only the embedding model is a stand-in."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from rag.errors import DataFolderInUse, LLMError
from rag.events import Finished, TextDelta
from rag.ingest import Upload
from rag.settings import Settings
from rag.types import Answer, Receipt
from rag.workspace import Workspace
from tests.app import OPEN, ROOT, go, run, words, workspace
from tests.fakes import WordEmbedder


@pytest.fixture(scope="module")
def pdf():
    import pymupdf

    document = pymupdf.open()
    for lines in (
        ["Annual report of the cooperative"],
        ["Solar output fell by four percent in 2021.", "Pensions rose in the same year."],
    ):
        page = document.new_page()
        for number, line in enumerate(lines):
            page.insert_text((72, 90 + 18 * number), line)
    return document.tobytes()


@pytest.fixture(scope="module")
def indexed(pdf, tmp_path_factory):
    """A data folder with one document in it, made once: starting the parser takes a second."""
    folder = tmp_path_factory.mktemp("indexed")
    opened = OPEN(Settings(data=folder), embedder=WordEmbedder())
    assert opened.add_files([Upload("solar.pdf", pdf)]).wait(20)
    opened.close()
    return folder


@pytest.fixture
def solar(app, indexed, tmp_path):
    """The app with solar.pdf in its library."""
    shutil.copytree(indexed, tmp_path / "data")
    return run(app)


def add(app, name, content):
    go(app, "library")
    app.file_uploader[0].upload(name, content)
    run(app)
    assert workspace(app).job.wait(20)
    return run(app)


def ask(app, question):
    go(app, "chat")
    app.chat_input(key="question").set_value(question)
    return run(app)


def exchanges(app):
    history = workspace(app).history
    return [e for chat in history.chats() for e in history.exchanges(chat.id)]


# Starting


def test_a_first_visit_says_that_the_library_is_empty_and_offers_the_samples(app):
    run(app)
    assert "The library is empty" in words(app)
    assert app.button(key="samples").label == "Try it with the sample documents"
    assert app.chat_input(key="question").disabled


def test_a_data_folder_in_use_is_a_message_not_a_traceback(app, monkeypatch):
    def taken(cls, settings):
        raise DataFolderInUse("The data folder 'x' is in use by another Footnote.")

    monkeypatch.setattr(Workspace, "open", classmethod(taken))
    run(app)
    assert "Footnote is open already" in words(app)
    assert "in use by another Footnote" in app.error[0].value


def test_a_setting_that_cannot_be_used_is_named(app, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_TOP_K", "many")
    run(app)
    assert "FOOTNOTE_TOP_K='many' is not a whole number" in app.error[0].value


def test_the_screens_import_nothing_heavy():
    modules = ["streamlit"] + [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "pages" / "ui").glob("*.py"))
    ]
    script = (
        f"import sys, {', '.join(modules)}; "
        "heavy = {'torch', 'sentence_transformers', 'litellm', 'qdrant_client', 'pymupdf'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# Library


def test_the_samples_can_be_added_with_one_click(app):
    go(run(app), "library")
    app.button(key="samples").click()
    run(app)
    assert workspace(app).job.wait(60)
    run(app)
    assert len(app.dataframe[0].value) == len(workspace(app).sample_files())
    assert "failed" not in words(app)


def test_an_uploaded_file_is_indexed_once_however_often_the_page_reruns(app, pdf):
    add(run(app), "solar.pdf", pdf)
    job = workspace(app).job
    run(app)
    run(app)
    assert workspace(app).job is job
    table = app.dataframe[0].value
    assert list(table["Name"]) == ["solar.pdf"]
    assert list(table["Pages"]) == ["2 pages"]
    assert list(table["State"]) == [["Ready"]]
    assert "1 file: 1 added" in words(app)


def test_a_bad_file_gets_one_line_and_the_good_one_is_indexed_all_the_same(app, pdf):
    go(run(app), "library")
    app.file_uploader[0].upload("empty.pdf", b"")
    app.file_uploader[0].upload("solar.pdf", pdf)
    run(app)
    assert workspace(app).job.wait(20)
    run(app)
    assert "2 files: 1 added, 1 failed" in words(app)
    assert "'empty.pdf' is empty (0 bytes)." in words(app)
    app.button(key=f"dismiss_job_{id(workspace(app).job)}").click()
    run(app)
    assert "empty.pdf" not in words(app)


def test_a_document_opens_page_by_page_beside_its_text(solar):
    document = workspace(solar).documents()[0]
    solar.query_params["document"] = document.id
    solar.query_params["page"] = "2"
    go(solar, "library")
    assert "solar.pdf" in solar.title[0].value.replace("\\", "")
    assert "Solar output fell by four percent" in words(solar)
    assert solar.get("image")[0].proto.imgs[0].alt == "solar.pdf, file page 2"
    solar.button(key="back").click()
    run(solar)
    assert solar.title[0].value == "Library"


def test_a_document_is_deleted_after_a_second_click(solar):
    solar.query_params["document"] = workspace(solar).documents()[0].id
    go(solar, "library")
    solar.button(key="delete_document").click()
    run(solar)
    assert workspace(solar).documents() == []
    assert "Nothing here yet" in words(solar)


def test_a_link_to_a_deleted_document_leads_to_the_library(app):
    run(app)
    app.query_params["document"] = "gone"
    go(app, "library")
    assert "no longer in the library" in words(app)
    assert app.title[0].value == "Library"


# Chat


def test_an_answer_cites_its_source_and_the_chat_is_in_the_url(solar):
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    assert "[1]" in exchange.answer.text
    assert solar.query_params["chat"] == exchange.chat_id
    source = solar.button(key=f"source_{exchange.id}_1")
    assert source.label.replace("\\", "") == "[1] solar.pdf · p. 2"
    assert "By how much did solar output fall?" in words(solar)


def test_a_source_opens_on_its_page_with_the_quote_and_leads_to_the_next_page(solar):
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    citation = exchange.answer.citations[0]
    solar.button(key=f"source_{exchange.id}_1").click()
    run(solar)
    assert solar.get("image")[0].proto.imgs[0].alt == (
        f"solar.pdf, file page 2, with the quote marked: {citation.quote}"
    )
    assert citation.quote in words(solar)
    assert solar.button(key="source_next").disabled
    run(solar)
    assert not solar.get("image")  # closed again by the next run


def test_a_marker_opens_the_same_source(solar):
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    solar.session_state["source"] = (exchange.id, "citation", 1)
    run(solar)
    assert "with the quote marked" in solar.get("image")[0].proto.imgs[0].alt


def test_a_source_without_pages_shows_its_heading_and_the_marked_text(app):
    text = b"# Plan\n\n## Energy\n\nSolar output fell by four percent in 2021.\n"
    add(run(app), "plan.md", text)
    ask(app, "By how much did solar output fall?")
    (exchange,) = exchanges(app)
    app.button(key=f"source_{exchange.id}_1").click()
    run(app)
    assert "Plan › Energy" in words(app)
    assert "<mark" in app.html[0].proto.body
    assert not app.get("image")


def test_a_source_of_a_deleted_document_still_shows_the_words(solar):
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    workspace(solar).delete(workspace(solar).documents()[0].id)
    solar.button(key=f"source_{exchange.id}_1").click()
    run(solar)
    assert "no longer in the library" in words(solar)
    assert exchange.answer.citations[0].quote in words(solar)


def test_a_refusal_shows_the_nearest_passages_and_they_open(solar):
    history = workspace(solar).history
    chat = history.new()
    exchange = history.ask(chat.id, "Who composed the opera?")
    nearest = workspace(solar).search("Who composed the opera?").hits
    refusal = Answer("Your documents do not say.", (), Receipt("reader"), True, nearest)
    history.answered(exchange.id, refusal)
    solar.query_params["chat"] = chat.id
    go(solar, "chat")
    assert "Nearest passages" in words(solar)
    solar.button(key=f"nearest_{exchange.id}_1").click()
    run(solar)
    assert "with the quote marked" in solar.get("image")[0].proto.imgs[0].alt


def test_the_receipt_says_that_the_reader_answered_and_how_to_connect_a_model(solar):
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    solar.session_state[f"receipt_{exchange.id}"] = True
    run(solar)
    assert "without a language model" in words(solar)
    assert "Connect a language model" in [link.label for link in solar.get("page_link")]
    assert len(solar.dataframe) == len(exchange.answer.receipt.searches)


def test_an_error_keeps_the_question_and_it_can_be_asked_again(solar, monkeypatch):
    answer = Workspace.ask

    def broken(self, *arguments, **options):
        yield TextDelta("Half an ")
        raise LLMError("The model did not answer: wrong key.")

    monkeypatch.setattr(Workspace, "ask", broken)
    ask(solar, "By how much did solar output fall?")
    (exchange,) = exchanges(solar)
    assert exchange.error == "The model did not answer: wrong key."
    assert "The model did not answer: wrong key." in words(solar)
    monkeypatch.setattr(Workspace, "ask", answer)
    solar.button(key=f"again_{exchange.id}").click()
    run(solar)
    (again,) = exchanges(solar)
    assert again.id == exchange.id
    assert again.answer is not None


def test_a_question_without_an_answer_says_so_after_a_restart(solar):
    history = workspace(solar).history
    chat = history.new()
    history.ask(chat.id, "Was I stopped?")
    solar.query_params["chat"] = chat.id
    go(solar, "chat")
    assert "Was I stopped?" in words(solar)
    assert "Stopped before the answer was complete." in words(solar)


def test_a_follow_up_gets_the_earlier_turns_and_the_chosen_documents(solar, monkeypatch):
    add(solar, "plan.md", b"# Plan\n\nRents rose by two percent in the northern towns.\n")
    asked = []

    def record(self, question, documents=(), history=(), engine="auto", web=False):
        asked.append((question, tuple(documents), [turn.question for turn in history]))
        yield Finished(Answer("Yes.", (), Receipt("reader")))

    monkeypatch.setattr(Workspace, "ask", record)
    ask(solar, "First?")
    document = next(d for d in workspace(solar).documents() if d.name == "plan.md")
    solar.multiselect(key="scope").select(document.id)
    solar.chat_input(key="question").set_value("Second?")
    run(solar)
    assert asked == [("First?", (), []), ("Second?", (document.id,), ["First?"])]
    assert "Only in plan.md" in words(solar)


def test_chats_are_listed_renamed_and_deleted(solar):
    ask(solar, "By how much did solar output fall?")
    (first,) = workspace(solar).history.chats()
    solar.text_input(key=f"name_{first.id}").set_value("Solar")
    run(solar)
    assert workspace(solar).history.chat(first.id).title == "Solar"
    solar.button(key="new_chat").click()
    run(solar)
    assert "chat" not in solar.query_params
    assert solar.button(key=f"chat_{first.id}").label == "Solar"
    solar.button(key=f"chat_{first.id}").click()
    run(solar)
    assert solar.query_params["chat"] == first.id
    solar.button(key="delete_chat").click()
    run(solar)
    assert workspace(solar).history.chats() == []


def test_the_open_chat_is_found_again_after_a_visit_to_another_page(solar):
    ask(solar, "By how much did solar output fall?")
    go(solar, "settings")
    go(solar, "chat")
    assert "By how much did solar output fall?" in words(solar)


def test_a_link_to_a_deleted_chat_starts_a_new_one(solar):
    solar.query_params["chat"] = "gone"
    go(solar, "chat")
    assert solar.title[0].value == "Ask your documents"
    assert "chat" not in solar.query_params
