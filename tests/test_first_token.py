from __future__ import annotations

import torch
from transformers import BertConfig, BertForSequenceClassification

from rag.first_token import compute_first_token_only


def test_only_the_outputs_that_nobody_reads_are_left_out():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50, hidden_size=24, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=48, num_labels=1,
    )  # fmt: skip
    network = BertForSequenceClassification(config).eval()
    tokens = torch.randint(0, 50, (2, 9))
    padded = torch.tensor([[1] * 9, [1] * 5 + [0] * 4])
    with torch.no_grad():
        whole = [network(tokens).logits, network(tokens, attention_mask=padded).logits]
        compute_first_token_only(network)
        first = [network(tokens).logits, network(tokens, attention_mask=padded).logits]
        (seen,) = network.bert(tokens, return_dict=False)[:1]
    assert seen.shape == (2, 1, 24)
    torch.testing.assert_close(first, whole)
    assert not torch.allclose(whole[0], whole[1])  # so that the padding was told
