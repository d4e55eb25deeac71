from dataclasses import replace

from rag.agent_reply import Reply as ModelReply
from rag.llm import CallPiece
from rag.types import (
    SearchFinished,
    SearchStarted,
)
from tests.answering import PRESSURE, Library, Searcher, answering, ask, results
from tests.stub_llm import calls, finish


def test_a_question_in_two_hops_reads_what_the_first_hop_named(tmp_path):
    script = [
        calls(("search", {"query": "Kessler founded"})),
        finish(
            [
                ("Kessler makes the pump.", "S1", "The pump is made by Kessler"),
                ("It was founded in 1921.", "S2", "Kessler was founded in 1921"),
            ]
        ),
    ]
    _, answer, stub = ask(tmp_path, script, "When was the maker of the pump founded?")
    assert [c.name for c in answer.citations] == ["boiler.pdf", "makers.pdf"]
    assert [s.query for s in answer.receipt.searches][1:] == ["Kessler founded"]
    assert answer.receipt.llm_calls == 2
    assert answer.receipt.prompt_tokens == 200
    assert "S2" in stub.sources(1)


def test_parallel_calls_are_all_answered(tmp_path):
    script = [
        calls(
            ("search", {"query": "pump"}),
            ("read_page", {"document": "makers.pdf", "page": 1}),
            ("list_documents", {}),
        ),
        finish([("Founded in 1921.", "S3", "Kessler was founded in 1921")]),
    ]
    _, answer, stub = ask(tmp_path, script)
    pump, page, names = results(stub, 1)
    assert "The pump is made by Kessler" in pump
    assert "Kessler was founded in 1921" in page
    assert '"boiler.pdf": 2 pages' in names
    assert answer.citations[0].name == "makers.pdf"


def test_parallel_calls_that_share_an_index_are_told_apart_by_their_id():
    reply = ModelReply()
    for piece in [
        CallPiece(0, "a", "search", '{"query":'),
        CallPiece(0, "", "", ' "x"}'),
        CallPiece(0, "b", "list_documents", "{}"),
    ]:
        reply.add(piece)
    assert [(c.id, c.arguments) for c in reply.calls] == [("a", '{"query": "x"}'), ("b", "{}")]


def test_a_passage_found_again_is_not_sent_again(tmp_path):
    script = [calls(("search", {"query": "boiler water"})), finish([PRESSURE])]
    _, _, stub = ask(tmp_path, script)
    (result,) = results(stub, 1)
    assert "shown above: S1" in result
    assert "15 bar" not in result


def test_a_search_stays_inside_the_chosen_documents(tmp_path):
    script = [
        calls(
            ("search", {"query": "Kessler", "documents": "boiler"}),
            ("search", {"query": "Kessler", "documents": ["makers.pdf"]}),
            ("read_page", {"document": "makers.pdf", "page": 1}),
            ("list_documents", {}),
        ),
        finish([PRESSURE]),
    ]
    events, _, stub = ask(tmp_path, script, documents=["id-boiler.pdf"])
    searches = [event.search for event in events if isinstance(event, SearchFinished)]
    assert [search.documents for search in searches] == [("id-boiler.pdf",)] * 2
    _, search, page, names = results(stub, 1)
    assert "No document is called 'makers.pdf'" in search
    assert "No document is called 'makers.pdf'" in page
    assert "makers.pdf" not in names


def test_documents_of_one_name_can_be_told_apart(tmp_path):
    class Twins(Library):
        def documents(self):
            return [replace(d, name="twin.pdf", id=d.id) for d in super().documents()]

    script = [calls(("list_documents", {})), finish(refusal="No.")]
    _, _, stub = ask(tmp_path, script, library=Twins({"aaaaa": ["boiler"], "bbbbb": ["boiler"]}))
    (names,) = results(stub, 1)
    assert '"twin.pdf (id-aaaaa)"' in names
    assert 'document="twin.pdf (id-bbbbb)"' in stub.requests[0]["messages"][-1]["content"]


def test_weak_results_and_no_results_say_so(tmp_path):
    script = [calls(("search", {"query": "zeppelin"})), finish(refusal="Not found.")]
    _, _, stub = ask(tmp_path, script)
    assert "Nothing was found" in results(stub, 1)[0]

    class Weak(Searcher):
        def search(self, query, documents=(), top_k=None):
            found = super().search("boiler", documents)
            hits = tuple(replace(hit, keyword_rank=None) for hit in found.hits)
            return replace(found, query=query, hits=hits)

    with answering(tmp_path, [finish(refusal="Not found.")]) as (agent, stub):
        agent._searcher = Weak(Library())
        list(agent.answer("How many seats has the zeppelin?"))
    assert "These are weak" in stub.requests[0]["messages"][-1]["content"]


def test_a_call_made_before_is_answered_from_memory(tmp_path):
    script = [
        calls(("search", {"query": " PUMP "}), ("search", {"query": "pump"})),
        finish([PRESSURE]),
    ]
    events, _, stub = ask(tmp_path, script)
    assert "this same call before" in results(stub, 1)[1]
    assert len([event for event in events if isinstance(event, SearchStarted)]) == 2


def test_a_page_without_text_and_a_very_long_page_say_so(tmp_path):
    library = Library({"a.pdf": ["boiler", " ", "long " * 4000]})
    script = [
        calls(
            ("read_page", {"document": "A.PDF", "page": 2}),
            ("read_page", {"document": "a", "page": 3}),
        ),
        finish(refusal="No."),
    ]
    _, _, stub = ask(tmp_path, script, library=library)
    empty, long = results(stub, 1)
    assert empty == "Page 2 has no text."
    assert "Only a part is shown" in long
    assert len(long) < 16_500
