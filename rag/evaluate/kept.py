"""The questions of a run, kept beside it: a run can go on whatever has become of its set.

runs/<id>/questions.jsonl    the set as it was when the run began
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from rag.evaluate.cases import Case
from rag.evaluate.load import CaseSet, export, load
from rag.evaluate.records import Malformed, read, write
from rag.evaluate.runs import Run, RunStore

_FILE = "questions.jsonl"


def create(store: RunStore, run: Run, cases: CaseSet) -> None:
    """Begins a run on disk, with its questions."""
    store.create(run)
    _keep(store, run.id, cases.cases)


def questions(store: RunStore, run: Run) -> CaseSet | None:
    """None when they were not kept, as in runs of earlier versions, or have been changed."""
    path = store.folder / run.id / _FILE
    if not path.is_file():
        return None
    found = replace(load(path), name=run.set_name)
    return found if found.digest == run.set_digest else None


def export_run(store: RunStore, run: Run) -> bytes:
    """The exported run with its questions; readers that know of none ignore them."""
    parts = json.loads(store.export(run.id))
    if (cases := questions(store, run)) is not None:
        parts["questions"] = [write(case) for case in cases.cases]
    return json.dumps(parts, ensure_ascii=False).encode()


def import_run(store: RunStore, content: bytes) -> Run:
    """Adds an exported run. Raises EvaluationError for another file or a run that is here."""
    run = store.import_(content)
    records = json.loads(content).get("questions")
    if isinstance(records, list):
        # Without them the run can be looked at, only not gone on with.
        with suppress(Malformed, AttributeError):
            _keep(store, run.id, [case for record in records for case in read(record)])
    return run


def _keep(store: RunStore, run_id: str, cases: Iterable[Case]) -> None:
    (store.folder / run_id / _FILE).write_text(export(cases), encoding="utf-8")
