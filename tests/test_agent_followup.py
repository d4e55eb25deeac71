from rag.types import Turn
from tests.answering import ask
from tests.stub_llm import finish


def test_earlier_turns_are_told_without_their_markers(tmp_path):
    history = [Turn("Who makes the pump?", "Kessler makes it [1], in Graz [2].")]
    question = "Which pressure has the boiler of the plant?"
    _, _, stub = ask(tmp_path, [finish(refusal="No.")], question, history=history)
    system, user = stub.requests[0]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "User: Who makes the pump?\nAnswer: Kessler makes it, in Graz." in user["content"]
