"""A first search for more than the question."""

import pytest

from rag.events import Notice
from tests.answering import PRESSURE, ask, opening, steps
from tests.stub_llm import Reply, finish


@pytest.mark.parametrize(
    ("mode", "reply", "queries"),
    [
        ("hyde", "The boiler has a pump.", ["The boiler has a pump."]),
        ("queries", "1. pump weight\n2. Kessler", ["pump weight", "Kessler"]),
    ],
)
def test_a_question_is_expanded_by_setting_and_all_searches_are_kept(
    mode, reply, queries, tmp_path
):
    script = [Reply(text=reply), finish([PRESSURE])]
    _, answer, stub = ask(tmp_path, script, settings={"llm_expand": mode})
    question = "What pressure does the boiler have?"
    assert [s.query for s in answer.receipt.searches] == [question, *queries]
    assert "The pump is made by Kessler" in opening(stub, 1)
    assert len(steps(answer, "expand")) == 1


def test_an_expansion_that_fails_costs_only_itself(tmp_path):
    script = [Reply(status=401, error="Bad key"), finish([PRESSURE])]
    events, answer, _ = ask(tmp_path, script, settings={"llm_expand": "hyde"})
    assert answer.text == "The boiler runs at 15 bar [1]."
    (notice,) = [event.message for event in events if isinstance(event, Notice)]
    assert notice.startswith("The question was searched without LLM_EXPAND. The provider refused")
