import pytest

from rag.agent import Agent
from rag.errors import LLMError
from rag.events import Finished, Notice, SearchStarted, TextDelta, TextReplaced
from rag.llm import LiteLLM
from rag.llm_chain import Chain
from rag.settings import Settings
from tests.answering import PRESSURE, WATER, Library, Searcher, answering, ask, opening, results
from tests.stub_llm import Reply, StubLLM, calls, finish

ANSWER = "The boiler runs at 15 bar [1]."


# Mistakes that the model can mend


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("search", '{"query": "boil'), ["arguments of search do not fit", "EOF", "again"]),
        (("search", "{}"), ["query: Field required"]),
        (("search", {"query": " "}), ["query: String should have at least 1 character"]),
        (("search", {"query": "x" * 501}), ["query: String should have at most 500 characters"]),
        (("browse", {"url": "x"}), ["no tool 'browse'", "search, read_page"]),
        (("web_search", {"query": "x"}), ["no tool 'web_search'"]),
        (("read_page", {"document": "boiler.pdf", "page": 9}), ["no page 9: it has 2"]),
        (("read_page", {"document": "boiler.pdf", "page": 0}), ["no page 0: it has 2"]),
        (("read_page", {"document": "boiler.pdf", "page": "two"}), ["page: Input should be"]),
        (("read_page", {"document": "car.pdf", "page": 1}), ["No document", '"boiler.pdf"']),
        (("find_in_document", {"document": "boiler.pdf"}), ["words: Field required"]),
        (("finish", '{"claims": [{"text": "A'), ["arguments of finish do not fit"]),
        (("finish", {"claims": "[]"}), ["claims: Input should be"]),
        (("finish", {"claims": []}), ["needs claims or a refusal"]),
    ],
)
def test_a_mistake_is_answered_so_that_the_model_can_mend_it(call, words, tmp_path):
    _, answer, stub = ask(tmp_path, [calls(call), finish([PRESSURE])])
    (result,) = results(stub, 1)
    for word in words:
        assert word in result
    assert answer.text == ANSWER


def test_broken_json_is_not_sent_back_to_the_provider(tmp_path):
    _, _, stub = ask(tmp_path, [calls(("search", '{"query": "boil')), finish([PRESSURE])])
    (message,) = [m for m in stub.requests[1]["messages"] if m["role"] == "assistant"]
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


# Replies that cannot be used


