from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag.embed import SentenceTransformerEmbedder
from rag.errors import ModelError

SENTENCES = ["Where is the valve?", "Wo ist das Ventil?", "query passage : valve of the pump"]


def tiny_model(folder: Path) -> Path:
    """A BERT of 2 layers with a Unigram tokenizer: the architecture of multilingual-e5-small."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 20, trainer)
    ids = {token: tokenizer.token_to_id(token) for token in special}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", ids["<s>"]), ("</s>", ids["</s>"])]
    )
    whole = folder / "bert"
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", cls_token="<s>",
        sep_token="</s>", model_max_length=64,
    ).save_pretrained(whole)  # fmt: skip
    torch.manual_seed(0)
    BertModel(
        BertConfig(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=2,
            num_attention_heads=2, intermediate_size=64, max_position_embeddings=64,
        )
    ).save_pretrained(whole)  # fmt: skip
    transformer = Transformer(str(whole))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    target = folder / "multilingual-e5-tiny"
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save_pretrained(str(target))
    return target


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


def test_an_e5_model_gets_the_prefixes_it_was_trained_with(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import torch

    # Without half precision, whatever differs is what the texts begin with.
    monkeypatch.setattr("rag.embed.native_dtype", lambda: torch.float32)
    embedder = SentenceTransformerEmbedder(str(tiny))
    plain = tmp_path / "plain"
    plain.symlink_to(tiny)
    other = SentenceTransformerEmbedder(str(plain))
    text = "das Ventil"
    near = pytest.approx(1, abs=1e-4)
    assert embedder.embed_query(text) @ other.embed_query(f"query: {text}") == near
    assert embedder.embed([text])[0] @ other.embed([f"passage: {text}"])[0] == near
    assert embedder.embed_query(text) @ embedder.embed([text])[0] < 0.999


def test_vectors_have_unit_length_and_the_models_dimension(tiny: Path):
    embedder = SentenceTransformerEmbedder(str(tiny))
    vectors = embedder.embed(SENTENCES)
    assert vectors.shape == (3, embedder.dimension) == (3, 32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-3)
    assert embedder.embed([]).shape == (0, 32)


def test_the_bundled_model_reads_english_and_another_all_languages(tiny: Path):
    languages = ("en", "", "fr", "zh")
    other, bundled = SentenceTransformerEmbedder(str(tiny)), SentenceTransformerEmbedder()
    assert [bundled.reads(language) for language in languages] == [True, True, False, False]
    assert all(map(other.reads, languages))


def test_texts_are_counted_while_others_are_embedded(tiny: Path):
    embedder = SentenceTransformerEmbedder(str(tiny))
    texts = ["das Ventil " * n for n in range(1, 200, 9)]
    with ThreadPoolExecutor() as pool:
        counts = [pool.submit(embedder.count_tokens, texts) for _ in range(60)]
        vectors = [pool.submit(embedder.embed, texts) for _ in range(20)]
        assert {tuple(c.result()) for c in counts} == {tuple(embedder.count_tokens(texts))}
        assert all(v.result().shape == (len(texts), 32) for v in vectors)


def test_two_models_do_not_share_vectors(tiny: Path, tmp_path: Path):
    plain = tmp_path / "plain"
    plain.symlink_to(tiny)
    prints = {SentenceTransformerEmbedder(str(p)).fingerprint for p in (tiny, plain)}
    assert len(prints) == 2


def test_a_model_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match="could not be loaded"):
        SentenceTransformerEmbedder(str(tmp_path / "none"))
