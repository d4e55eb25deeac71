from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

import pytest

from rag.fuse import fuse
from rag.ingest import Upload
from rag.retrieve import RERANKED, Retriever, searched_text
from rag.types import Hit
from rag.window import WORDS
from rag.workspace import Workspace
from tests.conftest import MakePdf
from tests.fakes import WordEmbedder

PUMP = b"# Pump\n\nThe relief valve of the pump opens at 4.2 bar.\n"
FERRY = b"# Ferry\n\nThe first ferry leaves at 06:15 from the north pier.\n"


@pytest.fixture
def library(workspace: Workspace) -> Workspace:
    job = workspace.add_files([Upload("pump.md", PUMP), Upload("ferry.md", FERRY)])
    assert job.wait(60)
    assert [f.state for f in job.progress.files] == ["indexed", "indexed"]
    return workspace


def test_fusion_adds_reciprocal_ranks():
    fused = fuse([["a", "b"], ["b", "c"]], k=60)
    assert list(fused) == ["b", "a", "c"]
    assert fused == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    weighed = fuse([["a", "b"], ["b", "c"]], k=60, weights=[4])
    assert weighed == pytest.approx({"a": 4 / 61, "b": 4 / 62 + 1 / 61, "c": 1 / 62})


def test_the_name_and_the_headings_are_searched():
    assert searched_text("2023_Q1-report.pdf", "A › B", "x \n y") == "2023 Q1 report › A › B\nx y"
    assert searched_text("notes.txt", "", "x") == "notes\nx"


def test_a_table_is_searched_without_its_marks():
    table = "| Plan | Cost |\n| --- | ---: |\n| Basic | 5 |\n| | |"
    assert searched_text("a.pdf", "", table) == "a\nPlan Cost Basic 5"


def test_the_passage_that_answers_is_first_with_all_its_scores(library: Workspace):
    hit = library.search("At what pressure does the relief valve open?").hits[0]
    assert "4.2 bar" in hit.chunk.text
    assert (hit.name, hit.keyword_rank, hit.dense_rank) == ("pump.md", 1, 1)
    assert hit.keyword_score is not None and hit.dense_score is not None
    assert hit.page_rank == 1
    assert hit.document_fit == 1
    assert hit.fused_score == pytest.approx((2 / 11 + 3 / 11) * 1.5)
    assert hit.rerank_score is None


