"""Stories on the evaluation page and where its questions are made; only the models stand in."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace

import pytest

from pages.ui import evaluation_jobs
from pages.ui.evaluation_editor import drafts, question_sets
from rag import samples
from rag.errors import LLMError
from rag.evaluate import kept
from rag.evaluate.bench import LibraryBench
from rag.evaluate.load import load
from rag.evaluate.runner import execute, plan
from rag.evaluate.runs import RunStore
from rag.ingest import Upload
from rag.llm import TextPiece
from rag.settings import Settings
from rag.types import Answer, Receipt
from tests.app import OPEN, go, run, words, workspace
from tests.fakes import WordEmbedder


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A data folder with the sample documents in it, made once."""
    folder = tmp_path_factory.mktemp("indexed")
    opened = OPEN(Settings(data=folder), embedder=WordEmbedder())
    uploads = [Upload(path.name, path) for path in opened.sample_files()]
    assert opened.add_files(uploads).wait(60)
    opened.close()
    return folder


@pytest.fixture
def filled(app, indexed, tmp_path):
    """The app with the sample documents."""
    shutil.copytree(indexed, tmp_path / "data")
    return run(app)


@pytest.fixture
def connected(filled):
    """The same with a language model, which is not there: what asks it is replaced by a test."""
    workspace(filled).connect("openai/stub", None, None)
    return filled


def store(app) -> RunStore:
    return RunStore(workspace(app).settings.data / "runs")


def ended(app):
    """Waits for the run that was begun, and shows the page as it is then."""
    job = evaluation_jobs.jobs(str(workspace(app).settings.data))[-1]
    assert job.wait(60)
    return run(app)


def measure(app, limit=None, **changes):
    """Starts a run of the sample questions and waits for it."""
    app.query_params["view"] = "measure"
    go(app, "evaluation")
    if limit is not None:
        app.number_input(key="limit").set_value(limit)
    for key, value in changes.items():
        app.get_by_key(key).set_value(value)
    run(app)
    app.button(key="run").click()
    run(app)
    return ended(app)


def kept_run(app, *, asked=8, stop_after=None, change=None):
    """A run made without the page. `change` alters each record before it is kept."""
    cases, bench = load(samples.questions()), LibraryBench(workspace(app))
    made = plan(bench, cases, workspace(app).settings, mode="retrieval", limit=asked)
    kept.create(store(app), made, cases)
    done = [0]

    def stop():
        done[0] += 1
        return stop_after is not None and done[0] > stop_after

    made = execute(made, bench, cases, store(app), cancelled=stop)
    for record in store(app).records(made.id).values() if change else ():
        store(app).append(made.id, change(record))
    return made


def show(app, **where):
    for name, value in where.items():
        app.query_params[name] = value
    return go(app, "evaluation")


def table(app, column):
    """The first table that has the column."""
    return next(t.value for t in app.dataframe if column in t.value)


# Measuring


def test_a_first_visit_offers_the_documents_that_the_sample_questions_need(app):
    go(run(app), "evaluation")
    assert "4 documents that the questions are about cannot be searched" in words(app)
    assert app.button(key="run").disabled
    app.button(key="samples").click()
    run(app)
    assert "Documents are being read right now" in words(app)
    assert workspace(app).job.wait(60)
    run(app)
    assert not app.button(key="run").disabled
    assert "71 questions will be asked." in words(app)


def test_the_sample_questions_are_asked_and_the_result_is_told_in_words(filled):
    measure(filled)
    (made,) = store(filled).runs()
    assert (made.state, made.cases, made.set_name) == ("finished", 71, "Sample questions")
    said = words(filled)
    assert "The right page was among the first 5 for" in said
    assert "Right page in the first 5" in said
    assert "How often at least one right page is among the first 5 found. (hit@5)" in said
    assert filled.metric[0].value.endswith(" %")
    assert len(table(filled, "Question")) == 71
    assert [tab.label for tab in filled.tabs][:3] == ["By category", "By language", "Search stages"]
    assert filled.query_params["run"] == made.id


