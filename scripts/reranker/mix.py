"""Groups -> those of a further run: what an earlier run did not see, rich in near misses.

    python scripts/reranker/mix.py --groups groups.jsonl --seen 28000 --out mix.jsonl [--most 27000]

An earlier run takes groups in the order of the file, so `seen` is how many it was given.
Unanswerable questions that people wrote are rare and teach most about refusing: all of them come,
seen or not, beside the answered questions on the same articles. The held-out groups are copied.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from train import read_groups

Group = dict[str, Any]

SEED = 20261201
BY_PEOPLE = "squad_dev_rest"
"""The source whose unanswerable questions people wrote to look answerable."""
TIMES_UNANSWERABLE = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=Path, required=True)
    parser.add_argument("--seen", type=int, required=True, help="trainable groups already used")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=27_000)
    options = parser.parse_args()

    held_out = read_groups(options.groups, held_out=True)
    chosen: list[Group] = []
    filler: list[Group] = []
    for index, group in enumerate(read_groups(options.groups, held_out=False)):
        answered, unseen = any(group["labels"]), index >= options.seen
        if group["source"] == BY_PEOPLE:
            chosen.extend([group] * (1 if answered else TIMES_UNANSWERABLE))
        elif group["source"] == f"{BY_PEOPLE}:sentence near miss" or (unseen and not answered):
            chosen.append(group)
        elif unseen:
            filler.append(group)
    rng = random.Random(SEED)
    chosen.extend(rng.sample(filler, min(len(filler), max(0, options.most - len(chosen)))))
    rng.shuffle(chosen)
    with options.out.open("w", encoding="utf-8") as out:
        for group in (*chosen, *held_out):
            out.write(json.dumps(group, ensure_ascii=False) + "\n")
    near = sum(not any(g["labels"]) for g in chosen)
    print(f"{len(chosen)} groups, {near} of them unanswerable; {len(held_out)} held out")


if __name__ == "__main__":
    main()
