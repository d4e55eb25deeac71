"""Question sets from files: JSONL, CSV, and the BEIR layout. Every bad line is reported.

CSV has the same columns as JSONL has keys. Lists are separated by ";" in `pages`, `also_pages`,
`docs` and `tags`, by " ; " in `answers` and `facts`; `relevant`, `evidence`, `page_refs` and
`history` hold JSON.

BEIR (Thakur et al. 2021, "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of
Information Retrieval Models") is a folder with corpus.jsonl, queries.jsonl and qrels/<split>.tsv.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rag.errors import EvaluationError
from rag.evaluate.cases import Case, Problem
from rag.evaluate.records import Malformed, read, write

SPLITS = ("test", "dev", "train")
"""The order in which a BEIR folder's qrels are looked for."""


@dataclass(frozen=True, slots=True)
class CaseSet:
    name: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...] = ()
    digest: str = ""
    """SHA-256 of the cases, in hex: two runs are comparable when it is equal."""

    @property
    def unreadable(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.fatal)


def load(path: Path) -> CaseSet:
    """Reads a .jsonl or .csv file or a BEIR folder. Raises EvaluationError if it cannot be opened.

    A bad line becomes a Problem with its number; the good ones are kept.
    """
    if path.is_dir():
        return load_beir(path)
    text = _text(path)
    # Sets are told apart by their folder as often as by their name.
    name = f"{path.resolve().parent.name}/{path.name}"
    if path.suffix.lower() == ".csv":
        return _collect(name, _csv_records(path, text))
    return _collect(name, _json_lines(text))


def load_beir(folder: Path) -> CaseSet:
    """Queries that have judgements, with their grades. The passages are read by `passages`."""
    qrels = next((f for s in SPLITS if (f := folder / "qrels" / f"{s}.tsv").is_file()), None)
    if qrels is None or not (folder / "queries.jsonl").is_file():
        raise EvaluationError(
            f"{str(folder)!r} is not a question set: a folder needs queries.jsonl and "
            f"qrels/test.tsv (the BEIR layout). Otherwise give a .jsonl or .csv file."
        )
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    problems = []
    for number, line in enumerate(_text(qrels).splitlines(), 1):
        try:
            query, passage, grade = line.split("\t")
            if number > 1 or grade.lstrip("-").isdigit():
                grades[query][passage] = float(grade)
        except ValueError:
            problems.append(_unreadable(number, f"{qrels.name}: not query<TAB>passage<TAB>grade"))
    loaded = _collect(folder.name, _beir_records(_text(folder / "queries.jsonl"), grades))
    return replace(loaded, problems=(*problems, *loaded.problems))


def export(cases: Iterable[Case]) -> str:
    """The cases as JSONL, one a line; `load` reads it back."""
    return "".join(json.dumps(write(case), ensure_ascii=False) + "\n" for case in cases)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise EvaluationError(f"There is no question file {str(path)!r}.") from None
    except UnicodeDecodeError as error:
        raise EvaluationError(
            f"{str(path)!r} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from error
    except OSError as error:
        raise EvaluationError(f"{str(path)!r} cannot be read: {error.strerror}.") from error


Line = tuple[int, Mapping[str, object] | Malformed]


def _json_lines(text: str) -> Iterator[Line]:
    # Not splitlines(): U+2028 and its like are legal inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            yield number, Malformed(f"not JSON: {error.msg} at column {error.colno}")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            yield number, Malformed("not a JSON object")


def _csv_records(path: Path, text: str) -> Iterator[Line]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    if "question" not in (reader.fieldnames or ()):
        raise EvaluationError(
            f"{str(path)!r} has no column named question; its first row must name the columns."
        )
    rows = iter(reader)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, Malformed(f"not CSV: {error}")
            continue
        if None in row:
            yield reader.line_num, Malformed("more cells than columns; quote cells with commas")
            continue
        try:
            yield reader.line_num, {k: _cell(k, v) for k, v in row.items() if v and v.strip()}
        except ValueError as error:
            yield reader.line_num, Malformed(str(error))


def _cell(column: str, value: str) -> object:
    """A cell as the JSON value of its key. Raises ValueError."""
    if column in ("pages", "also_pages"):
        try:
            return [int(part) for part in value.split(";")]
        except ValueError:
            raise ValueError(f'"{column}" holds {value!r}; write pages as 3;4') from None
    if column in ("docs", "tags", "answers", "facts"):
        return [part.strip() for part in value.split(";") if part.strip()]
    if column in ("relevant", "evidence", "page_refs", "history"):
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f'"{column}" is not JSON: {error.msg}') from None
    if column == "answerable":
        word = value.strip().lower()
        if word in ("true", "yes", "1"):
            return True
        if word in ("false", "no", "0"):
            return False
        raise ValueError(f'"answerable" holds {value!r}; write true or false')
    return value


def _beir_records(text: str, grades: Mapping[str, Mapping[str, float]]) -> Iterator[Line]:
    for number, record in _json_lines(text):
        if isinstance(record, Malformed):
            yield number, record
        elif str(record.get("_id", "")) in grades:
            query = str(record["_id"])
            yield (
                number,
                {"id": query, "question": record.get("text"), "relevant": grades[query]},
            )


def _collect(name: str, lines: Iterable[Line]) -> CaseSet:
    cases: dict[str, Case] = {}
    problems = []
    for number, record in lines:
        if isinstance(record, Malformed):
            problems.append(_unreadable(number, str(record)))
            continue
        try:
            found = read(record, number)
        except Malformed as error:
            problems.append(_unreadable(number, str(error), str(record.get("id") or "")))
            continue
        for case in found:
            if case.id in cases:
                message = f"the id is already used on line {cases[case.id].line}"
                problems.append(_unreadable(number, message, case.id))
            else:
                cases[case.id] = case
    digest = hashlib.sha256(export(cases.values()).encode()).hexdigest()
    return CaseSet(name, tuple(cases.values()), tuple(problems), digest)


def _unreadable(line: int, message: str, case_id: str = "") -> Problem:
    return Problem(line, case_id, "unreadable", message, fatal=True)
