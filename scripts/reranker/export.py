r"""A trained checkpoint -> the weights that ship, calibrated on the questions held out.

    python scripts/reranker/export.py --checkpoint FOLDER --groups groups.jsonl \
        --out rag/models/reranker [--average-with FOLDER]

The mean of a fine-tuned model and the one it was tuned from keeps what the earlier one knew
(Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022). Written in half precision,
without the embeddings, which are the bundled embedder's own: 21 MB.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch import nn
from train import read_groups

MOST_GROUPS = 700
"""Held-out groups that are scored."""
FROZEN = "bert.embeddings."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--average-with", type=Path, help="an earlier checkpoint")
    parser.add_argument("--groups", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    weights = load_file(options.checkpoint / "model.safetensors")
    if options.average_with:
        earlier = load_file(options.average_with / "model.safetensors")
        weights = {name: (weight + earlier[name]) / 2 for name, weight in weights.items()}
    kept = {n: w.half().contiguous() for n, w in weights.items() if not n.startswith(FROZEN)}
    save_file(kept, options.out / "model.safetensors")

    groups = read_groups(options.groups, held_out=True)[:MOST_GROUPS]
    model = CrossEncoder(str(options.checkpoint), device="cpu", activation_fn=nn.Identity())
    model.model.load_state_dict(weights)
    pairs = [(g["query"], doc) for g in groups for doc in g["docs"]]
    scores = model.predict(pairs, show_progress_bar=False)
    labels = np.array([label for g in groups for label in g["labels"]])
    calibration = _calibrate(scores, labels)
    calibration |= _by_kind(groups, scores)
    (options.out / "calibration.json").write_text(json.dumps(calibration, indent=1) + "\n", "utf-8")
    print(json.dumps(calibration, indent=1))


def _calibrate(scores: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Platt scaling: probability = 1 / (1 + exp(-(slope * score + offset)))."""
    fit = LogisticRegression(C=1e6).fit(scores.reshape(-1, 1), labels)
    return {"slope": float(fit.coef_[0, 0]), "offset": float(fit.intercept_[0])}


def _by_kind(groups: list[dict], scores: np.ndarray) -> dict[str, float]:  # type: ignore[type-arg]
    """Mean reciprocal rank within the groups, and how well answers part from near misses."""
    ranks: dict[str, list[float]] = {}
    answers, misses, at = [], [], 0
    for group in groups:
        own = scores[at : at + len(group["docs"])]
        at += len(own)
        if group["labels"][0]:
            kind = group["source"].partition(":")[2] or "passage"
            kind = "table" if group["source"] == "tables" else kind
            ranks.setdefault(kind, []).append(1 / (1 + int((own[1:] >= own[0]).sum())))
            if group["source"] == "squad_dev_rest":
                answers.append(own[0])
        elif group["source"] == "squad_dev_rest":
            misses.append(own[0])
    figures = {f"held_out_mrr_{kind}": round(float(np.mean(r)), 4) for kind, r in ranks.items()}
    if answers and misses:
        truth = [1] * len(answers) + [0] * len(misses)
        figures["held_out_near_miss_auc"] = round(roc_auc_score(truth, answers + misses), 4)
    return figures


if __name__ == "__main__":
    main()
