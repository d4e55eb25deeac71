"""Stories on the evaluation page; only the models stand in."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from rag.errors import LLMError
from rag.evaluate import kept
from rag.evaluate.bench import LibraryBench
from rag.types import Answer, Receipt
from tests.app import go, run, words, workspace
from tests.evaluation import ended, kept_run, measure, show, store, table

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
