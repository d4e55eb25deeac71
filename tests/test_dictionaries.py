"""The script that makes the dictionaries, on dictionaries of a few words in dictd's format."""

from __future__ import annotations

import gzip
import lzma
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
import dictionaries

ENTRIES = {
    "deu-eng": {
        "Akku": "Akku /ˈaku/ <masc, n>\n1. rechargeable battery <n>, battery <n> [electr.]\n"
        '      "leerer Akku" - flat battery\n   Synonyms: {Batterie}\n',
        "Zorbler": "Zorbler\nquuxish\n",
        "rund um die Uhr": "rund um die Uhr\nround the clock\n",
    },
    "eng-deu": {"battery": "battery\nBatterie, Akku\n"},
    "por-deu": {"pilha": "pilha\nBatterie\n"},
}


def write(folder: Path, pair: str, entries: dict[str, str]) -> None:
    text, index = b"", []
    for word, entry in entries.items():
        start, length = len(text), len(entry.encode())
        text += entry.encode()
        index.append(f"{word}\t{digits(start)}\t{digits(length)}")
    (folder / f"freedict-{pair}.dict.dz").write_bytes(gzip.compress(text))
    (folder / f"freedict-{pair}.index").write_text("\n".join(index) + "\n", "utf-8")


def digits(number: int) -> str:
    """In base 64, most significant digit first."""
    first = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return (digits(number // 64) if number >= 64 else "") + first[number % 64]


def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    out = folder / "out"
    monkeypatch.setattr(sys, "argv", ["dictionaries", "--dictd", str(folder), "--out", str(out)])
    dictionaries.main()
    found = {}
    for path in out.glob("*.tsv.xz"):
        lines = lzma.decompress(path.read_bytes()).decode().split("\n")
        found[path.name[:2]] = dict(line.split("\t") for line in lines if line)
    return found


def test_entries_of_both_directions_become_one_table(tmp_path, monkeypatch):
    for pair, entries in ENTRIES.items():
        write(tmp_path, pair, entries)
    found = made(tmp_path, monkeypatch)
    # Notes, examples, synonyms and what has a word that the embedder does not know are left out.
    assert found["de"] == {
        "akku": "battery",
        "batterie": "battery",
        "zorbler": "quuxish",
    }
    assert found["pt"] == {"pilha": "battery"}  # through German
    assert found["it"] == {}