@pytest.mark.parametrize("tab", ["Search stages", "Time", "Over runs", "All numbers"])
def test_every_chart_of_a_run_can_be_drawn(filled, tab):
    kept_run(filled)
    go(filled, "evaluation")
    filled.session_state["charts"] = tab
    run(filled)
    drawn = len(filled.get("vega_lite_chart"))
    assert drawn == {"Search stages": 2, "Time": 1, "Over runs": 1, "All numbers": 0}[tab]


def test_chunks_of_other_sizes_are_tried_in_one_click(filled):
    made = kept_run(filled, asked=4)
    go(filled, "evaluation")
    filled.session_state["charts"] = "Chunk sizes"
    run(filled)
    filled.multiselect(key="chunk_sizes").set_value([64, 96])
    filled.get_by_key("try_sizes").click()
    run(filled)
    ended(filled)
    tried = {run.label: run for run in store(filled).runs() if run.id != made.id}
    assert set(tried) == {"64 tokens a chunk", "96 tokens a chunk"}
    assert all(run.state == "finished" for run in tried.values())
    assert tried["64 tokens a chunk"].config["ablation_of"] == made.id
    show(filled, view="results", run=made.id)
    filled.session_state["charts"] = "Chunk sizes"
    run(filled)
    assert len(filled.get("vega_lite_chart")) == 1
    assert "Since this run" not in words(filled)
    documents = sum(d.chunk_count for d in workspace(filled).documents())
    assert documents == int(made.config["collection.chunks"])


def test_a_run_over_passages_goes_on_and_is_repeated_on_the_command_line_only(filled):
    made = kept_run(filled, asked=4, stop_after=2)
    of_passages = replace(made, config={**made.config, "collection.passages": "240"})
    store(filled).save(of_passages)
    show(filled, view="results", run=made.id)
    filled.button(key="resume_run").click()
    run(filled)
    assert "on the command line" in filled.toast[0].value
    filled.session_state["charts"] = "Chunk sizes"
    run(filled)
    assert "try sizes on the command line" in words(filled)


def test_answers_of_the_reader_are_measured_with_refusals(filled):
    measure(filled, limit=3, mode="reader")
    (made,) = store(filled).runs()
    assert (made.mode, made.cases) == ("reader", 3)
    assert "got an answer" in words(filled)
    record = next(iter(store(filled).records(made.id).values()))
    show(filled, view="results", run=made.id, case=record.id)
    assert "Answer" in words(filled)
    assert f"source_{made.id}_{record.id}_1" in [button.key for button in filled.button]
    filled.session_state[f"receipt_{made.id}_{record.id}"] = True
    run(filled)
    assert "Trace as JSON" in [button.label for button in filled.get("download_button")]
    filled.button(key=f"source_{made.id}_{record.id}_1").click()
    run(filled)
    assert "with the quote marked" in filled.get("image")[-1].proto.imgs[0].alt


def test_a_run_shows_its_progress_and_can_be_cancelled_and_gone_on_with(filled, monkeypatch):
    may_go_on = threading.Event()
    search = LibraryBench.search

    def slow(self, case):
        assert may_go_on.wait(20)
        return search(self, case)

    monkeypatch.setattr(LibraryBench, "search", slow)
    show(filled, view="measure")
    filled.number_input(key="limit").set_value(5)
    run(filled)
    filled.button(key="run").click()
    run(filled)
    assert "Asking Sample questions" in words(filled)
    assert filled.progress[0].text.startswith("0 of 5 questions") or "Loading" in (
        filled.progress[0].text
    )
    show(filled, view="measure")
    assert filled.button(key="run").disabled  # one run at a time
    filled.button(key="cancel_run").click()
    run(filled)
    may_go_on.set()
    ended(filled)
    (made,) = store(filled).runs()
    show(filled, view="results", run=made.id)
    assert "This run is not complete. Cancelled." in words(filled)
    filled.button(key="resume_run").click()
    run(filled)
    ended(filled)
    assert store(filled).run(made.id).state == "finished"
    assert len(store(filled).records(made.id)) == 5
    assert "not complete" not in words(filled)


def test_a_run_that_a_crash_ended_goes_on_after_a_restart(filled):
    made = kept_run(filled, stop_after=3)
    store(filled).save(replace(store(filled).run(made.id), state="running", message=""))
    show(filled, view="results", run=made.id)
    assert "It was interrupted" in words(filled)
    assert "3 questions" in words(filled)
    filled.button(key="resume_run").click()
    run(filled)
    ended(filled)
    assert len(store(filled).records(made.id)) == 8


