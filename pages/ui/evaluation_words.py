"""Numbers of an evaluation in words, for people who never heard of their names. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pages.ui.words import many
from rag.evaluate.compare import Comparison
from rag.evaluate.names import Metric, metric
from rag.evaluate.outcome import outcomes
from rag.evaluate.runs import Mode, Record, Run
from rag.evaluate.scores import Summary
from rag.evaluate.stats import Difference, Estimate
from rag.place import place
from rag.types import Unit

MODES: Mapping[Mode, str] = {
    "retrieval": "Search only",
    "reader": "Answers by the reader",
    "agent": "Answers by a language model",
}
_NO_SHARE = {"mrr", "ndcg", "similarity", "rouge_l", "token_f1", "evidence_iou"}
"""Between 0 and 1, but a percentage of nothing."""
_SEARCH = ("hit@{k}", "hit@1", "mrr@{k}", "recall@{k}")
_ANSWERS = (
    *("fact_recall", "citation_page_precision", "citation_page_recall", "quotes_verified"),
    *("refusal_recall", "refusal_precision", "hit@{k}", "mrr@{k}"),
)
_JUDGE = ("judge_correct", "judge_grounded", "judge_relevant")


def named(key: str) -> Metric:
    """The Metric of a score's key; "in the first 1" is said as people say it."""
    found = metric(key)
    if key == "hit@1":
        return replace(
            found,
            name="Right page at the top",
            meaning="How often the very first page found is a right one.",
        )
    return found


def amount(key: str, value: float, digits: int = 0) -> str:
    """A metric's value as people write it; `digits` are a percentage's decimals."""
    if key == "cost":
        return f"${value:.4f}"
    if not metric(key).share:
        return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    if key.partition("@")[0] in _NO_SHARE:
        return f"{value:.2f}"
    return f"{100 * value:.{digits}f} %"


def interval(key: str, found: Estimate, digits: int = 0) -> str:
    return f"{amount(key, found.low, digits)} to {amount(key, found.high, digits)}"


def change(key: str, value: float) -> str:
    """A difference with its sign; of percentages in points."""
    number, unit = _change(key, value)
    return f"{number}{unit}"


def change_interval(key: str, found: Difference) -> str:
    (low, _), (high, unit) = _change(key, found.low), _change(key, found.high)
    return f"{low} to {high}{unit}"


def _change(key: str, value: float) -> tuple[str, str]:
    text = amount(key, abs(value), 1)
    number, percent, _ = text.partition(" %")
    zero = not any(char in "123456789" for char in number)
    sign = "" if zero else "+" if value > 0 else "−"
    return sign + number, " points" if percent else ""


def counted(key: str, records: Iterable[Record]) -> int:
    """The questions that a number rests on: of refusals, only those where one was due or made."""
    return sum(not r.error and key in r.scores and r.scores[key][1] > 0 for r in records)


def headline(run: Run, summary: Summary) -> list[str]:
    """The metrics to show first, those that the run has."""
    wanted = _SEARCH if run.mode == "retrieval" else (*_JUDGE, *_ANSWERS)
    keys = [key.format(k=run.top_k) for key in wanted]
    return [key for key in dict.fromkeys(keys) if key in summary.metrics]


def when(iso: str) -> str:
    """A moment in local time, short enough for a list."""
    return f"{datetime.fromisoformat(iso).astimezone():%d %b %Y, %H:%M}"


def run_label(run: Run) -> str:
    """One line that tells a run from the others."""
    asked = MODES[run.mode].lower()
    if run.mode == "agent" and (model := run.config.get("model")):
        asked = f"answers by {model}"
    parts = [run.label, run.set_name, asked, when(run.created)]
    return " · ".join(part for part in parts if part)


def run_labels(runs: Mapping[str, Run]) -> dict[str, str]:
    """A label by run id, no two alike: a select box tells its options apart by their labels."""
    labels = {run_id: run_label(run) for run_id, run in runs.items()}
    often = Counter(labels.values())
    return {
        run_id: f"{label} ({run_id[-4:]})" if often[label] > 1 else label
        for run_id, label in labels.items()
    }


