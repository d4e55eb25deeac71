from rag.draft import UNVERIFIED
from rag.errors import NotFound
from rag.types import (
    SearchFinished,
)
from tests.answering import PRESSURE, Library, answering, ask, results
from tests.stub_llm import finish


def test_a_made_up_quote_is_rejected_and_its_claim_is_marked(tmp_path):
    made_up = ("It is painted red.", "S1", "the boiler is painted bright red")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, made_up])])
    assert answer.text == f"The boiler runs at 15 bar [1]. It is painted red {UNVERIFIED}."
    assert len(answer.citations) == answer.receipt.quotes_verified == 1
    assert [r.quote for r in answer.receipt.rejections] == ["the boiler is painted bright red"]


def test_a_quote_from_a_page_that_was_never_shown_is_rejected(tmp_path):
    unseen = ("Founded in 1921.", "S2", "Kessler was founded in 1921")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, unseen])])
    assert answer.text.endswith(f"Founded in 1921 {UNVERIFIED}.")
    assert "no source 'S2'" in answer.receipt.rejections[0].reason
    elsewhere = ("Founded in 1921.", "S1", "Kessler was founded in 1921")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, elsewhere])])
    assert len(answer.citations) == 1


def test_an_answer_of_made_up_quotes_may_be_mended_once(tmp_path):
    made_up = finish([("It is red.", "S1", "the boiler is painted red")])
    _, answer, stub = ask(tmp_path, [made_up, finish([PRESSURE])])
    assert "the boiler is painted red" in results(stub, 1)[0]
    assert answer.text == "The boiler runs at 15 bar [1]."
    assert answer.receipt.rejections == ()
    assert [check.outcome for check in answer.receipt.quotes] == ["repaired"]

    _, answer, stub = ask(tmp_path, [made_up, made_up])
    assert answer.refused
    assert "none of its quotes was found" in answer.text
    assert answer.citations == ()
    assert answer.nearest[0].name == "boiler.pdf"


def test_a_claim_without_a_quote_is_marked(tmp_path):
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, ("Boilers are nice.", "", "")])])
    assert answer.text.endswith(f"Boilers are nice {UNVERIFIED}.")


def test_a_document_deleted_meanwhile_is_no_source(tmp_path):
    class Vanishing(Library):
        gone = False

        def page(self, document_id, number):
            if self.gone:
                raise NotFound("There is no document.")
            return super().page(document_id, number)

    library = Vanishing()
    with answering(tmp_path, [finish([PRESSURE])] * 2, library) as (agent, _):
        for event in agent.answer("Which pressure has the boiler?"):
            library.gone |= isinstance(event, SearchFinished)
    assert event.answer.refused
