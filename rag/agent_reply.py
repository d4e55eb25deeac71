"""One model call's reply while it arrives, and what an answer's calls have used so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag.agent_tools import FINISH
from rag.llm import CallPiece, ToolCall, Usage

_OPENER = re.compile(
    r"(?:(?:okay|sure|certainly)\W+)?(?:let me|i'll|i will|i'm going to|je vais|ich werde|voy a)\b",
    re.IGNORECASE,
)


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

    @property
    def summary(self) -> str:
        """In the trace: the tools that were called, or that there were none."""
        if self.calls:
            return ", ".join(call.name for call in self.calls)
        return "text" if self.text.strip() else "nothing"

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

    def fault(self) -> tuple[str, str]:
        """What is wrong with a reply that calls no tool: in the user's words, in the model's."""
        if self.stop == "length":
            return (
                "its reply was cut off at its length limit.",
                "Your reply was cut off at its length limit. Call a tool at once, without any text "
                "before it; keep finish short.",
            )
        if not self.text.strip():
            return (
                "its reply was empty.",
                "Your reply was empty. Call search, or call finish with the claims and their "
                "quotes, or with a refusal.",
            )
        if _OPENER.match(self.text.strip()) and len(self.text) < 400:
            return (
                "it announced a step and did not take it.",
                "You said what you would do and did not do it. Call the tool now.",
            )
        return (
            "it answered without the tools it was given, so nothing it says can be checked.",
            "You replied in plain text, which nobody sees. Call finish with the claims and their "
            "quotes, or with a refusal.",
        )


@dataclass(slots=True)
class Spent:
    """What the model calls so far have used; `rounds` are those of the loop itself."""

    calls: int = 0
    rounds: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    most_tokens: int = 0
    most_seconds: float = 0.0
    most_cost: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: Usage, seconds: float, *, round_: bool) -> None:
        self.calls += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
        if round_:
            self.rounds += 1
            tokens = usage.prompt_tokens + usage.completion_tokens
            self.most_tokens = max(self.most_tokens, tokens)
            self.most_seconds = max(self.most_seconds, seconds)
            self.most_cost = max(self.most_cost, usage.cost or 0.0)
