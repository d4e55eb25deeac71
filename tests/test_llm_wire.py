"""Providers with a wire format of their own: what is sent to them, and what is read back.

The replies are written after each provider's documentation; litellm translates both ways.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rag.llm import CallPiece, LiteLLM, Message, Stop, Tool, ToolCall, Usage
from rag.settings import Settings

SEARCH = Tool("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
CONVERSATION = [
    Message("system", "Rules"),
    Message("user", "Hello"),
    Message("assistant", "", (ToolCall("call_7", "search", '{"query": "boiler"}'),)),
    Message("tool", "Nothing was found.", call_id="call_7"),
]


def events(*pairs):
    return "".join(f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in pairs)


OLLAMA = "".join(
    json.dumps({"model": "qwen3:8b"} | line) + "\n"
    for line in (
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "search", "arguments": {"query": "kettle"}}}],
            },
            "done": False,
        },
        {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 25,
            "eval_count": 15,
        },
    )
)
ANTHROPIC = events(
    (
        "message_start",
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "content": [],
                "model": "c",
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 25, "output_tokens": 1},
            },
        },
    ),
    (
        "content_block_start",
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}},
        },
    ),
    *(
        (
            "content_block_delta",
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": part},
            },
        )
        for part in ('{"query": "ke', 'ttle"}')
    ),
    ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 15},
        },
    ),
    ("message_stop", {"type": "message_stop"}),
)
GEMINI = "data: " + json.dumps(
    {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "search", "args": {"query": "kettle"}}}],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 25,
            "candidatesTokenCount": 15,
            "totalTokenCount": 40,
        },
    }
)


@dataclass
class Wire:
    """One exchange with a provider."""

    path: str
    body: dict
    pieces: list

    @property
    def arguments(self):
        return "".join(p.arguments for p in self.pieces if isinstance(p, CallPiece))


@pytest.fixture
def talk(tmp_path):
    """(model, what the provider sends) -> the exchange."""
    reply, seen = [""], []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, body))
            self.send_response(200)
            kind = "application/x-ndjson" if "/api/" in self.path else "text/event-stream"
            self.send_header("Content-Type", kind)
            self.end_headers()
            # Ollama is also asked what the model can do.
            self.wfile.write(("{}" if self.path == "/api/show" else reply[0]).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    def make(model, text):
        reply[0] = text
        settings = Settings(
            tmp_path,
            llm_model=model,
            llm_base_url=f"http://127.0.0.1:{server.server_address[1]}",
            llm_api_key="test-key-5f2c",
        )
        pieces = list(LiteLLM(settings, ()).stream(CONVERSATION, [SEARCH], "search"))
        path, body = next(one for one in seen if one[0] != "/api/show")
        return Wire(path, body, pieces)

    yield make
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        ("ollama/qwen3:8b", OLLAMA),
        ("anthropic/claude-sonnet-4-5", ANTHROPIC),
        ("gemini/gemini-2.5-flash", GEMINI),
    ],
)
def test_a_call_is_read_from_every_wire_format(model, reply, talk):
    wire = talk(model, reply)
    first = next(piece for piece in wire.pieces if isinstance(piece, CallPiece))
    assert first.name == "search"
    assert first.id
    assert json.loads(wire.arguments) == {"query": "kettle"}
    assert Stop("tool_calls") in wire.pieces
    (usage,) = [piece for piece in wire.pieces if isinstance(piece, Usage)]
    assert (usage.prompt_tokens, usage.completion_tokens) == (25, 15)


def test_ollama_gets_tools_results_and_a_context_that_holds_them(talk):
    body = talk("ollama/qwen3:8b", OLLAMA).body
    assert body["tools"][0]["function"]["name"] == "search"
    assert body["messages"][-1]["content"] == "Nothing was found."
    assert body["options"]["num_ctx"] == 16_384


def test_anthropic_gets_the_rules_apart_and_the_tool_that_it_must_call(talk):
    body = talk("anthropic/claude-sonnet-4-5", ANTHROPIC).body
    assert body["system"][0]["text"] == "Rules"
    assert body["tool_choice"] == {"type": "tool", "name": "search"}
    assert "thinking" not in body
    result = body["messages"][-1]["content"][0]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "call_7")


def test_gemini_gets_no_empty_text_beside_a_call(talk):
    body = talk("gemini/gemini-2.5-flash", GEMINI).body
    said = body["contents"][1]["parts"]
    assert [list(part) for part in said] == [["function_call"]]
