from rag.draft import UNVERIFIED
from rag.errors import NotFound
from rag.events import Notice, SearchFinished, TextDelta, TextReplaced
from tests.answering import PRESSURE, WATER, Library, answering, ask, results
from tests.stub_llm import Reply, calls, finish

RED = ("It is painted red.", "S1", "the boiler is painted bright red")
QUESTION = "What pressure does the boiler have?"


def outcomes(answer):
    return [(check.quote, check.outcome) for check in answer.receipt.quotes]


# The round of repair


def test_a_quote_that_fails_may_be_mended_once(tmp_path):
    wrong = ("It holds 80 litres.", "S1", "It can hold up to 80 litres of hot water")
    events, answer, stub = ask(
        tmp_path, [finish([PRESSURE, wrong]), finish([PRESSURE, WATER])], QUESTION
    )
    (told,) = results(stub, 1)
    assert "S1, 'It can hold up to 80 litres of hot water': The quote" in told
    assert "It holds 80 litres of water." in told
    assert told.count("</source-") == 1
    assert answer.text == "The boiler runs at 15 bar [1]. It holds 80 litres [2]."
    assert outcomes(answer) == [(PRESSURE[2], "verified"), (WATER[2], "repaired")]
    assert answer.receipt.quotes[1].reason
    assert (answer.receipt.quotes_verified, answer.receipt.quotes_repaired) == (2, 1)
    assert answer.receipt.rejections == ()
    shown = ""
    for event in events:
        if isinstance(event, TextDelta):
            shown += event.text
        if isinstance(event, TextReplaced):
            shown = event.text
    assert shown == answer.text


def test_a_quote_that_fails_again_is_dropped_counted_and_its_claim_marked(tmp_path):
    _, answer, stub = ask(tmp_path, [finish([PRESSURE, RED])] * 2)
    assert len(stub.requests) == 2
    assert answer.text == f"The boiler runs at 15 bar [1]. It is painted red {UNVERIFIED}."
    assert len(answer.citations) == answer.receipt.quotes_verified == 1
    assert [r.quote for r in answer.receipt.rejections] == [RED[2]]
    assert outcomes(answer) == [(PRESSURE[2], "verified"), (RED[2], "rejected")]


def test_in_the_last_round_there_is_no_repair(tmp_path):
    _, answer, stub = ask(tmp_path, [finish([PRESSURE, RED])], settings={"llm_rounds": 1})
    assert len(stub.requests) == 1
    assert answer.text.endswith(f"It is painted red {UNVERIFIED}.")


def test_an_answer_of_made_up_quotes_may_be_mended_once(tmp_path):
    _, answer, stub = ask(tmp_path, [finish([RED]), finish([PRESSURE])])
    assert "None of these claims" in results(stub, 1)[0]
    assert answer.text == "The boiler runs at 15 bar [1]."
    assert outcomes(answer) == [(PRESSURE[2], "repaired")]

    _, answer, stub = ask(tmp_path, [finish([RED]), finish([RED])])
    assert answer.refused
    assert "none of its quotes was found" in answer.text
    assert answer.citations == ()
    assert answer.nearest[0].name == "boiler.pdf"


def test_a_repair_that_ends_in_nothing_keeps_what_was_found_at_first(tmp_path):
    for second in (finish(refusal="I cannot."), finish([RED])):
        _, answer, _ = ask(tmp_path, [finish([PRESSURE, RED]), second])
        assert answer.text == f"The boiler runs at 15 bar [1]. It is painted red {UNVERIFIED}."
        assert not answer.refused
        assert (RED[2], "rejected") in outcomes(answer)


def test_a_provider_that_fails_during_the_repair_does_not_cost_the_answer(tmp_path):
    script = [finish([PRESSURE, RED]), Reply(status=401, error="Bad key")]
    events, answer, _ = ask(tmp_path, script)
    assert answer.text.startswith("The boiler runs at 15 bar [1].")
    (notice,) = [event.message for event in events if isinstance(event, Notice)]
    assert notice.startswith("Quotes that failed could not be repaired. The provider refused")
    assert answer.receipt.notices == (notice,)


def test_a_search_in_the_repair_round_brings_new_sources(tmp_path):
    founded = ("Founded in 1921.", "S2", "Kessler was founded in 1921")
    script = [
        finish([("Founded in 1921.", "S1", "Kessler was founded in 1921")]),
        calls(("search", {"query": "Kessler founded"})),
        finish([founded]),
    ]
    _, answer, _ = ask(tmp_path, script)
    assert answer.text == "Founded in 1921 [1]."
    assert outcomes(answer) == [(founded[2], "repaired")]


