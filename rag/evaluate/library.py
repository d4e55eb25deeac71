"""The user's own question sets: one JSONL file each, replaced as a whole, never half written.

A set's name is its file's name, so a copied folder is a backup, and any editor can change a set.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from rag.errors import EvaluationError, NotFound
from rag.evaluate.cases import Case
from rag.evaluate.load import CaseSet, export, load

FOLDER = "questions"
"""The folder inside the data folder."""
DRAFTS = "drafts"
"""The folder inside it: questions that a model wrote and nobody has approved yet."""

_NAME = re.compile(r"[^\W_](?:[\w ,()'’.-]{0,58}[\w)'’])?")
_LOCK = threading.Lock()
"""Two browser windows may add to one set at once; every change reads the file and writes it."""


class QuestionSets:
    """The sets in one folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """By alphabet."""
        return sorted((path.stem for path in self.folder.glob("*.jsonl")), key=str.casefold)

    def load(self, name: str) -> CaseSet:
        """Raises NotFound, or EvaluationError when the file is not text."""
        path = self._path(name)
        if not path.is_file():
            raise NotFound(f"There is no question set {name!r}.")
        return replace(load(path), name=name)

    def create(self, name: str, cases: Iterable[Case] = ()) -> str:
        """A new set under this name, which is returned as it is kept.

        Raises EvaluationError for a name that cannot be a file's, or that is taken.
        """
        name = " ".join(name.split())
        with _LOCK:
            self._free(name)
            self._write(name, cases)
        return name

    def add(self, name: str, case: Case) -> Case:
        """The case as it is kept: with an id of its own. A set that is not there is begun.

        Raises EvaluationError when the set asks the same already.
        """
        case = replace(case, id=f"q-{secrets.token_hex(4)}")

        def change(cases: list[Case]) -> list[Case]:
            if _asked(case) in map(_asked, cases):
                raise EvaluationError(
                    f"{name!r} has the question {case.question!r} already. Change the one that is "
                    "there, or word this one differently."
                )
            return [*cases, case]

        with _LOCK:
            if self._path(name).is_file():
                self._change(name, change)
            else:
                self._free(name)
                self._write(name, [case])
        return case

    def put(self, name: str, case: Case) -> None:
        """In place of the case with the same id. Raises NotFound when there is none."""

        def change(cases: list[Case]) -> list[Case]:
            _find(cases, case.id, name)
            return [case if kept.id == case.id else kept for kept in cases]

        with _LOCK:
            self._change(name, change)

    def remove(self, name: str, case_id: str) -> Case:
        """The case that was taken out. Raises NotFound."""
        removed: list[Case] = []

        def change(cases: list[Case]) -> list[Case]:
            removed.append(_find(cases, case_id, name))
            return [kept for kept in cases if kept.id != case_id]

        with _LOCK:
            self._change(name, change)
        return removed[0]

    def rename(self, name: str, new: str) -> str:
        """The new name as it is kept. Raises NotFound, EvaluationError."""
        new = " ".join(new.split())
        with _LOCK:
            if not self._path(name).is_file():
                raise NotFound(f"There is no question set {name!r}.")
            if new != name:
                self._free(new, but=name)
                self._path(name).rename(self._path(new))
        return new

    def delete(self, name: str) -> None:
        """With all its questions. Raises NotFound."""
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise NotFound(f"There is no question set {name!r}.") from None

    def _change(self, name: str, change: Callable[[list[Case]], list[Case]]) -> None:
        found = self.load(name)
        if found.unreadable:
            # Writing the set again would lose what could not be read.
            raise EvaluationError(
                f"{name!r} cannot be changed here: {found.unreadable[0]}. Mend or delete that "
                f"line in {str(self._path(name))!r} first."
            )
        self._write(name, change(list(found.cases)))

    def _write(self, name: str, cases: Iterable[Case]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self._path(name).with_suffix(".tmp")
        draft.write_text(export(cases), encoding="utf-8")
        draft.replace(self._path(name))

    def _free(self, name: str, but: str = "") -> None:
        self._path(name)
        # "Costs" and "costs" are one file on some systems.
        taken = {kept.casefold() for kept in self.names() if kept != but}
        if name.casefold() in taken:
            raise EvaluationError(f"There is a question set {name!r} already. Use another name.")

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise EvaluationError(
                f"{name!r} cannot name a question set: use letters, digits, spaces and hyphens, "
                "60 at most, and begin with a letter or a digit."
            )
        return self.folder / f"{name}.jsonl"


def _asked(case: Case) -> tuple[object, ...]:
    """What makes two questions the same, whatever is known about them."""
    where = case.doc if case.scope == "document" else ""
    return " ".join(case.question.casefold().split()), where, case.history


def _find(cases: Iterable[Case], case_id: str, name: str) -> Case:
    for case in cases:
        if case.id == case_id:
            return case
    raise NotFound(f"The question {case_id!r} is no longer in {name!r}.")
