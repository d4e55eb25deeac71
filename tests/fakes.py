"""Stand-ins that keep the contract of what they replace."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from rag.keyword import tokens


class WordEmbedder:
    """Embeds by stemmed words: texts that share words are near, and a test can say how near."""

    fingerprint = "words-256"
    dimension = 256
    max_tokens = 256

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def reads(self, language: str) -> bool:
        return True

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in tokens(text):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1
        return vector / np.linalg.norm(vector)


class LengthReranker:
    """Prefers short passages, so that its order differs from any search's."""

    name = "shortest first"

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return [1 / (1 + len(passage)) for passage in passages]

    def reads(self, query: str) -> bool:
        return True
