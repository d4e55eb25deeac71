"""A small OpenAI-compatible server with scripted replies, for tests and for the browser.

    with StubLLM([calls(("search", {"query": "boiler"})), finish([("A.", "S1", "a b c")])]) as stub:
        Settings(..., llm_model="openai/stub", llm_base_url=stub.url, llm_api_key="test-key")

By hand: `python -m tests.stub_llm --port 8765` answers every question with the first sentence of
the first source it is given; `--script FILE.json` plays a list of `Reply` objects instead.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SOURCE = re.compile(r'<source-(\w+) id="(S\d+)"[^\n]*>\n(.*?)\n</source-\1>', re.DOTALL)
"""A source in a prompt: boundary, id, text."""


@dataclass(frozen=True)
class Reply:
    """One reply. `calls` are (name, arguments) pairs; arguments as a string go out as they are."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    piece: int = 12
    """Characters of text or arguments in one streamed event."""
    stop: str = ""
    """The finish reason; by default `tool_calls` or `stop`."""
    usage: tuple[int, int] | None = (100, 20)
    """Prompt and completion tokens; None sends none."""
    status: int = 200
    error: str = ""
    """The message of a reply with an error status."""
    headers: Mapping[str, str] | None = None
    break_after: int | None = None
    """Events after which the connection is cut."""
    hang: bool = False
    """Never answer."""
    endless: bool = False
    """Repeat the text until the client closes the connection."""


Script = Reply | Callable[[dict[str, Any]], Reply]


def calls(*pairs: tuple[str, Mapping[str, Any] | str], **options: Any) -> Reply:
    return Reply(calls=pairs, **options)


def finish(
    claims: Sequence[tuple[str, str, str]] = (), refusal: str | None = None, **options: Any
) -> Reply:
    """A finish call; `claims` are (text, source, quote), with "" as source for no quote."""
    arguments: dict[str, Any] = {
        "claims": [
            {"text": text, "quotes": [{"source": source, "quote": quote}] if source else []}
            for text, source, quote in claims
        ]
    }
    if refusal is not None:
        arguments["refusal"] = refusal
    return calls(("finish", arguments), **options)


def plainly(name: str, arguments: Mapping[str, Any], **options: Any) -> Reply:
    """A call as a model without tool calls writes it."""
    return Reply(text=json.dumps({"tool": name, "arguments": arguments}), **options)


def without_tools(reply: Script) -> Script:
    """Refuses a request with tools, as servers do whose model takes none."""

    def answer(request: dict[str, Any]) -> Reply:
        if "tools" in request:
            return Reply(status=400, error="stub does not support tools")
        return reply(request) if callable(reply) else reply

    return answer


def auto(request: dict[str, Any]) -> Reply:
    """Answer with the first sentence of the first source in the last user message.

    Also answers what the settings page asks to try a model, and repeats a question that is to be
    rewritten. Without tools in the request, it writes its calls as plain JSON.
    """
    prompt = [m["content"] for m in request["messages"] if m["role"] == "user"][-1]
    offered = {tool["function"]["name"] for tool in request.get("tools", ())}
    rules = str(request["messages"][0]["content"])

    def answer(name: str, arguments: Mapping[str, Any]) -> Reply:
        return calls((name, arguments)) if offered else plainly(name, arguments)

    if "report" in offered or "- report:" in rules:
        return answer("report", {"word": "ready"})
    if not offered and '{"tool": "NAME"' not in rules:
        return Reply(text="1 2 3 4 5 6 7 8 9 10" if "Count" in prompt else prompt.splitlines()[-1])
    for _, source, text in SOURCE.findall(prompt):
        line = next((line for line in text.splitlines() if len(line) >= 10), text)
        quote = (re.match(r".{10,298}?[.!?](?=\s|$)|.{1,300}", line) or [line])[0].strip()
        sentence = quote if quote.endswith((".", "!", "?")) else quote + "."
        claim = {"text": sentence, "quotes": [{"source": source, "quote": quote}]}
        return answer("finish", {"claims": [claim]})
    return answer("finish", {"claims": [], "refusal": "The documents do not say."})


