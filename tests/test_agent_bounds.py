from rag.agent import Agent
from rag.llm import CallPiece, Stop, TextPiece, Usage
from rag.settings import Settings
from tests.answering import PRESSURE, Library, Searcher, ask, results
from tests.stub_llm import Reply, calls, finish


def test_an_endless_loop_is_stopped_by_the_number_of_rounds(tmp_path):
    script = [calls(("search", {"query": f"pump {n}"})) for n in range(9)]
    _, answer, stub = ask(tmp_path, script, settings={"llm_rounds": 3})
    assert answer.receipt.stopped_by == "rounds"
    assert answer.refused
    assert "3 model calls (LLM_ROUNDS)" in answer.text
    assert len(stub.requests) == 3


def test_the_last_round_offers_finish_alone_and_forces_it(tmp_path):
    script = [calls(("search", {"query": "pump"})), finish([PRESSURE])]
    _, answer, stub = ask(tmp_path, script, settings={"llm_rounds": 2})
    assert answer.text == "The boiler runs at 15 bar [1]."
    assert answer.receipt.stopped_by == "rounds"
    assert [tool["function"]["name"] for tool in stub.requests[1]["tools"]] == ["finish"]
    assert stub.requests[1]["tool_choice"]["function"]["name"] == "finish"
    assert "last call" in results(stub, 1)[0]
    assert "tool_choice" not in stub.requests[0]


def test_the_number_of_tokens_is_bounded(tmp_path):
    script = [calls(("search", {"query": f"pump {n}"}), usage=(400, 10)) for n in range(9)]
    _, answer, stub = ask(tmp_path, script, settings={"llm_tokens": 1000})
    assert answer.receipt.stopped_by == "tokens"
    assert "1,000 tokens (LLM_TOKENS)" in answer.text
    assert len(stub.requests) == 2


def test_a_model_that_does_not_stop_writing_is_cut_off(tmp_path):
    reply = Reply(text="word " * 20, endless=True)
    _, answer, _ = ask(tmp_path, [reply], settings={"llm_tokens": 1000})
    assert answer.receipt.stopped_by == "tokens"
    assert answer.receipt.completion_tokens >= 1000


class Clock:
    """Time that passes only when the model says so."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Slow:
    """A model whose pieces each take a while."""

    model = "fake/slow"

    def __init__(self, clock, replies):
        self.clock = clock
        self.replies = list(replies)
        self.choices = []

    def stream(self, messages, tools=(), tool_choice=None, timeout_s=None):
        self.choices.append(tool_choice)
        for seconds, piece in self.replies.pop(0):
            self.clock.now += seconds
            yield piece


def ask_slow(tmp_path, monkeypatch, replies):
    clock = Clock()
    monkeypatch.setattr("rag.trace.time", clock)
    library = Library()
    llm = Slow(clock, replies)
    agent = Agent(llm, Searcher(library), library, Settings(data=tmp_path, llm_seconds=100))
    *_, last = agent.answer("Which pressure has the boiler?")
    return last.answer, llm


def test_the_time_is_bounded_and_what_was_complete_by_then_is_kept(tmp_path, monkeypatch):
    first = '{"claims": [{"text": "It runs at 15 bar.", "quotes": [{"source": "S1", '
    second = '"quote": "runs at a pressure of 15 bar"}]}, {"text": "It hol'
    reply = [
        (1, CallPiece(0, "a", "finish", first)),
        (60, CallPiece(0, "", "", second)),
        (60, CallPiece(0, "", "", "ds")),
        (0, TextPiece("never read")),
    ]
    answer, _ = ask_slow(tmp_path, monkeypatch, [reply])
    assert answer.text == "It runs at 15 bar [1]."
    assert answer.receipt.stopped_by == "seconds"
    assert answer.receipt.prompt_tokens > 0
    assert answer.receipt.seconds["total"] == 121


def test_a_model_too_slow_for_two_more_calls_must_finish_in_the_next(tmp_path, monkeypatch):
    search = CallPiece(0, "a", "search", '{"query": "pump"}')
    refusal = CallPiece(0, "a", "finish", '{"claims": [], "refusal": "No."}')
    replies = [
        [(40, search), (0, Stop("tool_calls")), (0, Usage(1, 1, 0.5))],
        [(40, refusal), (0, Stop("tool_calls")), (0, Usage(1, 1, 0.25))],
    ]
    answer, llm = ask_slow(tmp_path, monkeypatch, replies)
    assert llm.choices == [None, "finish"]
    assert (answer.text, answer.receipt.stopped_by) == ("No.", "seconds")
    assert answer.receipt.cost == 0.75


# Money and the context


def priced(cost):
    """A search that costs this much."""
    search = CallPiece(0, "a", "search", '{"query": "pump"}')
    return [(0, search), (0, Stop("tool_calls")), (0, Usage(10, 1, cost))]


def ask_priced(tmp_path, replies, **settings):
    library = Library()
    llm = Slow(Clock(), replies)
    agent = Agent(llm, Searcher(library), library, Settings(data=tmp_path, **settings))
    *_, last = agent.answer("Which pressure has the boiler?")
    return last.answer, llm


def test_the_cost_is_bounded(tmp_path):
    answer, llm = ask_priced(tmp_path, [priced(0.02)] * 9, llm_cost=0.05)
    assert answer.receipt.stopped_by == "cost"
    assert llm.choices == [None, "finish"]
    assert "$0.05 (LLM_COST)" in answer.text
    assert answer.receipt.cost == 0.04


def test_a_bound_on_the_cost_of_a_model_without_a_price_says_that_it_is_none(tmp_path):
    answer, _ = ask_priced(tmp_path, [priced(None)] * 9, llm_cost=0.05, llm_rounds=2)
    assert answer.receipt.stopped_by == "rounds"
    assert answer.receipt.notices == (
        "LLM_COST could not be kept to: the price of fake/slow is not known.",
    )


def test_time_that_runs_out_during_the_repair_keeps_what_was_found_at_first(tmp_path, monkeypatch):
    claim = '{"text": "15 bar.", "quotes": [{"source": "S1", "quote": "a pressure of 15 bar"}]}'
    red = '{"text": "Red.", "quotes": [{"source": "S1", "quote": "painted in bright red"}]}'
    whole = f'{{"claims": [{claim}, {red}]}}'
    replies = [
        [(1, CallPiece(0, "a", "finish", whole)), (0, Stop("tool_calls")), (0, Usage(1, 1, None))],
        [(200, CallPiece(0, "b", "finish", '{"claims": [')), (0, TextPiece("never read"))],
    ]
    answer, _ = ask_slow(tmp_path, monkeypatch, replies)
    assert answer.text == "15 bar [1]. Red (unverified)."
    assert answer.receipt.stopped_by == "seconds"


def test_a_bound_during_the_repair_round_keeps_what_was_found_at_first(tmp_path):
    red = ("It is red.", "S1", "the boiler is painted bright red")
    script = [finish([PRESSURE, red]), *[calls(("search", {"query": f"pump {n}"})) for n in "ab"]]
    _, answer, _ = ask(tmp_path, script, settings={"llm_rounds": 3})
    assert answer.receipt.stopped_by == "rounds"
    assert answer.text == "The boiler runs at 15 bar [1]. It is red (unverified)."
