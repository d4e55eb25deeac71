"""Stories of how questions are made: from answers, pages, files and drafts of a model."""

from __future__ import annotations

import json

from pages.ui.evaluation_editor import drafts, question_sets
from rag.llm import TextPiece
from rag.types import Answer, Receipt
from tests.app import go, run, words, workspace
from tests.evaluation import show, table


def ask(app, question):
    go(app, "chat")
    app.chat_input(key="question").set_value(question)
    run(app)
    history = workspace(app).history
    return [e for chat in history.chats() for e in history.exchanges(chat.id)][-1]


def mine(app, name="My questions"):
    return question_sets(workspace(app)).load(name).cases


def test_a_good_answer_is_kept_with_its_sources_as_evidence(filled):
    exchange = ask(filled, "How wide is the turning circle of the Dunnock 60?")
    filled.button(key=f"good_{exchange.id}").click()
    run(filled)
    assert filled.text_area(key="case_question").value == exchange.question
    assert "These words are there." in words(filled)
    filled.text_area(key="case_answer").set_value("5.8 m")
    filled.button(key="save_case").click()
    run(filled)
    (case,) = mine(filled)
    assert case.answers == ("5.8 m",)
    assert case.tags == ("good answer",)
    cited = exchange.answer.citations[0]
    assert (case.evidence[0].doc, case.evidence[0].page) == (cited.name, cited.page)
    assert case.evidence[0].text == cited.quote
    assert "save_case" not in [button.key for button in filled.button]


def test_a_refusal_becomes_unanswerable_when_the_user_says_so(filled):
    history = workspace(filled).history
    chat = history.new()
    exchange = history.ask(chat.id, "Who composed the opera?")
    refusal = Answer("Your documents do not say.", (), Receipt("reader"), True)
    history.answered(exchange.id, refusal)
    filled.query_params["chat"] = chat.id
    go(filled, "chat")
    assert filled.button(key=f"good_{exchange.id}").label == "Rightly refused"
    filled.button(key=f"good_{exchange.id}").click()
    run(filled)
    assert filled.toggle(key="case_unanswerable").value
    filled.button(key="save_case").click()
    run(filled)
    (case,) = mine(filled)
    assert not case.answerable
    assert case.tags == ("right refusal",)


def test_words_of_a_page_are_checked_before_they_are_evidence(filled):
    document = next(d for d in workspace(filled).documents() if "manual" in d.name)
    filled.query_params["document"] = document.id
    filled.query_params["page"] = "3"
    go(filled, "library")
    assert filled.button(key="draft_from_page").disabled  # no model is connected
    filled.button(key="question_from_page").click()
    run(filled)
    filled.text_area(key="case_question").set_value("How wide is the turning circle?")
    filled.selectbox(key="case_paragraph").set_value(0)
    run(filled)
    (quote,) = [t for t in filled.text_area if str(t.key).startswith("case_quote_")]
    assert quote.value
    quote.set_value("the turning circle is 8.5 m across")
    filled.button(key="save_case").click()
    run(filled)
    assert "Evidence 1: The quote is not in the text" in words(filled) or (
        "Evidence 1: The numbers in the quote differ" in words(filled)
    )
    (quote,) = [t for t in filled.text_area if str(t.key).startswith("case_quote_")]
    quote.set_value("the turning circle is 5.8 m across")
    filled.button(key="save_case").click()
    run(filled)
    (case,) = mine(filled)
    assert case.pages == ((document.name, 3),)
    assert " ".join(case.evidence[0].text.split()) == "the turning circle is 5.8 m across"


