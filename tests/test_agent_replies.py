import pytest

from rag.errors import LLMError
from tests.answering import PRESSURE, ask, results
from tests.stub_llm import Reply, calls, finish


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("search", '{"query": "boil'), ["arguments of search do not fit", "EOF", "again"]),
        (("search", "{}"), ["query: Field required"]),
        (("search", {"query": " "}), ["query: String should have at least 1 character"]),
        (("browse", {"url": "x"}), ["no tool 'browse'", "search, read_page"]),
        (("read_page", {"document": "boiler.pdf", "page": 9}), ["no page 9: it has 2"]),
        (("read_page", {"document": "boiler.pdf", "page": "two"}), ["page: Input should be"]),
        (("read_page", {"document": "car.pdf", "page": 1}), ["No document", '"boiler.pdf"']),
        (("finish", '{"claims": [{"text": "A'), ["arguments of finish do not fit"]),
        (("finish", {"claims": "[]"}), ["claims: Input should be"]),
        (("finish", {"claims": []}), ["needs claims or a refusal"]),
    ],
)
def test_a_mistake_is_answered_so_that_the_model_can_mend_it(call, words, tmp_path):
    _, answer, stub = ask(tmp_path, [calls(call), finish([PRESSURE])])
    (result,) = results(stub, 1)
    for word in words:
        assert word in result
    assert answer.text == "The boiler runs at 15 bar [1]."


def test_broken_json_is_not_sent_back_to_the_provider(tmp_path):
    _, _, stub = ask(tmp_path, [calls(("search", '{"query": "boil')), finish([PRESSURE])])
    (message,) = [m for m in stub.requests[1]["messages"] if m["role"] == "assistant"]
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_reply_cut_off_at_its_limit_is_asked_for_again_shorter(tmp_path):
    script = [calls(("finish", '{"claims": [{"text": "A'), stop="length"), finish([PRESSURE])]
    _, _, stub = ask(tmp_path, script)
    assert "cut off at its length limit" in results(stub, 1)[0]


def test_plain_text_is_reminded_once_and_then_an_error(tmp_path):
    _, answer, stub = ask(tmp_path, [Reply(text="15 bar."), finish([PRESSURE])])
    assert "Call finish" in stub.requests[1]["messages"][-1]["content"]
    assert answer.text == "The boiler runs at 15 bar [1]."
    with pytest.raises(LLMError, match="without the tools"):
        ask(tmp_path, [Reply(text="15 bar."), Reply(text="15 bar.")])


def test_an_empty_reply_is_reminded_without_an_empty_message(tmp_path):
    _, _, stub = ask(tmp_path, [Reply(), finish([PRESSURE])])
    assert [m["role"] for m in stub.requests[1]["messages"]] == ["system", "user"]
