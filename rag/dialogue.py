"""What was said between us and the model, as messages made of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic_core import from_json

from rag.llm import Message, ToolCall
from rag.pack import Block, CountTokens, Part, pack


class Dialogue:
    def __init__(self, rules: str, opening: Sequence[Block]) -> None:
        """`rules` is the system's message, `opening` the user's first."""
        self._parts = [
            Part("system", [Block(rules)]),
            Part("user", list(opening)),
        ]
        self._kept: list[Part] = []
        self.keep()

    def messages(self, room: int, count: CountTokens) -> list[Message]:
        """All of it, with sources of at most `room` tokens."""
        return pack(self._parts, room, count)

    def keep(self) -> None:
        """So far it is sound: this is where `rewind` goes back to."""
        self._kept = [replace(part, blocks=list(part.blocks)) for part in self._parts]

    def rewind(self) -> None:
        """Forget what a model that cannot be used said since `keep`, and what it was told."""
        self._parts = self._kept
        self.keep()

    def reply(self, text: str, calls: Sequence[ToolCall] = ()) -> None:
        """The model's; one with neither text nor calls is left out: providers refuse it."""
        if text.strip() or calls:
            blocks = [Block(text)] if text.strip() else []
            self._parts.append(Part("assistant", blocks, tuple(map(_sound, calls))))

    def result(self, call: ToolCall, blocks: Sequence[Block]) -> None:
        """Every call of a reply needs one."""
        self._parts.append(Part("tool", list(blocks), call_id=call.id))

    def tell(self, text: str) -> None:
        """Add to the last message if it is ours: many models insist that roles alternate."""
        last = self._parts[-1]
        if last.role == "assistant":
            self._parts.append(Part("user", [Block(text)]))
        elif last.blocks[-1].text != text:
            last.blocks.append(Block(text))


def _sound(call: ToolCall) -> ToolCall:
    """Several providers parse the arguments of earlier calls: broken JSON must not go back."""
    try:
        fine = isinstance(from_json(call.arguments), dict)
    except ValueError:
        fine = False
    return call if fine else replace(call, arguments="{}")
