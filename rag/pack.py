"""What a model call carries: sources best first, up to a budget of tokens; long pages cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.llm import Message, ToolCall

GAP = "\n[…]\n"
"""Stands where a part of a page is left out."""

CountTokens = Callable[[str], int]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message: a source, which may be left out, or words of ours (source "")."""

    text: str
    source: str = ""
    """The source's id, such as "S1"."""
    rank: int = 0
    """Of a source: 0 is the best of what was found together."""
    name: str = ""
    """Of a source: what is said of it once it is left out."""


@dataclass(slots=True)
class Part:
    """A message whose text is made of blocks; the other fields are those of Message."""

    role: Role
    blocks: list[Block]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


def pack(parts: Sequence[Part], budget: int, count: CountTokens) -> list[Message]:
    """The messages, without the sources that do not fit in `budget` tokens; each says which.

    The least relevant go first, and of equals the oldest, but never the best of the last message
    that has any: it is what the model has just asked for.
    """
    sources = [
        (block.rank, place, block)
        for place, part in enumerate(parts)
        for block in part.blocks
        if block.source
    ]
    sizes = {block: count(block.text) for _, _, block in sources}
    over = sum(sizes.values()) - budget
    last = max((place for _, place, _ in sources), default=0)
    out: set[Block] = set()
    for rank, place, block in sorted(sources, key=lambda found: (-found[0], found[1])):
        if over <= 0:
            break
        if rank > 0 or place < last:
            out.add(block)
            over -= sizes[block]
    return [_message(part, out) for part in parts]


def _message(part: Part, out: set[Block]) -> Message:
    texts = []
    dropped = []
    for block in part.blocks:
        if block in out:
            dropped.append(block.name)
        else:
            texts.append(block.text)
    if dropped:
        texts.append(
            f"(Left out to save room: {'; '.join(dropped)}. read_page shows a page again.)"
        )
    return Message(part.role, "\n\n".join(texts), part.calls, part.call_id)


def around(
    text: str, spans: Iterable[tuple[int, int]], tokens: int, count: CountTokens
) -> tuple[str, bool]:
    """The text, or what stands around `spans` (offsets, best first) in at most about `tokens`
    tokens, and whether anything was left out. Without a span it is the beginning."""
    whole = count(text)
    if whole <= tokens:
        return text, False
    room = len(text) * tokens // whole
    wanted: list[tuple[int, int]] = []
    for start, end in spans:
        end = min(end, start + room)
        if (start, end) not in wanted and sum(b - a for a, b in wanted) + end - start <= room:
            wanted.append((start, end))
    if not wanted:
        return text[: _break(text, room)] + GAP, True
    margin = (room - sum(b - a for a, b in wanted)) // (2 * len(wanted))
    windows: list[list[int]] = []
    for start, end in sorted((max(0, a - margin), min(len(text), b + margin)) for a, b in wanted):
        if windows and start <= windows[-1][1]:
            windows[-1][1] = max(windows[-1][1], end)
        else:
            windows.append([start, end])
    cut = GAP.join(text[_begin(text, a) : _break(text, b)].strip() for a, b in windows)
    head = GAP.lstrip() if windows[0][0] > 0 else ""
    tail = GAP.rstrip() if windows[-1][1] < len(text) else ""
    return head + cut + tail, True


def _begin(text: str, at: int) -> int:
    """The first line, sentence or word that begins at or shortly after `at`."""
    if at == 0:
        return 0
    found = re.compile(r"(?<=\n)|(?<=[.!?]\s)|(?<=\s)").search(text, at, at + 200)
    return found.start() if found else at


def _break(text: str, at: int) -> int:
    """The last line or word that ends at or shortly before `at`."""
    if at >= len(text):
        return len(text)
    low = max(0, at - 200)
    cut = max(text.rfind("\n", low, at), text.rfind(" ", low, at))
    return cut if cut > low else at
