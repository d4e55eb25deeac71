"""The loop of one answer: the question with what a first search found, then model calls until
`finish`, each followed by the results of the tools it asked for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from rag import agent_end, expand, followup, prompt, tongue
from rag.agent_call import Caller
from rag.agent_reply import Reply
from rag.agent_tools import FINISH, BadCall, FinishArguments, Lookup, parse_arguments, tools
from rag.dialogue import Dialogue
from rag.draft import Draft
from rag.errors import LLMError, PromptTooLong
from rag.events import Event, Finished, Notice, Rewritten
from rag.finisher import Finisher
from rag.llm import LLM, ToolCall
from rag.lookups import Lookups
from rag.pack import Block, CountTokens
from rag.reader import standalone
from rag.settings import Settings
from rag.toolbox import Call, Toolbox
from rag.trace import Trace
from rag.types import Receipt, Rejection, Turn
from rag.writer import Writer

NEAREST = 3
"""Passages shown with a refusal."""

LAST_CALL = "This is your last call: call finish now. Answer from the sources above, or refuse."
CUT_OFF = "Your reply was cut off at its length limit. Call finish again, shorter."


class Conversation:
    """The state of one answer."""

    def __init__(
        self, llm: LLM, lookups: Lookups, settings: Settings, question: str, count: CountTokens
    ) -> None:
        self._lookups = lookups
        self._settings = settings
        self._question = question
        self._count = count
        self._tools = tools(web=lookups.web_allowed)
        self._trace = Trace()
        self._toolbox = Toolbox(lookups, self._trace)
        self._finisher = Finisher(question, lookups.sources, settings)
        writer = Writer(lookups.sources.verify, settings.llm_unsupported)
        self._writer = writer
        self._caller = Caller(llm, settings, self._trace, writer)
        self._room = settings.llm_context
        self._struck = False
        """The last reply could not be used."""
        self._rewrite = ""
        self._notices: list[str] = []

    def events(self, history: Sequence[Turn]) -> Generator[Event]:
        query = yield from self._understood(history)
        wordings = yield from self._wordings(query)
        passages = yield from self._toolbox.first(wordings)
        dialogue = self._begun(history, passages)
        while True:
            bound = self._caller.bound_ahead()
            if bound:
                dialogue.tell(LAST_CALL)
            try:
                reply = yield from self._ask(dialogue, last=bool(bound))
                bound = reply.overrun or bound
                made = yield from self._taken(dialogue, reply, last=bool(bound))
            except LLMError as error:
                made = self._finisher.fallback
                if made is None:
                    raise
                yield from self._notice(f"Quotes that failed could not be repaired. {error}")
            if made is not None:
                yield from self._end(made, bound)
                return

    # Before the first call of the loop

    def _understood(self, history: Sequence[Turn]) -> Generator[Event, None, str]:
        """The question as it is searched for: rewritten when it leans on the chat."""
        question, sources = self._question, self._lookups.sources
        if followup.stands_alone(question, history):
            return question
        messages = followup.request(question, history, sources, self._count)
        try:
            reply = yield from self._caller.say("rewrite", messages)
            query, fault = followup.rewritten(reply, question), "Its reply was not a question."
        except LLMError as error:
            query, fault = "", str(error)
        if not query:
            query = standalone(question, history)
            yield from self._notice(
                "The model did not put the question in full, so the search goes by a simple rule: "
                f"a short question is joined to the one before it. {fault}"
            )
        if query != question:
            self._rewrite = query
            yield Rewritten(query)
        return query

    def _wordings(self, query: str) -> Generator[Event, None, list[str]]:
        """What the first search looks for: the question, and more if it is to be expanded."""
        mode = self._settings.llm_expand
        if mode == "off":
            return [query]
        messages = expand.request(mode, query, tongue.spoken_by(self._lookups.documents))
        try:
            reply = yield from self._caller.say("expand", messages)
        except LLMError as error:
            yield from self._notice(f"The question was searched without LLM_EXPAND. {error}")
            return [query]
        return [query, *expand.wordings(mode, reply)]

    def _begun(self, history: Sequence[Turn], passages: Sequence[Block]) -> Dialogue:
        sources = self._lookups.sources
        languages = tongue.spoken_by(self._lookups.documents)
        rules = prompt.render("agent", boundary=sources.boundary, languages=languages)
        if self._lookups.web_allowed:
            rules += "\n\n" + prompt.render("agent_web", boundary=sources.boundary)
        opening = [*passages, Block(f"Question: {self._question}")]
        if self._rewrite:
            opening.append(Block(f"In this chat it means: {self._rewrite}"))
        if history:
            step = self._trace.begin("summary")
            chat, said = followup.remembered(history, sources, self._count)
            self._trace.end(step, said)
            opening.insert(0, Block(chat))
        return Dialogue(rules, opening)

    # One call of the loop

    def _ask(self, dialogue: Dialogue, *, last: bool) -> Generator[Event, None, Reply]:
        """What is too long for the model is sent once more, with half of the sources."""
        while True:
            messages = dialogue.messages(self._room, self._count)
            try:
                return (yield from self._caller.ask(messages, self._tools, last=last))
            except PromptTooLong as error:
                if self._room < self._settings.llm_context:
                    yield from self._caller.give_up(str(error), plainly=False)
                    continue
                self._room //= 2
                yield from self._notice(f"{error} It is asked again with half of LLM_CONTEXT.")

    def _taken(
        self, dialogue: Dialogue, reply: Reply, *, last: bool
    ) -> Generator[Event, None, Draft | None]:
        """The answer, or None once the reply has been answered."""
        if reply.overrun:
            return self._finisher.cut_off(reply.finish.arguments if reply.finish else "")
        if not reply.calls:
            why, told = reply.fault()
            dialogue.reply(reply.text)
            dialogue.tell(told)
            yield from self._strike(dialogue, why, last=last, plainly=reply.stop != "length")
            return None
        calls = [
            replace(call, id=call.id or f"call_{self._caller.spent.calls}_{place}")
            for place, call in enumerate(reply.calls)
        ]
        parsed = [self._parsed(call, reply.stop) for call in calls]
        faults: dict[str, str] = {}
        for call, arguments in zip(calls, parsed, strict=True):
            if isinstance(arguments, FinishArguments):
                step = self._trace.begin("finish")
                made = self._finisher.judge(call.arguments, last=last)
                sent_back = made if isinstance(made, str) else ""
                self._trace.end(step, self._finisher.summary, error=sent_back)
                if isinstance(made, Draft):
                    return made
                faults[call.id] = made
        broken = [str(arguments) for arguments in parsed if isinstance(arguments, BadCall)]
        usable = len(broken) < len(calls)
        if last and usable:
            return self._finisher.fallback or Draft()
        yield from self._run(dialogue, reply.text, calls, parsed, faults)
        if usable:
            self._struck = False
            dialogue.keep()
        else:
            yield from self._strike(dialogue, f"its calls make no sense. {broken[0]}", last=last)
        return None

    def _parsed(self, call: ToolCall, stop: str) -> Lookup | FinishArguments | BadCall:
        try:
            return parse_arguments(call.name, call.arguments, self._tools)
        except BadCall as error:
            return BadCall(CUT_OFF) if call.name == FINISH.name and stop == "length" else error

    def _run(
        self,
        dialogue: Dialogue,
        text: str,
        calls: Sequence[ToolCall],
        parsed: Sequence[Lookup | FinishArguments | BadCall],
        faults: dict[str, str],
    ) -> Generator[Event]:
        """Answer every call of a reply; `faults` are the answers to those of `finish`."""
        lookups = [
            Call(call.name, call.arguments, asked)
            for call, asked in zip(calls, parsed, strict=True)
            if not isinstance(asked, FinishArguments)
        ]
        results = iter((yield from self._toolbox.run(lookups, self._caller.seconds_left)))
        dialogue.reply(text, calls)
        for call in calls:
            fault = faults.get(call.id)
            dialogue.result(call, next(results) if fault is None else [Block(fault)])

    def _strike(
        self, dialogue: Dialogue, why: str, *, last: bool, plainly: bool = True
    ) -> Generator[Event]:
        """A reply cannot be used: it is asked for once more, then of the next model."""
        if self._struck or last:
            yield from self._caller.give_up(why, plainly=plainly)
            dialogue.rewind()
            self._struck = False
        else:
            self._struck = True

    # The end

    def _notice(self, message: str) -> Generator[Event]:
        self._notices.append(message)
        yield Notice(message)

    def _end(self, made: Draft, bound: str) -> Generator[Event]:
        settings, spent = self._settings, self._caller.spent
        if settings.llm_cost is not None and spent.cost is None:
            yield from self._notice(
                f"LLM_COST could not be kept to: the price of {self._caller.model} is not known."
            )
        if made.grounded and made.unsupported and settings.llm_unsupported == "remove":
            plural = "" if made.unsupported == 1 else "s"
            yield from self._notice(
                f"Left out: {made.unsupported} sentence{plural} without a source."
            )
        if wanted := tongue.wrong(self._question, made.text):
            yield from self._notice(f"The question is in {tongue.name(wanted)}, the answer is not.")
        answer = agent_end.finished(
            made,
            self._question,
            settings,
            self._receipt(made, bound),
            self._toolbox.nearest(NEAREST),
        )
        yield from self._writer.settle(answer.text)
        yield Finished(answer)

    def _receipt(self, made: Draft, bound: str) -> Receipt:
        spent, checks = self._caller.spent, self._finisher.checks
        return Receipt(
            engine="agent",
            model=self._caller.model,
            searches=tuple(self._lookups.searches),
            seconds=self._trace.seconds(),
            quotes_verified=len(made.citations) + len(made.web),
            rejections=tuple(
                Rejection(check.quote, check.reason)
                for check in checks
                if check.outcome == "rejected"
            ),
            llm_calls=spent.calls,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cost=spent.cost,
            stopped_by=bound,
            notices=(*self._caller.notices, *self._toolbox.notices, *self._notices),
            rewrite=self._rewrite,
            quotes=checks,
            steps=self._trace.steps,
            fallbacks=tuple(self._caller.fallbacks),
            prompts=prompt.version(),
        )