def test_what_has_changed_since_is_told_before_a_run_goes_on(filled):
    made = kept_run(filled, stop_after=3)
    document = next(d for d in workspace(filled).documents() if d.name.endswith(".md"))
    workspace(filled).delete(document.id)
    show(filled, view="results", run=made.id)
    assert "Since it began, the documents and the pages and the passages changed" in words(filled)


def test_a_provider_that_fails_half_way_loses_nothing(connected, monkeypatch):
    asked = []

    def ask(self, case, engine):
        asked.append(case.id)
        if len(asked) > 2:
            raise LLMError("The model 'openai/stub' did not answer: no credit left.")
        return Answer("Five metres.", (), Receipt("agent", "openai/stub", llm_calls=1))

    monkeypatch.setattr(LibraryBench, "ask", ask)
    measure(connected, limit=9, mode="agent")
    (made,) = store(connected).runs()
    said = words(connected)
    assert "This run is not complete. 3 failures in a row" in said
    assert "no credit left" in said
    assert "3 questions could not be asked" in said
    assert sum(not r.error for r in store(connected).records(made.id).values()) == 2


def test_failed_questions_of_a_finished_run_are_asked_again(filled):
    made = kept_run(filled, change=lambda r: replace(r, error="down") if r.id == "fact-02" else r)
    show(filled, view="results", run=made.id)
    assert "1 question could not be asked" in words(filled)
    filled.button(key="resume_run").click()
    run(filled)
    ended(filled)
    assert not any(r.error for r in store(filled).records(made.id).values())
    assert "could not be asked" not in words(filled)


def test_lines_that_cannot_be_used_are_listed_before_anything_runs(filled):
    show(filled, view="measure")
    filled.selectbox(key="set").set_value("\0upload")
    run(filled)
    lines = [
        '{"question": "How wide is it?", "doc": "dunnock-60-manual.pdf", "pages": [3]}',
        "not json",
        '{"question": "Who?", "doc": "dunnock-60-manual.pdf", "pages": [900]}',
        '{"question": "What?", "doc": "gone.pdf", "pages": [1]}',
    ]
    filled.file_uploader(key="question_set").upload("mine.jsonl", "\n".join(lines).encode())
    run(filled)
    said = words(filled)
    assert "1 line cannot be read" in said
    assert "line 2: not JSON" in said
    assert "line 3 (line-3): page 900 of 'dunnock-60-manual.pdf', which has" in said
    assert "1 document that the questions are about cannot be searched: gone.pdf" in said
    assert "3 questions will be asked." in said
    filled.button(key="run").click()
    run(filled)
    ended(filled)
    assert list(table(filled, "Result")["Result"]).count(["Missed"]) >= 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xff\xfe", "'mine.jsonl' is not UTF-8 text"), (b"no json\n", "line 1: not JSON")],
)
def test_a_file_that_is_no_question_set_says_why(app, content, problem):
    go(run(app), "evaluation")
    app.selectbox(key="set").set_value("\0upload")
    run(app)
    app.file_uploader(key="question_set").upload("mine.jsonl", content)
    run(app)
    assert problem in words(app)
    assert all(b.disabled for b in app.button if b.key == "run")


# Looking at results


def test_a_missed_question_opens_with_its_page_the_reason_and_the_way_back(filled):
    made = kept_run(filled, asked=71)
    show(filled, view="results", run=made.id)
    filled.pills(key="case_outcome").set_value("Missed")
    run(filled)
    missed = [r for r in store(filled).records(made.id).values() if r.blame]
    assert list(table(filled, "Question")["Question"]) == [r.question for r in missed]
    chosen = next(r for r in missed if r.right[0][0].endswith(".pdf"))
    at = missed.index(chosen)
    show(filled, case=chosen.id)
    assert filled.header[0].value.replace("\\", "") == chosen.question
    assert f"{at + 1} of {len(missed)} in the list" in words(filled)
    assert "Expected answer:" in words(filled)
    alt = filled.get("image")[0].proto.imgs[0].alt
    assert alt == f"{chosen.right[0][0]}, file page {chosen.right[0][1]}, evidence marked"
    assert any("✓" in page for page in table(filled, "Page")["Page"]) or (
        chosen.blame == "not retrieved"
    )
    filled.button(key="back_to_run").click()
    run(filled)
    assert filled.title[0].value == "Evaluation"
    assert filled.pills(key="case_outcome").value == "Missed"


