"""Fine-tune the bundled embedder's MiniLM into the bundled re-ranker.

    python scripts/reranker/train.py --groups groups.jsonl --out FOLDER [--steps 2000] [--further]

Needs `datasets` and `accelerate` beside requirements.txt. A run that was interrupted goes on from
its last checkpoint in FOLDER. The word embeddings are frozen: they stay those of the embedder,
which every installation has, and need not be shipped a second time (`export.py`).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from datasets import Dataset
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
from torch import Tensor, nn
from transformers.trainer_utils import get_last_checkpoint

from rag.embed import bundled_model
from rag.rerank import BUNDLED

SEED = 20261130
MAX_TOKENS = 256
GROUPS_A_STEP = 16
PAIRS_AT_ONCE = 16
LEARNING_RATE = 8e-5
LEARNING_RATE_FURTHER = 6e-5
EVALUATED = 300


class GroupLoss(nn.Module):
    """Cross-entropy over each group that has an answer, plus binary cross-entropy over all pairs.

    The first ranks (ListNet with one relevant document: Cao et al., ICML 2007), the second gives
    the score an absolute meaning, so that a threshold can refuse.
    """

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: tuple[list[str], list[list[str]]], labels: list[Tensor]) -> Tensor:
        pairs = [(q, doc) for q, docs in zip(*inputs, strict=True) for doc in docs]
        # Pairs of like length are padded together: about a third of the tokens are saved.
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        scored: list[Tensor] = []
        for at in range(0, len(order), PAIRS_AT_ONCE):
            tokens = self.model.preprocess([pairs[i] for i in order[at : at + PAIRS_AT_ONCE]])
            scored.append(self.model(tokens)["scores"].view(-1))
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        logits = torch.cat(scored).float()[back]

        every = torch.cat(labels).float()
        loss = nn.functional.binary_cross_entropy_with_logits(logits, every)
        listwise = [
            -torch.log_softmax(group, 0)[int(label.argmax())]
            for group, label in zip(logits.split([len(x) for x in labels]), labels, strict=True)
            if label.any()
        ]
        return loss + torch.stack(listwise).mean() if listwise else loss


def read_groups(path: Path, *, held_out: bool) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        groups = [json.loads(line) for line in lines]
    return [g for g in groups if g["held_out"] == held_out]


def evaluator(groups: Sequence[dict[str, object]]) -> CrossEncoderRerankingEvaluator:
    ranked = [g for g in groups if any(g["labels"])]  # type: ignore[arg-type]
    random.Random(SEED).shuffle(ranked)
    samples = [
        {"query": g["query"], "positive": g["docs"][:1], "negative": g["docs"][1:]}  # type: ignore[index]
        for g in ranked[:EVALUATED]
    ]
    return CrossEncoderRerankingEvaluator(samples, at_k=4, name="held-out", show_progress_bar=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--further", action="store_true", help="start from the bundled re-ranker")
    options = parser.parse_args()

    torch.set_flush_denormal(True)
    model = CrossEncoder(
        str(bundled_model()),
        num_labels=1,
        device="cpu",
        max_length=MAX_TOKENS,
        activation_fn=nn.Identity(),
        # Beside a backward pass, plain attention is a fifth faster on a CPU than the fused kind.
        model_kwargs={"attn_implementation": "eager"},
        config_kwargs={"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    )
    if options.further:
        weights = load_file(BUNDLED / "model.safetensors")
        model.model.load_state_dict(weights, strict=False)  # the embeddings are the embedder's
    model.model.bert.embeddings.requires_grad_(False)
    train = read_groups(options.groups, held_out=False)[: options.steps * GROUPS_A_STEP]
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(options.out),
        max_steps=options.steps,
        per_device_train_batch_size=GROUPS_A_STEP,
        learning_rate=LEARNING_RATE_FURTHER if options.further else LEARNING_RATE,
        lr_scheduler_type="linear",
        warmup_steps=60,
        bf16=True,
        use_cpu=True,
        seed=SEED,
        logging_steps=20,
        eval_strategy="steps",
        eval_steps=250,
        save_steps=125,
        save_total_limit=3,
        dataloader_num_workers=0,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = CrossEncoderTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(
            [{k: g[k] for k in ("query", "docs", "labels")} for g in train]
        ),
        loss=GroupLoss(model),
        evaluator=evaluator(read_groups(options.groups, held_out=True)),
    )
    started = options.out.exists() and get_last_checkpoint(str(options.out))
    trainer.train(resume_from_checkpoint=started or None)
    model.save_pretrained(str(options.out / "final"))


if __name__ == "__main__":
    main()
