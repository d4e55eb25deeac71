"""Question and passages -> how likely each answers, by a cross-encoder that reads both together."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag.embed import bundled_model, native_dtype
from rag.errors import ModelError
from rag.language import script
from rag.settings import BUNDLED_RERANKER

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

BUNDLED = Path(__file__).parent / "models" / "reranker"
"""Weights in half precision, calibration and model card."""

MAX_TOKENS = 320
"""Of question and passage together: a chunk, its header and a long question fit."""

_BATCH = 8
"""Pairs at once. Twenty of 195 tokens on two cores: 0.58 s in batches of 8, 0.60 of 4; with plain
attention instead of the fused kind 0.60 to 0.64, which is a tenth faster on one core alone."""
_EMBEDDINGS = "bert.embeddings."
"""Frozen in training: they are those of the bundled embedder and are not shipped twice."""


class Reranker(Protocol):
    name: str

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage from 0 to 1, higher is better; only comparable within one model."""
        ...

    def reads(self, query: str) -> bool:
        """Whether the model knows the script that the query is written in."""
        ...


def score_pairs(reranker: Reranker, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The scores of (query, passage) pairs of several queries."""
    scores = [0.0] * len(pairs)
    for query in dict.fromkeys(query for query, _ in pairs):
        own = [i for i, pair in enumerate(pairs) if pair[0] == query]
        for i, score in zip(own, reranker.score(query, [pairs[i][1] for i in own]), strict=True):
            scores[i] = score
    return scores


class CrossEncoderReranker:
    """The bundled model, or any sentence-transformers CrossEncoder by hub name or folder.

    The bundled one's scores are probabilities, by Platt scaling (Platt 1999) on held-out questions
    of its training sources; another model's are the sigmoid of what it returns.
    """

    def __init__(self, name: str = BUNDLED_RERANKER) -> None:
        """Loads the model (seconds). Raises ModelError."""
        self._slope, self._offset = 1.0, 0.0
        try:
            if name == BUNDLED_RERANKER:
                self._model = _bundled()
                calibration = json.loads((BUNDLED / "calibration.json").read_text("utf-8"))
                self._slope, self._offset = calibration["slope"], calibration["offset"]
            else:
                from sentence_transformers import CrossEncoder
                from torch import nn

                self._model = CrossEncoder(name, device="cpu", activation_fn=nn.Identity())
        except ModelError:
            raise
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
        # Sorted by length in small batches: passages are padded to others of their own size.
        logits = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return [1 / (1 + math.exp(-(self._slope * float(x) + self._offset))) for x in logits]

    def reads(self, query: str) -> bool:
        """The bundled model was trained on Latin letters only: on the same questions in Arabic,
        Greek, Hindi, Russian, Thai and Chinese, hit@1 is 0.67 without it and 0.57 with it; in
        German, English, Spanish, Romanian, Turkish and Vietnamese 0.92 and 0.95."""
        return self.name != BUNDLED_RERANKER or script(query) in ("LATIN", "")


def _bundled() -> CrossEncoder:
    """The embedder's architecture and word embeddings with the re-ranker's own layers."""
    from safetensors.torch import load_file
    from sentence_transformers import CrossEncoder
    from torch import nn

    from rag.first_token import compute_first_token_only

    with _quiet("transformers", "sentence_transformers"):  # the embedder has no classifier yet
        model: CrossEncoder = CrossEncoder(
            str(bundled_model()),
            num_labels=1,
            device="cpu",
            max_length=MAX_TOKENS,
            activation_fn=nn.Identity(),
            model_kwargs={"dtype": native_dtype()},
        )
    network = model.model
    assert network is not None  # it has a transformer: that was just loaded
    missing, unexpected = network.load_state_dict(
        load_file(BUNDLED / "model.safetensors"), strict=False
    )
    lacking = [name for name in missing if not name.startswith(_EMBEDDINGS)]
    if lacking or unexpected:
        raise ModelError(
            f"The bundled re-ranker's weights do not fit ({[*lacking, *unexpected][:3]}). "
            "Install Footnote again, or set FOOTNOTE_RERANKER=off."
        )
    compute_first_token_only(network)
    return model


@contextmanager
def _quiet(*libraries: str) -> Iterator[None]:
    """Their warnings are left out, errors are not."""
    loggers = [logging.getLogger(name) for name in libraries]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
