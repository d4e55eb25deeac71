import logging
import subprocess
import sys
from pathlib import Path

import pytest

from rag.errors import LLMError
from rag.events import Waiting
from rag.llm import (
    CallPiece,
    LiteLLM,
    Message,
    Stop,
    TextPiece,
    Tool,
    ToolCall,
    Usage,
    load_litellm,
)
from rag.llm_request import build
from rag.settings import Settings
from tests.stub_llm import Reply, StubLLM, calls, finish, whole

KEY = "test-key-5f2c"
SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})


def model(url, tmp_path, **settings):
    settings = {"llm_model": "openai/stub", "llm_api_key": KEY, **settings}
    return LiteLLM(Settings(data=tmp_path, llm_base_url=url, **settings), retry_waits_s=(0.0,))


def ask(llm, **options):
    """What the model says, without the moments in which it says nothing."""
    pieces = llm.stream([Message("user", "Hello")], **options)
    return [piece for piece in pieces if not isinstance(piece, Waiting)]


def request(llm):
    """What litellm would be asked."""
    return build(load_litellm(), llm.model, llm._settings, [Message("user", "Hi")], (), None, 1.0)


def failure(script, tmp_path, **settings):
    """The message of the error that this script leads to, and the stub that served it."""
    with StubLLM(script) as stub, pytest.raises(LLMError) as error:
        ask(model(stub.url, tmp_path, **settings))
    assert error.value.__cause__ is not None
    assert KEY not in str(error.value)
    return str(error.value), stub


def test_text_arrives_in_pieces_with_usage_at_the_end(tmp_path):
    with StubLLM([Reply(text="The boiler runs at 15 bar.", piece=10)]) as stub:
        pieces = ask(model(stub.url, tmp_path))
    assert pieces == [
        TextPiece("The boiler"),
        TextPiece(" runs at 1"),
        TextPiece("5 bar."),
        Stop("stop"),
        Usage(100, 20, None),
    ]
    assert stub.keys == [f"Bearer {KEY}"]


def test_parallel_tool_calls_arrive_in_pieces(tmp_path):
    script = [calls(("search", {"query": "boiler"}), ("list_documents", {}), piece=8)]
    with StubLLM(script) as stub:
        pieces = ask(model(stub.url, tmp_path), tools=[SEARCH], tool_choice="search")
    first = [piece for piece in pieces if isinstance(piece, CallPiece) and piece.index == 0]
    assert [(piece.id, piece.name) for piece in first] == [
        ("call_0", "search"),
        ("", ""),
        ("", ""),
        ("", ""),
    ]
    assert "".join(piece.arguments for piece in first) == '{"query": "boiler"}'
    assert CallPiece(1, "call_1", "list_documents", "") in pieces
    assert Stop("tool_calls") in pieces
    request = stub.requests[0]
    assert request["tools"][0]["function"]["name"] == "search"
    assert request["tool_choice"] == {"type": "function", "function": {"name": "search"}}


def test_a_conversation_is_sent_with_its_calls_and_their_results(tmp_path):
    messages = [
        Message("system", "Rules"),
        Message("user", "Hello"),
        Message("assistant", "", (ToolCall("call_7", "search", '{"query": "x"}'),)),
        Message("tool", "Nothing was found.", call_id="call_7"),
    ]
    with StubLLM([Reply(text="ok")]) as stub:
        list(model(stub.url, tmp_path).stream(messages))
    system, user, assistant, tool = stub.requests[0]["messages"]
    assert (system["content"], user["content"]) == ("Rules", "Hello")
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{"query": "x"}'
    assert (tool["tool_call_id"], tool["content"]) == ("call_7", "Nothing was found.")


def test_usage_is_estimated_when_the_provider_sends_none(tmp_path):
    with StubLLM([Reply(text="The boiler runs at 15 bar.", usage=None)]) as stub:
        usage = ask(model(stub.url, tmp_path))[-1]
    assert isinstance(usage, Usage)
    assert 0 < usage.completion_tokens < 20


