"""What was done for an answer, step by step, as it can be read; all of it as JSON, too."""

from __future__ import annotations

import json

import streamlit as st
from pydantic import TypeAdapter

from pages.ui.words import many, plain, preview, seconds
from rag.types import QuoteCheck, Receipt, Step, StepKind

_RECEIPT = TypeAdapter(Receipt)

_SHOWN = 300
"""Characters shown of a tool's arguments, a quote or a fault; the JSON has all of it."""

_KINDS: dict[StepKind, tuple[str, str]] = {
    "rewrite": ("edit", "Understood the question"),
    "summary": ("history", "Remembered the chat"),
    "expand": ("alt_route", "Found other wordings"),
    "model": ("smart_toy", "Asked"),
    "search": ("search", "Searched"),
    "read_page": ("menu_book", "Read a page"),
    "list_documents": ("list", "Listed the documents"),
    "find_in_document": ("find_in_page", "Looked up exact words"),
    "web_search": ("public", "Searched the web"),
    "finish": ("check", "Wrote the answer"),
    "unknown": ("help", "Called a tool that does not exist"),
}

_OUTCOMES = {
    "verified": ":green[:material/check:]",
    "repaired": ":orange[:material/build:] repaired:",
    "rejected": ":red[:material/close:] dropped:",
}


def draw_trace(receipt: Receipt, key: str) -> None:
    if receipt.rewrite:
        st.markdown(f"**Understood as** “{plain(receipt.rewrite)}”")
    if receipt.steps:
        st.markdown("**Steps**\n\n" + "\n".join(map(step_line, receipt.steps)))
    if receipt.quotes:
        st.markdown("**Quotes**\n\n" + "\n".join(map(quote_line, receipt.quotes)))
    st.download_button(
        "Trace as JSON",
        as_json(receipt),
        file_name=f"footnote-trace-{key}.json",
        mime="application/json",
        icon=":material/download:",
        key=f"trace_{key}",
        type="tertiary",
        on_click="ignore",
    )


def as_json(receipt: Receipt) -> bytes:
    return _RECEIPT.dump_json(receipt, indent=2)


def step_line(step: Step) -> str:
    """One item of a list: when, what, how long; what it was asked and what went wrong below it."""
    icon, did = _KINDS[step.kind]
    if step.model:
        did = f"{did} {step.model}" if step.kind == "model" else f"{did}, with {step.model}"
    parts = [f"**{plain(did)}**" + (f": {plain(_cut(step.result))}" if step.result else "")]
    if step.repeated:
        parts.append("asked before, answered from memory")
    if step.prompt_tokens or step.completion_tokens:
        parts.append(
            f"{step.prompt_tokens:,} tokens read, {many(step.completion_tokens, 'token')} written"
        )
    if step.cost:
        parts.append(f"\\${step.cost:.4f}")
    parts.append(seconds(step.seconds))
    line = f"- :material/{icon}: {' · '.join(parts)}"
    if asked := _asked(step.arguments):
        line += f"  \n  :gray[{plain(_cut(asked))}]"
    if step.error:
        line += f"  \n  :red[{plain(_cut(step.error))}]"
    return line


def _asked(arguments: str) -> str:
    """A tool's arguments in words; as they were written if they are not what they should be."""
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    if not isinstance(given, dict):
        return arguments
    return " · ".join(f"{name}: {_value(value)}" for name, value in given.items() if value)


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def quote_line(check: QuoteCheck) -> str:
    line = f"- {_OUTCOMES[check.outcome]} {plain(check.source)} “{plain(_cut(check.quote))}”"
    return f"{line}  \n  :gray[{plain(_cut(check.reason))}]" if check.reason else line


def _cut(text: str) -> str:
    return preview(text, _SHOWN)
