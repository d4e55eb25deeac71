"""The language model: messages and tools in, typed pieces of its reply out, while they arrive.

The only user of litellm, whose types and exceptions stop here: a failure of any kind is an
`LLMError` that names the model, the cause and what to do, and never holds an API key.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import re
import time
import warnings
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal, Protocol

from rag import llm_stream
from rag.errors import LLMError, PromptTooLong, ToolsRefused
from rag.events import Waiting
from rag.llm_errors import explain, may_retry, refuses_tools, retry_after_s, too_long
from rag.llm_request import build, less
from rag.settings import Settings
from rag.types import Fallback

RETRY_WAITS_S = (1.0, 4.0)
LONGEST_WAIT_S = 30.0
"""A provider that asks for a longer wait is not waited for."""

_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$")
"""Names of environment variables whose values are never repeated."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is the JSON text that the model wrote, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message. Every one needs a tool message with its id after it."""
    call_id: str = ""
    """Of a tool's message: the call it answers."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON Schema of the arguments."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """More of the tool call at `index`; `id` and `name` are "" in all but its first piece."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the call used, estimated by litellm's tokenizer if the provider does not say."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """US dollars by litellm's price data; None when the model has no known price."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the model stopped: `stop`, `tool_calls`, `length` (its output limit), ..."""

    reason: str


@dataclass(frozen=True, slots=True)
class Switched:
    """Another model is asked from here on: what came of this reply so far is void.

    Only a chain of fallbacks sends it.
    """

    fallback: Fallback
    model: str
    """The one that is asked now."""
    notice: str
    """Both, for the user."""


Piece = TextPiece | CallPiece | Usage | Stop | Waiting | Switched


class LLM(Protocol):
    @property
    def model(self) -> str:
        """The one that is asked now; in a chain of fallbacks it changes."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        timeout_s: float | None = None,
    ) -> Generator[Piece]:
        """One model call. `tool_choice` names the tool that must be called; None leaves it open.

        `timeout_s` bounds the wait for the next piece. While the model is silent, Waiting comes
        several times a second. Closing the generator closes the connection, so that the provider
        stops generating. Raises LLMError.
        """
        ...

    def give_up(self, reason: str, *, plainly: bool = False) -> Switched:
        """The model's replies cannot be used: ask the next one from now on.

        `reason` says in words for the user what was wrong. `plainly`: the same model is worth
        another try without tool calls. Raises LLMError with every model's fault when none is left.
        """
        ...


@functools.cache
def load_litellm() -> ModuleType:
    """Import litellm (4 s), quiet and without a network access; cheap from the second time on."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else prices are fetched at import
    import litellm

    # About litellm's own types, whenever pydantic first looks at them; nobody here can act on it.
    warnings.filterwarnings("ignore", "Items? .* on TypedDict class", UserWarning)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what it logs, it raises too
    litellm.suppress_debug_info = True  # else it prints advertising on every error
    litellm.disable_streaming_logging = True  # else a thread pool job for every piece
    litellm.disable_hf_tokenizer_download = True  # counting tokens must not use the network
    litellm.modify_params = True  # else Anthropic refuses calls whose thoughts are not sent back
    litellm.disable_aiohttp_transport = True  # its errors do not say what httpx's say
    return litellm


def count_tokens(model: str, text: str) -> int:
    """By litellm's counter: the model's own tokenizer where it has it, else a common one."""
    return int(load_litellm().token_counter(model=model, text=text))


