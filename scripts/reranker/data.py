"""Question-answering records -> groups: one passage that answers, three that do not.

    python scripts/reranker/data.py --source FOLDER --out groups.jsonl

The folder holds one `<source>.jsonl.gz` per source with `question`, `passage`, `answers`
(`text`, `start`), `answerable` and `negatives`; MODEL_CARD.md names the sources and their licences.
Each line written is `{"query", "docs", "labels", "source", "held_out"}`, in random order.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from near_misses import near_miss
from tables import table_groups

from rag.embed import Embedder, SentenceTransformerEmbedder

Record = dict[str, Any]

SEED = 20261130
TABLES = 4_000
MOST_GROUPS = {
    "nq_partial": 4_900, "squad_dev_rest": 6_500, "squadshifts_newwiki": 5_000, "piaf": 3_800,
    "selqa": 2_400, "covidqa": 1_400, "boolq_part": 1_800, "hotpotqa_500": 1_000, "cuad": 2_200,
    "medquad": 1_500, "onestopqa": 1_400, "pubmedqa": 500,
}  # fmt: skip
"""Templated sources (cuad, medquad) and those without hard negatives count less."""
MINED = ("nq_partial", "squad_dev_rest", "squadshifts_newwiki", "piaf", "selqa", "covidqa")
"""Sources whose answers' texts tell a near passage that does not answer from one that does."""
NEGATIVES = 3
HELD_OUT = 0.03
"""Share of the passages whose questions are kept for calibration, never trained on."""
SHORT_WORDS, LONG_WORDS = 85, 165
"""Windows of passages: most are short for speed, the rest as long as the app's chunks."""
LONG_SHARE = 0.35
WHOLE = ("squad_dev_rest", "cuad")
"""Sources with unanswerable questions: all their passages are long, so that where a window was
cut does not tell which questions have an answer."""
SENTENCE_SHARE = 0.6
"""Of the answered records, how many also ask for the sentence: the reader scores sentences."""
NEAR_MISS_SHARE = 0.35
"""Of the records with a span, how many also ask something that the passage does not answer."""
WITHOUT_SHARE = 0.3
"""Of the records with a span, how many have their own passage without the answer as a negative."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Ý\"(\[0-9])")


@dataclass(frozen=True, slots=True)
class Group:
    query: str
    docs: list[str]
    labels: list[float]
    source: str
    held_out: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--no-mining", action="store_true", help="only the sources' own negatives")
    options = parser.parse_args()

    rng = random.Random(SEED)
    embedder = None if options.no_mining else SentenceTransformerEmbedder()
    groups: list[Group] = []
    for source, most in MOST_GROUPS.items():
        records = _sample(_read(options.source / f"{source}.jsonl.gz"), most, rng)
        mine = embedder is not None and source in MINED
        mined = _mine(records, embedder) if mine else [[] for _ in records]
        for record, near in zip(records, mined, strict=True):
            groups.extend(_groups(record, near, source, rng))
        print(f"{source}: {len(records)} records, {len(groups)} groups so far", flush=True)
    for question, positive, negatives in table_groups(TABLES, rng):
        held_out = rng.random() < HELD_OUT
        groups.append(
            Group(question, [positive, *negatives], [1.0] + [0.0] * 3, "tables", held_out)
        )
    rng.shuffle(groups)
    with options.out.open("w", encoding="utf-8") as out:
        for group in groups:
            line = {name: getattr(group, name) for name in Group.__slots__}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(groups)} groups, {sum(g.held_out for g in groups)} held out")


def _read(path: Path) -> list[Record]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _sample(records: list[Record], most: int, rng: random.Random) -> list[Record]:
    """At most so many, with the unanswerable in their share of the whole, up to a third."""
    rng.shuffle(records)
    no = [r for r in records if not r["answerable"]]
    yes = [r for r in records if r["answerable"]]
    kept = min(len(no), most // 3)
    return yes[: most - kept] + no[:kept]


def _mine(records: Sequence[Record], embedder: Embedder) -> list[list[str]]:
    """For each record, passages of its source near the question that do not hold its answer."""
    passages = list(dict.fromkeys(p for r in records for p in (r["passage"], *r["negatives"])))
    vectors = _embed(embedder, passages)
    questions = _embed(embedder, [r["question"] for r in records])
    mined = []
    for record, question in zip(records, questions, strict=True):
        answers = [a["text"].lower() for a in record["answers"]]
        near = []
        for index in np.argsort(-(vectors @ question))[:12]:
            passage = passages[index]
            if passage == record["passage"] or any(a in passage.lower() for a in answers):
                continue
            near.append(passage)
        # Without a span nothing tells whether a near passage answers, unless the record says no.
        mined.append(near[:6] if answers or not record["answerable"] else [])
    return mined


def _embed(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.zeros((len(texts), embedder.dimension), np.float32)
    for at in range(0, len(order), 256):
        part = order[at : at + 256]
        vectors[part] = embedder.embed([texts[i][:400] for i in part])
    return vectors


def _groups(
    record: Record, near: Sequence[str], source: str, rng: random.Random
) -> Iterator[Group]:
    digest = hashlib.sha256(record["passage"].encode()).digest()
    held_out = digest[0] / 256 < HELD_OUT
    words = LONG_WORDS if source in WHOLE or rng.random() < LONG_SHARE else SHORT_WORDS
    head = _head(record, rng)
    span = record["answers"][0] if record["answers"] else None
    gold = _window(record["passage"], words, rng, span and span["start"])
    sentences = _parted(record, rng)

    hard = list(near)
    given = [p for p in record["negatives"] if p not in near]
    rng.shuffle(hard)
    rng.shuffle(given)
    chosen = [_window(p, words, rng, None) for p in (hard[:2] + given + hard[2:])[:NEGATIVES]]
    query = _asked(record, rng)

    def group(query: str, docs: Sequence[str], kind: str = "", *, answers: bool = True) -> Group:
        labels = [float(answers)] + [0.0] * (len(docs) - 1)
        name = f"{source}:{kind}" if kind else source
        return Group(query, [head + " ".join(d.split()) for d in docs], labels, name, held_out)

    if not record["answerable"]:
        # The passage looks as if it answered. That is what the probability must learn.
        yield group(query, [gold, *chosen[:1]], answers=False)
        if source in MINED and len(sentences.wrong) > 1:
            wrong = sentences.wrong[: NEGATIVES + 1]
            yield group(query, wrong, "sentence near miss", answers=False)
        return
    if span and source in MINED and rng.random() < WITHOUT_SHARE and len(sentences.without) > 2:
        rest = _window(" ".join(sentences.without), words, rng, None)
        chosen = [rest, *chosen[: NEGATIVES - 1]]
    if chosen:
        yield group(query, [gold, *chosen])
    if not sentences.right or source not in MINED:
        return
    far = [s for p in chosen[:1] for s in _SENTENCE.split(p) if span["text"] not in s]
    docs = [sentences.right, *sentences.wrong[: NEGATIVES - 1], *far[:1]]
    if len(docs) > 1 and rng.random() < SENTENCE_SHARE:
        yield group(query, docs, "sentence")
    if rng.random() < NEAR_MISS_SHARE:
        other = rng.choice(record["negatives"] or [record["passage"]])
        question = near_miss(record["question"], record["passage"], sentences.right, other, rng)
        if question:
            yield group(question, [sentences.right, *sentences.wrong[:1]], "near miss sentence",
                        answers=False)  # fmt: skip
            yield group(question, [gold], "near miss", answers=False)


@dataclass(frozen=True, slots=True)
class _Sentences:
    """A passage's: the one with the answer, those without it (shuffled; in their order)."""

    right: str
    wrong: list[str]
    without: list[str]


