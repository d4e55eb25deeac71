"""`eval` end to end: real files, the app's own search and reader, a stand-in embedder."""

import argparse
import json

import pytest

from rag.errors import EvaluationError
from rag.evaluate import cli, command, kept
from rag.evaluate.bench import LibraryBench
from rag.evaluate.command import RUNS, evaluate_in
from rag.evaluate.load import load
from rag.evaluate.runs import RunStore
from rag.ingest import Upload
from rag.job import Repair
from rag.llm import TextPiece
from rag.settings import Settings

PAGES = [
    ["The kettle holds two litres of water.", "Do not fill it above the mark."],
    ["The warranty lasts for three years.", "Keep the receipt."],
    ["Descale the kettle every month with vinegar."],
]
QUESTIONS = [
    {"id": "a", "question": "How long does the warranty last?", "doc": "kettle.pdf", "pages": [2]},
    {"id": "b", "question": "How often to descale?", "doc": "kettle.pdf", "pages": [3]},
    {"id": "c", "question": "What does the lost manual say?", "doc": "lost.pdf", "pages": [1]},
    {"id": "d", "question": "Who is the king of France?", "answerable": False},
]


@pytest.fixture
def docs(tmp_path, make_pdf):
    folder = tmp_path / "docs"
    folder.mkdir()
    make_pdf("kettle.pdf", PAGES).rename(folder / "kettle.pdf")
    tea = "Black tea needs boiling water. Green tea needs water that has cooled for a while. " * 4
    (folder / "notes.md").write_text(f"# Tea\n{tea}\n", encoding="utf-8")
    return folder


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(q)}\n" for q in QUESTIONS), encoding="utf-8")
    return path


def options(docs, questions, *more):
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    asked = [] if questions is None else ["--questions", str(questions)]
    return parser.parse_args(["--docs", str(docs), *asked, *more])


@pytest.fixture
def evaluate(workspace, docs, questions, capsys):
    """Runs the command; returns its exit code, the printed object and what was told."""

    def run(*more):
        chosen = options(docs, questions, *more)
        code = evaluate_in(workspace, chosen, load(questions))
        output = capsys.readouterr()
        printed = output.out if chosen.table else json.loads(output.out)
        return code, printed, output.err

    return run


