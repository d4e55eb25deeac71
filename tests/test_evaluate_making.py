"""Question sets of one's own: kept on disk, made from answers, quotes and a model's drafts."""

from __future__ import annotations

import json

import pytest

from rag.cite import verify
from rag.errors import EvaluationError, NotFound
from rag.evaluate import kept
from rag.evaluate.cases import Case, Evidence
from rag.evaluate.drafting import draft, read
from rag.evaluate.library import QuestionSets
from rag.evaluate.load import CaseSet, export, load
from rag.evaluate.making import Quoted, from_answer, from_quote, lines, settle, with_evidence
from rag.evaluate.outcome import Filter, outcome, outcomes
from rag.evaluate.runs import Record, Run, RunStore
from rag.llm import TextPiece
from rag.types import Answer, Document, Page, Receipt, Turn

REPORT = Document("d1", "report.pdf", "application/pdf", 9, "2024-01-01", unit="page", page_count=2)
PLAN = Document("d2", "plan.md", "text/markdown", 9, "2024-01-01", unit="section", page_count=2)
PAGES = {
    "d1": [
        Page("d1", 1, "", "The annual report of the cooperative."),
        Page("d1", 2, "", "Solar output fell by four percent in 2021. Pensions rose."),
    ],
    "d2": [
        Page("d2", 1, "Aim", "Rents in the northern towns stay as they are."),
        Page("d2", 2, "Cost", "The whole programme costs 4.2 million euros a year."),
    ],
}


class Library:
    def document(self, name):
        return {"report.pdf": REPORT, "plan.md": PLAN}.get(name)

    def page(self, document, number):
        return PAGES[document.id][number - 1]

    def pages(self, document):
        return PAGES[document.id]


def citation(text, document=REPORT, number=2):
    return verify(text, PAGES[document.id][number - 1], document)


def answer(text="It fell by four percent [1].", *citations, refused=False):
    return Answer(text, citations, Receipt("reader"), refused)


@pytest.fixture
def sets(tmp_path):
    return QuestionSets(tmp_path / "questions")


# Sets on disk


def test_a_question_is_kept_with_an_id_of_its_own_and_can_be_changed_and_removed(sets):
    assert sets.names() == []
    first = sets.add("Mine", Case("", "How much?"))
    second = sets.add("Mine", Case("", "How often?"))
    assert first.id != second.id
    sets.put("Mine", Case(first.id, "How many?", tags=("numbers",)))
    assert [case.question for case in sets.load("Mine").cases] == ["How many?", "How often?"]
    assert sets.remove("Mine", second.id) == second
    assert sets.load("Mine").cases == (Case(first.id, "How many?", tags=("numbers",)),)
    assert sets.load("Mine").name == "Mine"
    with pytest.raises(NotFound, match="no longer in 'Mine'"):
        sets.remove("Mine", second.id)
    with pytest.raises(NotFound, match="no longer in 'Mine'"):
        sets.put("Mine", second)


def test_the_same_question_is_kept_once_unless_it_is_another_one_in_its_place(sets):
    sets.add("Mine", Case("", "How much?"))
    with pytest.raises(EvaluationError, match="'Mine' has the question 'how  much\\?' already"):
        sets.add("Mine", Case("", "how  much?"))
    sets.add("Mine", Case("", "How much?", doc="a.pdf", scope="document"))
    sets.add("Mine", Case("", "How much?", history=(Turn("Who?", "You."),)))
    assert len(sets.load("Mine").cases) == 3


def test_a_set_is_created_renamed_and_deleted(sets):
    assert sets.create("  Pay  and leave ", [Case("a", "Who?")]) == "Pay and leave"
    assert sets.rename("Pay and leave", "Leave") == "Leave"
    assert sets.rename("Leave", "leave") == "leave"
    assert sets.names() == ["leave"]
    sets.delete("leave")
    assert sets.names() == []
    for gone in (sets.delete, sets.load):
        with pytest.raises(NotFound, match="no question set 'leave'"):
            gone("leave")
    with pytest.raises(NotFound):
        sets.rename("leave", "left")


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a\\b", ".hidden", "x" * 61, "c:", "dot."])
def test_a_name_that_could_leave_the_folder_is_refused(sets, name):
    with pytest.raises(EvaluationError, match="cannot name a question set"):
        sets.create(name)
    with pytest.raises(EvaluationError, match="cannot name a question set"):
        sets.load(name)


def test_names_in_other_scripts_are_fine_and_taken_ones_are_refused(sets):
    sets.create("Größe")
    sets.create("問題")
    with pytest.raises(EvaluationError, match="already"):
        sets.create("GRÖSSE")
    with pytest.raises(EvaluationError, match="already"):
        sets.rename("問題", "größe")


