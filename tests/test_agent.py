import pytest

from rag.errors import LLMError
from rag.events import Finished, PageRead, SearchFinished, SearchStarted, TextDelta
from tests.answering import PRESSURE, WATER, answering, ask
from tests.stub_llm import auto, calls, finish


def test_a_simple_question_costs_one_call_and_is_answered_with_markers(tmp_path):
    _, answer, stub = ask(tmp_path, [finish([PRESSURE, WATER])])
    assert answer.text == "The boiler runs at 15 bar [1]. It holds 80 litres [2]."
    assert [(c.name, c.page, c.quote) for c in answer.citations] == [
        ("boiler.pdf", 1, "runs at a pressure of 15 bar"),
        ("boiler.pdf", 1, "It holds 80 litres of water."),
    ]
    assert not answer.refused
    assert len(stub.requests) == 1


def test_the_receipt_is_complete(tmp_path):
    _, answer, _ = ask(tmp_path, [finish([PRESSURE], usage=(300, 40))])
    receipt = answer.receipt
    assert (receipt.engine, receipt.model) == ("agent", "openai/stub")
    assert [search.query for search in receipt.searches] == ["What pressure does the boiler have?"]
    assert (receipt.llm_calls, receipt.prompt_tokens, receipt.completion_tokens) == (1, 300, 40)
    assert (receipt.quotes_verified, receipt.rejections, receipt.cost) == (1, (), None)
    assert receipt.stopped_by == ""
    assert set(receipt.seconds) == {"search", "model", "verify", "total"}
    assert receipt.seconds["total"] >= receipt.seconds["model"] > 0


def test_events_come_in_the_order_in_which_things_happen(tmp_path):
    script = [
        calls(("search", {"query": "pump"}), ("read_page", {"document": "boiler", "page": 1})),
        finish([PRESSURE]),
    ]
    events, _, _ = ask(tmp_path, script)
    kinds = [type(event) for event in events if not isinstance(event, TextDelta)]
    assert kinds == [
        SearchStarted,
        SearchFinished,
        SearchStarted,
        SearchFinished,
        PageRead,
        Finished,
    ]
    first_text = next(i for i, event in enumerate(events) if isinstance(event, TextDelta))
    assert isinstance(events[first_text - 1], PageRead)


def test_the_answer_streams_and_adds_up_to_the_final_text(tmp_path):
    events, answer, _ = ask(tmp_path, [finish([PRESSURE, WATER], piece=3)])
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(deltas) > 8
    assert "".join(deltas) == answer.text


def test_the_first_text_is_shown_before_the_reply_is_complete(tmp_path):
    reply = finish([PRESSURE], piece=3, break_after=14)
    with answering(tmp_path, [reply]) as (agent, _):
        shown = ""
        with pytest.raises(LLMError, match="broke off"):
            for event in agent.answer("Boiler?"):
                if isinstance(event, TextDelta):
                    shown += event.text
    assert shown
    assert PRESSURE[0].startswith(shown)


def test_the_same_quote_twice_is_one_source(tmp_path):
    again = ("Its pressure is 15 bar.", "S1", "runs at a pressure of 15 bar")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, WATER, again])])
    assert answer.text.endswith("Its pressure is 15 bar [1].")
    assert len(answer.citations) == 2


def test_closing_the_answer_closes_the_connection(tmp_path):
    claims = [(f"The boiler runs at {n} bar.", "S1", "15 bar") for n in range(2000)]
    with answering(tmp_path, [finish(claims, piece=1)]) as (agent, stub):
        events = agent.answer("Boiler?")
        assert any(isinstance(event, TextDelta) for event in events)
        events.close()
        assert stub.disconnected.wait(timeout=5)


def test_a_refusal_is_in_the_models_words_with_the_nearest_passages(tmp_path):
    refusal = "Die Dokumente nennen keine Farbe."
    events, answer, _ = ask(tmp_path, [finish(refusal=refusal)], "Welche Farbe hat the boiler?")
    assert answer.refused
    assert answer.text == refusal
    assert answer.citations == ()
    assert [hit.name for hit in answer.nearest] == ["boiler.pdf"]
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == refusal


def test_what_is_missing_from_a_partial_answer_is_said(tmp_path):
    _, answer, _ = ask(tmp_path, [finish([PRESSURE], refusal="Its colour is not given.")])
    assert answer.text == "The boiler runs at 15 bar [1].\n\nIts colour is not given."
    assert not answer.refused


def test_the_stub_answers_by_itself_with_the_first_sentence_of_the_first_source(tmp_path):
    _, answer, _ = ask(tmp_path, [auto, auto])
    assert answer.text == "The boiler runs at a pressure of 15 bar [1]."
    _, answer, _ = ask(tmp_path, [auto], "Zeppelin?")
    assert answer.refused
