"""`python -m rag eval`: its options. Loads nothing else, as every command's parser needs it.

stdout has the result, stderr everything else. Exit codes: 0 done, 1 a gate was missed or the run
stopped early, 2 the set or an option cannot be used.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rag.errors import EvaluationError
from rag.evaluate import gates
from rag.evaluate.ablate import Ablation, parse
from rag.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--docs", type=Path, required=True, metavar="FOLDER", help="the documents, or passages")
    add("--questions", type=Path, metavar="FILE", help=".jsonl, .csv or BEIR folder")
    add("--mode", choices=("retrieval", "reader", "agent"), default="retrieval")
    add("--top-k", type=_positive, default=5, metavar="K", help="the k of hit@k and MRR@k")
    add("--limit", type=_positive, metavar="N", help="ask only the first N questions")
    add("--out", type=Path, metavar="FILE", help="one record a question (.jsonl: one a line)")
    add("--export", type=Path, metavar="FILE", help="the whole run, for --compare elsewhere")
    add(
        "--ablate",
        type=_ablation,
        action="append",
        nargs="?",
        const=Ablation("stages"),
        default=[],
        metavar="WHAT",
        help="stages (each search alone, the default), chunk=128,200,300 (tokens a chunk, a run "
        "each), k=3,5,8 (passages); can be given again",
    )
    add("--compare", metavar="RUN", help='an earlier run: id, "last", or an exported file')
    add("--gate", type=_gate, action="append", default=[], metavar="'METRIC>=VALUE'")
    add(
        "--resume", metavar="RUN", help='go on with a stopped run (its own questions): id or "last"'
    )
    add("--judge", action="store_true", help="let the language model judge the answers too")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object (the default)")
    form.add_argument("--table", action="store_true", help="a table for people")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """The exit code. Raises FootnoteError for what the user can mend."""
    if options.questions is None and not options.resume:
        raise EvaluationError("Name the questions to ask: --questions FILE.")
    from rag.evaluate.command import evaluate

    return evaluate(options, settings)


def _positive(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return value


def _ablation(text: str) -> Ablation:
    try:
        return parse(text)
    except EvaluationError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _gate(text: str) -> gates.Gate:
    try:
        return gates.parse(text)
    except EvaluationError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