def test_a_model_with_a_known_price_has_a_cost(tmp_path):
    with StubLLM([Reply(text="ok", usage=(1_000_000, 0))]) as stub:
        usage = ask(model(stub.url, tmp_path, llm_model="openai/gpt-4o-mini"))[-1]
    assert usage == Usage(1_000_000, 0, pytest.approx(0.15))


@pytest.mark.parametrize(
    ("status", "error", "words", "requests"),
    [
        (400, "stub does not support tools", ["does not accept tool calls"], 1),
        (400, "Temperature is wrong", ["refused the request", "Temperature is wrong."], 1),
        (400, "This model's maximum context length is 4096 tokens.", ["too long", "TOP_K"], 1),
        (401, f"Incorrect API key provided: {KEY}", ["refused the API key", "LLM_API_KEY"], 1),
        (403, "Not for you", ["refused the API key"], 1),
        (404, "The model `stub` does not exist", ["has no model", "LLM_MODEL"], 1),
        (429, "Rate limit reached", ["limits the use", "Wait a minute"], 2),
        (429, "You are out of money: insufficient_quota", ["limits the use"], 1),
        (500, "Boom", ["failed (500)", "Boom."], 2),
        (503, "Overloaded", ["failed (503)", "Try again"], 2),
    ],
)
def test_an_error_status_is_explained(status, error, words, requests, tmp_path):
    message, stub = failure([Reply(status=status, error=error)] * 3, tmp_path)
    for word in ["openai/stub", *words]:
        assert word in message
    assert len(stub.requests) == requests


def test_a_server_error_is_tried_again_before_it_counts(tmp_path):
    with StubLLM([Reply(status=500, error="Boom"), Reply(text="ok")]) as stub:
        assert TextPiece("ok") in ask(model(stub.url, tmp_path))


def test_a_provider_that_asks_for_a_long_wait_is_not_waited_for(tmp_path):
    reply = Reply(status=429, error="Slow down", headers={"Retry-After": "3600"})
    _, stub = failure([reply, Reply(text="ok")], tmp_path)
    assert len(stub.requests) == 1


def test_a_broken_stream_is_an_error_and_not_tried_again(tmp_path):
    message, stub = failure([Reply(text="word " * 50, break_after=4)], tmp_path)
    assert "broke off" in message
    assert len(stub.requests) == 1


def test_a_silent_provider_is_given_up_after_the_time_limit(tmp_path):
    with StubLLM([Reply(hang=True)]) as stub, pytest.raises(LLMError, match="within 1 s"):
        ask(model(stub.url, tmp_path), timeout_s=0.2)


def test_a_refused_connection_asks_whether_the_server_runs(tmp_path):
    with StubLLM() as stub:
        url = stub.url
    with pytest.raises(LLMError, match=r"cannot be reached at .*Ollama"):
        ask(model(url, tmp_path))


def test_a_password_in_the_base_url_is_not_repeated(tmp_path):
    with StubLLM() as stub:
        url = stub.url.replace("//", "//me:hunter22@")
    with pytest.raises(LLMError) as error:
        ask(model(url, tmp_path))
    assert "hunter22" not in str(error.value)


def test_a_model_name_without_a_provider_is_explained(tmp_path):
    with pytest.raises(LLMError, match="names no known provider"):
        ask(model(None, tmp_path, llm_model="no-such-model"))


def test_no_model_is_an_error_that_says_so(tmp_path):
    with pytest.raises(LLMError, match="Set LLM_MODEL"):
        LiteLLM(Settings(data=tmp_path))


def test_a_local_server_is_asked_without_a_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with StubLLM([Reply(text="ok")]) as stub:
        assert TextPiece("ok") in ask(model(stub.url, tmp_path, llm_api_key=None))
    assert stub.keys == ["Bearer none"]


