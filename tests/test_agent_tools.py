import re
import threading
from dataclasses import replace

import pytest

from rag.agent_reply import Reply as ModelReply
from rag.errors import NotFound
from rag.events import PageRead, SearchFinished, SearchStarted, WordsFound
from rag.llm import CallPiece
from rag.types import Chunk, Hit, Search
from tests.answering import (
    PRESSURE,
    Library,
    Searcher,
    answering,
    ask,
    opening,
    results,
    steps,
)
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


def test_parallel_searches_run_at_the_same_time(tmp_path):
    class Meeting(Searcher):
        """Each of the model's two searches waits for the other."""

        both = threading.Barrier(2, timeout=5)

        def search(self, query, documents=(), top_k=None):
            if query in ("pump", "Kessler"):
                self.both.wait()
            return super().search(query, documents)

    script = [
        calls(("search", {"query": "pump"}), ("search", {"query": "Kessler"})),
        finish([PRESSURE]),
    ]
    events, answer, stub = ask(tmp_path, script, searcher=Meeting(Library()))
    pump, kessler = results(stub, 1)
    assert pump.startswith('Passages found for "pump"')
    assert kessler.startswith('Passages found for "Kessler"')
    kinds = [type(event) for event in events if isinstance(event, SearchStarted | SearchFinished)]
    assert kinds == [SearchStarted, SearchFinished, *[SearchStarted] * 2, *[SearchFinished] * 2]
    assert [s.query for s in answer.receipt.searches][1:] == ["pump", "Kessler"]


def test_what_breaks_in_a_search_is_not_hidden(tmp_path):
    class Broken(Searcher):
        def search(self, query, documents=(), top_k=None):
            raise RuntimeError("index gone")

    with (
        answering(tmp_path, [], searcher=Broken(Library())) as (agent, _),
        pytest.raises(RuntimeError, match="index gone"),
    ):
        list(agent.answer("Boiler?"))


def test_the_same_call_twice_at_once_is_made_once(tmp_path):
    page = ("read_page", {"document": "boiler", "page": 2})
    script = [calls(page, page, ("search", {"query": "Boiler?"})), finish([PRESSURE])]
    events, answer, stub = ask(tmp_path, script, "Boiler?")
    first, second, search = results(stub, 1)
    assert "Kessler in Graz" in first
    assert second == search
    assert "this same call before" in second
    assert [step.repeated for step in answer.receipt.steps[2:5]] == [False, True, True]
    assert len([event for event in events if isinstance(event, PageRead)]) == 1


# Names


def test_a_document_can_be_named_in_short(tmp_path):
    library = Library({"plant/boiler.pdf": ["boiler"], "pump.pdf": ["pump"]})
    script = [
        calls(*[("read_page", {"document": name, "page": 1}) for name in ("BOILER", "Pump")]),
        finish(refusal="No."),
    ]
    events, _, _ = ask(tmp_path, script, library=library)
    assert [e.name for e in events if isinstance(e, PageRead)] == ["plant/boiler.pdf", "pump.pdf"]


def test_an_unknown_document_is_answered_with_the_nearest_names_only(tmp_path):
    library = Library({f"report-{year}.pdf": ["boiler"] for year in range(1990, 2020)})
    script = [calls(("read_page", {"document": "report 2007", "page": 1})), finish(refusal="No.")]
    _, _, stub = ask(tmp_path, script, library=library)
    (result,) = results(stub, 1)
    assert '"report-2007.pdf"' in result
    assert "nearest of 30" in result
    assert result.count(".pdf") == 5


def test_the_documents_are_listed_those_with_some_words_or_all(tmp_path):
    library = Library({f"report-{n}.pdf": ["boiler"] for n in range(210)})
    script = [
        calls(("list_documents", {}), ("list_documents", {"words": "report-20"})),
        finish(refusal="No."),
    ]
    _, answer, stub = ask(tmp_path, script, library=library)
    everything, some = results(stub, 1)
    assert "and 10 more" in everything
    assert some.count(".pdf") == 11
    assert [s.result for s in steps(answer, "list_documents")] == ["210 documents", "11 documents"]


# Pages


def test_a_page_is_read_with_its_neighbours_each_a_source(tmp_path):
    library = Library({"a.pdf": [f"boiler page {n}" for n in range(1, 6)]})
    script = [
        calls(("read_page", {"document": "a", "page": 3, "neighbours": 1})),
        finish([("Four.", "S7", "boiler page 4")]),
    ]
    events, answer, stub = ask(tmp_path, script, library=library)
    (result,) = results(stub, 1)
    shown = re.findall(r'id="(S\d)" document="a.pdf" page="(\d)"', result)
    assert shown == [("S6", "3"), ("S7", "2"), ("S8", "4")]
    assert sorted(e.page for e in events if isinstance(e, PageRead)) == [2, 3, 4]
    # S7 is page 2: the quote stands on page 4, which was shown as well.
    assert [(c.name, c.page) for c in answer.citations] == [("a.pdf", 4)]


def test_neighbours_stop_at_the_ends_and_are_few(tmp_path):
    library = Library({"a.pdf": [f"boiler page {n}" for n in range(1, 9)]})
    script = [
        calls(("read_page", {"document": "a", "page": 1, "neighbours": 50})),
        finish(refusal="No."),
    ]
    events, _, _ = ask(tmp_path, script, library=library)
    assert sorted(e.page for e in events if isinstance(e, PageRead)) == [1, 2, 3]