def test_evidence_in_a_document_without_pages_is_marked_in_its_text(filled):
    made = kept_run(filled, asked=71)
    record = next(
        r for r in store(filled).records(made.id).values() if r.right[0][0].endswith(".docx")
    )
    show(filled, view="results", run=made.id, case=record.id)
    assert "<mark" in "".join(html.proto.body for html in filled.html)
    assert not filled.get("image")


def test_questions_are_found_by_category_and_words(filled):
    made = kept_run(filled, asked=71)
    show(filled, view="results", run=made.id)
    filled.selectbox(key="case_category").set_value("table")
    run(filled)
    assert set(table(filled, "Question")["Category"]) == {"table"}
    filled.text_input(key="case_text").set_value("no such words")
    run(filled)
    assert "No question passes these filters." in words(filled)


def flipped(record):
    """As if the right page had come last."""
    scores = {
        k: (0.0, b) if k.startswith(("hit@", "mrr@")) else (t, b)
        for k, (t, b) in record.scores.items()
    }
    return replace(record, scores=scores, blame="ranked too low")


def test_two_equal_runs_do_not_differ(filled):
    kept_run(filled)
    kept_run(filled)
    show(filled, view="compare")
    assert "No difference. Every question came out the same in both runs." in words(filled).replace(
        "**", ""
    )
    assert "Now wrong: 0" in words(filled)
    assert "both runs have the same configuration" in words(filled)


def test_a_worse_run_is_called_worse_and_its_lost_questions_are_listed(filled):
    first = kept_run(filled)
    second = kept_run(filled, change=flipped)
    show(filled, view="compare", run=second.id, other=first.id)
    said = words(filled)
    assert "**Worse:** Right page in the first 5" in said
    assert "Now wrong: 8" in said
    assert "Now right: 0" in said
    verdicts = dict(
        zip(table(filled, "Verdict")["What"], table(filled, "Verdict")["Verdict"], strict=True)
    )
    assert verdicts["Right page in the first 5"] == ["worse"]
    filled.selectbox(key="compare_after").set_value(first.id)
    filled.selectbox(key="compare_before").set_value(second.id)
    run(filled)
    assert "Now right: 8" in words(filled)


def test_a_question_is_shown_beside_the_same_one_in_another_run(filled):
    first = kept_run(filled)
    second = kept_run(filled, change=flipped)
    show(filled, view="results", run=second.id, case="fact-01", other=first.id)
    said = words(filled)
    assert "A search found the right page, but below the pages that are used." in said
    assert "A right page was among the first that were found." in said
    filled.selectbox(key="case_other").set_value(None)
    run(filled)
    assert "A right page was among the first" not in words(filled)


def test_runs_of_different_questions_cannot_be_compared(filled):
    kept_run(filled)
    show(filled, view="compare")
    assert "A comparison takes two runs." in words(filled)


def test_a_run_is_named_deleted_and_imported_again(filled):
    made = kept_run(filled)
    show(filled, view="results", run=made.id)
    filled.text_input(key=f"note_{made.id}").set_value("before")
    run(filled)
    exported = kept.export_run(store(filled), store(filled).run(made.id))
    filled.button(key="delete_run").click()
    run(filled)
    assert store(filled).runs() == []
    assert "No run yet." in words(filled)
    filled.file_uploader(key="first_import_0").upload("run.json", b"{}")
    run(filled)
    assert "This file is not an exported evaluation run." in words(filled)
    filled.file_uploader(key="first_import_1").upload("run.json", exported)
    run(filled)
    assert store(filled).run(made.id).label == "before"
    assert "before · samples/questions.jsonl" in filled.selectbox(key="run_shown").options[0]


def test_a_damaged_run_hides_no_other(filled):
    made = kept_run(filled)
    broken = store(filled).folder / "20200101-000000-dead"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    show(filled, view="results")
    assert "is damaged" in words(filled)
    assert filled.selectbox(key="run_shown").value == made.id


# Making questions


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
