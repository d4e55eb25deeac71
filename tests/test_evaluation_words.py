"""The plain functions behind the evaluation page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.ui import evaluation_charts as charts
from pages.ui.evaluation_fields import Fields, fields, filled, paragraphs
from pages.ui.evaluation_rows import (
    case_rows,
    cut_rows,
    difference_rows,
    flip_rows,
    found_rows,
    group_rows,
    metric_rows,
    miss_rows,
    paired_values,
    rank_rows,
    set_rows,
    stage_rows,
    stage_times,
)
from pages.ui.evaluation_words import (
    about_run,
    amount,
    change,
    change_interval,
    compared_in_words,
    counted,
    drift,
    headline,
    interval,
    named,
    run_label,
    run_labels,
    time_left,
    verdict_of,
    where,
)
from rag.evaluate.cases import Case, Evidence
from rag.evaluate.compare import compare
from rag.evaluate.runs import Record, Run
from rag.evaluate.scores import summarise
from rag.evaluate.stages import Found
from rag.evaluate.stats import Difference, Estimate
from rag.types import Answer, Receipt, Turn

RIGHT = (("a.pdf", 2, 1.0),)


def run(**changes):
    values = {"set_name": "Mine", "set_digest": "d", "mode": "retrieval", "top_k": 5, "cases": 2}
    return Run("20240101-000000-aaaa", "2024-01-01T10:00:00+00:00", **values | changes)


def record(name, rank, **changes):
    """A case whose right page stands at `rank`; 0 for a miss."""
    scores = {f"hit@{k}": (float(0 < rank <= k), 1.0) for k in (1, 3, 5)}
    scores["mrr@5"] = (1 / rank if rank else 0.0, 1.0)
    return Record(
        name,
        f"Question {name}?",
        right=RIGHT,
        needed=1,
        found=tuple(
            Found(
                "a.pdf", 2 if place == rank else 10 + place, 0, 9, place, 1.0, fused_score=1 / place
            )
            for place in range(1, 8)
        ),
        seconds={"keyword": 0.002, "total": 0.01},
        scores=scores,
        blame="" if 0 < rank <= 5 else "not retrieved",
        **changes,
    )


def difference(value, low, high, beyond=True):
    return Difference(value, low, high, 10, 3, 1, 0.01, beyond)


# Numbers in words


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("hit@5", 0.934, "93 %"),
        ("mrr@5", 0.934, "0.93"),
        ("similarity", 0.5, "0.50"),
        ("cost", 0.00123, "$0.0012"),
        ("llm_calls", 1.25, "1.2"),
        ("prompt_tokens", 12345.6, "12,346"),
    ],
)
def test_a_value_is_written_as_people_write_it(key, value, expected):
    assert amount(key, value) == expected


def test_differences_have_a_sign_and_percentages_differ_in_points():
    assert change("hit@5", 0.031) == "+3.1 points"
    assert change("hit@5", -0.031) == "−3.1 points"
    assert change("hit@5", 0.0001) == "0.0 points"
    assert change("mrr@5", -0.1) == "−0.10"
    assert change_interval("hit@5", difference(0.02, -0.01, 0.05)) == "−1.0 to +5.0 points"
    assert interval("hit@5", Estimate(0.5, 0.41, 0.6, 9)) == "41 % to 60 %"


def test_the_first_of_one_is_said_as_people_say_it():
    assert named("hit@1").name == "Right page at the top"
    assert named("hit@3").name == "Right page in the first 3"


def test_the_first_numbers_of_a_run_depend_on_what_was_asked():
    summary = summarise([record("a", 1), record("b", 0)])
    assert headline(run(), summary) == ["hit@5", "hit@1", "mrr@5"]
    assert headline(run(mode="reader"), summary) == ["hit@5", "mrr@5"]


def test_a_refusal_counts_only_where_one_was_due_or_made():
    due = Record("a", "Q?", scores={"refusal_recall": (1.0, 1.0)})
    not_due = Record("b", "Q?", scores={"refusal_recall": (0.0, 0.0)})
    failed = Record("c", "Q?", scores={"refusal_recall": (0.0, 1.0)}, error="down")
    assert counted("refusal_recall", [due, not_due, failed]) == 1


def test_a_search_run_is_told_in_a_sentence():
    said = verdict_of(run(), [record("a", 1), record("b", 4), record("c", 0)])
    assert said == (
        "The right page was among the first 5 for **2 of 3 questions**, and it was the very first "
        "for 1."
    )


def test_a_run_of_answers_tells_answers_sources_and_refusals():
    answer = Answer("Yes.", (), Receipt("reader"))
    refusal = replace(answer, refused=True)
    records = [
        record("a", 1, answer=answer, cited=(("a.pdf", 2),)),
        record("b", 1, answer=answer, cited=(("a.pdf", 9),)),
        record("c", 1, answer=refusal),
        Record("d", "Who?", answerable=False, answer=refusal),
        Record("e", "Who?", answerable=False, answer=answer),
        record("f", 1, error="down"),
    ]
    said = verdict_of(run(mode="reader"), records)
    assert "**2 of 3 questions** that the documents answer got an answer, 1 of them" in said
    assert "**1 of 2** that they do not answer were refused." in said


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, ""),
        (0.2, "about 1 s left"),
        (42.4, "about 42 s left"),
        (200.0, "about 3 min left"),
        (9000.0, "about 2.5 h left"),
    ],
)
def test_time_left_is_rounded_as_a_guess_should_be(seconds, expected):
    assert time_left(seconds) == expected


def test_runs_are_told_apart_on_one_line():
    labelled = run(label="with re-ranker", config={"collection.pages": "67", "judge": "openai/x"})
    assert run_label(labelled).startswith("with re-ranker · Mine · search only · 01 Jan 2024, ")
    assert about_run(labelled, [record("a", 1)]) == (
        "1 question · library of 67 pages · judged by openai/x"
    )


def test_runs_of_one_minute_have_different_labels():
    runs = {name: replace(run(), id=name) for name in ("1-aaaa", "1-bbbb")}
    first, second = run_labels(runs).values()
    assert first.endswith(" (aaaa)")
    assert second.endswith(" (bbbb)")
    assert run_labels({"1-aaaa": run()})["1-aaaa"] == run_label(run())


def test_only_changes_that_people_can_make_sense_of_are_told():
    before = {"collection.documents": "4 (a)", "embedder": "x", "python": "3.11", "model": "m"}
    now = {"collection.documents": "5 (b)", "embedder": "x", "python": "3.12", "code": "new"}
    assert drift(before, now) == ["the documents"]


def test_places_are_named_by_their_unit():
    assert where("a.pdf", 3, {}) == "a.pdf, file page 3"
    assert where("a.md", 3, {"a.md": "section"}) == "a.md, section 3"


# Comparison


def compared(first, second):
    a, b = ({r.id: r for r in records} for records in (first, second))
    return compare((run(), a), (run(), b)), a, b


def test_equal_runs_noise_and_a_real_change_are_told_apart():
    good = [record(str(n), 1) for n in range(20)]
    bad = [record(str(n), 0) for n in range(20)]
    keys = ["hit@5", "mrr@5"]
    same, _, _ = compared(good, good)
    assert compared_in_words(same, keys).startswith("**No difference.**")
    noise, _, _ = compared(good, [*good[:-1], bad[-1]])
    assert compared_in_words(noise, keys).startswith("**No difference beyond noise.**")
    worse, _, _ = compared(good, bad)
    said = compared_in_words(worse, keys)
    assert said.startswith("**Worse:** Right page in the first 5 (−100.0 points), How high")
    better, _, _ = compared(bad, good)
    assert compared_in_words(better, keys).startswith("**Better:** Right page in the first 5 (+100")


def test_a_comparison_shows_both_values_and_the_flips_of_each_direction():
    first = [record("a", 1), record("b", 0), record("c", 1, error="down")]
    second = [record("a", 0), record("b", 1), record("c", 1)]
    found, a, b = compared(first, second)
    values = paired_values(found, a, b)
    assert values["hit@5"] == (0.5, 0.5)
    (row,) = difference_rows(found, values, ["hit@5", "not there"])
    assert (row["Before"], row["After"], row["Up"], row["Down"]) == ("50.0 %", "50.0 %", 1, 1)
    assert row["Verdict"] == ["no difference beyond noise"]
    assert [r["id"] for r in flip_rows(found.flips, True, b)] == ["b"]
    (lost,) = flip_rows(found.flips, False, b)
    assert lost["id"] == "a"
    assert lost["Why"].startswith("Neither the word searches nor")


# Tables and charts


def test_the_tables_of_a_run():
    records = [record("a", 2, category="multi_page", language="de"), record("b", 0)]
    summary = summarise(records)
    assert [row["Group"] for row in group_rows(records, "hit@5", lambda r: r.category)] == [
        "(none) (1)",
        "multi page (1)",
    ]
    assert [row["Value"] for row in cut_rows(summary)] == [0.0, 0.5, 0.5]
    assert metric_rows(summary, records)[0]["Term"] == "hit@1"
    assert miss_rows(records)[0]["Reason"] == "not retrieved"
    assert stage_times(summary)[0] == {
        "Stage": "by words",
        "Half take less than": "2 ms",
        "1 of 20 takes longer than": "2 ms",
    }
    assert {row["Group"] for row in stage_rows(run(), records)} == {
        "By words",
        "By words, whole pages",
        "By meaning",
        "All merged",
    }
    first, second = case_rows(run(), records, {})
    assert (first["Result"], first["Rank"], first["Right"]) == (["Found"], 2, "a.pdf, file page 2")
    assert (second["Result"], second["Rank"]) == (["Missed"], None)


def test_a_right_page_far_down_is_in_the_list_of_a_case():
    found = tuple(Found("b.pdf", n, 0, 9, keyword_rank=n, fused_score=1 / n) for n in range(1, 15))
    late = replace(record("a", 0), found=(*found, Found("a.pdf", 2, 0, 9, fused_score=0.01)))
    rows = found_rows(late, {})
    assert [row["No."] for row in rows] == [*range(1, 11), 15]
    assert rows[-1]["Page"] == "✓ file page 2 · a.pdf"
    assert rows[0]["Words"] == 1
    assert rows[-1]["Words"] is None
    assert {"Stage": "By words", "Right page": "not found"} in rank_rows(late)
    assert {"Stage": "All merged", "Right page": "no. 15"} in rank_rows(late)
    assert rank_rows(Record("a", "Q?")) == []


def test_a_question_set_as_a_table():
    rows = set_rows(
        [
            Case("a", "Q?", ("Yes [1].",), evidence=(Evidence("a.pdf", "yes it is", 2),)),
            Case("b", "Q?", answerable=False),
            Case("c", "Q?", pages=(("a.pdf", 4),)),
        ]
    )
    assert [row["Answer"] for row in rows] == ["Yes.", "(the documents do not say)", ""]
    assert [row["Evidence"] for row in rows] == ["a.pdf, file page 2", "", "a.pdf, file page 4"]


def test_charts_are_valid_specifications():
    point = {"Group": "fact (3)", "Value": 0.5, "Low": 0.2, "High": 0.9}
    minus = {**point, "Low": -0.2}
    over = {"Run": "1 Jan", "Mode": "Search only", **point}
    for chart in (
        charts.groups([point], "hit@5"),
        charts.groups([point], "MRR", percent=False),
        charts.differences([minus]),
        charts.history([over], "hit@5"),
        charts.latency([{"ms": 3.0, "Question": "Q?"}], {"p50": 3.0}),
    ):
        assert "layer" in chart.to_dict()


# The form


def test_a_case_is_the_same_after_a_visit_to_the_form():
    case = Case(
        "a",
        "How much?",
        ("4 %", "four percent"),
        facts=(("4 %", "four percent"), ("2021",)),
        category="fact",
        language="en",
        tags=("a", "b"),
        pages_needed="any",
        history=(Turn("Who?", "You."),),
    )
    assert filled(case, fields(case)) == case


def test_what_is_typed_is_tidied():
    typed = Fields(
        question="  How\n much? ",
        answer=" 4 % ",
        others="four percent\n\n4 %",
        facts="4 % | four percent\n",
        category=" fact ",
        language="EN",
        tags="a, ,b, a",
    )
    case = filled(Case("", "", history=(Turn("Who?", "You."),)), typed)
    assert case.question == "How much?"
    assert case.answers == ("4 %", "four percent")
    assert case.facts == (("4 %", "four percent"),)
    assert (case.category, case.language, case.tags) == ("fact", "en", ("a", "b"))
    assert case.history == ()


def test_a_question_without_an_answer_keeps_none():
    case = filled(
        Case("a", "Q?", ("4 %",), facts=(("4 %",),)), Fields("Q?", "4 %", unanswerable=True)
    )
    assert (case.answers, case.facts, case.answerable) == ((), (), False)


def test_the_paragraphs_of_a_page_that_can_be_quoted():
    text = "# Title\n\nA line that\nruns on.\n\n12\n\nA line that\nruns on."
    assert paragraphs(text) == ["A line that runs on."]
