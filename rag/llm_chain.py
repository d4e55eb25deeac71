"""Several models as one: when one fails, the next is asked, and the user is told.

The order: each configured model with its tools, then, if it takes none, the same model in plain
JSON. A conversation goes on where it was: what was searched and read is not lost.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from rag.errors import LLMError, PromptTooLong, ToolsRefused
from rag.llm import LLM, LiteLLM, Message, Piece, Switched, Tool, Usage
from rag.llm_plain import Plain
from rag.settings import Settings
from rag.types import Fallback

LEAST_S = 5.0
"""Seconds that a model is given at least, however many were asked before it."""


class Chain:
    """An `LLM` for one answer: a model that failed is not asked again."""

    def __init__(self, models: Sequence[LLM]) -> None:
        self._model, *self._left = models
        self._failed: list[Fallback] = []
        self._used: list[Usage] = []

    @property
    def model(self) -> str:
        return self._model.model

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """The models that failed so far."""
        return tuple(self._failed)

    @property
    def used(self) -> tuple[Usage, ...]:
        """What every call so far used, where the provider said so or litellm could estimate it."""
        return tuple(self._used)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        timeout_s: float | None = None,
    ) -> Generator[Piece]:
        """See `LLM.stream`. The seconds are shared with the models that are left, so that a silent
        one does not use them up. Raises PromptTooLong at once, since a shorter prompt may do, and
        LLMError with every model's fault when all have failed."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            share_s = timeout_s
            if deadline is not None and (self._left or self._failed):
                share_s = max(LEAST_S, (deadline - time.monotonic()) / (1 + len(self._left)))
            try:
                with closing(self._model.stream(messages, tools, tool_choice, share_s)) as pieces:
                    for piece in pieces:
                        if isinstance(piece, Usage):
                            self._used.append(piece)
                        yield piece
                return
            except PromptTooLong:
                raise
            except LLMError as error:
                switched = self._next(error, plainly=isinstance(error, ToolsRefused))
            yield switched

    def give_up(self, reason: str, *, plainly: bool = False) -> Switched:
        """See `LLM.give_up`."""
        return self._next(LLMError(f"The model {self.model} cannot be used: {reason}"), plainly)

    def _next(self, error: LLMError, plainly: bool) -> Switched:
        failed = self._model
        self._failed.append(Fallback(failed.model, str(error)))
        if plainly and not isinstance(failed, Plain):
            self._model = Plain(failed)
            notice = f"{error} It is asked in plain JSON instead."
        elif self._left:
            self._model = self._left.pop(0)
            notice = f"{error} {self.model} is asked instead."
        elif len(self._failed) == 1:
            raise error
        else:
            faults = "\n".join(f"- {fallback.reason}" for fallback in self._failed)
            raise LLMError(f"No language model could answer:\n{faults}") from error
        return Switched(self._failed[-1], self.model, notice)


def connect(settings: Settings) -> Chain:
    """The chain that the settings name. Raises LLMError when they name no model."""
    others = [settings_for(settings, model) for model in settings.llm_fallbacks]
    return Chain([LiteLLM(each) for each in (settings, *others)])


def settings_for(settings: Settings, model: str) -> Settings:
    """Those of one fallback. The configured key and address are those of LLM_MODEL's provider: a
    model of another one is reached with that provider's own."""
    provider = model.partition("/")[0]
    if provider == (settings.llm_model or "").partition("/")[0]:
        return replace(settings, llm_model=model)
    return replace(settings, llm_model=model, llm_api_key=None, llm_base_url=None)