class LiteLLM:
    """Any model that litellm reaches."""

    def __init__(
        self,
        settings: Settings,
        retry_waits_s: Sequence[float] = RETRY_WAITS_S,
        temperature: float | None = None,
    ) -> None:
        """Imports nothing yet. Raises LLMError when no model is set.

        `temperature` goes before that of the settings. Where litellm knows that a model takes
        none, it drops it.
        """
        if settings.llm_model is None:
            raise LLMError("No language model is set. Set LLM_MODEL or connect one in Settings.")
        provider, _, name = settings.llm_model.partition("/")
        # `ollama/` is Ollama's older endpoint, which has no tool calls.
        self.model = f"ollama_chat/{name}" if provider == "ollama" else settings.llm_model
        if temperature is not None:
            settings = replace(settings, llm_temperature=temperature)
        self._settings = settings
        self._retry_waits_s = tuple(retry_waits_s)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        timeout_s: float | None = None,
    ) -> Generator[Piece]:
        """See `LLM.stream`. Rate limits and server errors are tried again, but only before
        the first piece: after it, a second try would repeat what was shown."""
        litellm = load_litellm()
        timeout_s = timeout_s or float(self._settings.llm_seconds)
        request = build(
            litellm, self.model, self._settings, messages, tools, tool_choice, timeout_s
        )
        started = False
        try:
            with closing(llm_stream.read(self._chunks(litellm, request, timeout_s))) as chunks:
                for chunk in chunks:
                    if chunk is None or isinstance(chunk, Waiting):
                        yield chunk or Waiting()
                        continue
                    started = True
                    yield from _pieces(litellm, self.model, chunk)
        except Exception as error:
            # litellm lets its own, openai's, httpx's and plain exceptions through.
            message = explain(
                error,
                model=self.model,
                base_url=self._settings.llm_base_url,
                timeout_s=timeout_s,
                started=started,
                secrets=self._secrets(),
            )
            if too_long(error):
                raise PromptTooLong(message) from error
            if tools and refuses_tools(error):
                raise ToolsRefused(message) from error
            raise LLMError(message) from error

    def give_up(self, reason: str, *, plainly: bool = False) -> Switched:
        """See `LLM.give_up`; there is no other model here."""
        raise LLMError(f"The model {self.model} cannot be used: {reason}")

    async def _chunks(
        self, litellm: ModuleType, request: dict[str, Any], timeout_s: float
    ) -> AsyncGenerator[Any]:
        """What litellm sends, after as many tries as it takes to get the first piece of it.

        litellm's own retries would also repeat a wrong key, and without a pause.
        """
        deadline = time.monotonic() + timeout_s
        waits_s = list(self._retry_waits_s)
        while True:
            started = False
            try:
                async with aclosing(await litellm.acompletion(**request)) as chunks:
                    async for chunk in chunks:
                        started = True
                        yield chunk
                return
            except Exception as error:
                if started:
                    raise
                if (fewer := less(request, error, self._settings)) is not None:
                    request = fewer
                    continue
                if not waits_s or not may_retry(error):
                    raise
                wait_s = max(waits_s.pop(0), retry_after_s(error))
                if wait_s > LONGEST_WAIT_S or time.monotonic() + wait_s > deadline:
                    raise
            yield Waiting(f"{self.model} is busy and is asked again in {max(1, round(wait_s))} s")
            await asyncio.sleep(wait_s)

    def _secrets(self) -> list[str]:
        """What must not appear in a message: providers repeat the key they refuse."""
        found = [value for name, value in os.environ.items() if _SECRET.search(name)]
        key = self._settings.llm_api_key or ""
        return [secret for secret in (key, *found) if len(secret) >= 6]


# litellm's own classes cannot be named in a signature here: importing them takes 4 s.


def _pieces(litellm: ModuleType, model: str, chunk: Any) -> Iterator[Piece]:
    for choice in chunk.choices[:1]:
        if choice.delta.content:
            yield TextPiece(choice.delta.content)
        for call in choice.delta.tool_calls or ():
            function = call.function
            yield CallPiece(
                call.index, call.id or "", function.name or "", function.arguments or ""
            )
        if choice.finish_reason:
            yield Stop(choice.finish_reason)
    usage = getattr(chunk, "usage", None)
    if usage is not None:
        yield Usage(
            usage.prompt_tokens or 0,
            usage.completion_tokens or 0,
            _cost(litellm, model, usage),
        )


def _cost(litellm: ModuleType, model: str, usage: Any) -> float | None:
    try:
        return float(sum(litellm.cost_per_token(model=model, usage_object=usage)))
    except Exception:  # an unknown model raises a bare Exception; it has no price, that is all
        return None
