from __future__ import annotations

import sqlite3
import threading

import pytest

from rag.errors import NotFound
from rag.history import History, markdown, title_for, turns
from rag.types import (
    Answer,
    Chunk,
    Citation,
    Hit,
    Receipt,
    Rejection,
    Search,
    Turn,
    WebCitation,
)


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path / "history.db")
    yield history
    history.close()


def citation(**changes):
    values = {
        "document_id": "d" * 64,
        "name": "solar_report_v2.pdf",
        "page": 3,
        "label": "iii",
        "unit": "page",
        "start": 10,
        "end": 34,
        "quote": "Output fell by 4 percent",
        "heading": "",
    }
    return Citation(**values | changes)


def answer(text="Output fell [1].", **changes):
    hit = Hit(Chunk("c", "d" * 64, 3, 0, 5, "Outpu"), "solar_report_v2.pdf", "iii", "page", 1, 0.5)
    values = {
        "text": text,
        "citations": (citation(),),
        "receipt": Receipt(
            engine="reader",
            searches=(Search("output", (hit,), {"dense": 0.1}),),
            seconds={"total": 0.4},
            quotes_verified=1,
            rejections=(Rejection("never said", "not on the page"),),
        ),
        "nearest": (hit,),
    }
    return Answer(**values | changes)


def test_an_answer_comes_back_exactly_as_it_was_stored(history):
    chat = history.new()
    exchange = history.ask(chat.id, "Did output fall?", ["d" * 64])
    history.answered(exchange.id, answer())
    (stored,) = history.exchanges(chat.id)
    assert stored.answer == answer()
    assert stored.documents == ("d" * 64,)
    assert stored.question == "Did output fall?"


def test_chats_survive_a_restart(history, tmp_path):
    chat = history.new()
    history.answered(history.ask(chat.id, "Did output fall?").id, answer())
    history.close()
    again = History(tmp_path / "history.db")
    assert [c.title for c in again.chats()] == ["Did output fall?"]
    assert again.exchanges(chat.id)[0].answer == answer()
    again.close()


def test_a_question_is_kept_when_no_answer_ever_comes(history):
    chat = history.new()
    history.ask(chat.id, "Will this crash?")
    (stored,) = history.exchanges(chat.id)
    assert (stored.question, stored.answer, stored.error) == ("Will this crash?", None, "")


def test_a_later_answer_replaces_an_error(history):
    chat = history.new()
    exchange = history.ask(chat.id, "Why?")
    history.failed(exchange.id, "The model did not answer.")
    assert history.exchanges(chat.id)[0].error == "The model did not answer."
    history.answered(exchange.id, answer())
    (stored,) = history.exchanges(chat.id)
    assert stored.error == ""
    assert stored.answer == answer()


def test_the_first_question_becomes_the_title_and_later_ones_do_not(history):
    chat = history.new()
    history.ask(chat.id, "First?")
    history.ask(chat.id, "Second?")
    assert history.chat(chat.id).title == "First?"


def test_a_given_title_is_not_replaced_by_a_question(history):
    chat = history.new("Solar")
    history.ask(chat.id, "First?")
    assert history.chat(chat.id).title == "Solar"


def test_a_long_question_is_cut_at_a_word(history):
    title = title_for("What does the annual report of the southern region say\nabout pensions?")
    assert title == "What does the annual report of the southern region say…"
    assert title_for("x" * 90) == "x" * 60 + "…"


def test_a_blank_name_changes_nothing(history):
    chat = history.new("Solar")
    history.rename(chat.id, "  ")
    assert history.chat(chat.id).title == "Solar"
    history.rename(chat.id, " Solar \n power ")
    assert history.chat(chat.id).title == "Solar power"


def test_the_chat_used_last_comes_first(history):
    first, second = history.new("first"), history.new("second")
    assert [c.id for c in history.chats()] == [second.id, first.id]
    history.ask(first.id, "And now?")
    assert [c.id for c in history.chats()] == [first.id, second.id]


