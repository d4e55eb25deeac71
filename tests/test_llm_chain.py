"""Which model answers when others fail, and what the user is told."""

import time

import pytest

from rag.errors import LLMError, PromptTooLong
from rag.events import Waiting
from rag.llm import CallPiece, LiteLLM, Message, Switched, TextPiece, Tool
from rag.llm_chain import Chain, connect, settings_for
from rag.settings import Settings
from tests.stub_llm import Reply, StubLLM, plainly, without_tools

SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
KEY = "test-key-5f2c"


def chain(tmp_path, *urls):
    """`openai/m0`, `openai/m1`, ... each at its own address."""
    return Chain(
        [
            LiteLLM(
                Settings(tmp_path, llm_model=f"openai/m{n}", llm_base_url=url, llm_api_key=KEY),
                retry_waits_s=(0.0,),
            )
            for n, url in enumerate(urls)
        ]
    )


def ask(llm, tools=(), **options):
    pieces = llm.stream([Message("user", "Hello")], tools, **options)
    return [piece for piece in pieces if not isinstance(piece, Waiting)]


FAULTS = {
    "401": ([Reply(status=401, error=f"Bad key {KEY}")], "refused the API key"),
    "403": ([Reply(status=403, error="No")], "refused the API key"),
    "404": ([Reply(status=404, error="No such model")], "has no model"),
    "429 twice": ([Reply(status=429, error="Slow down")] * 2, "limits the use"),
    "429, long wait": (
        [Reply(status=429, error="Slow down", headers={"Retry-After": "3600"})],
        "limits the use",
    ),
    "quota": ([Reply(status=429, error="insufficient_quota")], "limits the use"),
    "500 twice": ([Reply(status=500, error="Boom")] * 2, "failed (500)"),
    "refused": ([Reply(status=400, error="Bad parameter")], "refused the request"),
    "broken stream": ([Reply(text="word " * 50, break_after=4)], "broke off"),
    "time-out": ([Reply(hang=True)], "did not answer within"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_model_answers_and_the_user_is_told_why(fault, tmp_path, monkeypatch):
    monkeypatch.setattr("rag.llm_chain.LEAST_S", 0.3)
    script, words = FAULTS[fault]
    with StubLLM(script) as first, StubLLM([Reply(text="ok")]) as second:
        llm = chain(tmp_path, first.url, second.url)
        pieces = ask(llm, timeout_s=0.6 if fault == "time-out" else 20.0)
    (switched,) = [piece for piece in pieces if isinstance(piece, Switched)]
    assert TextPiece("ok") in pieces[pieces.index(switched) :]
    assert llm.model == switched.model == "openai/m1"
    assert words in switched.notice
    assert switched.notice.endswith("openai/m1 is asked instead.")
    assert llm.fallbacks == (switched.fallback,)
    assert switched.fallback.model == "openai/m0"
    assert KEY not in switched.notice


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, "This model's maximum context length is 4096 tokens."),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (500, "the request exceeds the available context size"),
    ],
)
def test_a_prompt_that_is_too_long_is_for_the_caller_to_shorten(status, error, tmp_path):
    with StubLLM([Reply(status=status, error=error)]) as stub:
        llm = chain(tmp_path, stub.url, "http://127.0.0.1:9/v1")
        with pytest.raises(PromptTooLong, match="too long"):
            ask(llm)
    assert llm.fallbacks == ()
    assert len(stub.requests) == 1


@pytest.mark.parametrize("fault", [[Reply(status=429, error="Busy")], [Reply(status=503)]])
def test_a_fault_that_passes_is_no_fallback(fault, tmp_path):
    with StubLLM([*fault, Reply(text="ok")]) as stub:
        llm = chain(tmp_path, stub.url, "http://127.0.0.1:9/v1")
        assert TextPiece("ok") in ask(llm, timeout_s=20.0)
    assert llm.fallbacks == ()
    assert len(stub.requests) == 2


def test_a_wait_that_the_provider_asks_for_is_kept_and_told(tmp_path):
    busy = Reply(status=429, error="Busy", headers={"Retry-After": "0.3"})
    with StubLLM([busy, Reply(text="ok")]) as stub:
        started = time.monotonic()
        pieces = list(chain(tmp_path, stub.url).stream([Message("user", "Hello")]))
    assert time.monotonic() - started >= 0.3
    assert "openai/m0 is busy and is asked again in 1 s" in [
        piece.reason for piece in pieces if isinstance(piece, Waiting)
    ]
    assert TextPiece("ok") in pieces


