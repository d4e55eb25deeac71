"""A model without tool calls, spoken to as if it had them: tools as text in, JSON replies as calls.

The conversation stays the same; only its wire form changes. What the model writes as JSON streams
on as a call, so that an answer can still be shown while it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from pydantic_core import from_json

from rag import prompt
from rag.llm import LLM, CallPiece, Message, Piece, Stop, Switched, TextPiece, Tool

_THINKING = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_CALL = re.compile(
    r'\{\s*"(?:tool|name)"\s*:\s*"(\w+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)'
)
_NAME = ("tool", "name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")


class Plain:
    """Wraps a model; see `LLM`."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def model(self) -> str:
        return self._llm.model

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        timeout_s: float | None = None,
    ) -> Generator[Piece]:
        """See `LLM.stream`. A reply that holds no call comes as text, at its end."""
        if not tools:
            yield from self._llm.stream(messages, timeout_s=timeout_s)
            return
        offered = [tool for tool in tools if tool_choice in (None, tool.name)]
        reply = _Reply([tool.name for tool in offered])
        sent = self._llm.stream(_without_tools(messages, offered), timeout_s=timeout_s)
        with closing(sent) as pieces:
            for piece in pieces:
                if isinstance(piece, TextPiece):
                    yield from reply.add(piece.text)
                    continue
                if isinstance(piece, Stop):
                    yield from reply.end()
                if not isinstance(piece, CallPiece):
                    yield piece
        yield from reply.end()

    def give_up(self, reason: str, *, plainly: bool = False) -> Switched:
        return self._llm.give_up(reason)


class _Reply:
    """A reply while it arrives. As soon as it says which tool it calls, the arguments go on."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._text = ""
        self._called = False
        self._ended = False
        self._at = 0
        """Up to where the arguments were looked at."""
        self._depth = 0
        self._quoted = self._escaped = False

    def add(self, text: str) -> Iterator[Piece]:
        self._text += text
        if not self._called:
            thinking = _THINKING.match(self._text)
            call = _CALL.search(self._text, thinking.end() if thinking else 0)
            if call is None:
                return
            self._called = True
            self._at = call.end()
            yield CallPiece(0, "", call[1], "")
        if arguments := self._arguments():
            yield CallPiece(0, "", "", arguments)

    def _arguments(self) -> str:
        """What is new of them, up to the brace that closes them."""
        start = self._at
        for character in self._text[start:]:
            if self._ended:
                break
            self._at += 1
            if self._quoted:
                self._quoted = self._escaped or character != '"'
                self._escaped = character == "\\" and not self._escaped
            elif character == '"':
                self._quoted = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                self._ended = self._depth == 0
        return self._text[start : self._at]

    def end(self) -> Iterator[Piece]:
        """What a whole reply says in some other form than the one asked for."""
        if self._called or not self._text:
            return
        self._called = True
        text = _THINKING.sub("", self._text, count=1)
        calls = _calls(text, self._names)
        for index, (name, arguments) in enumerate(calls):
            yield CallPiece(index, "", name, arguments)
        if not calls and text.strip():
            yield TextPiece(text)


def _calls(text: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """(name, arguments) of the calls in a reply that is JSON between other words, or in a list."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    end = max(text.rfind("}"), text.rfind("]")) + 1
    try:
        value = from_json(text[start:end]) if 0 <= start < end else None
    except ValueError:
        return []
    values = value if isinstance(value, list) else [value]
    return [call for one in values if isinstance(one, dict) and (call := _call(one, names))]


def _call(value: Mapping[str, object], names: Sequence[str]) -> tuple[str, str] | None:
    name = next((value[key] for key in _NAME if isinstance(value.get(key), str)), None)
    if isinstance(name, str):
        arguments = next((value[key] for key in _ARGUMENTS if key in value), {})
        return name, arguments if isinstance(arguments, str) else _json(arguments)
    if len(value) == 1 and (only := next(iter(value))) in names:
        return only, _json(value[only])
    if "finish" in names and {"claims", "refusal"} & set(value):
        return "finish", _json(value)
    return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _without_tools(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """The conversation as text alone, in which user and model take turns."""
    listed = "\n".join(
        f"- {tool.name}: {tool.description} Arguments, as JSON Schema: {_json(tool.parameters)}"
        for tool in tools
    )
    rules = prompt.render("plain", tools=listed)
    plain = [Message("system", rules)]
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "system":
            plain[0] = replace(plain[0], text=f"{message.text}\n\n{rules}")
            continue
        text = message.text
        if message.calls:
            names |= {call.id: call.name for call in message.calls}
            said = [f'{{"tool": "{c.name}", "arguments": {c.arguments}}}' for c in message.calls]
            text = "\n".join(filter(None, (text, *said)))
        if message.role == "tool":
            text = f"Result of {names.get(message.call_id, 'the call')}:\n\n{text}"
        spoken = Message("assistant" if message.role == "assistant" else "user", text)
        if plain[-1].role == spoken.role:
            plain[-1] = replace(spoken, text=f"{plain[-1].text}\n\n{text}")
        else:
            plain.append(spoken)
    return plain
