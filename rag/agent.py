"""Answers with a language model that may search again, read pages, and must quote: events out.

One answer is a conversation: the question with the passages of a first search, then model calls
until `finish`, each followed by the results of the tools it asked for. Only what `finish` says is
shown, and only quotes found on the page of a source that the model was shown become sources.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from string import Template

from pydantic_core import from_json

from rag.agent_reply import Reply, Spent
from rag.agent_tools import (
    FINISH,
    TOOLS,
    BadCall,
    FinishArguments,
    SearchArguments,
    parse_arguments,
)
from rag.draft import Draft, draft, without_markers
from rag.errors import LLMError
from rag.llm import LLM, CallPiece, Message, Stop, TextPiece, ToolCall, Usage
from rag.retrieve import Searcher
from rag.settings import Settings
from rag.toolbox import Library, Toolbox
from rag.types import Answer, Event, Finished, Receipt, TextDelta, Turn

PROMPT = Path(__file__).parent / "prompts" / "agent.md"

HISTORY_TURNS = 6
HISTORY_CHARACTERS = 2_000
"""Of each earlier answer: enough to know what a follow-up refers to."""

NEAREST = 3
"""Passages shown with a refusal."""

CHARACTERS_PER_TOKEN = 4
"""A cautious estimate for the part of a reply whose tokens are not counted yet."""

LAST_CALL = "This is your last call: call finish now. Answer from the sources above, or refuse."
NOTHING_VERIFIED = (
    "None of these claims has a quote that was found in its source. Call finish again with quotes "
    "copied character by character, search again, or refuse. The reasons:"
)
CALL_FINISH = (
    "You replied in plain text, which nobody sees. Call finish with the claims and their quotes, "
    "or with a refusal."
)


class Agent:
    def __init__(self, llm: LLM, searcher: Searcher, library: Library, settings: Settings) -> None:
        self._llm = llm
        self._searcher = searcher
        self._library = library
        self._settings = settings

    def answer(
        self, question: str, documents: Sequence[str] = (), history: Sequence[Turn] = ()
    ) -> Iterator[Event]:
        """Events in the order in which things happen; the last is Finished.

        `documents` are ids, empty for the whole library. Streamed text is withdrawn when its
        quotes turn out to be made up: Finished is authoritative. Raises LLMError when the
        provider fails or the model cannot be brought to call `finish`.
        """
        toolbox = Toolbox(self._searcher, self._library, documents)
        return _Conversation(self._llm, toolbox, self._settings).events(question, history)


class _Conversation:
    """The state of one answer."""

    def __init__(self, llm: LLM, toolbox: Toolbox, settings: Settings) -> None:
        self._llm = llm
        self._toolbox = toolbox
        self._settings = settings
        self._started = time.monotonic()
        self._messages: list[Message] = []
        self._spent = Spent()
        self._streamed = ""
        self._reminded = False
        self._mended = False

    def events(self, question: str, history: Sequence[Turn]) -> Generator[Event]:
        passages = yield from self._toolbox.run(SearchArguments(question))
        self._messages = [
            Message("system", _prompt(self._toolbox.boundary)),
            *_earlier(history),
            Message("user", f"{passages}\n\nQuestion: {question}"),
        ]
        while True:
            bound = self._bound_ahead()
            if bound:
                self._tell(LAST_CALL)
            reply = yield from self._ask(last=bool(bound))
            if reply.overrun:
                yield self._cut_off(reply)
                return
            if not reply.calls:
                self._remind(reply, last=bool(bound))
                continue
            fault = ""
            if reply.finish is not None:
                outcome = self._read_finish(reply.finish, reply.stop, last=bool(bound))
                if isinstance(outcome, Draft):
                    yield from self._stream(outcome.text)
                    yield self._finished(outcome, bound)
                    return
                fault = outcome
            if bound:
                yield self._finished(Draft(), bound)
                return
            yield from self._run_calls(reply, fault)

    def _bound_ahead(self) -> str:
        """The bound that leaves room for one more call only, or "".

        The next calls are taken to be like the largest and the longest so far.
        """
        spent, settings = self._spent, self._settings
        if spent.calls + 1 >= settings.llm_rounds:
            return "rounds"
        if spent.tokens + 2 * spent.most_tokens > settings.llm_tokens:
            return "tokens"
        if self._elapsed + 2 * spent.most_seconds > settings.llm_seconds:
            return "seconds"
        return ""

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _ask(self, *, last: bool) -> Generator[Event, None, Reply]:
        """One model call. The last offers `finish` alone, since not every provider lets a tool
        be forced (litellm drops the choice for Ollama)."""
        reply = Reply()
        usage: Usage | None = None
        started = time.monotonic()
        stream = self._llm.stream(
            self._messages,
            (FINISH,) if last else TOOLS,
            FINISH.name if last else None,
            max(1.0, self._settings.llm_seconds - self._elapsed),
        )
        with closing(stream) as pieces:
            for piece in pieces:
                match piece:
                    case TextPiece(text):
                        reply.text += text
                    case CallPiece():
                        reply.add(piece)
                        if reply.finish is not None:
                            growing = draft(
                                reply.finish.arguments, self._toolbox.verify, growing=True
                            )
                            yield from self._stream(growing.text)
                    case Stop(reason):
                        reply.stop = reason
                    case Usage():
                        usage = piece
                if not reply.stop and (overrun := self._overrun(reply)):
                    reply.overrun = overrun
                    break
        if usage is None:  # cut off before the provider counted
            sent = sum(len(message.text) for message in self._messages)
            usage = Usage(
                sent // CHARACTERS_PER_TOKEN, reply.characters // CHARACTERS_PER_TOKEN, None
            )
        self._spent.add(usage, time.monotonic() - started)
        return reply

    def _overrun(self, reply: Reply) -> str:
        if self._elapsed > self._settings.llm_seconds:
            return "seconds"
        tokens = self._spent.tokens + reply.characters // CHARACTERS_PER_TOKEN
        return "tokens" if tokens > self._settings.llm_tokens else ""

    def _stream(self, text: str) -> Generator[Event]:
        """What `text` adds to what was streamed; nothing if it is another text altogether."""
        if text.startswith(self._streamed) and text != self._streamed:
            yield TextDelta(text[len(self._streamed) :])
            self._streamed = text

    def _tell(self, text: str) -> None:
        """Add to the last message if it is ours: many models insist that roles alternate."""
        message = self._messages[-1]
        if message.role == "assistant":
            self._messages.append(Message("user", text))
        else:
            self._messages[-1] = replace(message, text=f"{message.text}\n\n{text}")

    def _remind(self, reply: Reply, *, last: bool) -> None:
        if self._reminded or last:
            raise LLMError(
                f"The model {self._llm.model} answered without the tools it was given. "
                "Choose a model that supports tool calling in LLM_MODEL."
            )
        self._reminded = True
        if reply.text.strip():
            self._messages.append(Message("assistant", reply.text))
        self._tell(CALL_FINISH)

    def _read_finish(self, call: ToolCall, stop: str, *, last: bool) -> Draft | str:
        """The answer, or what the model has to mend."""
        try:
            arguments = parse_arguments(call.name, call.arguments)
        except BadCall as error:
            if stop == "length":
                return "Your reply was cut off at its length limit. Call finish again, shorter."
            return str(error)
        assert isinstance(arguments, FinishArguments)
        if not arguments.claims and not arguments.refusal:
            return "finish needs claims or a refusal."
        before = len(self._toolbox.rejections)
        answer = draft(call.arguments, self._toolbox.verify)
        if arguments.claims and not answer.citations and not (last or self._mended):
            self._mended = True
            reasons = [
                f"- {rejection.quote!r}: {rejection.reason}"
                for rejection in self._toolbox.rejections[before:]
            ]
            return "\n".join([NOTHING_VERIFIED, *reasons])
        return answer

    def _run_calls(self, reply: Reply, fault: str) -> Generator[Event]:
        """Run the tools of a reply; `fault` answers its `finish`."""
        calls = [
            replace(call, id=call.id or f"call_{self._spent.calls}_{index}")
            for index, call in enumerate(reply.calls)
        ]
        self._messages.append(Message("assistant", reply.text, tuple(map(_sound, calls))))
        for call in calls:
            result = fault
            if call.name != FINISH.name:
                try:
                    arguments = parse_arguments(call.name, call.arguments)
                    assert not isinstance(arguments, FinishArguments)
                    result = yield from self._toolbox.run(arguments)
                except BadCall as error:
                    result = str(error)
            self._messages.append(Message("tool", result, call_id=call.id))

    def _cut_off(self, reply: Reply) -> Finished:
        """What was complete of an answer when a bound cut it off."""
        whole = Draft()
        if reply.finish is not None:
            whole = draft(reply.finish.arguments, self._toolbox.verify, whole=True)
        return self._finished(whole, reply.overrun)

    def _finished(self, answer: Draft, bound: str) -> Finished:
        """A draft without a source is a refusal, whatever it claims."""
        refused = not answer.citations
        text = answer.text
        if refused:
            text = answer.refusal or _excuse(bound, self._settings)
        spent = self._spent
        receipt = Receipt(
            engine="agent",
            model=self._llm.model,
            searches=tuple(self._toolbox.searches),
            seconds={
                "search": self._toolbox.seconds,
                "model": spent.seconds,
                "total": self._elapsed,
            },
            quotes_verified=len(answer.citations),
            rejections=self._toolbox.rejections,
            llm_calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cost=spent.cost,
            stopped_by=bound,
        )
        nearest = self._toolbox.nearest(NEAREST) if refused else ()
        return Finished(Answer(text, answer.citations, receipt, refused, nearest))


def _excuse(bound: str, settings: Settings) -> str:
    """The refusal when the model gave none of its own."""
    limits = {
        "rounds": f"{settings.llm_rounds} model calls (LLM_ROUNDS)",
        "tokens": f"{settings.llm_tokens:,} tokens (LLM_TOKENS)",
        "seconds": f"{settings.llm_seconds} seconds (LLM_SECONDS)",
    }
    if bound:
        return f"No answer that your documents support was found within {limits[bound]}."
    return "The model's answer is not shown: none of its quotes was found in your documents."


def _prompt(boundary: str) -> str:
    return Template(PROMPT.read_text(encoding="utf-8")).substitute(boundary=boundary)


def _earlier(history: Sequence[Turn]) -> Iterator[Message]:
    for turn in history[-HISTORY_TURNS:]:
        yield Message("user", turn.question)
        # Its markers number sources that this conversation does not have.
        yield Message("assistant", without_markers(turn.answer)[:HISTORY_CHARACTERS] or "-")


def _sound(call: ToolCall) -> ToolCall:
    """Several providers parse the arguments of earlier calls: broken JSON must not go back."""
    try:
        sound = isinstance(from_json(call.arguments), dict)
    except ValueError:
        sound = False
    return call if sound else replace(call, arguments="{}")