def _parted(record: Record, rng: random.Random) -> _Sentences:
    sentences = _SENTENCE.split(record["passage"])
    if not record["answers"]:
        wrong = list(sentences)
        rng.shuffle(wrong)
        return _Sentences("", wrong, [])
    start, texts = record["answers"][0]["start"], [a["text"] for a in record["answers"]]
    right, at = "", 0
    for sentence in sentences:
        begin = record["passage"].index(sentence, at)
        at = begin + len(sentence)
        if begin <= start < at:
            right = sentence
    without = [s for s in sentences if s != right and not any(t in s for t in texts)]
    wrong = list(without)
    rng.shuffle(wrong)
    return _Sentences(right, wrong, without)


def _window(passage: str, words: int, rng: random.Random, start: int | None) -> str:
    """So many words of the passage, with those at character `start` in it."""
    parts = passage.split()
    if len(parts) <= words:
        return " ".join(parts)
    if start is None:
        first = rng.randint(0, len(parts) - words)
    else:
        at = len(passage[:start].split())
        first = max(0, min(at - rng.randint(5, words - 10), len(parts) - words))
    return " ".join(parts[first : first + words])


def _head(record: Record, rng: random.Random) -> str:
    """What stands above a chunk in the app: the document's name and a heading path."""
    title = record.get("title")
    if title and rng.random() < 0.6:
        return f"{title}\n"
    if rng.random() < 0.3:
        name = rng.choice(("handbook", "report", "manual", "notes", "document", "guide", "paper"))
        return f"{name} {rng.randint(1, 2030)}\n"
    return ""


def _asked(record: Record, rng: random.Random) -> str:
    question = " ".join(record["question"].split())
    if record.get("title") and record["source"] != "medquad" and rng.random() < 0.05:
        question = f"According to {record['title']}, {question}"
    if rng.random() < 0.1:
        question = question.rstrip(" ?")
    return question.lower() if rng.random() < 0.1 else question


if __name__ == "__main__":
    main()
