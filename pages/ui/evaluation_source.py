"""Where questions come from: the samples, the user's own sets, a file."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.typing import UploadedFile

from pages.ui.words import plain
from rag import samples
from rag.errors import EvaluationError, FootnoteError
from rag.evaluate.library import QuestionSets
from rag.evaluate.load import CaseSet, load

SAMPLES = "Sample questions"
_SAMPLE, _UPLOAD = "\0samples", "\0upload"
"""No name of a set can be one of these."""
_FORMAT = """One question a line, as JSON. Only `question` is required:

```json
{"question": "How wide does it turn?", "answer": "5.8 m", "doc": "manual.pdf", "pages": [3]}
{"question": "Who designed the bell?", "answerable": false}
```

- `pages` count from the first page of the file.
- `evidence` is copied from the page, word for word: `[{"doc": "a.pdf", "page": 3, "text": "…"}]`.
- `answerable` is `false` where the documents do not say, so that a refusal is right.
- `facts` (what a right answer must say), `category`, `lang` and `tags` are useful, too.
- CSV has the same names as columns; several pages are written `3;4`."""


def draw_source(sets: QuestionSets) -> CaseSet | None:
    names = sets.names()
    labels = {_SAMPLE: f"{SAMPLES} (they come with Footnote)", _UPLOAD: "A file of mine…"}
    options = [_SAMPLE, *names, _UPLOAD]
    if st.session_state.get("set") not in options:
        st.session_state.set = _SAMPLE
    chosen = st.selectbox(
        "Questions",
        options,
        format_func=lambda name: labels.get(name, name),
        key="set",
        persist_state="session",
    )
    try:
        if chosen == _SAMPLE:
            return replace(load(samples.questions()), name=SAMPLES)
        if chosen != _UPLOAD:
            found = sets.load(chosen)
            if not found.cases and not found.problems:
                st.info(
                    "This set is empty. Add questions in Chat, under an answer, in the Library, "
                    "beside a page, or by hand in Question sets.",
                    icon=":material/info:",
                )
            return found
        file = st.file_uploader("JSONL or CSV", type=["jsonl", "csv"], key="question_set")
        with st.expander("What the file looks like", type="compact", icon=":material/help:"):
            st.markdown(_FORMAT)
        if file is None:
            return None
        found = read_upload(file)
        _draw_keep(sets, found)
        return found
    except FootnoteError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def _draw_keep(sets: QuestionSets, found: CaseSet) -> None:
    """A set of one's own can be added to and edited; an upload is gone with the browser tab."""
    if found.cases and found.name not in sets.names():
        st.button(
            "Keep it among my question sets",
            icon=":material/bookmark_add:",
            key="keep_upload",
            type="tertiary",
            on_click=_keep,
            args=(sets, found),
        )


def _keep(sets: QuestionSets, found: CaseSet) -> None:
    try:
        st.session_state.set = sets.create(found.name, found.cases)
    except EvaluationError as error:
        st.toast(plain(str(error)), icon=":material/error:")


def read_upload(file: UploadedFile) -> CaseSet:
    """The questions of a JSONL or CSV file; its name is no path. Raises EvaluationError."""
    suffix = ".csv" if file.name.lower().endswith(".csv") else ".jsonl"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"set{suffix}"
        path.write_bytes(file.getvalue())
        try:
            return replace(load(path), name=Path(file.name).stem)
        except EvaluationError as error:
            raise EvaluationError(str(error).replace(str(path), file.name)) from error
