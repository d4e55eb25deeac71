"""Runs: asked, kept, stopped, resumed, blamed, exported."""

import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from rag.errors import EvaluationError, LLMError
from rag.evaluate import report
from rag.evaluate.cases import Case
from rag.evaluate.judge import Judge
from rag.evaluate.load import CaseSet
from rag.evaluate.metrics.retrieval import Gold
from rag.evaluate.runner import execute, plan
from rag.evaluate.runs import Record, RunStore
from rag.evaluate.scores import slices, summarise
from rag.evaluate.tasks import RunJob, Task, perform
from rag.llm import TextPiece, Usage
from rag.settings import Settings
from rag.types import Answer, Chunk, Citation, Hit, Receipt, Rejection, Search

GOLD = Gold({("a.pdf", 1): 1.0}, 1)


def hit(page, dense=None, keyword=None, fused=0.1, rerank=None, document="a.pdf"):
    chunk = Chunk(f"{document}/{page}", document, page, 0, 10, "some words")
    return Hit(
        chunk,
        document,
        "",
        "page",
        dense_rank=dense,
        keyword_rank=keyword,
        fused_score=fused,
        rerank_score=rerank,
    )


def answer(text="It is blue [1].", pages=(1,), refused=False, rejected=0):
    citations = tuple(Citation("a.pdf", "a.pdf", p, "", "page", 0, 4, "blue") for p in pages)
    receipt = Receipt(
        "reader",
        searches=(Search("q", ()),),
        seconds={"total": 0.01},
        quotes_verified=len(pages),
        rejections=(Rejection("x", "not found"),) * rejected,
    )
    return Answer(text, () if refused else citations, receipt, refused)


class FakeBench:
    """Finds page 1 first, answers as told, and fails for the questions in `failing`."""

    def __init__(self, answers=None, failing=()):
        self.answers = answers or {}
        self.failing = set(failing)
        self.asked = []

    def embed(self, texts):
        return np.array([[float("blue" in text), float("blue" not in text)] for text in texts])

    def check(self, cases):
        return []

    def gold(self, case):
        grades = dict.fromkeys(case.pages, 1.0)
        return Gold(grades, len(grades)) if grades else None

    def spans(self, case):
        return ()

    def missing(self, case):
        return case.doc == "lost.pdf"

    def without_text(self, gold):
        return False

    def search(self, case):
        self.asked.append(case.id)
        hits = (hit(1, dense=1, keyword=2), hit(2, dense=2, keyword=1))
        return Search(case.question, hits, {"embed": 0.002})

    def ask(self, case, engine):
        if case.id in self.failing:
            raise LLMError("The provider is down.")
        return self.answers.get(case.id, answer())

    def place(self, document_id, page):
        return document_id, page

    def describe(self):
        return {"documents": "1"}


def case_set(*cases):
    return CaseSet("set", tuple(cases), digest="digest")


def case(name, page=1, **more):
    pages = (("a.pdf", page),) if page else ()
    return Case(name, f"{name}?", doc="a.pdf", pages=pages, **more)


@pytest.fixture
def settings(tmp_path):
    return Settings(tmp_path, llm_model="fake/model")


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def finished(bench, cases, store, settings, mode="retrieval", **options):
    planned = plan(bench, cases, settings, mode=mode)
    done = execute(planned, bench, cases, store, **options)
    return done, store.records(done.id)


def task(cases, settings, bench, opening=lambda tell: None):
    """A planned retrieval run in `bench`, once `opening` has had its say."""

    @contextmanager
    def place(tell):
        opening(tell)
        yield bench

    return Task(plan(FakeBench(), cases, settings, mode="retrieval"), place)


