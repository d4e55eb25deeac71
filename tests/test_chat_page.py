"""Stories of the chat: what is shown of an answer, and of what was done for it."""

from __future__ import annotations

import shutil

import pytest

from pages.ui.words import narrowed
from rag.events import (
    Finished,
    Notice,
    Rewritten,
    SearchFinished,
    SearchStarted,
    TextDelta,
    TextReplaced,
    Waiting,
    WebSearched,
    WordsFound,
)
from rag.ingest import Upload
from rag.settings import Settings
from rag.types import Answer, Fallback, QuoteCheck, Receipt, Search, Step, WebCitation
from rag.workspace import Workspace
from tests.app import OPEN, go, run, words, workspace
from tests.fakes import WordEmbedder

PAGE = WebCitation(
    "https://example.com/a?b=c",
    "Solar *today*",
    "Output rose.",
    "Before. Output rose. <img src=x> After.",
)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A data folder with one document in it, made once: starting the parser takes a second."""
    folder = tmp_path_factory.mktemp("indexed")
    opened = OPEN(Settings(data=folder), embedder=WordEmbedder())
    text = b"Solar output fell by four percent in 2021.\n"
    assert opened.add_files([Upload("solar.md", text)]).wait(20)
    opened.close()
    return folder


@pytest.fixture
def solar(app, indexed, tmp_path):
    """The app with solar.md in its library."""
    shutil.copytree(indexed, tmp_path / "data")
    return run(app)


def shown(app, answer):
    """The chat with one answered question; its id."""
    history = workspace(app).history
    chat = history.new()
    exchange = history.ask(chat.id, "What about solar?")
    history.answered(exchange.id, answer)
    app.query_params["chat"] = chat.id
    go(app, "chat")
    return exchange.id


def unfold(app, exchange_id):
    app.session_state[f"receipt_{exchange_id}"] = True
    run(app)


def test_a_question_back_is_shown_as_one(solar):
    shown(solar, Answer("Which year do you mean?", (), Receipt("agent"), asks_back=True))
    assert "A question back to you" in words(solar)


def test_an_answer_that_nothing_supports_is_labelled(solar):
    answer = Answer("It fell (unverified).", (), Receipt("agent"), ungrounded=True)
    shown(solar, answer)
    assert "No quote from your documents supports this answer" in solar.warning[0].value


def test_a_web_source_opens_without_loading_the_page(solar):
    key = shown(solar, Answer("It rose [W1].", (), Receipt("agent"), web=(PAGE,)))
    button = solar.button(key=f"web_{key}_1")
    assert button.label.replace("\\", "") == "[web 1] example.com · Solar *today*"
    button.click()
    run(solar)
    said = words(solar)
    assert "From the web, not from your documents." in said
    assert "Solar *today*" in said
    assert "&lt;img src=x&gt;" in said
    assert not solar.get("image")


def test_an_address_that_is_no_web_address_is_no_link(solar):
    page = WebCitation("javascript:alert(1)", "x", "Output rose.")
    key = shown(solar, Answer("It rose [W1].", (), Receipt("agent"), web=(page,)))
    solar.button(key=f"web_{key}_1").click()
    run(solar)
    assert not solar.get("link_button")


def test_the_trace_says_what_was_done_and_can_be_taken_along(solar):
    receipt = Receipt(
        "agent",
        "openai/b",
        steps=(
            Step("search", '{"query": "solar"}', "1 passage", seconds=0.01),
            Step("model", "", "finish", seconds=1.0, model="openai/b", prompt_tokens=900),
        ),
        quotes=(QuoteCheck("fell by five", "S1", "rejected", "It is not on the page."),),
        fallbacks=(Fallback("openai/a", "The provider refused the API key for openai/a."),),
        notices=("The provider refused the API key for openai/a. openai/b is asked instead.",),
        rewrite="How much did solar output fall?",
        seconds={"model": 1.0, "total": 1.2},
        prompts="ab12",
    )
    key = shown(solar, Answer("It fell.", (), receipt))
    assert "openai/b is asked instead" in solar.warning[0].value.replace("\\", "")
    unfold(solar, key)
    said = words(solar)
    assert "Understood as** “How much did solar output fall?”" in said
    assert "**Searched**: 1 passage · 10 ms" in said
    assert "**Asked openai/b**: finish · 900 tokens read, 0 tokens written · 1.0 s" in said
    assert "dropped: S1 “fell by five”" in said
    assert "Failed before that: openai/a." in said
    assert "Prompts: version ab12" in said
    assert solar.get("download_button")[0].label == "Trace as JSON"


def test_each_fault_has_its_line_when_the_reader_had_to_answer(solar):
    notice = (
        "No language model could answer:\n- a failed.\n- b failed.\nThe reader answers instead."
    )
    receipt = Receipt("reader", fallbacks=(Fallback("a", "a failed."),), notices=(notice,))
    shown(solar, Answer("It fell.", (), receipt))
    assert solar.warning[0].value.replace("\\", "").split("\n\n") == notice.split("\n")


def test_everything_that_happens_on_the_way_is_drawn(solar, monkeypatch):
    """The last run before the page is drawn anew is not seen, so the answer never comes."""

    def events(self, question, documents=(), history=(), engine="auto", web=False):
        yield Waiting()
        yield Rewritten("How much did solar output fall?")
        yield SearchStarted("solar")
        yield SearchFinished(Search("solar", ()))
        yield Waiting("openai/a is busy and is asked again in 4 s")
        yield Notice("openai/a failed.\nopenai/b is asked instead.")
        yield WordsFound("solar.md", "four percent", (1,))
        yield WebSearched("solar", ("https://example.com",))
        yield TextDelta("Half of [1]")
        yield Waiting()
        yield TextReplaced("Another [1]")
        yield Finished(Answer("It fell.", (), Receipt("agent")))

    drawn = []
    monkeypatch.setattr(Workspace, "ask", events)
    monkeypatch.setattr("streamlit.rerun", lambda: drawn.append(1))
    go(solar, "chat")
    solar.chat_input(key="question").set_value("What about solar?")
    run(solar)
    assert drawn
    labels = [status.label.replace("\\", "") for status in solar.status]
    assert labels == [
        "Understood as “How much did solar output fall?”",
        "Searched “solar”: 0 passages",
        "Asked the model",
        "Looked up “four percent” in solar.md: on 1 page",
        "Searched the web for “solar”: 1 page",
    ]
    assert "Another :gray-badge[1]" in words(solar)
    assert "Half of" not in words(solar)


# The web


@pytest.fixture
def asked(monkeypatch):
    """Whether each question might search the web."""
    allowed = []

    def record(self, question, documents=(), history=(), engine="auto", web=False):
        allowed.append(web)
        yield Finished(Answer("Yes.", (), Receipt("agent")))

    monkeypatch.setattr(Workspace, "ask", record)
    return allowed


def ask(app, question):
    app.chat_input(key="question").set_value(question)
    run(app)


def test_the_web_cannot_be_chosen_without_a_key_and_a_model(solar):
    go(solar, "chat")
    assert not solar.toggle


def test_the_web_is_off_until_it_is_turned_on_and_only_for_that_chat(
    indexed, app, tmp_path, monkeypatch, asked
):
    shutil.copytree(indexed, tmp_path / "data")
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-secret")
    monkeypatch.setenv("LLM_MODEL", "openai/stub")
    go(run(app), "chat")
    ask(app, "First?")
    app.toggle[0].set_value(True)
    ask(app, "Second?")
    ask(app, "Third?")
    app.button(key="new_chat").click()
    run(app)
    ask(app, "Fourth?")
    app.button(key="new_chat").click()
    run(app)
    app.toggle[0].set_value(True)
    ask(app, "Fifth?")
    ask(app, "Sixth?")
    assert asked == [False, True, True, False, True, True]


def test_a_search_that_the_question_narrowed_says_so_and_can_be_widened(solar):
    document = workspace(solar).documents()[0]
    search = Search("solar", (), documents=(document.id,), implied=True)
    key = shown(solar, Answer("It fell.", (), Receipt("reader", searches=(search,))))
    assert "Searched only in solar.md, which the question is about." in words(solar)
    solar.button(key=f"everywhere_{key}").click()
    run(solar)
    history = workspace(solar).history
    asked = history.exchanges(history.chats()[0].id)[-1]
    assert (asked.question, list(asked.documents)) == ("What about solar?", [document.id])
    assert "Only in" not in words(solar)


def test_of_many_documents_that_were_searched_a_few_are_named():
    names = {str(n): f"{n}.pdf" for n in range(6)}
    search = Search("solar", (), documents=tuple(names), implied=True)
    assert "0.pdf, 1.pdf, 2.pdf, 3.pdf and 2 more" in narrowed(search, names).replace("\\", "")


def test_a_search_that_nobody_narrowed_is_not_explained(solar):
    shown(solar, Answer("It fell.", (), Receipt("reader", searches=(Search("solar", ()),))))
    assert "Searched only in" not in words(solar)


def test_a_translated_question_is_shown_as_it_was_searched(solar):
    search = Search("Wie voll ist der Akku?", (), glosses={"en": "how full battery"})
    shown(solar, Answer("It is full.", (), Receipt("reader", searches=(search,))))
    said = "Searched, translated word by word, in English: “how full battery”."
    assert said in words(solar)