class TestRetrieval:
    def test_the_printed_object_has_the_promised_keys(self, evaluate):
        code, printed, told = evaluate()
        assert code == 0
        assert list(printed)[:7] == [
            *("mode", "n", "hit@1", "hit@5", "mrr@5", "recall@20"),
            "ndcg@10",
        ]
        assert set(printed["latency_ms"]) == {"p50", "p95"}
        assert printed["n"] == 3
        assert printed["hit@5"] == pytest.approx(2 / 3, abs=1e-4)
        assert "line 3 (c): the document 'lost.pdf' is not among the documents" in told

    def test_a_second_run_finds_the_documents_indexed(self, evaluate, workspace):
        evaluate()
        added = [document.added for document in workspace.documents()]
        evaluate()
        assert [document.added for document in workspace.documents()] == added

    def test_a_record_a_question_is_written(self, evaluate, tmp_path):
        evaluate("--out", str(tmp_path / "out.json"))
        rows = json.loads((tmp_path / "out.json").read_text())
        assert [row["id"] for row in rows] == ["a", "b", "c"]
        assert rows[0]["pages"][0] == {"doc": "kettle.pdf", "page": 2}
        assert rows[0]["ranks"] == {"keyword": 1, "pages": 1, "dense": 1, "fused": 1}
        assert rows[2]["blame"] == "missing document"

    def test_gates_decide_the_exit_code(self, evaluate):
        assert evaluate("--gate", "hit@5>=0.6", "--gate", "hit@3>=0.6")[0] == 0
        code, printed, told = evaluate("--gate", "hit@5>=0.9")
        assert (code, printed["gates"]) == (1, {"hit@5>=0.9": False})
        assert "Gate missed: hit@5>=0.9" in told

    def test_an_unknown_gate_misses_and_the_result_is_still_printed(self, evaluate):
        code, printed, told = evaluate("--gate", "speed>=1")
        assert (code, printed["n"]) == (1, 3)
        assert "no metric 'speed'" in told

    def test_stages_and_an_earlier_run_are_compared(self, evaluate):
        evaluate()
        _, printed, _ = evaluate("--ablate", "--compare", "last")
        stages = {"BM25 only", "BM25 pages only", "dense only", "fused"}
        assert set(printed["ablation"]) == stages
        assert printed["compare"]["metrics"]["hit@5"]["verdict"] == "no difference beyond noise"
        assert printed["compare"]["changed"] == {}

    def test_chunks_of_other_sizes_are_tried_over_an_index_of_their_own(self, evaluate, workspace):
        code, printed, told = evaluate("--ablate", "chunk=32,200,300", "--ablate", "k=1,5")
        assert code == 0
        sizes = printed["ablation_chunk_runs"]
        assert list(sizes) == ["32", "200", "216"]  # the embedder reads 256, header and all
        assert "chunks of 300 were cut to 216" in told
        assert int(sizes["32"]["chunks"]) > int(sizes["200"]["chunks"])
        assert sizes["200"]["run"] == printed["run"]
        assert sizes["32"]["against"]["hit@5"] == "no difference beyond noise"
        assert printed["ablation_k"]["5"]["hit"] == printed["hit@5"]
        store = RunStore(workspace.settings.data / RUNS)
        tried = store.run(sizes["32"]["run"])
        assert (tried.config["chunk_tokens"], tried.label) == ("32", "32 tokens a chunk")
        assert tried.config["ablation_of"] == printed["run"]
        documents = [d for d in workspace.documents() if d.state == "ready"]
        assert sum(d.chunk_count for d in documents) == int(sizes["200"]["chunks"])

    def test_an_exported_run_can_be_compared_with(self, evaluate, tmp_path):
        evaluate("--export", str(tmp_path / "base.json"))
        _, printed, _ = evaluate("--compare", str(tmp_path / "base.json"))
        assert printed["compare"]["n"] == 3
        exported = json.loads((tmp_path / "base.json").read_text())
        assert len(exported["questions"]) == 4  # so that it can go on elsewhere

    def test_a_table_has_plain_names(self, evaluate):
        _, shown, _ = evaluate("--table", "--ablate")
        assert "Right page in the first 5 (hit@5)" in shown
        assert "BM25 only" in shown

    def test_a_stopped_run_goes_on_with_its_own_questions(
        self, evaluate, workspace, docs, questions, capsys, monkeypatch
    ):
        search, asked = LibraryBench.search, []

        def once(self, case):
            if len(asked) == 2:  # the first search loads what is needed, the second is a question
                raise KeyboardInterrupt
            asked.append(case.id)
            return search(self, case)

        monkeypatch.setattr(LibraryBench, "search", once)
        with pytest.raises(KeyboardInterrupt):
            evaluate()
        assert "--resume" in capsys.readouterr().err
        monkeypatch.setattr(LibraryBench, "search", search)
        questions.unlink()
        chosen = options(docs, None, "--resume", "last")
        assert evaluate_in(workspace, chosen) == 0
        assert json.loads(capsys.readouterr().out)["n"] == 3

    def test_a_run_of_the_command_line_is_kept_with_its_questions(self, evaluate, workspace):
        _, printed, _ = evaluate()
        store = RunStore(workspace.settings.data / RUNS)
        kept_cases = kept.questions(store, store.run(printed["run"]))
        assert [case.id for case in kept_cases.cases] == ["a", "b", "c", "d"]

    def test_questions_that_are_neither_named_nor_kept_are_asked_for(self, workspace, docs):
        with pytest.raises(EvaluationError, match="--questions"):
            cli.run(options(docs, None), workspace.settings)


class TestReader:
    def test_fewer_passages_are_a_run_of_their_own(self, evaluate, workspace):
        _, printed, _ = evaluate("--mode", "reader", "--ablate", "k=1,8")
        fewer = printed["ablation_k_runs"]["1"]
        assert "refusal_recall" in fewer["against"]
        run = RunStore(workspace.settings.data / RUNS).run(fewer["run"])
        assert (run.config["answer_top_k"], run.label) == ("1", "1 passage")
        assert printed["ablation_k_runs"]["8"]["run"] == printed["run"]

    def test_the_judge_is_named_with_its_prompts(self, evaluate, workspace, monkeypatch):
        class Yes:
            model = "stub/judge"

            def stream(self, messages):
                yield TextPiece("Verdict: yes")

        monkeypatch.setattr("rag.llm.LiteLLM", lambda settings, temperature: Yes())
        _, printed, _ = evaluate("--mode", "reader", "--judge")
        run = RunStore(workspace.settings.data / RUNS).run(printed["run"])
        assert (run.config["judge"], run.config["judge.temperature"]) == ("stub/judge", "0")
        assert "prompt.judge_grounded" in run.config
        assert printed["more"]["judge_relevant"] == 1

    def test_every_question_is_answered_or_refused(self, evaluate):
        code, printed, _ = evaluate("--mode", "reader")
        assert code == 0
        assert printed["answered"] + printed["refused"] == printed["n"] == 4
        assert list(printed)[8:16] == [
            *("answered", "refused"),
            *("refusal_precision", "refusal_recall", "refusal_f1"),
            *("citation_page_precision", "citation_page_recall", "answer_contains_reference"),
        ]


