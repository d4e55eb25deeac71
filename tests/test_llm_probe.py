import pytest

from rag.llm import LiteLLM
from rag.llm_probe import probe
from rag.settings import Settings
from tests.stub_llm import Reply, StubLLM, calls, plainly, without_tools

COUNTED = Reply(text="1 2 3 4 5 6 7 8 9 10", piece=5)
REPORTED = calls(("report", {"word": "ready"}))
IN_JSON = plainly("report", {"word": "ready"})


def checks(script, tmp_path):
    """What was tried -> does it work, and the sentence about it."""
    with StubLLM(script) as stub:
        settings = Settings(
            tmp_path, llm_model="openai/stub", llm_base_url=stub.url, llm_api_key="test-key-5f2c"
        )
        return {check.what: (check.works, check.words) for check in probe(LiteLLM(settings, ()))}


def test_a_model_that_can_do_everything_gets_four_lines(tmp_path):
    found = checks([COUNTED, REPORTED, IN_JSON], tmp_path)
    assert [what for what, (works, _) in found.items() if works] == [
        "Chat",
        "Streaming",
        "Tools",
        "JSON",
    ]


def test_a_model_without_tools_says_so_and_can_still_write_json(tmp_path):
    found = checks([COUNTED, without_tools(REPORTED), without_tools(IN_JSON)], tmp_path)
    assert not found["Tools"][0]
    assert "does not accept tool calls" in found["Tools"][1]
    assert found["JSON"][0]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(text="ready"), "plain text"),
        (Reply(), "empty"),
        (calls(("report", '{"wo')), "not valid JSON"),
        (calls(("other", {"word": "ready"})), "something else"),
        (calls(("report", {})), "something else"),
        (Reply(status=500, error="Boom"), "Boom"),
    ],
)
def test_a_tool_call_that_is_none_is_told_from_one_that_is(reply, words, tmp_path):
    found = checks([COUNTED, reply, Reply(text="ready")], tmp_path)
    assert not found["Tools"][0]
    assert words in found["Tools"][1]
    assert found["JSON"] == (False, "It wrote plain text instead.")


def test_a_reply_that_comes_at_once_is_not_streamed(tmp_path):
    found = checks([Reply(text="1 2 3", piece=100), REPORTED, IN_JSON], tmp_path)
    assert not found["Streaming"][0]


@pytest.mark.parametrize(
    ("reply", "words"),
    [(Reply(status=401, error="Bad key test-key-5f2c"), "refused the API key"), (Reply(), "empty")],
)
def test_without_chat_nothing_else_is_tried(reply, words, tmp_path):
    found = checks([reply], tmp_path)
    assert list(found) == ["Chat"]
    assert not found["Chat"][0]
    assert words in found["Chat"][1]
    assert "5f2c" not in found["Chat"][1]
