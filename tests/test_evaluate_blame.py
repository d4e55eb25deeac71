"""Which stage a miss is blamed on, from the ranks that each of them gave."""

import pytest

from rag.evaluate.blame import blame_answer, blame_retrieval
from rag.evaluate.metrics.retrieval import Gold
from rag.evaluate.stages import Found, stage_ranks

GOLD = Gold({("a.pdf", 1): 1.0}, 1)


class TestBlame:
    @pytest.mark.parametrize(
        ("ranks", "blame"),
        [
            ({"keyword": 1, "dense": None, "fused": 4}, ""),
            ({"keyword": 1, "dense": None, "fused": 6}, "fusion"),
            ({"keyword": 9, "dense": 8, "fused": 6}, "ranked too low"),
            ({"keyword": None, "dense": None, "fused": None}, "not retrieved"),
            ({"keyword": 1, "dense": 1, "fused": 1, "reranked": 7}, "re-ranker"),
            ({"keyword": 9, "dense": 9, "fused": 8, "reranked": 2}, ""),
        ],
    )
    def test_the_stage_that_lost_the_page_is_named(self, ranks, blame):
        assert blame_retrieval(ranks, 5) == blame

    def test_what_cannot_be_found_is_not_blamed_on_the_search(self):
        nowhere = {"keyword": None, "dense": None, "fused": None}
        assert blame_retrieval(nowhere, 5, missing_document=True) == "missing document"
        assert blame_retrieval(nowhere, 5, pages_without_text=True) == "page without text"

    def test_an_answer_that_cites_the_right_page_is_no_miss(self):
        assert blame_answer("not retrieved", refused=False, cites_gold=True) == ""
        assert blame_answer("fusion", refused=True, cites_gold=False) == "fusion"
        assert blame_answer("", refused=True, cites_gold=False) == "refused"

    def test_stage_ranks_are_over_distinct_pages(self):
        found = [
            Found("a.pdf", 2, 0, 5, keyword_rank=1, dense_rank=3, fused_score=0.3),
            Found("a.pdf", 2, 5, 9, keyword_rank=2, fused_score=0.2),
            Found("a.pdf", 1, 0, 5, keyword_rank=3, dense_rank=1, fused_score=0.1),
        ]
        assert stage_ranks(found, GOLD) == {"keyword": 2, "pages": None, "dense": 1, "fused": 2}

    def test_a_page_that_only_the_page_search_found_leaves_a_gap(self):
        found = [Found("a.pdf", 1, 0, 5, keyword_rank=1, page_rank=3, fused_score=0.3)]
        assert stage_ranks(found, GOLD)["pages"] == 3