def about_run(run: Run, records: Sequence[Record]) -> str:
    """What was asked of what, on one line."""
    parts = [many(len(records), "question")]
    for key, one in (("collection.pages", "page"), ("collection.passages", "passage")):
        if (count := run.config.get(key, "")).isdigit():
            parts.append(f"library of {many(int(count), one)}")
    if judge := run.config.get("judge"):
        parts.append(f"judged by {judge}")
    return " · ".join(parts)


def verdict_of(run: Run, records: Sequence[Record]) -> str:
    """The result in one or two sentences of Markdown."""
    kept = [record for record in records if not record.error]
    said = []
    if placed := [r for r in kept if f"hit@{run.top_k}" in r.scores]:
        hits, first = (sum(r.scores[f"hit@{k}"][0] > 0 for r in placed) for k in (run.top_k, 1))
        said.append(
            f"The right page was among the first {run.top_k} for **{hits} of "
            f"{many(len(placed), 'question')}**, and it was the very first for {first}."
        )
    counts = outcomes(run, kept)
    if run.mode != "retrieval" and kept:
        right = counts.get("Right page cited", 0)
        answered = right + counts.get("Other pages cited", 0) + counts.get("Answered", 0)
        asked = answered + counts.get("Refused wrongly", 0)
        said.insert(
            0,
            f"**{answered} of {many(asked, 'question')}** that the documents answer got an "
            f"answer, {right} of them with the right page as a source.",
        )
        refused = counts.get("Refused rightly", 0)
        if hopeless := refused + counts.get("Should have refused", 0):
            said.insert(1, f"**{refused} of {hopeless}** that they do not answer were refused.")
    return " ".join(said)


def compared_in_words(compared: Comparison, keys: Sequence[str]) -> str:
    """What changed beyond noise among `keys`, which both runs have, as Markdown."""
    better: list[str] = []
    worse: list[str] = []
    for key in keys:
        found = compared.metrics[key]
        if not found.beyond_noise:
            continue
        words = named(key)
        up = found.direction(words.higher_is_better) == "better"
        (better if up else worse).append(f"{words.name} ({change(key, found.value)})")
    if not any(compared.metrics[k].wins or compared.metrics[k].losses for k in keys):
        return "**No difference.** Every question came out the same in both runs."
    if not better and not worse:
        return (
            "**No difference beyond noise.** What differs between the two runs is no more than "
            f"chance could do with {many(compared.n, 'question')}."
        )
    said = [f"**Better:** {', '.join(better)}."] if better else []
    if worse:
        said.append(f"**Worse:** {', '.join(worse)}.")
    return " ".join([*said, "The rest is no difference beyond noise."])


def time_left(seconds: float | None) -> str:
    """Rounded, as a guess should be; "" when nothing is known yet."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"about {max(1, round(seconds))} s left"
    minutes = seconds / 60
    return (
        f"about {round(minutes)} min left" if minutes < 90 else f"about {minutes / 60:.1f} h left"
    )


def where(doc: str, page: int, units: Mapping[str, Unit]) -> str:
    """A place of a run; a document that is not in the library is taken to have pages."""
    return f"{doc}, {page_name(page, units.get(doc, 'page'))}"


def page_name(page: int, unit: Unit) -> str:
    """Question sets count from the first page of the file, whatever is printed on it."""
    return f"file page {page}" if unit == "page" else place(unit, page)


_TELLING = {
    "collection.documents": "the documents",
    "collection.pages": "the pages",
    "collection.chunks": "the passages",
    "embedder": "the embedding model",
    "reranker": "the re-ranker",
    "chunk_tokens": "the passage size",
    "chunk_overlap": "the passage overlap",
    "candidates": "the candidates of a search",
    "answer_top_k": "the passages of an answer",
    "model": "the language model",
    "code": "Footnote itself",
}
"""The configuration that people can make sense of, as they would name it."""


def drift(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What has changed since a run began that may change its results."""
    return [
        name
        for key, name in _TELLING.items()
        if key in before and key in now and before[key] != now[key]
    ]
