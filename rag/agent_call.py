"""Asks the model for an answer's loop, keeps the accounts, and knows the bounds."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from rag.agent_reply import Reply, Spent
from rag.agent_tools import FINISH
from rag.errors import LLMError
from rag.events import Event, Notice, Waiting
from rag.llm import LLM, CallPiece, Message, Stop, Switched, TextPiece, Tool, Usage
from rag.settings import Settings
from rag.trace import Trace
from rag.types import Fallback, StepKind
from rag.writer import Writer

CHARACTERS_PER_TOKEN = 4
"""A cautious estimate for the part of a reply whose tokens are not counted yet."""

ASIDE_S = 20.0
"""Seconds for a call beside the loop, such as the rewrite of a question."""
ASIDE_CHARACTERS = 4_000


class Caller:
    def __init__(self, llm: LLM, settings: Settings, trace: Trace, writer: Writer) -> None:
        self.spent = Spent()
        self.fallbacks: list[Fallback] = []
        self.notices: list[str] = []
        """What the user was told: a model that failed, and who takes over."""
        self._llm = llm
        self._settings = settings
        self._trace = trace
        self._writer = writer

    @property
    def model(self) -> str:
        return self._llm.model

    @property
    def seconds_left(self) -> float:
        return max(1.0, self._settings.llm_seconds - self._trace.elapsed)

    def bound_ahead(self) -> str:
        """The bound that leaves room for one more call only, or "".

        The next calls are taken to be like the largest and the longest so far.
        """
        spent, settings = self.spent, self._settings
        if spent.rounds + 1 >= settings.llm_rounds:
            return "rounds"
        if spent.tokens + 2 * spent.most_tokens > settings.llm_tokens:
            return "tokens"
        if self._trace.elapsed + 2 * spent.most_seconds > settings.llm_seconds:
            return "seconds"
        if (
            settings.llm_cost is not None
            and spent.cost is not None
            and spent.cost + 2 * spent.most_cost > settings.llm_cost
        ):
            return "cost"
        return ""

    def ask(
        self, messages: Sequence[Message], tools: Sequence[Tool], *, last: bool
    ) -> Generator[Event, None, Reply]:
        """One call of the loop; the answer's text is shown while it arrives. Raises LLMError.

        The last offers `finish` alone, since not every provider lets a tool be forced (litellm
        drops the choice for Ollama).
        """
        offered = (FINISH,) if last else tools
        choice = FINISH.name if last else None
        return (yield from self._call("model", messages, offered, choice, self.seconds_left))

    def say(self, kind: StepKind, messages: Sequence[Message]) -> Generator[Event, None, str]:
        """The text of a short reply, beside the loop. Raises LLMError, also when it is too slow."""
        timeout_s = min(ASIDE_S, self.seconds_left)
        reply = yield from self._call(kind, messages, (), None, timeout_s)
        if reply.overrun:
            raise LLMError(f"The model {self.model} did not come to an end.")
        return reply.text

    def give_up(self, reason: str, *, plainly: bool) -> Generator[Event]:
        """Go on with the next model. Raises LLMError when there is none."""
        yield from self._switch(self._llm.give_up(reason, plainly=plainly))

    def _switch(self, switched: Switched) -> Generator[Event]:
        self.fallbacks.append(switched.fallback)
        self.notices.append(switched.notice)
        yield from self._writer.withdraw()
        yield Notice(switched.notice)

    def _call(
        self,
        kind: StepKind,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        choice: str | None,
        timeout_s: float,
    ) -> Generator[Event, None, Reply]:
        reply = Reply()
        usage: Usage | None = None
        step = self._trace.begin(kind, model=self.model)
        waited = 0.0
        until = self._trace.elapsed + timeout_s
        with closing(self._llm.stream(messages, tools, choice, timeout_s)) as pieces:
            while True:
                since = self._trace.elapsed
                try:
                    piece = next(pieces, None)
                except LLMError as error:
                    self._trace.end(step, error=str(error))
                    raise
                waited += self._trace.elapsed - since
                match piece:
                    case None:
                        break
                    case TextPiece(text):
                        reply.text += text
                    case CallPiece():
                        reply.add(piece)
                        if reply.finish is not None:
                            yield from self._writer.grow(reply.finish.arguments)
                    case Stop(reason):
                        reply.stop = reason
                    case Usage():
                        usage = piece
                    case Waiting():
                        yield piece
                    case Switched():
                        reply = Reply()
                        yield from self._switch(piece)
                if not reply.stop and (overrun := self._overrun(kind, reply, until)):
                    reply.overrun = overrun
                    break
        if usage is None:  # cut off before the provider counted
            sent = sum(len(message.text) for message in messages)
            usage = Usage(
                sent // CHARACTERS_PER_TOKEN, reply.characters // CHARACTERS_PER_TOKEN, None
            )
        self.spent.add(usage, waited, round_=kind == "model")
        self._trace.charge(
            step, self.model, usage.prompt_tokens, usage.completion_tokens, usage.cost
        )
        cut = f"cut off: the limit on {reply.overrun}" if reply.overrun else ""
        self._trace.end(step, reply.summary, error=cut, seconds=waited)
        return reply

    def _overrun(self, kind: StepKind, reply: Reply, until: float) -> str:
        if self._trace.elapsed > until:
            return "seconds"
        if kind != "model":
            return "tokens" if reply.characters > ASIDE_CHARACTERS else ""
        tokens = self.spent.tokens + reply.characters // CHARACTERS_PER_TOKEN
        return "tokens" if tokens > self._settings.llm_tokens else ""