class StubLLM:
    """Listens on localhost while it is open. Replies are used up in order; `default` follows."""

    def __init__(
        self,
        script: Iterable[Script] = (),
        default: Script | None = None,
        port: int = 0,
        delay_s: float = 0.0,
        models: Sequence[str] | None = ("stub",),
    ) -> None:
        """`models` are those it lists; None: it never answers when asked for them."""
        self.script = list(script)
        self.default = default
        self.delay_s = delay_s
        self.models = models
        self.requests: list[dict[str, Any]] = []
        """The body of every chat request, oldest first."""
        self.keys: list[str] = []
        """The Authorization header of every request."""
        self.disconnected = threading.Event()
        """Set when a client closed the connection in the middle of a reply."""
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> StubLLM:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def sources(self, request: int = 0) -> dict[str, str]:
        """Source id -> text, over all messages of a request."""
        contents = [m["content"] or "" for m in self.requests[request]["messages"]]
        return {source: text for _, source, text in SOURCE.findall("\n".join(contents))}

    def _next(self, request: dict[str, Any]) -> Reply:
        with self._lock:
            self.requests.append(request)
            step = self.script.pop(0) if self.script else self.default
        if step is None:
            return Reply(status=400, error="the script has no more replies")
        return step(request) if callable(step) else step

    def _handler(stub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                stub.keys.append(self.headers.get("Authorization", ""))
                if stub.models is None:
                    self._hang()
                elif self.path.endswith("/api/tags"):  # Ollama's own list
                    self._json(200, {"models": [{"name": name} for name in stub.models]})
                else:
                    self._json(200, {"data": [{"id": name} for name in stub.models]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.keys.append(self.headers.get("Authorization", ""))
                reply = stub._next(body)
                self.close_connection = True
                if reply.hang:
                    self._hang()
                elif reply.status != 200:
                    error = {"message": reply.error, "type": "error", "code": None}
                    self._json(reply.status, {"error": error}, reply.headers)
                elif body.get("stream"):
                    try:
                        self._stream(reply)
                    except OSError:
                        stub.disconnected.set()
                else:
                    self._json(200, whole(reply))

            def _hang(self) -> None:
                """A client that sends nothing more and is readable has hung up."""
                while not stub._released.is_set():
                    if select.select([self.connection], [], [], 0.02)[0]:
                        stub.disconnected.set()
                        return

            def _json(
                self, status: int, value: Any, headers: Mapping[str, str] | None = None
            ) -> None:
                payload = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.send_header("Connection", "close")  # or the client keeps its end open
                for name, text in (headers or {}).items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(payload)

            def _stream(self, reply: Reply) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                for count, event in enumerate(events(reply)):
                    if count == reply.break_after:
                        return  # without the last chunk: the client sees a broken stream
                    self._chunk(f"data: {json.dumps(event)}\n\n".encode())
                    time.sleep(stub.delay_s) if stub.delay_s else None
                self._chunk(b"data: [DONE]\n\n")
                self._chunk(b"")

            def _chunk(self, payload: bytes) -> None:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(payload), payload))

        return Handler


def whole(reply: Reply) -> dict[str, Any]:
    """The reply as one chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [_call(i, *pair) for i, pair in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, "finish_reason": _stop(reply)}
    return _envelope("chat.completion", [choice], reply.usage)


def events(reply: Reply) -> Iterator[dict[str, Any]]:
    """The reply as chat completion chunks."""

    def chunk(delta: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        return _envelope("chat.completion.chunk", [choice], None)

    yield chunk({"role": "assistant", "content": ""})
    for text in _cut(reply.text, reply.piece):
        yield chunk({"content": text})
    count = 0
    while reply.endless:
        count += 1
        yield chunk({"content": f"{reply.text}{count} "})
    for index, (name, arguments) in enumerate(reply.calls):
        call = _call(index, name, arguments)
        text = call["function"]["arguments"]
        call["function"]["arguments"] = ""
        yield chunk({"tool_calls": [call]})
        for piece in _cut(text, reply.piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _stop(reply))
    if reply.usage is not None:
        yield _envelope("chat.completion.chunk", [], reply.usage)


def _envelope(
    kind: str, choices: list[dict[str, Any]], usage: tuple[int, int] | None
) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": "stub-1",
        "object": kind,
        "created": 1_700_000_000,
        "model": "stub",
        "choices": choices,
    }
    if usage is not None:
        prompt, completion = usage
        value["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
    return value


def _call(index: int, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"index": index, "id": f"call_{index}", "type": "function", "function": function}


def _stop(reply: Reply) -> str:
    return reply.stop or ("tool_calls" if reply.calls else "stop")


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server.")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--script", type=Path, help="a JSON list of replies; default: auto mode")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between events")
    options = parser.parse_args()
    script = json.loads(options.script.read_text(encoding="utf-8")) if options.script else []
    replies = [Reply(**reply) for reply in script]
    with StubLLM(replies, default=auto, port=options.port, delay_s=options.delay) as stub:
        print(f"listening at {stub.url}", flush=True)  # noqa: T201
        threading.Event().wait()


if __name__ == "__main__":
    main()