def test_a_set_is_imported_edited_measured_renamed_and_deleted(filled):
    show(filled, view="sets")
    assert "No question of your own yet" in words(filled)
    line = json.dumps(
        {
            "id": "a",
            "question": "How wide does it turn?",
            "answer": "5.8 m",
            "doc": "dunnock-60-manual.pdf",
            "pages": [3],
            "tags": ["size"],
        }
    )
    filled.file_uploader(key="import_set_0").upload("Bike.jsonl", f"{line}\n".encode())
    run(filled)
    assert list(table(filled, "Edit")["Question"]) == ["How wide does it turn?"]
    (case,) = mine(filled, "Bike")
    filled.session_state["edit_case"] = {"row": 0, "label": "Edit"}
    open_editor(filled, case, "Bike")
    filled.text_area(key="case_question").set_value("How wide does the Dunnock turn?")
    filled.text_input(key="case_tags").set_value("size, steering")
    filled.text_area(key="case_facts").set_value("5.8 m | 5.8 metres")
    filled.button(key="save_case").click()
    run(filled)
    (case,) = mine(filled, "Bike")
    assert case.question == "How wide does the Dunnock turn?"
    assert (case.id, case.tags, case.facts) == (
        "a",
        ("size", "steering"),
        (("5.8 m", "5.8 metres"),),
    )
    assert case.pages == (("dunnock-60-manual.pdf", 3),)
    filled.button(key="measure_set").click()
    run(filled)
    assert filled.selectbox(key="set").value == "Bike"
    assert "1 question will be asked." in words(filled)
    show(filled, view="sets")
    filled.text_input(key="set_name_Bike").set_value("Cargo bike")
    run(filled)
    assert question_sets(workspace(filled)).names() == ["Cargo bike"]
    (case,) = mine(filled, "Cargo bike")
    open_editor(filled, case, "Cargo bike")
    filled.button(key="delete_case").click()
    run(filled)
    assert mine(filled, "Cargo bike") == ()
    filled.button(key="delete_set").click()
    run(filled)
    assert "No question of your own yet" in words(filled)


def open_editor(app, case, name):
    """What a click on Edit in the table does; a table's buttons are the browser's."""
    from pages.ui.evaluation_editor import Editing

    app.session_state["editing"] = Editing(case, "Edit question", kept_in=name)
    return run(app)


def test_a_bad_import_says_which_line_and_keeps_nothing(filled):
    show(filled, view="sets")
    filled.file_uploader(key="import_set_0").upload(
        "Bike.jsonl", b'{"question": "Q?"}\n{"id": 1}\n'
    )
    run(filled)
    assert question_sets(workspace(filled)).names() == []
    assert any("1 line cannot be read" in toast.value for toast in filled.toast)


def test_drafts_of_the_model_wait_until_the_user_keeps_them(connected, monkeypatch):
    class Model:
        model = "openai/stub"

        def __init__(self, *arguments, **options):
            pass

        def stream(self, *arguments, **options):
            quote = "the turning circle is 5.8 m across"
            for question, words_of_page in (
                ("How wide is the turning circle?", quote),
                ("How long is the frame?", quote),
                ("Who paid?", "the mayor paid for everything"),
            ):
                line = {"question": question, "answer": "5.8 m", "quote": words_of_page}
                yield TextPiece(json.dumps(line) + "\n")

    monkeypatch.setattr("rag.llm.LiteLLM", Model)
    document = next(d for d in workspace(connected).documents() if "manual" in d.name)
    connected.query_params["document"] = document.id
    connected.query_params["page"] = "3"
    go(connected, "library")
    connected.button(key="draft_from_page").click()
    run(connected)
    connected.button(key="draft").click()
    run(connected)
    assert "2 drafts waiting for you" in words(connected)
    assert "Who paid? The quote is not in the text." in words(connected)
    first, second = drafts(workspace(connected)).load("My questions").cases
    assert question_sets(workspace(connected)).names() == []  # nothing counts yet
    connected.button(key=f"keep_drawer_{first.id}").click()
    run(connected)
    show(connected, view="sets")
    connected.button(key=f"discard_page_{second.id}").click()
    run(connected)
    (case,) = mine(connected)
    assert (case.question, case.tags) == ("How wide is the turning circle?", ("drafted",))
    assert "waiting for you" not in words(connected)