def test_a_long_page_is_cut_around_what_was_searched_for(tmp_path):
    text = "start " * 4000 + "The boiler runs at 15 bar. " + "end " * 4000

    class Inside(Searcher):
        def search(self, query, documents=(), top_k=None):
            start = text.index("The boiler")
            chunk = Chunk("c", "id-a.pdf", 1, start, start + 26, text[start : start + 26])
            return Search(query, (Hit(chunk, "a.pdf", "", "page", 1, 0.5, 1, 1.0),))

    library = Library({"a.pdf": [text]})
    script = [calls(("read_page", {"document": "a", "page": 1})), finish(refusal="No.")]
    _, _, stub = ask(tmp_path, script, library=library, searcher=Inside(library))
    (result,) = results(stub, 1)
    assert "The boiler runs at 15 bar." in result
    assert "start" in result
    assert "end" in result
    assert len(result) < len(text) / 2
    assert "Only a part is shown" in result


def test_a_long_page_that_no_search_found_is_cut_around_the_question_s_words(tmp_path):
    text = "start " * 4000 + "Ceilings are 240 cm high. " + "end " * 4000
    script = [calls(("read_page", {"document": "a", "page": 1})), finish(refusal="No.")]
    library = Library({"a.pdf": [text]})
    nothing = Searcher(Library({}))
    question = "How high are the ceilings?"
    _, _, stub = ask(tmp_path, script, question, library=library, searcher=nothing)
    assert "Ceilings are 240 cm high." in results(stub, 1)[0]


def test_a_page_that_was_deleted_meanwhile_is_said_to_be_gone(tmp_path):
    class Vanished(Library):
        def page(self, document_id, number):
            if number == 2:
                raise NotFound("There is no page 2 any more.")
            return super().page(document_id, number)

    script = [calls(("read_page", {"document": "boiler", "page": 2})), finish([PRESSURE])]
    _, answer, stub = ask(tmp_path, script, library=Vanished(), searcher=Searcher(Library()))
    assert results(stub, 1) == ["There is no page 2 any more."]
    assert steps(answer, "read_page")[0].error == "There is no page 2 any more."


# Exact words


def test_exact_words_are_found_on_every_page_of_a_document(tmp_path):
    pages = ["boiler of KESSLER", "nothing", "Kessler again. " + "far " * 300, "the kesslers"]
    library = Library({"a.pdf": pages})
    script = [
        calls(("find_in_document", {"document": "a.pdf", "words": "kessler"})),
        finish([("Again.", "S3", "Kessler again.")]),
    ]
    events, answer, stub = ask(tmp_path, script, library=library)
    (result,) = results(stub, 1)
    assert result.startswith("Found on page 1 (1x), 3 (1x).")
    assert "boiler of KESSLER" in result
    assert WordsFound("a.pdf", "kessler", (1, 3)) in events
    assert answer.citations[0].page == 3
    assert answer.receipt.steps[2].result == "on 2 of 4 pages"


def test_words_that_do_not_stand_there_say_so(tmp_path):
    script = [
        calls(("find_in_document", {"document": "boiler", "words": "zeppelin"})),
        finish(refusal="No."),
    ]
    events, _, stub = ask(tmp_path, script)
    assert results(stub, 1)[0].startswith("These words do not stand there.")
    assert WordsFound("boiler.pdf", "zeppelin", ()) in events


def test_only_the_first_of_many_places_are_shown(tmp_path):
    library = Library({"a.pdf": ["boiler"] * 12})
    script = [
        calls(("find_in_document", {"document": "a", "words": "boiler"})),
        finish(refusal="No."),
    ]
    _, _, stub = ask(tmp_path, script, library=library)
    (result,) = results(stub, 1)
    assert result.count("</source-") == 8
    assert "read_page shows the others" in result


# More than fits


def test_passages_are_shown_best_first_up_to_what_fits(tmp_path):
    library = Library({f"{n}.pdf": [f"boiler {n} " + "word " * 150] for n in range(10)})
    _, _, stub = ask(
        tmp_path, [finish(refusal="No.")], library=library, settings={"llm_context": 1000}
    )
    shown = stub.sources()
    assert 1 <= len(shown) < 5
    assert shown["S1"].startswith("boiler 0")
    assert f"{10 - len(shown)} more, less relevant, are not shown." in opening(stub)


def test_what_does_not_fit_any_more_is_named_and_can_still_be_quoted(tmp_path):
    library = Library({f"{n}.pdf": [f"boiler {n} " + "word " * 225] for n in range(4)})
    script = [
        calls(*[("read_page", {"document": f"{n}.pdf", "page": 1}) for n in (2, 3)]),
        finish([("Two.", "S2", "boiler 1 word word word")]),
    ]
    _, answer, stub = ask(tmp_path, script, library=library, settings={"llm_context": 1000})
    assert "S2" in stub.sources(0)
    assert "S2" not in stub.sources(1)
    assert 'Left out to save room: S2, "1.pdf" page 1' in opening(stub, 1)
    assert answer.text == "Two [1]."
