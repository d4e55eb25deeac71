"""What the screens say about an answer: its markers, its sources, its trace."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from pages.ui.markup import tree
from pages.ui.trace import as_json, quote_line, step_line
from pages.ui.words import lines, streaming, web_label
from rag.types import Citation, QuoteCheck, Receipt, Step, StepKind, WebCitation

CITATION = Citation("d", "report.pdf", 3, "iii", "page", 0, 5, "quote")
PAGE = WebCitation("https://example.com/a/b?c=d", "A page about it", "quote")


def text(nodes):
    """The words, with markers as <1> or <web 1> and badges as <what they say>."""
    return "".join(map(_text, nodes))


def _text(node):
    if isinstance(node, str):
        return node
    if "children" in node:
        return text(node["children"])
    if "badge" in node:
        return f"<{node['badge']}>"
    return f"<{'web ' if node['kind'] == 'web' else ''}{node['number']}>"


# Markers


def test_a_source_from_the_web_has_a_marker_of_its_own():
    (paragraph,) = tree("Fell [1], rose [W1], stayed [W2].", (CITATION,), (PAGE,))
    assert text([paragraph]) == "Fell <1>, rose <web 1>, stayed [W2]."
    marker = paragraph["children"][3]
    assert (marker["kind"], marker["label"]) == ("web", "From the web: A page about it")


def test_a_sentence_without_a_source_is_marked():
    nodes = tree("It fell [1]. It rose (unverified).", (CITATION,))
    assert text(nodes) == "It fell <1>. It rose <no source>."


def test_streamed_text_shows_markers_as_they_come():
    assert streaming("Fell [1], rose [W2]. So (unverified). [x]") == (
        r"Fell :gray-badge[1], rose :gray-badge[web 2]. So :orange-badge[no source]. \[x\]"
    )


@pytest.mark.parametrize(
    "written",
    ["![i](http://e/x)", "[a](http://e)", "http://e/x", "www.e.com", "<img src=x>", "$x$"],
)
def test_streamed_text_is_no_link_no_image_and_no_html(written):
    shown = streaming(written)
    assert shown.replace("\\", "").replace("\u2060", "") == written
    assert not any(f" {sign}" in f" {shown}" for sign in ("![", "[", "<", "$"))
    assert "://" not in shown
    assert "www." not in shown


# Words


def test_a_web_source_is_labelled_by_its_site():
    assert web_label(1, PAGE) == "[web 1] example.com · A page about it"
    assert web_label(2, WebCitation("https://example.com/", "", "q")) == "[web 2] example.com"


def test_a_message_of_several_lines_keeps_them():
    assert lines("None *answered*\n- a\n\n- b") == "None \\*answered\\*\n\n\\- a\n\n\\- b"


# The trace


def test_a_step_says_what_was_done_with_what_and_how_long_it_took():
    line = step_line(Step("search", '{"query": "solar [x]"}', "8 passages, weak", seconds=0.052))
    assert line.startswith("- :material/search: **Searched**: 8 passages, weak · 52 ms")
    assert line.endswith(r":gray[query\: solar \[x\]]")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"query": "x", "documents": ["a", "b"]}', "query: x · documents: a, b"),
        ('{"query": "x", "documents": []}', "query: x"),
        ('{"query": "x', '{"query": "x'),
        ("[1]", "[1]"),
    ],
)
def test_arguments_are_shown_in_words_and_broken_ones_as_they_are(arguments, shown):
    line = step_line(Step("search", arguments)).replace("\\", "")
    assert line.endswith(f":gray[{shown}]")


def test_no_arguments_are_not_shown():
    assert "gray" not in step_line(Step("list_documents", "{}"))


def test_a_model_call_names_the_model_its_tokens_and_its_price():
    step = Step(
        "model",
        result="2 calls",
        seconds=1.2,
        model="openai/x",
        prompt_tokens=1_200,
        completion_tokens=1,
        cost=0.002,
    )
    assert step_line(step) == (
        "- :material/smart_toy: **Asked openai/x**: 2 calls · 1,200 tokens read, 1 token written"
        r" · \$0.0020 · 1.2 s"
    )


def test_a_fault_and_a_repetition_stand_in_the_trace():
    line = step_line(Step("unknown", error="There is no tool 'x'.", repeated=True))
    assert r":red[There is no tool 'x'\.]" in line
    assert "answered from memory" in line


@pytest.mark.parametrize(
    ("outcome", "mark"), [("verified", "check"), ("repaired", "repaired"), ("rejected", "dropped")]
)
def test_a_quote_shows_what_became_of_it_and_why(outcome, mark):
    line = quote_line(QuoteCheck("the words", "S1", outcome, "not on the page"))
    assert mark in line
    assert "S1 “the words”" in line
    assert ":gray[not on the page]" in line


@pytest.mark.parametrize("kind", get_args(StepKind))
def test_every_kind_of_step_has_words(kind):
    assert step_line(Step(kind)).startswith("- :material/")


def test_the_trace_as_json_is_the_whole_receipt():
    receipt = Receipt("agent", "openai/x", steps=(Step("search", "{}"),))
    assert json.loads(as_json(receipt))["steps"][0]["kind"] == "search"