def test_a_set_with_a_line_that_cannot_be_read_is_not_written_over(sets):
    sets.add("Mine", Case("", "How much?"))
    path = sets.folder / "Mine.jsonl"
    path.write_text(path.read_text() + "half a li\n")
    with pytest.raises(EvaluationError, match="line 2: not JSON"):
        sets.add("Mine", Case("", "How many?"))
    assert "half a li" in path.read_text()
    assert len(sets.load("Mine").cases) == 1


# Cases from answers and quotes


def test_a_good_answer_becomes_the_reference_with_what_it_cites():
    said = answer("It fell by four percent [1].", citation("Solar output fell by four percent"))
    case = from_answer("By how much did it fall?", said, good=True)
    assert case.answers == ("It fell by four percent.",)
    assert case.evidence == (Evidence("report.pdf", "Solar output fell by four percent", 2),)
    assert (case.doc, case.pages) == ("report.pdf", (("report.pdf", 2),))
    assert case.answerable
    assert case.tags == ("good answer",)


def test_a_bad_answer_is_no_reference():
    said = answer("Nothing fell [1].", citation("Solar output fell by four percent"))
    turn = Turn("Who?", "You.", (citation("Solar output fell by four percent"),), asks_back=True)
    case = from_answer("What fell?", said, good=False, history=[turn])
    assert case.answers == ()
    assert case.evidence
    assert case.tags == ("bad answer",)
    assert case.history == (Turn("Who?", "You."),)


def test_a_refusal_is_unanswerable_only_if_it_was_right():
    refusal = answer("Your documents do not say.", refused=True)
    right = from_answer("Who?", refusal, good=True, document="report.pdf")
    assert (right.answerable, right.answers, right.tags) == (False, (), ("right refusal",))
    assert (right.scope, right.doc) == ("document", "report.pdf")
    wrong = from_answer("Who?", refusal, good=False)
    assert (wrong.answerable, wrong.answers, wrong.tags) == (True, (), ("wrong refusal",))


def test_a_section_is_not_kept_by_number():
    case = from_quote(citation("costs 4.2 million euros", PLAN))
    assert case.evidence == (Evidence("plan.md", "costs 4.2 million euros"),)
    assert (case.doc, case.docs, case.pages) == ("plan.md", ("plan.md",), ())


def test_a_case_survives_its_file(tmp_path):
    case = with_evidence(
        Case("a", "Q?", pages_needed="any"),
        [Quoted("report.pdf", 2, "Pensions rose"), Quoted("plan.md", None, "Rents in the")],
    )
    path = tmp_path / "set.jsonl"
    path.write_text(export([case]))
    assert load(path).cases == (case,)


def test_evidence_is_replaced_by_the_words_of_its_page():
    typed = [Quoted("report.pdf", 2, "solar output FELL by four  percent"), Quoted("plan.md", 1)]
    case, problems = settle(Case("a", "Q?"), typed[:1], Library())
    assert problems == ()
    assert case.evidence == (Evidence("report.pdf", "Solar output fell by four percent", 2),)
    # A section is looked for in the whole document.
    case, problems = settle(
        Case("a", "Q?"), [Quoted("plan.md", 1, "costs 4.2 million euros")], Library()
    )
    assert (case.evidence, problems) == ((Evidence("plan.md", "costs 4.2 million euros"),), ())


@pytest.mark.parametrize(
    ("case", "line", "problem"),
    [
        (Case("a", " ", ("yes",)), None, "Write the question."),
        (Case("a", "Q?"), None, "Give the answer or a quote"),
        (Case("a", "Q?"), Quoted("report.pdf", 1, "Solar output fell by"), "not in the text"),
        (Case("a", "Q?"), Quoted("report.pdf", 3, "Solar output fell"), "has 2 pages, not 3"),
        (Case("a", "Q?"), Quoted("report.pdf", 2, "fell"), "too short"),
        (Case("a", "Q?"), Quoted("gone.pdf", 2, "Solar output fell"), "not in the library"),
        (Case("a", "Q?"), Quoted("", 2, "Solar output fell"), "Choose a document."),
        (Case("a", "Q?"), Quoted("plan.md", None, ""), "Quote the words in 'plan.md'"),
        (
            Case("a", "Q?", answerable=False),
            Quoted("report.pdf", 2, "Solar output fell by"),
            "Take the evidence out",
        ),
    ],
)
def test_what_is_wrong_with_a_case_is_said(case, line, problem):
    _, problems = settle(case, [line] if line else [], Library())
    assert problem in problems[0], problems


def test_what_a_case_held_before_is_kept_unchecked():
    case = Case(
        "a",
        "Q?",
        doc="gone.pdf",
        docs=("gone.pdf",),
        pages=(("gone.pdf", 4), ("gone.pdf", 7)),
        evidence=(Evidence("gone.pdf", "in a table", 4, start=10, end=20),),
    )
    assert lines(case) == [Quoted("gone.pdf", 4, "in a table"), Quoted("gone.pdf", 7)]
    assert settle(case, lines(case), Library()) == (case, ())


# Drafts of a model


