from rag.expand import MOST_QUERIES, merged, request, wordings
from rag.types import Chunk, Hit, Search


def found(query, *ids):
    return Search(query, tuple(Hit(Chunk(i, "d", 1, 0, 1, i), "d.pdf", "", "page") for i in ids))


def test_an_imagined_passage_is_searched_for_as_it_is():
    assert wordings("hyde", " The boiler\n runs at 15 bar. ") == ["The boiler runs at 15 bar."]
    assert wordings("hyde", " ") == []


def test_queries_are_lines_without_their_marks():
    reply = '1. boiler pressure\n- "operating pressure"\n\nboiler pressure\nbar\nmore'
    assert wordings("queries", reply) == ["boiler pressure", "operating pressure", "bar"]
    assert len(wordings("queries", "a\nb\nc\nd\ne")) == MOST_QUERIES


def test_passages_that_several_searches_find_come_first():
    hits = merged([found("q", "a", "b", "c"), found("r", "c", "d", "e")])
    assert [h.chunk.id for h in hits] == ["c", "a", "b"]


def test_the_model_is_told_the_languages_of_the_documents():
    rules, question = request("queries", "Quelle pression ?", " They are in German: search.")
    assert "They are in German" in rules.text
    assert question.text == "Quelle pression ?"
