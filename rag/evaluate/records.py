"""How a case is written in a file: a record (JSON object) to a Case and back.

One JSON object a line. Only `question` is required. Keys, all optional unless said:

    id            unique in the set (default: line-<n>)
    question      required
    answer        the reference answer;  answers: aliases that are as good
    facts         what a right answer must say: strings; "a | b" when either will do
    doc / docs    the document's file name, or several
    pages         1-based physical pages of `doc` that hold the answer (without `doc`: the
                  evidence tells whose they are)
    page_refs     the same over several documents: [{"doc", "page"}, ...]
    pages_needed  "all" (default: the pages together hold the answer) or "any" (each page does)
    also_pages    pages of `doc` that say the same as a page in `pages`: they count as correct
    evidence      verbatim: [{"doc", "page", "text"}], or [{"doc", "start", "end", "text"}] and
                  [{"doc", "text"}] for documents without pages: its section is a right place too
    relevant      {passage id: grade} for sets of passages;  corpus: which of several collections
    category, lang, tags
    answerable    false when the documents do not say (default true)
    scope         "document": ask inside `doc` only; "corpus" (default): ask everywhere
    history       earlier turns: [{"question", "answer"}] or [{"speaker": "user"|..., "text"}]

`question_by_lang` / `answer_by_lang` make one case a language. Other keys are kept in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rag.evaluate.cases import Case, Evidence, PageRef, PagesNeeded
from rag.types import Turn


class Malformed(ValueError):
    """A record that is not a case; the message says which key is wrong and what it should be."""


def read(record: Mapping[str, object], line: int = 0) -> list[Case]:
    """The cases in one record: one, or one a language. Raises Malformed."""
    translations = _strings_by_key(record, "question_by_lang")
    if not translations:
        return [_case(record, line)]
    answers = _strings_by_key(record, "answer_by_lang")
    base = _case({**record, "question": next(iter(translations.values()))}, line)
    return [
        _case(
            {
                **{k: v for k, v in record.items() if not k.endswith("_by_lang")},
                "id": f"{base.id}@{language}",
                "question": question,
                "answer": answers.get(language),
                "lang": language,
            },
            line,
        )
        for language, question in translations.items()
    ]


def write(case: Case) -> dict[str, object]:
    """The record that `read` turns into the same case; empty values are left out."""
    in_doc = all(doc == case.doc for doc, _ in (*case.pages, *case.also_pages))
    record: dict[str, object] = {
        "id": case.id,
        "question": case.question,
        "answer": case.answers[0] if case.answers else None,
        "answers": list(case.answers[1:]),
        "facts": [" | ".join(wordings) for wordings in case.facts],
        "doc": case.doc,
        "docs": list(case.docs),
        "pages": [page for _, page in case.pages] if in_doc else [],
        "page_refs": [] if in_doc else [{"doc": d, "page": p} for d, p in case.pages],
        "also_pages": [page for doc, page in case.also_pages if doc == case.doc],
        "pages_needed": "" if case.pages_needed == "all" else case.pages_needed,
        "evidence": [
            {key: value for key, value in _evidence_items(e) if value not in (None, "")}
            for e in case.evidence
        ],
        "relevant": dict(case.relevant),
        "corpus": case.corpus,
        "category": case.category,
        "lang": case.language,
        "tags": list(case.tags),
        "history": [{"question": t.question, "answer": t.answer} for t in case.history],
    }
    kept = {key: value for key, value in record.items() if value not in (None, "", [], {})}
    return {**kept, "answerable": case.answerable, "scope": case.scope, **case.extra}


def _evidence_items(evidence: Evidence) -> Iterable[tuple[str, object]]:
    return ((name, getattr(evidence, name)) for name in ("doc", "page", "start", "end", "text"))


_KNOWN = frozenset(
    (
        *("id", "question", "answer", "answers", "facts", "doc", "docs", "pages", "page_refs"),
        *("pages_needed", "also_pages", "evidence", "relevant", "corpus", "category", "lang"),
        *("tags", "answerable", "scope", "history"),
    )
)


def _case(record: Mapping[str, object], line: int) -> Case:
    question = _string(record, "question")
    if not question.strip():
        raise Malformed('"question" is missing or empty')
    doc = _string(record, "doc")
    scope = _choice(record, "scope", ("corpus", "document"), "corpus")
    if scope == "document" and not doc:
        raise Malformed('"scope" is "document" but "doc" names none')
    evidence = _evidence(record, doc)
    return Case(
        id=_string(record, "id") or f"line-{line}",
        question=question,
        answers=_answers(record),
        facts=tuple(
            tuple(w.strip() for w in fact.split(" | ") if w.strip())
            for fact in _strings(record, "facts")
        ),
        doc=doc,
        docs=_strings(record, "docs"),
        pages=_pages(record, doc, evidence),
        also_pages=_pages_of(record, "also_pages", doc),
        pages_needed=_needed(record),
        evidence=evidence,
        relevant=_grades(record),
        corpus=_string(record, "corpus"),
        category=_string(record, "category"),
        language=_string(record, "lang"),
        tags=_strings(record, "tags"),
        answerable=_flag(record, "answerable", True),
        scope="document" if scope == "document" else "corpus",
        history=_history(record),
        extra={key: value for key, value in record.items() if key not in _KNOWN},
        line=line,
    )


def _answers(record: Mapping[str, object]) -> tuple[str, ...]:
    wordings = (_string(record, "answer"), *_strings(record, "answers"))
    return tuple(dict.fromkeys(wording for wording in wordings if wording.strip()))


def _needed(record: Mapping[str, object]) -> PagesNeeded:
    # Pages that were derived by looking for the answer's numbers are places that each hold them.
    default = "any" if "(derived)" in str(record.get("page_check", "")) else "all"
    chosen = _choice(record, "pages_needed", ("all", "any"), default)
    return "any" if chosen == "any" else "all"


def _pages(
    record: Mapping[str, object], doc: str, evidence: tuple[Evidence, ...]
) -> tuple[PageRef, ...]:
    """From `page_refs`, else `pages`, else the pages that the evidence names."""
    refs = [
        (_string(item, "doc") or doc, _page_number(item.get("page"), "page_refs"))
        for item in _objects(record, "page_refs")
    ]
    shown = [(e.doc, e.page) for e in evidence if e.page is not None]
    if not refs and not doc:
        # Over several documents, the evidence says which page is whose.
        numbers = {_page_number(value, "pages") for value in _list(record, "pages")}
        unknown = numbers - {page for _, page in shown}
        if unknown:
            raise Malformed(
                f'"pages" holds {min(unknown)}, but of which document? Name it in "doc", or use '
                '"page_refs"'
            )
    refs = refs or (list(_pages_of(record, "pages", doc)) if doc else []) or shown
    return tuple(dict.fromkeys(refs))


def _pages_of(record: Mapping[str, object], key: str, doc: str) -> tuple[PageRef, ...]:
    values = _list(record, key)
    if values and not doc:
        raise Malformed(f'"{key}" needs "doc"')
    return tuple((doc, _page_number(value, key)) for value in values)


def _page_number(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Malformed(f'"{key}" holds {value!r}; a page is a whole number from 1')
    return value


def _evidence(record: Mapping[str, object], doc: str) -> tuple[Evidence, ...]:
    found = []
    for item in _objects(record, "evidence"):
        text = _string(item, "text")
        start, end = _offset(item, "start"), _offset(item, "end")
        if start is not None and end is None:
            end = start + len(text)
        page = item.get("page")
        found.append(
            Evidence(
                doc=_string(item, "doc") or doc,
                text=text,
                page=None if page is None else _page_number(page, "evidence"),
                start=start,
                end=end,
            )
        )
    return tuple(found)


def _offset(item: Mapping[str, object], key: str) -> int | None:
    value = item.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Malformed(f'"{key}" of an evidence holds {value!r}; it is a whole number from 0')
    return value


def _grades(record: Mapping[str, object]) -> dict[str, float]:
    value = record.get("relevant") or {}
    if not isinstance(value, Mapping):
        raise Malformed('"relevant" must be an object: {passage id: grade}')
    grades = {}
    for passage, grade in value.items():
        if isinstance(grade, bool) or not isinstance(grade, int | float):
            raise Malformed(f'"relevant" has the grade {grade!r}; a grade is a number')
        grades[str(passage)] = float(grade)
    return grades


def _history(record: Mapping[str, object]) -> tuple[Turn, ...]:
    """Turns from pairs, or from a list of speakers (each user text starts a turn)."""
    turns: list[Turn] = []
    for item in _objects(record, "history"):
        if "speaker" not in item:
            turns.append(Turn(_string(item, "question"), _string(item, "answer")))
        elif item["speaker"] == "user":
            turns.append(Turn(_string(item, "text"), ""))
        elif turns:
            last = turns.pop()
            text = f"{last.answer}\n\n{_string(item, 'text')}".strip()
            turns.append(Turn(last.question, text))
    return tuple(turns)


def _string(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Malformed(f'"{key}" holds {type(value).__name__}; it must be text')
    return str(value)


def _list(record: Mapping[str, object], key: str) -> list[object]:
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f'"{key}" must be a list')
    return value


def _strings(record: Mapping[str, object], key: str) -> tuple[str, ...]:
    values = _list(record, key)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise Malformed(f'"{key}" holds {value!r}; it must be a list of texts')
    return tuple(str(value) for value in values)


def _objects(record: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    values = _list(record, key)
    found: list[Mapping[str, object]] = []
    for value in values:
        if not isinstance(value, Mapping):
            raise Malformed(f'"{key}" holds {value!r}; it must be a list of objects')
        found.append(value)
    return found


def _strings_by_key(record: Mapping[str, object], key: str) -> dict[str, str]:
    value = record.get(key) or {}
    if not isinstance(value, Mapping):
        raise Malformed(f'"{key}" must be an object: {{language: text}}')
    return {str(name): str(text) for name, text in value.items()}


def _flag(record: Mapping[str, object], key: str, default: bool) -> bool:
    value = record.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise Malformed(f'"{key}" holds {value!r}; it must be true or false')
    return value


def _choice(record: Mapping[str, object], key: str, allowed: tuple[str, ...], default: str) -> str:
    value = _string(record, key) or default
    if value not in allowed:
        raise Malformed(f'"{key}" holds {value!r}; it must be one of {", ".join(allowed)}')
    return value
