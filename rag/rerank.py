"""Question and passages -> relevance scores, by a cross-encoder that reads both together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rag.errors import ModelError


class Reranker(Protocol):
    name: str

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better; only comparable within one model."""
        ...


class CrossEncoderReranker:
    """Any sentence-transformers CrossEncoder, by hub name or folder."""

    def __init__(self, name: str) -> None:
        """Loads the model (seconds). Raises ModelError."""
        try:
            from sentence_transformers import CrossEncoder

            self._model = CrossEncoder(name, device="cpu")
        except Exception as error:  # every loader below raises kinds of its own
            raise ModelError(
                f"The re-ranker {name!r} could not be loaded: {error}. Check the name, or set "
                "FOOTNOTE_RERANKER=off."
            ) from error
        self.name = name

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        if not passages:
            return []
        pairs = [(query, passage) for passage in passages]
        return [float(s) for s in self._model.predict(pairs, show_progress_bar=False)]