# What is found


def test_a_quote_with_small_slips_is_shown_as_the_page_has_it(tmp_path):
    slip = ("The boiler runs at 15 bar.", "S1", "The boiler runs at a presure of 15 bar.")
    _, answer, stub = ask(tmp_path, [finish([slip])])
    assert answer.citations[0].quote == "The boiler runs at a pressure of 15 bar."
    assert len(stub.requests) == 1


def test_a_quote_that_stands_in_another_source_is_that_source_s(tmp_path):
    script = [
        calls(("search", {"query": "Kessler founded"})),
        finish([("Founded in 1921.", "S1", "Kessler was founded in 1921")]),
    ]
    _, answer, _ = ask(tmp_path, script)
    assert [c.name for c in answer.citations] == ["makers.pdf"]


def test_a_quote_from_a_page_that_was_never_shown_is_rejected(tmp_path):
    unseen = ("Founded in 1921.", "S2", "Kessler was founded in 1921")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, unseen])] * 2)
    assert answer.text.endswith(f"Founded in 1921 {UNVERIFIED}.")
    assert "no source 'S2'" in answer.receipt.rejections[0].reason
    elsewhere = ("Founded in 1921.", "S1", "Kessler was founded in 1921")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, elsewhere])] * 2)
    assert len(answer.citations) == 1


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


# Claims without a source


def test_a_claim_without_a_quote_is_marked(tmp_path):
    _, answer, stub = ask(tmp_path, [finish([PRESSURE, ("Boilers are nice.", "", "")])])
    assert answer.text.endswith(f"Boilers are nice {UNVERIFIED}.")
    assert len(stub.requests) == 1


def test_a_claim_without_a_source_is_removed_by_setting_and_never_streamed(tmp_path):
    events, answer, _ = ask(
        tmp_path,
        [finish([("Boilers are nice.", "", ""), PRESSURE], piece=3)],
        settings={"llm_unsupported": "remove"},
    )
    assert answer.text == "The boiler runs at 15 bar [1]."
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(deltas) == answer.text
    assert answer.receipt.notices == ("Left out: 1 sentence without a source.",)
    assert Notice(answer.receipt.notices[0]) in events


def test_an_answer_without_any_source_is_shown_and_labelled_by_setting(tmp_path):
    for unsupported in ("mark", "remove"):
        _, answer, _ = ask(
            tmp_path,
            [finish([RED])] * 2,
            settings={"llm_ungrounded": "label", "llm_unsupported": unsupported},
        )
        assert answer.ungrounded
        assert not answer.refused
        assert answer.text == f"It is painted red {UNVERIFIED}."
        assert answer.citations == ()


# The language


def test_an_answer_in_another_language_than_the_question_is_asked_for_again(tmp_path):
    german = ("Der Kessel läuft mit 15 bar und das ist viel.", "S1", PRESSURE[2])
    _, answer, stub = ask(tmp_path, [finish([german]), finish([PRESSURE])], QUESTION)
    assert "The question is in English" in results(stub, 1)[0]
    assert answer.text == "The boiler runs at 15 bar [1]."
    assert answer.receipt.notices == ()

    _, answer, _ = ask(tmp_path, [finish([german])] * 2, QUESTION)
    assert answer.text == "Der Kessel läuft mit 15 bar und das ist viel [1]."
    assert answer.receipt.notices == ("The question is in English, the answer is not.",)


def test_an_answer_in_a_language_that_was_asked_for_is_fine(tmp_path):
    german = ("Der Kessel läuft mit 15 bar und das ist viel.", "S1", PRESSURE[2])
    question = "What pressure does the boiler have? Answer in German."
    _, _, stub = ask(tmp_path, [finish([german])], question)
    assert len(stub.requests) == 1


def test_a_refusal_of_ours_is_in_the_language_of_the_question(tmp_path):
    question = "Welche Farbe hat der boiler und was ist das?"
    _, answer, _ = ask(tmp_path, [finish([RED])], question, settings={"llm_rounds": 1})
    assert answer.refused
    assert answer.text.startswith("Innerhalb von 1 Modellaufrufen (LLM_ROUNDS)")
