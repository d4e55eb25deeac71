"""The names that the model calls documents by -> the documents, and lists of them for the model."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import process

from rag.agent_tools import BadCall
from rag.sources import Sources

LISTED = 200
SUGGESTED = 5
"""For a name that no document has."""


def find(name: str, sources: Sources) -> str:
    """The id of the document that is meant; case, folder and extension may be left out.

    Raises BadCall with the names that are nearest.
    """
    wanted = name.strip().casefold()
    owns = {own.casefold(): document.id for own, document in sources.names.items()}
    if wanted in owns:
        return owns[wanted]
    ids = [own_id for own, own_id in owns.items() if wanted in _short_forms(own)]
    if len(ids) == 1:
        return ids[0]
    near = {own for own, *_ in process.extract(wanted, owns.keys(), limit=SUGGESTED)}
    names = [own for own in sources.names if own.casefold() in near]
    raise BadCall(
        f"No document is called {name!r}. The nearest of {len(owns)} are:\n{listed(names, sources)}"
    )


def holding(words: str, sources: Sources) -> list[str]:
    """The names that hold all of the words; all names when there are none."""
    wanted = words.casefold().split()
    return [own for own in sources.names if all(word in own.casefold() for word in wanted)]


def listed(names: Sequence[str], sources: Sources) -> str:
    """The names between delimiters, each with its size and language."""
    lines = []
    for name in names[:LISTED]:
        document = sources.names[name]
        plural = "" if document.page_count == 1 else "s"
        language = f", language {document.language}" if document.language else ""
        pages = f"{document.page_count} {document.unit}{plural}"
        lines.append(f"{sources.quoted(name)}: {pages}{language}")
    if len(names) > LISTED:
        lines.append(f"and {len(names) - LISTED} more: name words of theirs to see them")
    return sources.delimited("documents", {}, "\n".join(lines))


def _short_forms(name: str) -> set[str]:
    """How a model may shorten "folder/report.pdf"."""
    file = name.rpartition("/")[2]
    return {file, file.rpartition(".")[0], name.rpartition(".")[0]}
