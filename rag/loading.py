"""The models and vectors, loaded once: on a thread, or for the first who needs them."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from rag.errors import FootnoteError
from rag.ingest import Engines


@dataclass(frozen=True, slots=True)
class ModelState:
    state: Literal["cold", "loading", "ready", "failed"]
    error: str = ""


class Models:
    """`load` is called by one thread at a time, until it has succeeded once."""

    def __init__(self, load: Callable[[], Engines]) -> None:
        self._load = load
        self._loading = threading.Lock()
        self._closed = False
        self.state = ModelState("cold")
        self.loaded: Engines | None = None
        """What was loaded, for those who would not load it themselves."""

    def engines(self) -> Engines:
        """Raises what `load` raises, and FootnoteError after `close`."""
        with self._loading:
            if self._closed:
                raise FootnoteError("This workspace is closed.")
            if self.loaded is None:
                self.state = ModelState("loading")
                try:
                    self.loaded = self._load()
                except FootnoteError as error:
                    self.state = ModelState("failed", str(error))
                    raise
                gc.freeze()  # see `_frozen`; not everyone who loads them warms up
                self.state = ModelState("ready")
            return self.loaded

    def warm_up(self, work: Callable[[], None]) -> None:
        """Call `work`, which is to need the models, on a thread; nothing once loading began."""
        if self.state.state == "cold":
            self.state = ModelState("loading")

            def frozen() -> None:
                with _frozen():
                    work()

            threading.Thread(target=frozen, name="warm-up", daemon=True).start()

    def close(self) -> None:
        with self._loading:  # a warm-up under way would open the vectors again behind us
            self._closed = True
            if self.loaded is not None:
                self.loaded.store.close()


@contextmanager
def _frozen() -> Iterator[None]:
    """While and after this, what is imported is not looked at by the garbage collector.

    The models' libraries leave half a million objects that live as long as the process. Streamlit
    collects all garbage after every script run; over them that took 0.9 s on a busy machine and
    held up everything else, the import itself most of all.
    """
    done = threading.Event()

    def freeze() -> None:
        while not done.wait(0.25):
            gc.freeze()

    threading.Thread(target=freeze, name="freeze", daemon=True).start()
    try:
        yield
    finally:
        done.set()
        gc.freeze()