class TestPassages:
    @pytest.fixture
    def docs(self, tmp_path):
        folder = tmp_path / "passages"
        folder.mkdir()
        lines = {
            "passages.en.jsonl": [("p1", "Cats", "Cats sleep a lot."), ("p2", "", "Dogs bark.")],
            "passages.de.jsonl": [("p1", "", "Katzen schlafen viel."), ("p2", "", "Hunde bellen.")],
        }
        for name, passages in lines.items():
            records = [{"doc_id": i, "title": t, "text": x} for i, t, x in passages]
            text = "".join(f"{json.dumps(record)}\n" for record in records)
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    @pytest.fixture
    def questions(self, tmp_path):
        path = tmp_path / "questions.jsonl"
        question = {"en": "Do dogs bark?", "de": "Bellen Hunde?"}
        record = {"id": "q", "question_by_lang": question, "relevant": {"p2": 1}}
        path.write_text(json.dumps(record), encoding="utf-8")
        return path

    def test_each_case_is_asked_in_the_collection_of_its_language(self, evaluate, workspace):
        code, printed, _ = evaluate()
        assert (code, printed["n"], printed["ndcg@10"]) == (0, 2, 1)
        assert workspace.documents() == []

    def test_answers_cite_passages(self, evaluate, tmp_path):
        evaluate("--mode", "reader", "--out", str(tmp_path / "out.jsonl"))
        english, german = (
            json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()
        )
        for row in (english, german):
            assert row["refused"] or row["scores"]["citation_page_recall"] == 1

    def test_a_collection_is_indexed_once(self, evaluate, workspace):
        evaluate()
        embedder = workspace.engines().embedder
        embedder.embedded.clear()
        evaluate()
        assert embedder.embedded == []


def test_text_recognition_in_the_background_is_waited_for(monkeypatch):
    class Recognising:
        left = 3

        @property
        def repairs(self):
            self.left -= 1
            state = "running" if self.left else "done"
            return (Repair("id", "scan.pdf", state, pages_done=2 - self.left, pages_total=2),)

    monkeypatch.setattr(command, "_POLL_S", 0)
    workspace = Recognising()
    command.settle(workspace)
    assert workspace.left == 0


class TestBadInput:
    def test_nothing_is_evaluated_while_files_are_indexed(self, workspace, docs):
        job = workspace.add_files([Upload("kettle.pdf", docs / "kettle.pdf")])
        with pytest.raises(EvaluationError, match="being indexed"):
            LibraryBench(workspace)
        assert job.wait(30)
        assert LibraryBench(workspace).document("kettle.pdf") is not None

    def test_a_malformed_set_is_refused_before_anything_is_asked(self, docs, tmp_path, capsys):
        path = tmp_path / "bad.jsonl"
        path.write_text('{"question": "Fine?"}\n{oops\n', encoding="utf-8")
        assert cli.run(options(docs, path), Settings(tmp_path / "data")) == 2
        assert "line 2: not JSON" in capsys.readouterr().err
        assert not (tmp_path / "data").exists()

    @pytest.mark.parametrize(
        "bad",
        [
            ["--gate", "hit@5=1"],
            ["--top-k", "0"],
            ["--limit", "x"],
            ["--ablate", "chunk=8"],
            ["--ablate", "k=3,"],
            ["--ablate", "speed=1"],
        ],
    )
    def test_a_bad_option_is_a_usage_error(self, docs, questions, bad, capsys):
        with pytest.raises(SystemExit) as stopped:
            options(docs, questions, *bad)
        assert stopped.value.code == 2
        assert capsys.readouterr().err