def test_ranks_by_meaning_count_less_in_a_language_that_the_embedder_does_not_read(
    library: Workspace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(WordEmbedder, "reads", lambda self, language: language == "fr")
    hit = library.search("At what pressure does the relief valve open?").hits[0]
    assert (hit.keyword_rank, hit.dense_rank, hit.page_rank) == (1, 1, 1)
    assert hit.fused_score == pytest.approx((1.25 / 11 + 2.25 / 11) * 1.5)


def test_a_question_in_a_language_that_the_embedder_reads_tells_of_documents_that_look_otherwise(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    rows = "item,qty,price\n" + "\n".join(f"M{i} bolt,{i},{i * 1.2:.2f}" for i in range(60))
    assert workspace.add_files([Upload("bolts.csv", rows.encode())]).wait(60)
    assert workspace.catalog.find("bolts.csv").language not in ("", "en")

    def best(question: str) -> float | None:
        return workspace.search(question).hits[0].fused_score

    whole, bare = "What is the price of the M7 bolt?", "M7 bolt price"
    full = {question: best(question) for question in (whole, bare)}
    monkeypatch.setattr(WordEmbedder, "reads", lambda self, language: language == "en")
    assert best(whole) == full[whole]
    assert (best(bare) or 0) < (full[bare] or 0)


def test_a_document_can_be_found_by_its_name(library: Workspace):
    assert library.search("pump").hits[0].name == "pump.md"


def test_a_filter_leaves_other_documents_out(library: Workspace):
    ferry = library.catalog.find("ferry.md").id
    found = library.search("relief valve", [ferry])
    assert {h.name for h in found.hits} == {"ferry.md"}
    assert found.documents == (ferry,)


def test_every_stage_is_timed(library: Workspace):
    assert {"keyword", "embed", "dense", "fuse"} <= set(library.search("pump").seconds)


def test_a_deleted_document_is_not_found(library: Workspace):
    library.delete(library.catalog.find("pump.md").id)
    assert {h.name for h in library.search("relief valve").hits} == {"ferry.md"}


class Prefers:
    """A re-ranker that looks for one word, and how sure it is of it."""

    name = "one word"

    def __init__(self, word: str, sure: float = 0.9, but: str = "") -> None:
        """A passage with the word `but` is none that it prefers."""
        self.word, self.sure, self.but = word, sure, but
        self.read: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.read += passages
        good = [self.word in t and not (self.but and self.but in t) for t in passages]
        return [self.sure if yes else 1 - self.sure for yes in good]

    def reads(self, query: str) -> bool:
        return query.isascii()


def reranked(library: Workspace, reranker: Prefers, query: str) -> list[Hit]:
    engines = library.engines()
    retriever = Retriever(
        library.catalog, engines.store, engines.embedder, reranker, top_k=99, candidates=99
    )
    return list(retriever.search(query).hits)


def test_the_reranker_decides_between_passages_that_search_finds_alike(workspace: Workspace):
    colours = ("red", "blue", "green", "grey", "black", "white")
    texts = {f"{c}.md": f"The {c} valve is shut." for c in colours}
    workspace.add_files([Upload(n, t.encode()) for n, t in texts.items()]).wait(60)
    before = workspace.search("Which valve is shut?").hits
    worst = PurePath(before[0].name).stem
    hits = reranked(workspace, Prefers("shut", but=worst), "Which valve is shut?")
    assert hits[0].name == before[1].name
    assert [h.rerank_score for h in hits if worst in h.chunk.text] == pytest.approx([0.1])


def test_the_page_that_a_question_names_is_found_in_a_single_document(
    workspace: Workspace, make_pdf: MakePdf
):
    pages = [["Pumps are green."], ["The bar starts at noon."], ["A picture."]]
    deck = make_pdf("deck.pdf", pages).read_bytes()
    workspace.add_files([Upload("deck.pdf", deck)]).wait(60)
    question = "When does the bar start in the picture on page 3?"
    assert [h.chunk.page for h in workspace.search(question).hits[:2]] == [3, 2]
    workspace.add_files([Upload("other.md", b"Pumps.")]).wait(60)
    assert workspace.search(question).hits[0].chunk.page == 2  # of which document, nobody knows


def test_what_the_best_hits_are_about_is_found_too(workspace: Workspace):
    texts = {"a.md": "Valves leak.", "b.md": "Ferries sail to islands daily.", "c.md": "A leak."}
    workspace.add_files([Upload(n, t.encode()) for n, t in texts.items()]).wait(60)
    found = {h.name: h for h in workspace.search("valves").hits}
    assert [found[n].dense_rank for n in ("a.md", "c.md", "b.md")] == [1, 2, 3]
    # The scores are still those of the question itself.
    assert found["a.md"].dense_score > 0
    assert found["c.md"].dense_score == pytest.approx(0, abs=0.01)


def test_a_ratio_is_looked_for_by_the_figures_it_is_computed_from(workspace: Workspace):
    rows = "# Balance sheet\n\nTotal current assets were 12 and total current liabilities 8.\n"
    other = "# Letter\n\nOur ratio of lunches to dinners is what it was.\n"
    more = [Upload(f"{n}.md", f"# Note {n}\n\nNothing.\n".encode()) for n in range(5)]
    uploads = [Upload("rows.md", rows.encode()), Upload("letter.md", other.encode()), *more]
    assert workspace.add_files(uploads).wait(60)
    assert workspace.search("What is the current ratio?").hits[0].name == "rows.md"
    assert workspace.search("What is the ratio?").hits[0].name == "letter.md"


def test_documents_that_are_compared_take_turns(workspace: Workspace):
    long, short = "Net sales of Kestrel rose. " * 300, "Kestrel: net sales fell."
    files = {"kestrel_2023_q1.md": long, "kestrel_2023_q2.md": short, "notes.md": "Net sales."}
    workspace.add_files([Upload(n, t.encode()) for n, t in files.items()]).wait(60)
    found = workspace.search("How have net sales of Kestrel developed over time?")
    assert found.implied
    assert [h.name for h in found.hits[:3]] == [
        "kestrel_2023_q2.md",
        "kestrel_2023_q1.md",
        "kestrel_2023_q1.md",
    ]


def test_a_search_that_is_sure_outweighs_a_reranker_that_is_not(library: Workspace):
    hits = reranked(library, Prefers("ferry", 0.55), "At what pressure does the relief valve open?")
    assert [h.name for h in hits] == ["pump.md", "ferry.md"]


def test_a_question_that_the_reranker_cannot_read_is_not_shown_to_it(library: Workspace):
    reranker = Prefers("ferry")
    hits = reranked(library, reranker, "релиф valve?")
    assert hits[0].name == "pump.md"
    assert (reranker.read, hits[0].rerank_score) == ([], None)


def test_the_reranker_reads_the_best_hits_only(workspace: Workspace):
    text = "".join(f"# Part {n}\n\n{f'Valve {n} is open. ' * 30}\n\n" for n in range(40))
    workspace.add_files([Upload("valves.md", text.encode())]).wait(60)
    reranker = Prefers("Valve 7 ")
    hits = reranked(workspace, reranker, "Which valve is open?")
    assert len(reranker.read) == RERANKED < len(hits)
    assert [h.rerank_score is None for h in hits] == [i >= RERANKED for i in range(len(hits))]


def test_of_a_long_passage_the_reranker_reads_where_the_question_is(workspace: Workspace):
    around = "Dust is swept daily. " * 30
    text = f"# Hall\n\n{around}The relief valve is shut. {'Doors are wide. ' * 9}"
    workspace.add_files([Upload("valves.md", text.encode())]).wait(60)
    reranker = Prefers("valve")
    reranked(workspace, reranker, "Is the relief valve shut?")
    (best,) = [read for read in reranker.read if "relief valve" in read]
    assert best.startswith("valves › Hall\n")
    assert len(best.split()) == WORDS + 3


def test_a_ratio_is_not_left_to_the_reranker(workspace: Workspace):
    rows = b"# Balance\n\nTotal current assets were 12 and total current liabilities 8.\n"
    workspace.add_files([Upload("rows.md", rows), Upload("ferry.md", FERRY)]).wait(60)
    reranker = Prefers("ferry")
    assert reranked(workspace, reranker, "What is the current ratio?")[0].name == "rows.md"
    assert reranker.read == []


def test_an_empty_library_finds_nothing(workspace: Workspace):
    assert workspace.search("anything").hits == ()


def test_documents_in_two_languages_are_searched_with_both_stemmers(
    workspace: Workspace, tmp_path: Path
):
    german = "Die Wartung der Häuser erfolgt jährlich im Frühling durch die Hausverwaltung. " * 3
    english = "The annual report describes the maintenance of the company's buildings. " * 3
    job = workspace.add_files(
        [Upload("de.txt", german.encode()), Upload("en.txt", english.encode())]
    )
    assert job.wait(60)
    hit = workspace.search("Haus Wartungen").hits[0]
    assert (hit.name, hit.keyword_rank) == ("de.txt", 1)


def test_a_page_that_has_all_the_words_beats_one_that_has_some(workspace: Workspace):
    filler = " ".join(f"filler{i}" for i in range(150))
    spread = f"The azimuth bearing is greased.\n\n{filler}\n\nUse twelve grams of lithium soap."
    partial = f"The azimuth bearing is noisy.\n\n{filler}\n\nCall a technician then."
    job = workspace.add_files(
        [Upload("partial.txt", partial.encode()), Upload("spread.txt", spread.encode())]
    )
    assert job.wait(60)
    hit = workspace.search("azimuth bearing lithium grams").hits[0]
    assert (hit.name, hit.page_rank) == ("spread.txt", 1)


def test_all_candidates_are_there_to_be_measured_in_the_same_order(library: Workspace):
    retriever = library.engines().retriever
    shown = retriever.search("How long is the warranty?", top_k=1).hits
    everything = retriever.search_all("How long is the warranty?").hits
    assert len(everything) > 1
    assert everything[:1] == shown


def test_stop_words_do_not_decide(workspace: Workspace):
    job = workspace.add_files(
        [
            Upload("a.txt", b"Which of these is it, and how is it that there is what there is?"),
            Upload("b.txt", b"Torque: 35 Nm."),
        ]
    )
    assert job.wait(60)
    hits = workspace.search("What is the torque there?").hits
    assert [(h.name, h.keyword_rank) for h in hits] == [("b.txt", 1), ("a.txt", None)]


def test_a_query_of_stop_words_alone_is_searched_with_them(workspace: Workspace):
    assert workspace.add_files([Upload("a.txt", b"To be or not to be.")]).wait(60)
    assert workspace.search("to be or not to be").hits[0].keyword_rank == 1


def test_a_document_that_the_question_names_is_searched_alone(workspace: Workspace):
    texts = {"pump_manual.md": "The valve opens.", "ferry_guide.md": "The valve closes."}
    workspace.add_files([Upload(n, t.encode()) for n, t in texts.items()]).wait(60)
    ids = {d.name: d.id for d in workspace.documents()}
    question = "What does the ferry guide say about the valve?"
    found = workspace.search(question)
    assert (found.documents, found.implied) == ((ids["ferry_guide.md"],), True)
    assert {h.name for h in found.hits} == {"ferry_guide.md"}
    chosen = workspace.search(question, list(ids.values()))
    assert not chosen.implied
    assert {h.name for h in chosen.hits} == set(ids)
    assert not workspace.search("What about the valve?").implied
