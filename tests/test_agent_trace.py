"""What the agent decides, read from the trace: when it searches, again or not at all, and why."""

import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from rag import prompt
from rag.types import Answer
from tests.answering import PRESSURE, WATER, Library, Searcher, ask, results, steps
from tests.stub_llm import Reply, calls, finish

ANSWER = TypeAdapter(Answer)


def kinds(answer):
    return [step.kind for step in answer.receipt.steps]


class English(Library):
    def documents(self):
        return [replace(document, language="en") for document in super().documents()]


# Decisions


def test_a_simple_question_searches_once(tmp_path):
    _, answer, _ = ask(tmp_path, [finish([PRESSURE])])
    assert kinds(answer) == ["search", "model", "finish"]


def test_a_question_of_two_parts_searches_for_each(tmp_path):
    def both(request):
        assert "a search for each part" in request["messages"][0]["content"]
        return calls(("search", {"query": "pump weight"}), ("search", {"query": "Kessler founded"}))

    script = [
        both,
        finish([("12 kg.", "S2", "It weighs 12 kg."), ("1921.", "S3", "in 1921 by two")]),
    ]
    _, answer, _ = ask(tmp_path, script, "How heavy is the boiler's pump, and how old its maker?")
    assert [json.loads(step.arguments)["query"] for step in steps(answer, "search")][1:] == [
        "pump weight",
        "Kessler founded",
    ]
    assert [c.name for c in answer.citations] == ["boiler.pdf", "makers.pdf"]


def test_what_is_off_topic_is_refused_with_what_was_searched(tmp_path):
    def refuse(request):
        told = request["messages"][-1]["content"]
        assert "Nothing was found. Search with other words, or refuse." in told
        return finish(refusal="The documents do not say who won the election.")

    _, answer, _ = ask(tmp_path, [refuse], "Who won the election?")
    assert answer.refused
    assert kinds(answer) == ["search", "model", "finish"]
    assert steps(answer, "search")[0].result == "0 passages, weak"


def test_weak_first_results_lead_to_other_words(tmp_path):
    class Foreign(Searcher):
        """Finds nothing near unless it is asked in the documents' words."""

        def search(self, query, documents=(), top_k=None):
            found = super().search("boiler" if "Kessel" in query else query, documents)
            if "Kessel" not in query:
                return found
            far = tuple(type(hit)(hit.chunk, hit.name, "", "page", 1, 0.2) for hit in found.hits)
            return type(found)(query, far)

    def other_words(request):
        told = request["messages"][-1]["content"]
        assert "These are weak" in told
        assert "They are in English: search in these languages." in told
        return calls(("search", {"query": "boiler pressure"}))

    german = ("Der Druck ist 15 bar und das ist der Druck.", "S1", PRESSURE[2])
    _, answer, stub = ask(
        tmp_path,
        [other_words, finish([german])],
        "Was ist der Druck in dem Kessel?",
        library=English(),
        searcher=Foreign(English()),
    )
    first, second = steps(answer, "search")
    assert first.result.endswith("weak")
    assert not second.result.endswith("weak")
    assert "These are weak" not in results(stub, 1)[0]
    assert answer.text == "Der Druck ist 15 bar und das ist der Druck [1]."


def test_the_model_is_told_the_languages_of_the_documents(tmp_path):
    _, _, stub = ask(tmp_path, [finish(refusal="No.")], library=English())
    assert (
        "They are in English: search in these languages."
        in (stub.requests[0]["messages"][0]["content"])
    )


# The trace


def test_every_step_is_kept_with_its_arguments_times_and_tokens(tmp_path):
    script = [
        calls(
            ("search", {"query": "pump"}),
            ("search", {"query": "PUMP "}),
            ("read_page", {"document": "boiler", "page": 2}),
            ("read_page", {"document": "boiler", "page": 9}),
            ("list_documents", {}),
            ("browse", {"url": "x"}),
            usage=(300, 40),
        ),
        finish([PRESSURE, WATER]),
    ]
    _, answer, _ = ask(tmp_path, script)
    trace = answer.receipt.steps
    assert [(step.kind, step.result) for step in trace] == [
        ("search", "1 passage"),
        ("model", "search, search, read_page, read_page, list_documents, browse"),
        ("search", "1 passage"),
        ("search", ""),
        ("read_page", "page 2"),
        ("read_page", ""),
        ("list_documents", "3 documents"),
        ("unknown", ""),
        ("model", "finish"),
        ("finish", "2 verified"),
    ]
    assert trace[3].repeated
    assert trace[4].arguments == '{"document": "boiler", "page": 2}'
    assert "no page 9" in trace[5].error
    assert "no tool 'browse'" in trace[7].error
    model = trace[1]
    assert (model.model, model.prompt_tokens, model.completion_tokens) == ("openai/stub", 300, 40)
    assert [step.at for step in trace] == sorted(step.at for step in trace)
    assert all(step.seconds >= 0 for step in trace)
    assert list(answer.receipt.seconds) == ["search", "model", "read", "verify", "total"]
    assert answer.receipt.prompts == prompt.version()


def test_a_model_call_that_fails_is_in_the_trace_with_its_error(tmp_path):
    red = ("It is red.", "S1", "the boiler is painted bright red")
    script = [finish([PRESSURE, red]), Reply(status=401, error="Bad key")]
    _, answer, _ = ask(tmp_path, script)
    assert "refused the API key" in steps(answer, "model")[1].error


def test_a_round_of_repair_is_in_the_trace_with_what_was_sent_back(tmp_path):
    red = ("It is red.", "S1", "the boiler is painted bright red")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, red]), finish([PRESSURE, WATER])])
    first, second = steps(answer, "finish")
    assert first.result == "1 verified, 1 rejected"
    assert "the boiler is painted bright red" in first.error
    assert (second.result, second.error) == ("1 verified, 1 repaired", "")


def test_an_answer_survives_being_stored_as_json(tmp_path):
    red = ("It is red.", "S1", "the boiler is painted bright red")
    _, answer, _ = ask(tmp_path, [finish([PRESSURE, red])] * 2)
    assert ANSWER.validate_json(ANSWER.dump_json(answer)) == answer


def test_an_answer_stored_before_there_was_a_trace_still_loads():
    stored = '{"text": "Yes.", "citations": [], "receipt": {"engine": "agent", "model": "m"}}'
    answer = ANSWER.validate_json(stored)
    assert (answer.receipt.steps, answer.receipt.quotes, answer.web) == ((), (), ())
    assert not answer.asks_back


# The prompts


def test_a_prompt_keeps_the_dollars_of_its_values():
    assert "$boundary" in prompt.render("agent", boundary="$boundary", languages="")


def test_a_prompt_without_a_value_is_an_error():
    with pytest.raises(KeyError, match="languages"):
        prompt.render("agent", boundary="x")


def test_the_version_of_the_prompts_changes_with_them(tmp_path, monkeypatch):
    (tmp_path / "agent.md").write_text("One.")
    monkeypatch.setattr(prompt, "FOLDER", tmp_path)
    versions = []
    for text in ("One.", "Two.", "One."):
        (tmp_path / "agent.md").write_text(text)
        prompt.version.cache_clear()
        versions.append(prompt.version())
    prompt.version.cache_clear()
    assert versions[0] == versions[2] != versions[1]
