"""Every way in which a provider or a model fails -> who answers in the end, and what is told.

One server plays two models: `a`, which is asked first and fails as its row says, and `b`, its
fallback, which answers. A fault that a model mends has no notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from rag.evaluate.bench import finished
from rag.evaluate.index import Index
from rag.events import Finished, Notice
from rag.ingest import Upload
from rag.llm import LiteLLM
from tests.fakes import WordEmbedder
from tests.stub_llm import Reply, StubLLM, auto, calls, finish, plainly, without_tools

KEY = "test-key-5f2c"
TEXT = b"The warranty of the kettle lasts three years from the date of purchase.\n"
QUESTION = "How long does the warranty of the kettle last?"
QUOTE = "lasts three years from the date"
GOOD = finish([("Three years.", "S1", QUOTE)])
PLAIN = plainly(
    "finish", {"claims": [{"text": "Three.", "quotes": [{"source": "S1", "quote": QUOTE}]}]}
)


@dataclass(frozen=True)
class Row:
    replies: Sequence[object]
    """What `a` says, in turn."""
    model: str
    """Who answers: "openai/a", "openai/b", or "" for the reader."""
    told: Sequence[str] = ()
    """A part of each notice, in order."""


BAD_KEY = Reply(status=401, error=f"Incorrect API key provided: {KEY}")
FAULTS: Mapping[str, Row] = {
    "none": Row([GOOD], "openai/a"),
    "401": Row([BAD_KEY], "openai/b", ["refused the API key"]),
    "404": Row([Reply(status=404, error="No such model")], "openai/b", ["has no model"]),
    "429, then well": Row(
        [Reply(status=429, error="Busy", headers={"Retry-After": "0.1"}), GOOD], "openai/a"
    ),
    "429, to wait for an hour": Row(
        [Reply(status=429, error="Busy", headers={"Retry-After": "3600"})],
        "openai/b",
        ["limits the use"],
    ),
    "quota used up": Row(
        [Reply(status=429, error="insufficient_quota")], "openai/b", ["limits the use"]
    ),
    "500, then well": Row([Reply(status=500, error="Boom"), GOOD], "openai/a"),
    "500 to the end": Row([Reply(status=500, error="Boom")] * 2, "openai/b", ["failed (500)"]),
    "never an answer": Row([Reply(hang=True)], "openai/b", ["did not answer within"]),
    "stream breaks before the answer": Row(
        [replace(GOOD, break_after=2)], "openai/b", ["broke off"]
    ),
    "stream breaks within the answer": Row(
        [replace(GOOD, break_after=9)], "openai/b", ["broke off"]
    ),
    "context too short, then well": Row(
        [Reply(status=400, error="This model's maximum context length is 4096 tokens."), GOOD],
        "openai/a",
        ["too long for openai/a"],
    ),
    "context too short to the end": Row(
        [Reply(status=400, error="This model's maximum context length is 4096 tokens.")] * 2,
        "openai/b",
        ["too long for openai/a", "too long for openai/a"],
    ),
    "tools refused": Row([without_tools(GOOD), PLAIN], "openai/a", ["does not accept tool calls"]),
    "tools refused, and no JSON either": Row(
        [without_tools(GOOD), Reply(text="Three years."), Reply(text="Three years, I said.")],
        "openai/b",
        ["does not accept tool calls", "answered without the tools"],
    ),
    "tool choice refused": Row(
        [calls(("search", {"query": "kettle"}))] * 4
        + [Reply(status=400, error="tool_choice is not supported"), GOOD],
        "openai/a",
    ),
    "empty, then well": Row([Reply(), GOOD], "openai/a"),
    "empty twice, then plain JSON": Row([Reply(), Reply(), PLAIN], "openai/a", ["empty"]),
    "empty to the end": Row([Reply()] * 4, "openai/b", ["empty", "empty"]),
    "only announced, then well": Row([Reply(text="Let me search for that."), GOOD], "openai/a"),
    "only announced to the end": Row(
        [Reply(text="Let me search for that.")] * 4, "openai/b", ["did not take it"] * 2
    ),
    "cut off twice": Row(
        [Reply(text="The warranty", stop="length")] * 2, "openai/b", ["length limit"]
    ),
    "prose, then plain JSON": Row(
        [Reply(text="Three years.")] * 2 + [PLAIN], "openai/a", ["without the tools"]
    ),
    "malformed arguments, then well": Row([calls(("finish", '{"claims": [')), GOOD], "openai/a"),
    "malformed arguments twice, then plain JSON": Row(
        [calls(("finish", '{"claims": ['))] * 2 + [PLAIN], "openai/a", ["make no sense"]
    ),
    "malformed arguments to the end": Row(
        [calls(("finish", '{"claims": ['))] * 2
        + [Reply(text='{"tool": "finish", "arguments": {"claims": [')] * 2,
        "openai/b",
        ["make no sense"] * 2,
    ),
    "unknown tool, then well": Row([calls(("answer", {"text": "x"})), GOOD], "openai/a"),
    "unknown tool to the end": Row(
        [calls(("answer", {}))] * 2 + [plainly("answer", {})] * 2,
        "openai/b",
        ["make no sense"] * 2,
    ),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("rag.llm_chain.LiteLLM", partial(LiteLLM, retry_waits_s=(0.0,)))
    monkeypatch.setattr("rag.llm_chain.LEAST_S", 0.3)


@pytest.fixture
def kettle(workspace):
    assert workspace.add_files([Upload("kettle.txt", TEXT)]).wait(60)
    return workspace


def ask(workspace, replies, *, fallback=True, seconds=30):
    """Notices, and the answer; `b` always answers."""
    left = list(replies)

    def reply(request):
        if request["model"] == "b":
            return auto(request)
        step = left.pop(0) if left else Reply(status=418, error="asked too often")
        return step(request) if callable(step) else step

    with StubLLM(default=reply) as stub:
        workspace.connect("openai/a", KEY, stub.url)
        workspace.tune({"LLM_FALLBACKS": "openai/b"} if fallback else {})
        workspace.settings = replace(workspace.settings, llm_seconds=seconds)
        events = list(workspace.ask(QUESTION))
    assert not left
    assert KEY not in repr(events)
    assert isinstance(events[-1], Finished)
    return [event.message for event in events if isinstance(event, Notice)], events[-1].answer


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leads_to_an_answer_and_is_told(fault, kettle):
    row = FAULTS[fault]
    notices, answer = ask(kettle, row.replies, seconds=1 if "never" in fault else 30)
    assert answer.citations, answer.text
    assert answer.receipt.model == row.model
    assert len(notices) == len(row.told), notices
    for words, notice in zip(row.told, notices, strict=True):
        assert words in notice
    assert answer.receipt.notices == tuple(notices)
    assert all(fallback.model == "openai/a" for fallback in answer.receipt.fallbacks)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", "refused the API key"),
        ("500 to the end", "failed (500)"),
        ("stream breaks within the answer", "broke off"),
        ("empty to the end", "empty"),
        ("unknown tool to the end", "make no sense"),
    ],
)
def test_without_a_fallback_the_reader_answers(fault, words, kettle):
    notices, answer = ask(kettle, FAULTS[fault].replies, fallback=False)
    assert answer.receipt.engine == "reader"
    assert answer.citations
    assert words in notices[-1]
    assert notices[-1].endswith("The built-in reader answers instead.")
    assert answer.receipt.notices[-1] == notices[-1]


def test_what_failed_models_used_is_counted_when_the_reader_answers(kettle):
    _, answer = ask(kettle, FAULTS["empty to the end"].replies, fallback=False)
    receipt = answer.receipt
    assert (receipt.llm_calls, receipt.prompt_tokens, receipt.completion_tokens) == (4, 400, 80)
    assert [fallback.model for fallback in receipt.fallbacks] == ["openai/a", "openai/a"]


def test_documents_cut_in_another_way_are_asked_through_the_same_models(kettle, tmp_path):
    def reply(request):
        return auto(request) if request["model"] == "b" else BAD_KEY

    with StubLLM(default=reply) as stub:
        kettle.connect("openai/a", KEY, stub.url)
        kettle.tune({"LLM_FALLBACKS": "openai/b"})
        settings = replace(kettle.settings, chunk_tokens=64)
        index = Index.create(tmp_path / "index", settings, WordEmbedder(), None)
        index.copy(kettle.documents(), kettle.catalog)
        answer = finished(index.ask(QUESTION, (), (), "agent"))
        index.close()
    assert answer.receipt.model == "openai/b"
    assert answer.citations