class Scripted:
    model = "stub"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def stream(self, messages, tools=(), tool_choice=None, timeout_s=None):
        self.asked.append(messages)
        yield TextPiece(self.replies.pop(0))


def proposal(question, quote, **more):
    return json.dumps({"question": question, "answer": "4 %", "quote": quote, **more})


def test_drafts_are_read_from_whatever_stands_around_them():
    reply = (
        "Here you are:\n```json\n["
        + ",\n".join(
            [
                proposal(
                    "By how much did solar output fall?", "Solar output fell", category="fact"
                ),
                proposal("by how much did solar output fall?", "Solar output fell by four percent"),
                proposal("Who paid?", "The mayor paid for it all"),
                json.dumps({"answer": "no question"}),
            ]
        )
        + "]\n```\n{broken"
    )
    drafted = read(reply, PAGES["d1"][1], REPORT, each=5)
    (case,) = drafted.cases
    assert case.evidence == (Evidence("report.pdf", "Solar output fell", 2),)
    assert (case.answers, case.category, case.tags) == (("4 %",), "fact", ("drafted",))
    assert drafted.dropped == ("Who paid? The quote is not in the text.",)


def test_every_page_with_text_is_one_call_and_its_text_is_fenced():
    llm = Scripted(proposal("What fell?", "Solar output fell by four percent"))
    empty = Page("d1", 1, "", " ", "empty")
    (drafted,) = draft(llm, REPORT, [empty, PAGES["d1"][1]], each=2)
    assert [case.question for case in drafted.cases] == ["What fell?"]
    system, user = llm.asked[0]
    assert "at most 2 questions" in system.text
    fence = user.text.splitlines()[2]
    assert fence.startswith("<page-")
    assert fence in system.text


# Runs and their questions


def run(**changes):
    values = {"set_name": "Mine", "set_digest": "", "mode": "retrieval", "top_k": 5, "cases": 1}
    return Run("20240101-000000-aaaa", "2024-01-01T00:00:00+00:00", **values | changes)


def test_a_run_keeps_its_questions_through_export_and_import(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(export([Case("a", "How much?", ("4 %",))]))
    asked = load(path)
    begun = run(set_digest=asked.digest)
    here, there = RunStore(tmp_path / "here"), RunStore(tmp_path / "there")
    kept.create(here, begun, asked)
    here.append(begun.id, Record("a", "How much?"))
    assert kept.questions(here, begun).cases == asked.cases
    imported = kept.import_run(there, kept.export_run(here, begun))
    assert kept.questions(there, imported).digest == asked.digest
    assert there.records(begun.id).keys() == {"a"}


def test_a_run_without_its_questions_or_with_others_has_none(tmp_path):
    store = RunStore(tmp_path)
    kept.create(store, run(set_digest="other"), CaseSet("Mine", (Case("a", "How much?"),)))
    assert kept.questions(store, run(set_digest="other")) is None
    (tmp_path / run().id / "questions.jsonl").unlink()
    assert kept.questions(store, run()) is None
    assert "questions" not in json.loads(kept.export_run(store, run()))


# Outcomes


RIGHT = (("report.pdf", 2, 1.0),)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Record("a", "Q?", error="down"), "Failed"),
        (Record("a", "Q?", right=RIGHT, scores={"hit@5": (1.0, 1.0)}), "Found"),
        (Record("a", "Q?", right=RIGHT, scores={"hit@5": (0.0, 1.0)}), "Missed"),
        (Record("a", "Q?", answerable=False, answer=answer(refused=True)), "Refused rightly"),
        (Record("a", "Q?", answerable=False, answer=answer()), "Should have refused"),
        (Record("a", "Q?", right=RIGHT, answer=answer(refused=True)), "Refused wrongly"),
        (Record("a", "Q?", answer=answer()), "Answered"),
        (
            Record("a", "Q?", right=RIGHT, cited=(("report.pdf", 2),), answer=answer()),
            "Right page cited",
        ),
        (
            Record("a", "Q?", right=RIGHT, cited=(("report.pdf", 1),), answer=answer()),
            "Other pages cited",
        ),
    ],
)
def test_what_became_of_a_case(record, expected):
    assert outcome(run(), record) == expected


def test_cases_are_found_by_outcome_reason_group_and_words():
    found = Record("a", "How much fell?", "fact", "en", scores={"hit@5": (1.0, 1.0)})
    missed = Record("b", "Wer zahlt?", "other", "de", blame="not retrieved")
    assert outcomes(run(), [missed, found, missed]) == {"Found": 1, "Missed": 2}
    for chosen, kept_ids in [
        (Filter(), "ab"),
        (Filter(outcomes=frozenset({"Missed"})), "b"),
        (Filter(blame="not retrieved"), "b"),
        (Filter(category="fact"), "a"),
        (Filter(language="de"), "b"),
        (Filter(text="FELL much"), "a"),
        (Filter(text="fell zahlt"), ""),
    ]:
        assert "".join(r.id for r in (found, missed) if chosen.keeps(run(), r)) == kept_ids