UNUSABLE = {
    "empty": (Reply(), "Your reply was empty", "its reply was empty"),
    "an opener": (
        Reply(text="Let me search for that."),
        "You said what you would do",
        "announced a step",
    ),
    "plain text": (Reply(text="15 bar."), "plain text, which nobody sees", "without the tools"),
    "cut off": (Reply(text="The boiler", stop="length"), "length limit", "cut off at its length"),
    "a cut-off answer": (
        calls(("finish", '{"claims": [{"text": "A'), stop="length"),
        "cut off at its length limit. Call finish again, shorter",
        "its calls make no sense",
    ),
    "broken arguments": (
        calls(("search", '{"query": "boil')),
        "do not fit",
        "its calls make no sense",
    ),
    "an empty answer": (
        calls(("finish", {"claims": [{"text": " ", "quotes": []}], "refusal": None})),
        "finish needs claims or a refusal",
        "its calls make no sense",
    ),
    "unknown tools": (calls(("browse", {})), "no tool 'browse'", "its calls make no sense"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_reply_that_cannot_be_used_is_asked_for_once_more(kind, tmp_path):
    reply, told, _ = UNUSABLE[kind]
    _, answer, stub = ask(tmp_path, [reply, finish([PRESSURE])])
    assert answer.text == ANSWER
    assert told in stub.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("kind", UNUSABLE)
def test_two_such_replies_in_a_row_end_the_model_s_part(kind, tmp_path):
    reply, _, why = UNUSABLE[kind]
    with answering(tmp_path, [reply, reply]) as (agent, stub):
        with pytest.raises(LLMError, match="openai/stub cannot be used") as error:
            list(agent.answer("What pressure does the boiler have?"))
        assert why in str(error.value)
        assert len(stub.requests) == 2


def test_a_usable_reply_in_between_starts_the_count_anew(tmp_path):
    search = calls(("search", {"query": "pump"}))
    _, answer, _ = ask(tmp_path, [Reply(), search, Reply(), finish([PRESSURE])])
    assert answer.text == ANSWER


def test_an_empty_reply_is_reminded_without_an_empty_message(tmp_path):
    _, _, stub = ask(tmp_path, [Reply(), finish([PRESSURE])])
    assert [m["role"] for m in stub.requests[1]["messages"]] == ["system", "user"]


def chained(tmp_path, *stubs, **settings):
    """An agent that asks `openai/m0`, then `openai/m1`, ... each at its own server."""
    models = [
        LiteLLM(Settings(tmp_path, llm_model=f"openai/m{n}", llm_base_url=stub.url), ())
        for n, stub in enumerate(stubs)
    ]
    library = Library()
    return Agent(Chain(models), Searcher(library), library, Settings(tmp_path, **settings))


def test_what_a_model_had_written_when_it_broke_off_is_withdrawn(tmp_path):
    broken = finish([PRESSURE], piece=3, break_after=20)
    with StubLLM([broken]) as a, StubLLM([finish([WATER])]) as b:
        events = list(chained(tmp_path, a, b).answer("What pressure does the boiler have?"))
    at = events.index(TextReplaced(""))
    assert any(isinstance(event, TextDelta) for event in events[:at])
    shown = "".join(event.text for event in events[at:] if isinstance(event, TextDelta))
    assert shown == events[-1].answer.text == "It holds 80 litres [1]."
    assert events[-1].answer.receipt.fallbacks[0].model == "openai/m0"


def test_the_next_model_goes_on_with_what_was_found(tmp_path):
    first = [calls(("search", {"query": "pump"})), Reply(text="15 bar!"), Reply(text="15 bar!")]
    second = [finish([PRESSURE])]
    with StubLLM(first) as a, StubLLM(second) as b:
        a.default = Reply(text="No JSON.")
        agent = chained(tmp_path, a, b, llm_rounds=9)
        events = list(agent.answer("What pressure does the boiler have?"))
    answer = events[-1].answer
    assert isinstance(events[-1], Finished)
    assert answer.text == ANSWER
    assert answer.receipt.model == "openai/m1"
    assert [f.model for f in answer.receipt.fallbacks] == ["openai/m0", "openai/m0"]
    assert "without the tools" in answer.receipt.fallbacks[0].reason
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert notices == list(answer.receipt.notices)
    assert "in plain JSON instead" in notices[0]
    assert "openai/m1 is asked instead" in notices[1]
    # The second model sees the search, and neither the bad replies nor the reminders.
    told = str(b.requests[0]["messages"])
    assert "The pump is made by Kessler" in told
    assert "15 bar!" not in told
    assert "nobody sees" not in told
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 2


# Too much for the model


def test_a_prompt_that_is_too_long_is_sent_again_with_half_of_the_sources(tmp_path):
    pages = {f"{n}.pdf": [f"boiler {n} " + "word " * 180] for n in range(8)}
    too_long = Reply(status=400, error="This model's maximum context length is 4096 tokens.")
    claim = ("There is one.", "S1", "boiler 0 word word word")
    events, answer, stub = ask(
        tmp_path,
        [too_long, finish([claim])],
        library=Library(pages),
        settings={"llm_context": 3000},
    )
    assert answer.text == "There is one [1]."
    assert len(stub.sources(1)) < len(stub.sources(0)) == 8
    assert "Left out to save room" in opening(stub, 1)
    (notice,) = [event.message for event in events if isinstance(event, Notice)]
    assert "too long" in notice
    assert notice.endswith("It is asked again with half of LLM_CONTEXT.")


def test_a_prompt_that_is_too_long_twice_is_for_another_model(tmp_path):
    too_long = Reply(status=400, error="This model's maximum context length is 4096 tokens.")
    with StubLLM([too_long] * 2) as a, StubLLM([finish([PRESSURE])]) as b:
        *_, last = chained(tmp_path, a, b).answer("What pressure does the boiler have?")
    assert (last.answer.text, last.answer.receipt.model) == (ANSWER, "openai/m1")
    assert len(last.answer.receipt.notices) == 2
    with (
        answering(tmp_path, [too_long, too_long]) as (agent, _),
        pytest.raises(LLMError, match="too long"),
    ):
        list(agent.answer("What pressure does the boiler have?"))
