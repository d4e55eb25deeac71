"""One model call's reply while it arrives, and what an answer's calls have used so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag.agent_tools import FINISH
from rag.llm import CallPiece, ToolCall, Usage


@dataclass(slots=True)
class Reply:
    """A model's reply, while it arrives."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    stop: str = ""
    overrun: str = ""
    """The bound at which it was cut off, or ""."""
    places: dict[int, int] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        return len(self.text) + sum(len(call.arguments) for call in self.calls)

    @property
    def finish(self) -> ToolCall | None:
        return next((call for call in self.calls if call.name == FINISH.name), None)

    def add(self, piece: CallPiece) -> None:
        place = self.places.get(piece.index)
        # Some servers give every parallel call the index 0; only a new id tells them apart.
        if place is None or (piece.id and self.calls[place].id not in ("", piece.id)):
            place = self.places[piece.index] = len(self.calls)
            self.calls.append(ToolCall("", "", ""))
        call = self.calls[place]
        self.calls[place] = ToolCall(
            call.id or piece.id, call.name or piece.name, call.arguments + piece.arguments
        )


@dataclass(slots=True)
class Spent:
    """What the model calls so far have used."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    most_tokens: int = 0
    most_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: Usage, seconds: float) -> None:
        self.calls += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.most_tokens = max(self.most_tokens, usage.prompt_tokens + usage.completion_tokens)
        self.seconds += seconds
        self.most_seconds = max(self.most_seconds, seconds)
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
