"""Runs as they are kept: lines torn by a crash, exports, imports, ids."""

from dataclasses import replace

import pytest

from rag.errors import EvaluationError, NotFound
from rag.evaluate.runs import Record, Run, RunStore, dump_export
from rag.evaluate.stages import Found
from rag.types import Answer, Citation, Receipt, Rejection, Search

ANSWER = Answer(
    "It is blue [1].",
    (Citation("a.pdf", "a.pdf", 1, "", "page", 0, 4, "blue"),),
    Receipt(
        "reader",
        searches=(Search("q", ()),),
        seconds={"total": 0.01},
        quotes_verified=1,
        rejections=(Rejection("x", "not found"),),
    ),
)


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


class TestStore:
    run = Run("20260101-000000-abcd", "2026-01-01", "set", "digest", "retrieval", 5, 2)

    def test_a_line_torn_by_a_crash_costs_only_its_case(self, store):
        store.create(self.run)
        store.append(self.run.id, Record("x", "x?"))
        with (store.folder / self.run.id / "cases.jsonl").open("ab") as file:
            file.write(b'{"id": "y", "quest')
        store.append(self.run.id, Record("z", "z?"))
        assert list(store.records(self.run.id)) == ["x", "z"]

    def test_an_exported_run_comes_back_the_same(self, store, tmp_path):
        record = Record(
            "x",
            "x?",
            right=(("a.pdf", 1, 1.0),),
            needed=1,
            evidence=(("a.pdf", 1, 0, 5),),
            found=(Found("a.pdf", 1, 0, 5, keyword_rank=1),),
            answer=ANSWER,
            cited=(("a.pdf", 1),),
            scores={"hit@5": (1.0, 1.0)},
        )
        store.create(self.run)
        store.append(self.run.id, record)
        other = RunStore(tmp_path / "elsewhere")
        content = store.export(self.run.id)
        imported = other.import_(content)
        assert other.records(imported.id) == {"x": record}
        assert imported.state == "stopped"
        with pytest.raises(EvaluationError, match="already here"):
            other.import_(content)

    @pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"footnote_run": 99}', b"{}"])
    def test_another_file_is_no_run(self, store, content):
        with pytest.raises(EvaluationError):
            store.import_(content)

    def test_an_imported_id_never_becomes_a_path(self, store):
        content = dump_export(self.run, []).replace(self.run.id.encode(), b"../../evil")
        with pytest.raises(NotFound, match="not the id of a run"):
            store.import_(content)

    def test_runs_are_found_by_the_start_of_their_id(self, store):
        later = replace(self.run, id="20260102-000000-abcd", created="2026-01-02")
        for run in (self.run, later):
            store.create(run)
        assert store.find("last") == later
        assert store.find("20260101") == self.run
        with pytest.raises(NotFound, match="several"):
            store.find("2026")
        with pytest.raises(NotFound, match="no run"):
            store.find("x")

    def test_a_deleted_run_is_gone(self, store):
        store.create(self.run)
        store.delete(self.run.id)
        assert store.runs() == []
