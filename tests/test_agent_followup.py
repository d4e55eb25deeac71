"""Questions that lean on the chat, and questions that are too open."""

from rag.events import Notice, Rewritten, SearchStarted
from rag.types import Citation, Turn
from tests.answering import PRESSURE, ask, opening, steps
from tests.stub_llm import Reply, finish

CITED = Citation("id-boiler.pdf", "boiler.pdf", 2, "", "page", 0, 8, "The pump")
HISTORY = [Turn("Who makes the pump?", "Kessler makes it [1], in Graz [2].", (CITED,))]
WEIGHT = ("It weighs 12 kg.", "S1", "It weighs 12 kg.")
FULL = "How heavy is the pump made by Kessler?"


def test_a_follow_up_is_rewritten_and_searched_for_as_it_was_meant(tmp_path):
    script = [Reply(text=FULL, usage=(50, 5)), finish([WEIGHT])]
    events, answer, stub = ask(tmp_path, script, "How heavy is it?", history=HISTORY)
    assert events[:2] == [Rewritten(FULL), SearchStarted(FULL)]
    assert answer.text == "It weighs 12 kg [1]."
    assert answer.receipt.rewrite == FULL
    assert [search.query for search in answer.receipt.searches] == [FULL]
    (step,) = steps(answer, "rewrite")
    assert (step.prompt_tokens, step.model) == (50, "openai/stub")
    assert (answer.receipt.llm_calls, answer.receipt.prompt_tokens) == (2, 150)
    rewriting, answering = stub.requests
    assert "tools" not in rewriting
    assert "Kessler makes it, in Graz." in str(rewriting["messages"])
    assert "Question: How heavy is it?" in answering["messages"][-1]["content"]
    assert f"In this chat it means: {FULL}" in answering["messages"][-1]["content"]


def test_a_question_that_stands_alone_costs_no_call_for_it(tmp_path):
    question = "What pressure does the boiler of the plant have?"
    _, answer, stub = ask(tmp_path, [finish([PRESSURE])], question, history=HISTORY)
    assert len(stub.requests) == 1
    assert answer.receipt.rewrite == ""
    assert steps(answer, "rewrite") == []


def test_a_question_that_comes_back_unchanged_is_no_rewrite(tmp_path):
    script = [Reply(text="Boiler pressure?"), finish([PRESSURE])]
    events, answer, _ = ask(tmp_path, script, "Boiler pressure?", history=HISTORY)
    assert not any(isinstance(event, Rewritten) for event in events)
    assert answer.receipt.rewrite == ""


def test_when_the_rewrite_fails_a_simple_rule_takes_over_and_says_so(tmp_path):
    joined = "Who makes the pump? And its weight?"
    for fault in (Reply(), Reply(text="It is 12 kg."), Reply(status=401, error="Bad key")):
        script = [fault, finish([WEIGHT])]
        events, answer, _ = ask(tmp_path, script, "And its weight?", history=HISTORY)
        assert answer.receipt.rewrite == joined
        assert Rewritten(joined) in events
        (notice,) = [event.message for event in events if isinstance(event, Notice)]
        assert "a short question is joined to the one before it" in notice
        assert answer.receipt.notices == (notice,)


def test_a_rewrite_that_does_not_end_is_cut_off(tmp_path):
    script = [Reply(text="word " * 20, endless=True), finish([WEIGHT])]
    _, answer, _ = ask(tmp_path, script, "And its weight?", history=HISTORY)
    assert answer.receipt.rewrite.startswith("Who makes the pump?")
    (step,) = steps(answer, "rewrite")
    assert step.error == "cut off: the limit on tokens"


def test_earlier_turns_are_told_without_their_markers_with_what_they_cited(tmp_path):
    question = "Which pressure has the boiler of the plant?"
    _, answer, stub = ask(tmp_path, [finish(refusal="No.")], question, history=HISTORY)
    system, user = stub.requests[0]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert 'Answer: Kessler makes it, in Graz.\nCited: "boiler.pdf" p. 2' in user["content"]
    (step,) = steps(answer, "summary")
    assert step.result == "1 turns in full, 0 in one line, 0 left out"


def test_a_page_cited_earlier_is_no_source_until_it_is_shown_again(tmp_path):
    question = "Which pressure has the boiler of the plant?"
    _, answer, _ = ask(tmp_path, [finish([WEIGHT])] * 2, question, history=HISTORY)
    assert answer.refused


def test_a_long_chat_is_told_in_short(tmp_path):
    history = [Turn(f"Question {n}?", f"Answer {n}. " + "More of it. " * 100) for n in range(60)]
    question = "Which pressure has the boiler of the plant?"
    _, answer, stub = ask(tmp_path, [finish([PRESSURE])], question, history=history)
    assert len(opening(stub)) < 10_000
    assert "Question 59?" in opening(stub)
    assert "earlier turns are left out" in opening(stub)
    assert steps(answer, "summary")[0].result.endswith("left out")


# Questions back


def test_a_question_that_is_too_open_is_answered_by_a_question(tmp_path):
    back = {"claims": [], "clarification": "Do you mean the boiler or the pump?"}
    _, answer, _ = ask(tmp_path, [Reply(calls=[("finish", back)])], "How heavy is the machine?")
    assert answer.asks_back
    assert answer.text == "Do you mean the boiler or the pump?"
    assert not answer.refused
    assert not answer.ungrounded
    assert answer.nearest == ()


def test_a_question_back_after_an_answer_is_a_part_of_it(tmp_path):
    both = {
        "claims": [{"text": PRESSURE[0], "quotes": [{"source": "S1", "quote": PRESSURE[2]}]}],
        "clarification": "Did you mean the old boiler?",
    }
    _, answer, _ = ask(tmp_path, [Reply(calls=[("finish", both)])])
    assert answer.text == "The boiler runs at 15 bar [1].\n\nDid you mean the old boiler?"
    assert not answer.asks_back


def test_a_question_back_is_no_place_for_an_answer_without_sources(tmp_path):
    back = {"claims": [], "clarification": "The boiler is red. " * 100}
    _, answer, _ = ask(tmp_path, [Reply(calls=[("finish", back)])])
    assert len(answer.text) <= 600
