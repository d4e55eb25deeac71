"""A Tavily that listens on localhost and gives what it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class StubTavily:
    """`results` are those of every search; `body` replaces the whole reply."""

    def __init__(
        self, results: Sequence[dict[str, Any]] = (), status: int = 200, body: str | None = None
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        reply = json.dumps({"results": list(results)}) if body is None else body
        self._server = HTTPServer(("127.0.0.1", 0), _handler(self, status, reply.encode()))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/search"

    def __enter__(self) -> StubTavily:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(stub: StubTavily, status: int, reply: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            stub.requests.append(json.loads(self.rfile.read(length)))
            stub.keys.append(self.headers["Authorization"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    return Handler