def test_deleting_a_chat_deletes_its_exchanges_and_no_others(history, tmp_path):
    gone, kept = history.new(), history.new()
    exchange = history.ask(gone.id, "Gone?")
    history.ask(kept.id, "Kept?")
    history.delete(gone.id)
    history.delete(gone.id)
    history.answered(exchange.id, answer())
    assert [c.id for c in history.chats()] == [kept.id]
    with pytest.raises(NotFound):
        history.chat(gone.id)
    db = sqlite3.connect(tmp_path / "history.db")
    assert db.execute("SELECT question FROM exchanges").fetchall() == [("Kept?",)]
    db.close()


@pytest.mark.parametrize("act", ["ask", "rename"])
def test_a_chat_that_does_not_exist_is_an_error_not_a_new_chat(history, act):
    with pytest.raises(NotFound):
        getattr(history, act)("nope", "text")


def test_an_answer_of_another_version_is_reported_not_fatal(history, tmp_path):
    chat = history.new()
    history.answered(history.ask(chat.id, "Why?").id, answer())
    db = sqlite3.connect(tmp_path / "history.db")
    with db:
        db.execute("UPDATE exchanges SET answer = '{\"text\": 1}'")
    db.close()
    (stored,) = history.exchanges(chat.id)
    assert stored.answer is None
    assert "another version" in stored.error


def test_several_threads_can_write_at_once(history):
    chat = history.new()
    threads = [
        threading.Thread(target=lambda n=n: history.ask(chat.id, f"Question {n}?"))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {e.question for e in history.exchanges(chat.id)} == {f"Question {n}?" for n in range(8)}


def test_turns_are_the_answered_exchanges_in_order(history):
    chat = history.new()
    history.answered(history.ask(chat.id, "One?").id, answer("Yes [1]."))
    history.failed(history.ask(chat.id, "Two?").id, "broken")
    history.answered(history.ask(chat.id, "Three?").id, answer("No [1]."))
    cited = answer("Yes [1].").citations
    assert turns(history.exchanges(chat.id)) == (
        Turn("One?", "Yes [1].", cited),
        Turn("Three?", "No [1].", cited),
    )


def test_the_export_has_each_question_answer_quote_name_and_place(history):
    chat = history.new()
    quoted = answer(
        "Output **fell** [1], pensions rose [2]. ![x](http://example.com/x.png) <img src=x>",
        citations=(
            citation(),
            citation(
                name="plan.docx", unit="section", label="", heading="Plan › Pay", quote="a\nb"
            ),
        ),
    )
    history.answered(history.ask(chat.id, "Did output\nfall?").id, quoted)
    history.failed(history.ask(chat.id, "And then?").id, "No model.")
    history.ask(chat.id, "Still there?")
    assert markdown(history.chat(chat.id), history.exchanges(chat.id)) == (
        "# Did output fall?\n\n"
        "## Did output fall?\n\n"
        "Output **fell** [1], pensions rose [2]. \\![x](http://example.com/x.png) \\<img src=x>\n\n"
        "**\\[1\\] solar\\_report\\_v2.pdf**, p. iii · file page 3\n\n"
        "> Output fell by 4 percent\n\n"
        "**\\[2\\] plan.docx**, Plan › Pay\n\n"
        "> a\n> b\n\n"
        "*Answered by the reader, without a language model. "
        "Quotes found in the documents: 1 of 2.*\n\n"
        "## And then?\n\n*No model.*\n\n"
        "## Still there?\n\n*Not answered: stopped.*\n"
    )


def test_the_export_names_sources_from_the_web_apart(history):
    chat = history.new()
    page = WebCitation("https://example.org/a`b", "*All*", "Nine bar.", "", "2026-11-30T10:00:00")
    history.answered(history.ask(chat.id, "How much?").id, answer("Nine [W1].", web=(page,)))
    exported = markdown(history.chat(chat.id), history.exchanges(chat.id))
    assert (
        "**\\[W1\\] \\*All\\***, from the web, `https://example.org/a%60b`, 2026-11-30\n\n"
        "> Nine bar.\n"
    ) in exported


def test_a_question_back_is_known_as_one_to_the_next_question(history):
    chat = history.new()
    history.answered(history.ask(chat.id, "How heavy?").id, answer("Which one?", asks_back=True))
    (turn,) = turns(history.exchanges(chat.id))
    assert turn.asks_back