def test_keys_from_the_environment_are_not_repeated_either(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key-123")
    error = "Incorrect API key provided: environment-key-123"
    message, _ = failure([Reply(status=401, error=error)], tmp_path, llm_api_key=None)
    assert "environment-key-123" not in message
    assert "***" in message


def test_the_key_is_not_logged_and_nothing_is_printed(tmp_path, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        failure([Reply(status=401, error="no")], tmp_path)
    out, err = capfd.readouterr()
    logged = caplog.text + out + err
    assert KEY not in logged
    assert out == err == ""


def test_closing_the_generator_closes_the_connection(tmp_path):
    with StubLLM([Reply(text="word ", endless=True)]) as stub:
        pieces = model(stub.url, tmp_path).stream([Message("user", "Hello")])
        assert next(pieces) == TextPiece("word ")
        pieces.close()
        assert stub.disconnected.wait(timeout=5)


def test_ollama_is_asked_for_a_context_that_holds_the_prompt(tmp_path):
    llm = model(None, tmp_path, llm_model="ollama/qwen3")
    assert llm.model == "ollama_chat/qwen3"
    assert request(llm)["num_ctx"] == 16_384


def test_a_reply_without_streaming_has_the_same_calls():
    message = whole(finish([("A.", "S1", "a quote")]))["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "finish"


def test_litellm_is_imported_late_and_without_the_network():
    code = """
import socket, sys
import rag.agent, rag.llm
assert "litellm" not in sys.modules
def refuse(*args, **kwargs): raise AssertionError("network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
rag.llm.load_litellm()
assert "litellm" in sys.modules
"""
    root = Path(__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0


def test_a_temperature_is_sent_only_when_one_is_set(tmp_path):
    with StubLLM([Reply(text="Yes."), Reply(text="Yes.")]) as stub:
        ask(model(stub.url, tmp_path))
        settings = Settings(
            data=tmp_path, llm_model="openai/stub", llm_base_url=stub.url, llm_api_key=KEY
        )
        ask(LiteLLM(settings, temperature=0.0))
    assert "temperature" not in stub.requests[0]
    assert stub.requests[1]["temperature"] == 0.0


def test_temperature_and_reply_length_come_from_the_settings(tmp_path):
    with StubLLM([Reply(text="Yes.")]) as stub:
        ask(model(stub.url, tmp_path, llm_temperature=0.2, llm_max_tokens=300))
    assert stub.requests[0]["temperature"] == 0.2
    assert stub.requests[0]["max_tokens"] == 300


@pytest.mark.parametrize(
    ("name", "setting", "effort"),
    [
        ("openai/gpt-5-mini", "auto", "low"),
        ("openai/gpt-5-mini", "high", "high"),
        ("openai/gpt-4o-mini", "auto", None),
        ("openai/stub", "auto", None),
        ("anthropic/claude-sonnet-4-5", "auto", None),
        ("anthropic/claude-sonnet-4-5", "low", "low"),
    ],
)
def test_a_model_that_reasons_unasked_is_asked_to_do_so_briefly(name, setting, effort, tmp_path):
    llm = model(None, tmp_path, llm_model=name, llm_reasoning=setting)
    assert request(llm).get("reasoning_effort") == effort


@pytest.mark.parametrize("word", ["tool_choice", "reasoning_effort"])
def test_what_nobody_asked_for_is_left_out_when_it_is_refused(word, tmp_path):
    refusal = Reply(status=400, error=f"Unsupported parameter: {word}")
    with StubLLM([refusal, Reply(text="ok")]) as stub:
        llm = model(stub.url, tmp_path, llm_model="openai/gpt-5-mini")
        assert TextPiece("ok") in ask(llm, tools=[SEARCH], tool_choice="search")
    assert [word in request for request in stub.requests] == [True, False]


def test_a_setting_that_is_refused_is_named(tmp_path):
    refusal = Reply(status=400, error="Unsupported value: 'temperature' must be 1")
    message, stub = failure([refusal] * 2, tmp_path, llm_temperature=0.2)
    assert "Check LLM_TEMPERATURE." in message
    assert len(stub.requests) == 1
