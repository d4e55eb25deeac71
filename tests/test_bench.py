"""The scripts that measure: what they keep, how they cut, what they print."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.evaluate.cases import Case
from rag.evaluate.runs import Record, Run
from rag.evaluate.scores import score_search, summarise
from rag.evaluate.stages import Found
from rag.types import Answer, Citation, Heading, Page, ParsedPage, Receipt
from tests.fakes import LengthReranker, WordEmbedder

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from bench.cache import Scores, Vectors
from bench.cuts import ways, widen
from bench.reader import Probe
from bench.tables import Done, retrieval_table, telling_misses


class TestCache:
    def test_a_text_is_embedded_once_whatever_asks_for_it(self, tmp_path):
        model = WordEmbedder()
        first = Vectors(tmp_path / "v.db", model).embed(["tea", "coffee", "tea"])
        assert sorted(model.embedded) == ["coffee", "tea"]
        again = Vectors(tmp_path / "v.db", model).embed(["coffee", "milk"])
        assert sorted(model.embedded) == ["coffee", "milk", "tea"]
        np.testing.assert_array_equal(again[0], first[1])

    def test_a_live_cache_computes_everything_and_keeps_nothing(self, tmp_path):
        model = WordEmbedder()
        vectors = Vectors(tmp_path / "v.db", model)
        vectors.live = True
        vectors.embed(["tea"])
        vectors.live = False
        vectors.embed(["tea"])
        assert model.embedded == ["tea", "tea"]

    def test_scores_of_other_weights_are_computed_anew(self, tmp_path):
        class Counting(LengthReranker):
            asked = 0

            def score(self, query, passages):
                self.asked += len(passages)
                return super().score(query, passages)

        model = Counting()
        old, new = (Scores(tmp_path / "s.db", model, weights) for weights in ("a", "b"))
        assert old.score("q", ["tea", "milk"]) == old.score("q", ["tea", "milk"]) == [0.25, 0.2]
        assert model.asked == 2
        assert new.score("q", ["tea"]) == [0.25]
        assert model.asked == 3


TEXT = (
    "Running head\n\nThe first sentence stands here in full. The second one follows it closely. "
    "The third is the last of them.\n\n| Plan | Monthly price |\n|---|---|\n"
    "| The basic plan for one | 5 |\n\nA last paragraph ends the page.\n17"
)


@pytest.mark.parametrize("number", range(1, 5))
def test_every_cut_is_a_slice_of_its_page_without_furniture(number):
    head = (0, len("Running head"))
    furniture = (head, (len(TEXT) - 2, len(TEXT)))
    page = Page("doc", 1, "", TEXT, headings=(Heading(14, 1, "Prices"),))
    way = ways(WordEmbedder(), 12)[number]
    chunks = list(way.cut([ParsedPage(page, furniture=furniture)]))
    assert chunks
    for chunk in chunks:
        assert TEXT[chunk.start : chunk.end] == chunk.text
        assert "Running head" not in chunk.text
        assert not chunk.text.endswith("17")
        assert chunk.heading == "Prices"
    found = [Found("doc", 1, c.start, c.end) for c in chunks]
    wide = widen(found, way, lambda doc, number: page)
    assert all(a.start >= b.start and a.end <= b.end for a, b in zip(found, wide, strict=False))
    if way.widened is None:
        assert wide == found
    if "page" in way.name:
        assert [(hit.start, hit.end) for hit in wide] == [(0, len(TEXT))]


def done(*records: Record) -> Done:
    run = Run("r", "2026-01-01", "set", "digest", "retrieval", 5, len(records))
    return Done("set", run, records, {}, summarise(records))


def record(name: str, rank: int | None, blame: str) -> Record:
    found = tuple(
        Found("a.pdf", page, 0, 9, keyword_rank=page, fused_score=1 / page) for page in range(1, 9)
    )
    right = (("a.pdf", rank or 99, 1.0),)
    made = Record(name, f"{name}?", right=right, needed=1, found=found, blame=blame)
    return replace(made, scores=score_search(found, made.gold, (), 5), seconds={"total": 0.02})


class TestTables:
    def test_a_table_has_every_mean_with_its_interval(self):
        table = retrieval_table([done(record("x", 1, ""), record("y", 1, ""))], timed=True)
        assert "| set | 2 | 1.00 (1.00 to 1.00) |" in table
        assert table.endswith("| 2.0 |")  # seconds for 100 questions

    def test_of_each_reason_the_miss_that_was_nearest_is_told(self):
        misses = [
            record("far", 8, "ranked too low"),
            record("near", 6, "ranked too low"),
            record("lost", None, "not retrieved"),
        ]
        told = list(telling_misses([done(*misses)]))
        assert len(told) == 2
        assert "(2 of set): “near?”" in told[0]
        assert "“lost?”" in told[1]


def test_the_support_of_the_reader_is_told_from_what_it_answers():
    cases = [Case(f"c{i}", f"{i}?", answers=("blue",), answerable=i < 50) for i in range(100)]
    probe = Probe(cases)
    quote = "It is green. It is blue."
    citation = Citation("d", "d", 1, "", "page", 0, len(quote), quote)
    records = []
    for i, case in enumerate(cases):
        probe._support[case.question] = 1.0 if case.answerable else 0.0
        answer = Answer("", (citation,), Receipt("reader"), refused=i % 2 == 1)
        records.append(Record(case.id, case.question, answerable=case.answerable, answer=answer))
    found = probe.results(records)
    assert found["answer within the first quoted sentence"].startswith("0.00")
    assert found["answer within the first two quoted sentences"].startswith("1.00")
    assert found["AUC of answerable against unanswerable"].startswith("1.00")
    assert found["balanced accuracy of answering or refusing"].startswith("0.50")