class TestRetrievalRun:
    def test_only_questions_with_a_right_page_are_asked(self, store, settings):
        cases = case_set(case("x", 1), case("y", 2), case("z", None))
        done, records = finished(FakeBench(), cases, store, settings)
        assert done.state == "finished"
        assert list(records) == ["x", "y"]
        printed = report.results(done, list(records.values()))
        assert printed["n"] == 2
        assert printed["hit@1"] == 0.5
        assert printed["mrr@5"] == 0.75
        assert printed["recall@20"] == 1
        assert set(printed["latency_ms"]) == {"p50", "p95"}
        assert printed["intervals"]["hit@1"] == [0, 1]

    def test_a_question_about_a_missing_document_counts_as_missed(self, store, settings):
        lost = Case("x", "x?", doc="lost.pdf", pages=(("lost.pdf", 1),))
        _, records = finished(FakeBench(), case_set(lost), store, settings)
        assert records["x"].scores["hit@20"] == (0.0, 1.0)
        assert records["x"].blame == "missing document"

    def test_each_stage_is_measured_from_the_same_hits(self, store, settings):
        done, records = finished(FakeBench(), case_set(case("x", 2)), store, settings)
        rows = report.ablation(done, records.values())
        assert rows["BM25 only"]["hit@1"] == 1
        assert rows["dense only"]["hit@1"] == 0
        assert "fused + re-ranker" not in rows

    def test_a_limit_takes_the_first_questions(self, store, settings):
        cases = case_set(case("x"), case("y"), case("z"))
        planned = plan(FakeBench(), cases, settings, mode="retrieval", limit=2)
        execute(planned, FakeBench(), cases, store)
        assert list(store.records(planned.id)) == ["x", "y"]

    def test_a_set_without_right_pages_says_so(self, settings):
        with pytest.raises(EvaluationError, match="which page or passage is right"):
            plan(FakeBench(), case_set(case("x", None)), settings, mode="retrieval")

    def test_the_configuration_has_no_secret(self, settings):
        private = replace(settings, llm_api_key="sk-secret")
        planned = plan(FakeBench(), case_set(case("x")), private, mode="agent")
        assert "sk-secret" not in str(planned)
        assert planned.config["model"] == "fake/model"
        assert planned.config["prompt.agent"]


class TestAnswerRun:
    def test_answers_refusals_and_sources_are_scored(self, store, settings):
        cases = case_set(
            case("right", 1, answers=("blue",), facts=(("blue",), ("red",))),
            case("wrong page", 2, answers=("green",)),
            case("refused", 1, answers=("blue",)),
            case("none", None, answerable=False),
        )
        bench = FakeBench(
            {
                "right": answer(rejected=1),
                "wrong page": answer("It is red.", pages=(1, 3)),
                "refused": answer("The documents do not say.", refused=True),
                "none": answer("The documents do not say.", refused=True),
            }
        )
        done, records = finished(bench, cases, store, settings, mode="reader")
        printed = report.results(done, list(records.values()))
        assert printed["n"] == 4
        assert (printed["answered"], printed["refused"]) == (2, 2)
        assert printed["refusal_precision"] == 0.5
        assert printed["refusal_recall"] == 1
        assert printed["citation_page_precision"] == 0.5
        assert printed["citation_page_recall"] == 0.5
        assert printed["answer_contains_reference"] == pytest.approx(1 / 3, abs=1e-4)
        assert printed["more"]["fact_recall"] == 0.5
        assert printed["more"]["quotes_verified"] == 0.75
        assert printed["more"]["sentences_marked"] == 0.5
        assert printed["more"]["similarity"] == pytest.approx(2 / 3, abs=1e-4)
        assert [records[c.id].blame for c in cases.cases[:3]] == ["", "not cited", "refused"]

    def test_a_set_without_unanswerable_questions_has_no_refusal_recall(self, store, settings):
        done, records = finished(FakeBench(), case_set(case("x")), store, settings, "reader")
        assert report.results(done, list(records.values()))["refusal_recall"] is None

    def test_a_failing_provider_stops_the_run_and_resuming_asks_only_what_failed(
        self, store, settings
    ):
        cases = case_set(*(case(name) for name in "abcdef"))
        bench = FakeBench(failing="bcd")
        stopped, records = finished(bench, cases, store, settings, mode="agent")
        assert stopped.state == "stopped"
        assert "3 failures in a row: The provider is down." in stopped.message
        assert [name for name, record in records.items() if record.error] == ["b", "c", "d"]
        assert summarise(records.values()).n == 1
        again = FakeBench()
        resumed = execute(store.find("last"), again, cases, store)
        assert resumed.state == "finished"
        assert again.asked == ["b", "c", "d", "e", "f"]
        assert not any(record.error for record in store.records(resumed.id).values())

    def test_the_agent_needs_a_model(self, settings):
        offline = replace(settings, llm_model=None)
        with pytest.raises(EvaluationError, match="LLM_MODEL"):
            plan(FakeBench(), case_set(case("x")), offline, mode="agent")

    def test_a_judge_keeps_its_raw_replies(self, store, settings):
        class Model:
            model = "fake/judge"
            replies = iter(["All there.\nVerdict: yes", "**Verdict: no**", "I cannot tell."])

            def stream(self, messages, tools=(), tool_choice=None, timeout_s=None):
                yield TextPiece(next(self.replies))
                yield Usage(1, 1, None)

        cases = case_set(case("x", answers=("blue",)))
        _, records = finished(
            FakeBench(), cases, store, settings, mode="reader", judge=Judge(Model())
        )
        assert records["x"].scores["judge_grounded"] == (1.0, 1.0)
        assert records["x"].scores["judge_relevant"] == (0.0, 1.0)
        assert "judge_correct" not in records["x"].scores
        assert records["x"].verdicts["correct"] == "I cannot tell."


