"""Runs on disk: a folder each, one line a case, so that nothing computed is ever lost.

runs/<id>/run.json       the Run: configuration and state, replaced as a whole
runs/<id>/cases.jsonl    a Record a line, appended and flushed as each case is done
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from rag.errors import EvaluationError, NotFound
from rag.evaluate.blame import Blame
from rag.evaluate.metrics.retrieval import Gold
from rag.evaluate.metrics.spans import Span
from rag.evaluate.stages import Found
from rag.evaluate.stats import Ratio
from rag.types import Answer

Mode = Literal["retrieval", "reader", "agent"]
RunState = Literal["running", "stopped", "finished"]
"""A run that a crash ended is still `running` on disk; it can be resumed like a stopped one."""
FORMAT = 1
_T = TypeVar("_T")
_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    created: str
    """UTC, ISO 8601."""
    set_name: str
    set_digest: str
    mode: Mode
    top_k: int
    """The k of hit@k and MRR@k."""
    cases: int
    """How many the run has to ask."""
    limit: int | None = None
    """Only the first `limit` cases that apply; None for all."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Everything that may change the result; see `config.describe`."""
    problems: tuple[str, ...] = ()
    """What the validation of the set found, one line each."""
    state: RunState = "running"
    message: str = ""
    """Why it stopped."""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One case of a run, with everything that was found, said and spent."""

    id: str
    question: str
    category: str = ""
    language: str = ""
    answerable: bool = True
    scope: str = "corpus"
    right: tuple[tuple[str, int, float], ...] = ()
    """The right places: document, page, grade. Empty when the set does not say."""
    needed: int = 0
    """How many of them make a complete find."""
    evidence: tuple[Span, ...] = ()
    """The evidence's characters, where it could be located."""
    found: tuple[Found, ...] = ()
    answer: Answer | None = None
    cited: tuple[tuple[str, int], ...] = ()
    """The place of each of the answer's citations, named as in `right`."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Per stage of the search or the answer; `total` is wall time."""
    scores: Mapping[str, Ratio] = field(default_factory=dict)
    blame: Blame = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """The judge's raw replies."""
    error: str = ""
    """Why the case could not be asked; it is asked again on resume."""

    @property
    def gold(self) -> Gold | None:
        grades = {(doc, page): grade for doc, page, grade in self.right}
        return Gold(grades, self.needed) if grades else None


_RUN = TypeAdapter(Run)
_RECORD = TypeAdapter(Record)


class RunStore:
    """The runs in one folder. Two runs may be written at once; one run by one thread only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, run: Run) -> None:
        self._place(run.id).mkdir(parents=True)
        self.save(run)

    def save(self, run: Run) -> None:
        place = self._place(run.id) / "run.json"
        draft = place.with_suffix(".tmp")
        draft.write_bytes(_RUN.dump_json(run, indent=1))
        draft.replace(place)

    def append(self, run_id: str, record: Record) -> None:
        """On disk when it returns: a crash costs the case in work at most."""
        path = self._place(run_id) / "cases.jsonl"
        with path.open("ab") as file:
            if file.tell() and not _ends_with_newline(path):
                file.write(b"\n")  # a line torn by a crash must not swallow this one
            file.write(_RECORD.dump_json(record) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def runs(self) -> list[Run]:
        """Newest first."""
        found = [self.run(path.parent.name) for path in self.folder.glob("*/run.json")]
        return sorted(found, key=lambda run: (run.created, run.id), reverse=True)

    def run(self, run_id: str) -> Run:
        """Raises NotFound, or EvaluationError for a damaged one."""
        path = self._place(run_id) / "run.json"
        try:
            return _validated(_RUN, path.read_bytes(), str(path))
        except FileNotFoundError:
            raise NotFound(f"There is no run {run_id!r}.") from None

    def find(self, name: str) -> Run:
        """By id, by a start of an id that only one has, or "last". Raises NotFound."""
        runs = self.runs()
        if name == "last" and runs:
            return runs[0]
        matches = [run for run in runs if run.id == name]
        matches = matches or [run for run in runs if name and run.id.startswith(name)]
        if len(matches) == 1:
            return matches[0]
        kept = ", ".join(run.id for run in (matches or runs)[:5]) or "none yet"
        problem = "names several runs" if matches else "is no run"
        raise NotFound(f"{name!r} {problem}. Runs: {kept}.")

    def records(self, run_id: str) -> dict[str, Record]:
        """By case id; of a case that was asked again, the last.

        A line torn by a crash is left out: its case is asked again on resume. Raises
        EvaluationError for a whole line that is not a record.
        """
        found: dict[str, Record] = {}
        for number, line in enumerate(self._lines(run_id), 1):
            try:
                json.loads(line)
            except ValueError:
                continue
            record = _validated(_RECORD, line, f"Line {number} of the run {run_id!r}")
            found[record.id] = record
        return found

    def delete(self, run_id: str) -> None:
        self.run(run_id)
        shutil.rmtree(self._place(run_id))

    def export(self, run_id: str) -> bytes:
        """One JSON file with everything, for `load_export`."""
        run, records = self.run(run_id), self.records(run_id)
        return dump_export(run, list(records.values()))

    def import_(self, content: bytes) -> Run:
        """Adds an exported run. Raises EvaluationError for another file or a run that is here."""
        run, records = load_export(content)
        if (self._place(run.id) / "run.json").exists():
            raise EvaluationError(f"The run {run.id!r} is already here.")
        self.create(run)
        for record in records.values():
            self.append(run.id, record)
        return run

    def _place(self, run_id: str) -> Path:
        if not _RUN_ID.fullmatch(run_id):
            raise NotFound(f"{run_id!r} is not the id of a run.")
        return self.folder / run_id

    def _lines(self, run_id: str) -> Iterator[bytes]:
        path = self._place(run_id) / "cases.jsonl"
        if path.exists():
            with path.open("rb") as file:
                yield from file


def new_id(now: datetime) -> str:
    """Sorts by time; the random part keeps two runs of one second apart."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def dump_export(run: Run, records: Sequence[Record]) -> bytes:
    return json.dumps(
        {
            "footnote_run": FORMAT,
            "run": _RUN.dump_python(run, mode="json"),
            "cases": [_RECORD.dump_python(r, mode="json") for r in records],
        },
        ensure_ascii=False,
    ).encode()


def load_export(content: bytes) -> tuple[Run, dict[str, Record]]:
    """Raises EvaluationError when it is not an exported run, or one of a later format."""
    try:
        parts = json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError):
        parts = None
    if not isinstance(parts, dict) or "footnote_run" not in parts:
        raise EvaluationError("This file is not an exported evaluation run.")
    if parts["footnote_run"] != FORMAT:
        raise EvaluationError(
            f"This run has format {parts['footnote_run']!r}; this version reads format {FORMAT}."
        )
    run = _validated(_RUN, json.dumps(parts.get("run")).encode(), "the file's run")
    cases = parts.get("cases") or []
    records = [_validated(_RECORD, json.dumps(case).encode(), "the file's cases") for case in cases]
    finished = replace(run, state="stopped") if run.state == "running" else run
    return finished, {record.id: record for record in records}


def _validated(kind: TypeAdapter[_T], content: bytes, where: str) -> _T:
    try:
        return kind.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "its top"
        raise EvaluationError(f"{where} is damaged: {first['msg']} at {place}.") from error


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
