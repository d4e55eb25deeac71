"""What became of a case in one word, and finding cases by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from rag.evaluate.runs import Record, Run

Outcome = Literal[
    "Found",
    "Missed",
    "Right page cited",
    "Other pages cited",
    "Answered",
    "Refused rightly",
    "Refused wrongly",
    "Should have refused",
    "Failed",
]
MEANINGS: Mapping[Outcome, str] = {
    "Found": "A right page was among the first that were found.",
    "Missed": "No right page was among the first that were found.",
    "Right page cited": "The answer cites a right page.",
    "Other pages cited": "The answer cites only pages that are not known to be right.",
    "Answered": "There is an answer; the question does not say which page is right.",
    "Refused rightly": "The documents do not answer this, and so the answer said.",
    "Refused wrongly": "The documents answer this, but the answer was a refusal.",
    "Should have refused": "The documents do not answer this, but an answer was given.",
    "Failed": "It could not be asked; it is asked again when the run goes on.",
}
WRONG: frozenset[Outcome] = frozenset(
    ("Missed", "Other pages cited", "Refused wrongly", "Should have refused", "Failed")
)


def outcome(run: Run, record: Record) -> Outcome:
    if record.error:
        return "Failed"
    answer = record.answer
    if answer is None:
        hit, _ = record.scores.get(f"hit@{run.top_k}", (0.0, 1.0))
        return "Found" if hit else "Missed"
    if not record.answerable:
        return "Refused rightly" if answer.refused else "Should have refused"
    if answer.refused:
        return "Refused wrongly"
    if not record.right:
        return "Answered"
    right = {(doc, page) for doc, page, _ in record.right}
    return "Right page cited" if right & set(record.cited) else "Other pages cited"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cases to show; an empty value lets all pass."""

    outcomes: frozenset[Outcome] = frozenset()
    blame: str = ""
    category: str = ""
    language: str = ""
    text: str = ""
    """Words that the question or the answer must hold, each of them, in any case."""

    def keeps(self, run: Run, record: Record) -> bool:
        said = record.question + " " + (record.answer.text if record.answer else "")
        wanted = self.text.casefold().split()
        return (
            (not self.outcomes or outcome(run, record) in self.outcomes)
            and self.blame in ("", record.blame)
            and self.category in ("", record.category)
            and self.language in ("", record.language)
            and all(word in said.casefold() for word in wanted)
        )


def outcomes(run: Run, records: Iterable[Record]) -> dict[Outcome, int]:
    """How often each came about, in the order above; those that never did are left out."""
    counts = Counter(outcome(run, record) for record in records)
    return {name: counts[name] for name in MEANINGS if counts[name]}
