"""How a document's pages were read -> what the user should know about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.types import PageReport, Unit, Warning

CODES = frozenset(
    {
        "no_text",
        "no_text_layer",
        "pages_without_text",
        "suspect_text_layer",
        "read_from_picture",
        "not_recognised",
    }
)
"""Of the warnings that are made here, and made anew after pages were read again."""


def page_notes(
    report: PageReport, unit: Unit, page_count: int, *, has_text: bool, recognises: bool
) -> Iterator[Warning]:
    """`has_text`: there is something to search. `recognises`: text recognition is on."""
    if unit != "page":
        if not has_text:
            yield Warning("no_text", "It holds no text. There is nothing to search in it.")
        return
    empty, suspect, noisy, read = (
        report.kinds.get(kind, ()) for kind in ("empty", "suspect", "noisy", "ocr")
    )
    due = report.repairs.get("due", ())
    if not has_text and not suspect:
        yield Warning(
            "no_text_layer",
            f"None of its {page_count} pages has any text: they are pictures (a scan) or "
            f"blank. {_coming(due, recognises)}The document can be looked at, not searched.",
        )
    elif empty:
        yield Warning(
            "pages_without_text",
            f"{_of(empty, page_count)} have no text (pictures or blank). "
            f"{_coming(due, recognises)}They cannot be searched.",
            empty[0],
        )
    if suspect:
        yield Warning(
            "suspect_text_layer",
            f"{_of(suspect, page_count)} hold text that is no text: their fonts do not say which "
            f"letters they draw. {_coming(due, recognises)}They can be looked at, not searched.",
            suspect[0],
        )
    if noisy:
        yield Warning(
            "suspect_text_layer",
            f"{_of(noisy, page_count)} hold text that was recognised from a picture, with many "
            f"errors. {_coming(due, recognises)}It is searched, but quotes of it may differ from "
            "what the page shows.",
            noisy[0],
        )
    if read:
        yield Warning(
            "read_from_picture",
            f"{_of(read, page_count)} were read from their picture. Quotes of them may differ "
            "from what the page shows by a letter.",
            read[0],
        )
    if failed := report.repairs.get("failed", ()):
        yield Warning(
            "not_recognised",
            f"{_of(failed, page_count)} could not be read from their picture.",
            failed[0],
        )


def _coming(due: Sequence[int], recognises: bool) -> str:
    if not due:
        return ""
    if recognises:
        return "Text recognition reads pictures in the background; until then: "
    return "Text recognition is off (FOOTNOTE_OCR). "


def _of(pages: Sequence[int], page_count: int) -> str:
    listed = ", ".join(map(str, pages[:10])) + (", …" if len(pages) > 10 else "")
    return f"{len(pages)} of {page_count} pages ({listed})"
