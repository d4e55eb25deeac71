"""An asynchronous stream, read by ordinary code that can stop it at any moment.

litellm's blocking calls cannot be interrupted while the provider is silent. Here every call runs on
one event loop of its own thread: whoever reads is handed control back at least every `TICK_S`, and
closing the reader cancels the call, which closes the connection.
"""

from __future__ import annotations

import asyncio
import functools
import queue
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

TICK_S = 0.2


@dataclass(frozen=True, slots=True)
class _End:
    error: Exception | None = None


def read(stream: AsyncGenerator[T]) -> Generator[T | None]:
    """The stream's items; None when nothing came for `TICK_S`. Raises what the stream raises."""
    arrived: queue.SimpleQueue[T | _End] = queue.SimpleQueue()

    async def pump() -> None:
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    arrived.put(item)
        except Exception as error:
            arrived.put(_End(error))
        else:
            arrived.put(_End())

    running = asyncio.run_coroutine_threadsafe(pump(), _loop())
    try:
        while True:
            try:
                item = arrived.get(timeout=TICK_S)
            except queue.Empty:
                yield None
                continue
            if not isinstance(item, _End):
                yield item
            elif item.error is not None:
                raise item.error
            else:
                return
    finally:
        running.cancel()


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for all calls: litellm keeps its connections per loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="llm", daemon=True).start()
    return loop