def test_a_model_without_tool_calls_is_asked_in_plain_json(tmp_path):
    script = [without_tools(plainly("search", {"query": "x"}))] * 2
    with StubLLM(script, default=Reply(text='{"tool": "search", "arguments": {}}')) as stub:
        llm = chain(tmp_path, stub.url)
        pieces = ask(llm, [SEARCH], timeout_s=20.0)
        (switched,) = [piece for piece in pieces if isinstance(piece, Switched)]
        assert "does not accept tool calls" in switched.notice
        assert switched.notice.endswith("It is asked in plain JSON instead.")
        assert any(piece == CallPiece(0, "", "search", "") for piece in pieces)
        ask(llm, [SEARCH])
    assert ["tools" in request for request in stub.requests] == [True, False, False]


def test_every_fault_is_named_when_all_fail(tmp_path):
    with StubLLM([Reply(status=401)]) as first, StubLLM([Reply(status=400, error="No")]) as second:
        llm = chain(tmp_path, first.url, second.url)
        with pytest.raises(LLMError) as error:
            ask(llm)
    lines = str(error.value).splitlines()
    assert lines[0] == "No language model could answer:"
    assert "openai/m0" in lines[1] and "refused the API key" in lines[1]
    assert "openai/m1" in lines[2] and "refused the request" in lines[2]
    assert [fallback.model for fallback in llm.fallbacks] == ["openai/m0", "openai/m1"]


def test_the_fault_of_the_only_model_stands_alone(tmp_path):
    with StubLLM([Reply(status=401)]) as stub, pytest.raises(LLMError) as error:
        ask(chain(tmp_path, stub.url))
    assert str(error.value).startswith("The provider refused the API key for openai/m0")


def test_a_model_whose_replies_are_no_use_is_given_up(tmp_path):
    llm = chain(tmp_path, "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1")
    plain = llm.give_up("It wrote prose.", plainly=True)
    assert (plain.model, llm.model) == ("openai/m0", "openai/m0")
    assert llm.give_up("It wrote prose again.", plainly=True).model == "openai/m1"
    llm.give_up("It was silent.", plainly=True)
    with pytest.raises(LLMError, match="It wrote prose again"):
        llm.give_up("It was silent again.", plainly=True)


def test_a_silent_model_leaves_time_for_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr("rag.llm_chain.LEAST_S", 0.1)
    with StubLLM([Reply(hang=True)]) as first, StubLLM([Reply(text="ok")]) as second:
        started = time.monotonic()
        pieces = ask(chain(tmp_path, first.url, second.url), timeout_s=1.0)
    assert TextPiece("ok") in pieces
    assert time.monotonic() - started < 0.9


def test_stopping_ends_the_call_of_a_model_that_has_said_nothing_yet(tmp_path):
    with StubLLM([Reply(hang=True)]) as stub:
        pieces = chain(tmp_path, stub.url).stream([Message("user", "Hello")], timeout_s=20.0)
        assert next(pieces) == Waiting()
        pieces.close()
        assert stub.disconnected.wait(timeout=5)


def test_the_settings_name_the_chain(tmp_path):
    settings = Settings(
        tmp_path, llm_model="openai/a", llm_fallbacks=("ollama/b",), llm_base_url="http://x/v1"
    )
    llm = connect(settings)
    assert llm.model == "openai/a"
    assert llm.give_up("No use.").model == "ollama_chat/b"
    with pytest.raises(LLMError, match="Set LLM_MODEL"):
        connect(Settings(tmp_path))


def test_a_fallback_of_another_provider_gets_neither_the_key_nor_the_address(tmp_path):
    settings = Settings(
        tmp_path, llm_model="openai/a", llm_base_url="http://x/v1", llm_api_key="sk-1"
    )
    same = settings_for(settings, "openai/b")
    assert (same.llm_model, same.llm_api_key) == ("openai/b", "sk-1")
    other = settings_for(settings, "groq/b")
    assert (other.llm_api_key, other.llm_base_url) == (None, None)
