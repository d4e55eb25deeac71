import pytest

from rag.types import Chunk, Hit
from rag.weak import LOW_COSINE, weak

CHUNK = Chunk("c", "d", 1, 0, 1, "x")


def hit(dense_rank=1, cosine=0.6, keyword_rank=1):
    return Hit(CHUNK, "d.pdf", "", "page", dense_rank, cosine, keyword_rank, 1.0)


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        ([], True),
        ([hit()], False),
        ([hit(keyword_rank=None), hit(dense_rank=None, cosine=None)], True),
        ([hit(keyword_rank=None), hit()], False),
        ([hit(cosine=LOW_COSINE - 0.01)], True),
        ([hit(cosine=0.1), hit(cosine=LOW_COSINE)], False),
    ],
)
def test_passages_are_weak_without_one_near_in_words_and_meaning(hits, expected):
    assert weak(hits) == expected