class TestStopping:
    def test_a_cancelled_run_keeps_what_it_has_and_goes_on(self, store, settings):
        cases = case_set(case("x"), case("y"), case("z"))
        planned = plan(FakeBench(), cases, settings, mode="retrieval")
        seen = []
        stopped = execute(
            planned,
            FakeBench(),
            cases,
            store,
            on_progress=seen.append,
            cancelled=lambda: len(seen) > 1,
        )
        assert (stopped.state, list(store.records(planned.id))) == ("stopped", ["x"])
        assert seen[-1].done == 1
        assert seen[-1].seconds_left is not None
        bench = FakeBench()
        assert execute(stopped, bench, cases, store).state == "finished"
        assert bench.asked == ["y", "z"]

    def test_an_interrupt_leaves_a_run_that_can_be_resumed(self, store, settings):
        class Interrupted(FakeBench):
            def search(self, case):
                if case.id == "y":
                    raise KeyboardInterrupt
                return super().search(case)

        cases = case_set(case("x"), case("y"))
        planned = plan(FakeBench(), cases, settings, mode="retrieval")
        with pytest.raises(KeyboardInterrupt):
            execute(planned, Interrupted(), cases, store)
        assert store.find("last").state == "stopped"
        assert list(store.records(planned.id)) == ["x"]

    def test_a_run_is_not_resumed_with_other_questions(self, store, settings):
        planned = plan(FakeBench(), case_set(case("x")), settings, mode="retrieval")
        with pytest.raises(EvaluationError, match="other questions"):
            execute(planned, FakeBench(), CaseSet("s", (case("x"),), digest="new"), store)

    def test_a_job_runs_beside_its_caller(self, store, settings):
        gate = threading.Event()

        class Waiting(FakeBench):
            def search(self, case):
                assert gate.wait(10)
                return super().search(case)

        cases = case_set(case("x"), case("y"))
        job = RunJob([task(cases, settings, Waiting())], cases, store)
        assert not job.finished
        job.cancel()
        gate.set()
        assert job.wait(10)
        assert job.error == ""
        assert job.run.state == "stopped"

    def test_a_job_that_breaks_off_says_why(self, store, settings):
        class Broken(FakeBench):
            def search(self, case):
                raise ZeroDivisionError("oops")

        cases = case_set(case("x"))
        job = RunJob([task(cases, settings, Broken())], cases, store)
        assert job.wait(10)
        assert "ZeroDivisionError: oops" in job.error
        assert store.find("last").state == "stopped"

    def test_runs_of_a_job_follow_each_other_until_one_does_not_finish(self, store, settings):
        class Broken(FakeBench):
            def search(self, case):
                raise EvaluationError("The library is gone.")

        cases = case_set(case("x"))
        good, bad, never = (task(cases, settings, b()) for b in (FakeBench, Broken, FakeBench))
        job = RunJob([good, bad, never], cases, store)
        assert job.wait(10)
        assert job.error == "The library is gone."
        states = {run.id: run.state for run in store.runs()}
        assert states == {good.run.id: "finished", bad.run.id: "stopped"}

    def test_a_run_that_is_cancelled_before_its_documents_are_ready_can_go_on(
        self, store, settings
    ):
        cases = case_set(case("x"))
        planned = task(cases, settings, FakeBench(), lambda tell: tell(1, 10))
        seen = []
        stopped = perform(planned, cases, store, cancelled=lambda: True, on_progress=seen.append)
        assert (stopped.state, stopped.message, seen) == ("stopped", "Cancelled.", [])
        again = replace(planned, run=store.run(planned.run.id))
        assert perform(again, cases, store, on_progress=seen.append).state == "finished"
        assert seen[0].indexing == "1 of 10"
        assert list(store.records(planned.run.id)) == ["x"]


def test_slices_group_records_and_keep_those_without_a_value():
    records = [Record("a", "?", category="x"), Record("b", "?"), Record("c", "?", category="x")]
    groups = slices(records, lambda record: record.category)
    assert {name: [r.id for r in group] for name, group in groups.items()} == {
        "": ["b"],
        "x": ["a", "c"],
    }


def test_every_score_has_a_name_for_people(store, settings):
    from rag.evaluate.names import metric

    cases = case_set(case("x", answers=("blue",), facts=(("blue",),)))
    done, records = finished(FakeBench(), cases, store, settings, mode="reader")
    assert all(metric(key).meaning for key in records["x"].scores)
    shown = report.table(done, list(records.values()))
    assert "Right page in the first 5 (hit@5)" in shown
