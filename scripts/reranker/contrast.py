"""Records and groups -> the groups of a further run: several questions about one passage.

    python scripts/reranker/contrast.py --source FOLDER --groups groups.jsonl --out contrast.jsonl

A passage that answers a question is set against itself under questions that it does not answer:
those that people wrote about it, and the question turned by rule. Ranked in one softmax, they
teach what a threshold on the score needs, that the same words under another question score less
(contrast sets: Gardner et al., Findings of EMNLP 2020). Groups of the earlier kind and newly
invented tables come between them, so that ranking is not forgotten.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data import (
    HELD_OUT,
    MINED,
    Record,
    asked,
    head_of,
    is_held_out,
    parted,
    read_records,
    window,
    window_words,
)
from near_misses import near_miss
from tables import table_groups
from train import read_groups

from rag.stop_words import content_words

Group = dict[str, Any]

SEED = 20261202
BY_PEOPLE = "squad_dev_rest"
"""The source whose unanswerable questions people wrote to look answerable."""
TABLES = 4_000
EARLIER = 7_000
MOST = {BY_PEOPLE: 9_000, "squadshifts_newwiki": 6_000}
"""Contrast groups of a source; of the others `MOST_OF_OTHERS`."""
MOST_OF_OTHERS = 2_000
TIMES_BY_PEOPLE = 2
"""They are rare, and teach most; beside another answered question each time."""
PASSAGE_SHARE = 0.5
"""Of the contrasts by rule, how many also come with the passage, and the other way round."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--groups", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    rng = random.Random(SEED)
    chosen: list[Group] = []
    for source in MINED:
        records = [
            r for r in read_records(options.source / f"{source}.jsonl.gz") if not is_held_out(r)
        ]
        by_people = [
            group for _ in range(TIMES_BY_PEOPLE) for group in _by_people(records, source, rng)
        ]
        by_rule = list(_by_rule(records, source, rng))
        rng.shuffle(by_rule)
        found = (by_people + by_rule)[: MOST.get(source, MOST_OF_OTHERS)]
        print(f"{source}: {len(found)}, {len(by_people)} with questions by people", flush=True)
        chosen.extend(found)
    for query, positive, negatives in table_groups(TABLES, rng):
        docs = [positive, *negatives]
        chosen.append(_group([query] * len(docs), docs, "tables"))
    chosen.extend(rng.sample(read_groups(options.groups, held_out=False), EARLIER))
    rng.shuffle(chosen)
    held_out = read_groups(options.groups, held_out=True)
    with options.out.open("w", encoding="utf-8") as out:
        for group in (*chosen, *held_out):
            out.write(json.dumps(group, ensure_ascii=False) + "\n")
    print(f"{len(chosen)} groups, {len(held_out)} held out ({HELD_OUT:.0%} of the passages)")


def _by_people(records: Sequence[Record], source: str, rng: random.Random) -> Iterator[Group]:
    """One or two unanswerable questions beside an answered one on the same passage."""
    passages: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        passages[record["passage"]].append(record)
    for about in passages.values():
        missed = [r for r in about if not r["answerable"]]
        answered = [r for r in about if r["answers"] and r["negatives"]]
        rng.shuffle(missed)
        for at in range(0, len(missed) if answered else 0, 2):
            record, some = rng.choice(answered), missed[at : at + 2]
            query, others = asked(record, rng), [asked(r, rng) for r in some]
            gold, far = _windows(record, source, rng)
            head = head_of(record, rng)
            yield _group(
                [query, *others, query],
                [head + d for d in (gold, *[gold] * len(others), far)],
                f"{source}:contrast",
            )
            if right := parted(record, rng).right:
                every = parted(some[0], rng).wrong
                near = [_nearest(other, every) for other in others]
                wrong = [s for s in every if s != right][:1]
                yield _group(
                    [query, *others, *[query] * len(wrong)],
                    [head + d for d in (right, *near, *wrong)],
                    f"{source}:contrast sentence",
                )


def _by_rule(records: Sequence[Record], source: str, rng: random.Random) -> Iterator[Group]:
    """A question turned by rule, and the sentence turned alike: each answers its own."""
    for record in records:
        if not (record["answers"] and record["negatives"]):
            continue
        sentences = parted(record, rng)
        if not (sentences.right and sentences.wrong):
            continue
        right, wrong = sentences.right, sentences.wrong[0]
        other = rng.choice(record["negatives"])
        plain = record["question"]
        turned = near_miss(plain, record["passage"], right, other, rng)
        if not turned:
            continue
        head = head_of(record, rng)
        style = rng.random()
        query, missed = (
            asked({**record, "question": text}, random.Random(style)) for text in (plain, turned)
        )
        edited = _edited(right, plain, turned)
        if edited and rng.random() < PASSAGE_SHARE:
            yield _group(
                [missed, missed, query, missed],
                [head + d for d in (edited, right, edited, wrong)],
                f"{source}:contrast sentence",
            )
        more = [edited] if edited else []
        yield _group(
            [query, missed, *[query] * len(more), query],
            [head + d for d in (right, right, *more, wrong)],
            f"{source}:contrast sentence",
        )
        if rng.random() < PASSAGE_SHARE:
            gold, far = _windows(record, source, rng)
            more = [gold.replace(right, edited)] if edited and right in gold else []
            yield _group(
                [query, missed, *[query] * len(more), query],
                [head + d for d in (gold, gold, *more, far)],
                f"{source}:contrast",
            )


def _edited(sentence: str, question: str, turned: str) -> str:
    """The sentence with the change that was made to the question; "" where it lacks the words."""
    old, new = question.split(), turned.split()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    words, by = (" ".join(part).strip(".,?'\"") for part in (old, new))
    if not words or not re.search(rf"\b{re.escape(words)}\b", sentence):
        return ""
    return re.sub(rf"\b{re.escape(words)}\b", lambda _: by, sentence)


def _windows(record: Record, source: str, rng: random.Random) -> tuple[str, str]:
    """Of the record's passage, with its answer, and of one that does not answer."""
    words = window_words(source, rng)
    gold = window(record["passage"], words, rng, record["answers"][0]["start"])
    return gold, window(rng.choice(record["negatives"]), words, rng, None)


def _nearest(question: str, sentences: Sequence[str]) -> str:
    """The sentence that shares the most words with the question."""
    words = content_words(question, "en")
    return max(sentences, key=lambda s: len(words & content_words(s, "en")) / (5 + len(s) ** 0.5))


def _group(queries: Sequence[str], docs: Sequence[str], source: str) -> Group:
    """The first pair answers."""
    texts = [" ".join(doc.split()) if "\n" not in doc else doc for doc in docs]
    labels = [1.0] + [0.0] * (len(docs) - 1)
    return {"queries": list(queries), "docs": texts, "labels": labels, "source": source,
            "held_out": False}  # fmt: skip


if __name__ == "__main__":
    main()
