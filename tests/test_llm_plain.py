import json

import pytest

from rag.events import Waiting
from rag.llm import CallPiece, LiteLLM, Message, Stop, TextPiece, Tool, ToolCall, Usage
from rag.llm_plain import Plain
from rag.settings import Settings
from tests.stub_llm import Reply, StubLLM, plainly

SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
FINISH = Tool("finish", "Answer.", {"type": "object"})
QUESTION = [Message("system", "Rules"), Message("user", "Hello")]


def model(url, tmp_path):
    settings = Settings(
        data=tmp_path, llm_model="openai/stub", llm_base_url=url, llm_api_key="test-key"
    )
    return Plain(LiteLLM(settings, retry_waits_s=()))


def ask(reply, tmp_path, **options):
    with StubLLM([reply]) as stub:
        sent = model(stub.url, tmp_path).stream(QUESTION, [SEARCH, FINISH], **options)
        pieces = [piece for piece in sent if not isinstance(piece, Waiting)]
    return pieces, stub.requests[0]


def call(pieces):
    """Name and arguments of the only call."""
    parts = [piece for piece in pieces if isinstance(piece, CallPiece)]
    assert {part.index for part in parts} == {0}
    return parts[0].name, "".join(part.arguments for part in parts)


def test_the_tools_are_described_in_words_and_none_is_sent(tmp_path):
    pieces, request = ask(plainly("search", {"query": "boiler"}), tmp_path)
    assert "tools" not in request
    system = request["messages"][0]["content"]
    assert system.startswith("Rules\n\n")
    assert "- search: Search." in system
    assert '{"tool": "NAME", "arguments": {...}}' in system
    assert call(pieces) == ("search", '{"query": "boiler"}')
    assert pieces[-2:] == [Stop("stop"), Usage(100, 20, None)]


def test_arguments_stream_while_they_are_written(tmp_path):
    arguments = {"claims": [{"text": 'A "{brace}" \\ here.', "quotes": []}]}
    pieces, _ = ask(plainly("finish", arguments, piece=5), tmp_path)
    assert len([piece for piece in pieces if isinstance(piece, CallPiece)]) > 5
    name, text = call(pieces)
    assert (name, json.loads(text)) == ("finish", arguments)


def test_a_forced_tool_is_the_only_one_described(tmp_path):
    _, request = ask(plainly("finish", {}), tmp_path, tool_choice="finish")
    assert "- search" not in request["messages"][0]["content"]
    assert "tool_choice" not in request


@pytest.mark.parametrize(
    "written",
    [
        'Sure!\n```json\n{"tool": "search", "arguments": {"query": "x"}}\n```',
        '<think>{"tool": "finish"?}</think>{"tool": "search", "arguments": {"query": "x"}}',
        '{"arguments": {"query": "x"}, "tool": "search"}',
        '{"name": "search", "parameters": {"query": "x"}}',
        '{"function": "search", "arguments": "{\\"query\\": \\"x\\"}"}',
        '{"search": {"query": "x"}}',
        '[{"tool": "search", "arguments": {"query": "x"}}]',
    ],
)
def test_a_call_is_understood_in_the_forms_that_small_models_write(written, tmp_path):
    pieces, _ = ask(Reply(text=written), tmp_path)
    name, arguments = call(pieces)
    assert (name, json.loads(arguments)) == ("search", {"query": "x"})


def test_an_answer_without_the_frame_around_it_is_a_finish(tmp_path):
    pieces, _ = ask(Reply(text='{"refusal": "Not there.", "claims": []}'), tmp_path)
    assert call(pieces) == ("finish", '{"refusal": "Not there.", "claims": []}')


def test_a_call_without_arguments_has_empty_ones(tmp_path):
    pieces, _ = ask(Reply(text='{"tool": "search"}'), tmp_path)
    assert call(pieces) == ("search", "{}")


@pytest.mark.parametrize("written", ["It runs at 15 bar.", '{"broken": ', "I think {so}."])
def test_what_is_no_call_stays_text(written, tmp_path):
    pieces, _ = ask(Reply(text=written), tmp_path)
    assert TextPiece(written) in pieces
    assert not any(isinstance(piece, CallPiece) for piece in pieces)


def test_arguments_that_are_cut_off_go_on_as_they_are(tmp_path):
    pieces, _ = ask(Reply(text='{"tool": "search", "arguments": {"que', stop="length"), tmp_path)
    assert call(pieces) == ("search", '{"que')
    assert Stop("length") in pieces


def test_earlier_calls_and_results_become_turns_of_user_and_model(tmp_path):
    messages = [
        *QUESTION,
        Message("assistant", "Hm.", (ToolCall("c1", "search", '{"query": "x"}'),)),
        Message("tool", "Nothing.", call_id="c1"),
        Message("user", "Go on."),
    ]
    with StubLLM([plainly("finish", {})]) as stub:
        list(model(stub.url, tmp_path).stream(messages, [SEARCH]))
    _, first, said, result = stub.requests[0]["messages"]
    assert (first["role"], first["content"]) == ("user", "Hello")
    assert said["role"] == "assistant"
    assert said["content"] == 'Hm.\n{"tool": "search", "arguments": {"query": "x"}}'
    assert result["role"] == "user"
    assert result["content"] == "Result of search:\n\nNothing.\n\nGo on."
