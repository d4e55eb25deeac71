"""The words in charts and SmartArt, which Word and PowerPoint keep in parts of their own."""

from __future__ import annotations

from rag.parse.archive import Element, child, local
from rag.parse.sections import Block, table


def chart(root: Element) -> list[Block]:
    """The chart's title and its data as a table: categories down, series across."""
    title = "".join(
        e.text or "" for t in root.iter() if local(t) == "title" and _owner(t) == "chart"
        for e in t.iter() if local(e) == "t"
    )  # fmt: skip
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter():
        if local(series) != "ser":
            continue
        names.append(" ".join(_points(child(series, "tx")).values()))
        values = child(series, "val")
        columns.append(_points(values if values is not None else child(series, "yVal")))
        labels = child(series, "cat")
        categories = categories or _points(labels if labels is not None else child(series, "xVal"))
    rows = [["", *names]]
    for index in sorted({key for column in columns for key in column} | set(categories)):
        rows.append([categories.get(index, ""), *(column.get(index, "") for column in columns)])
    return [Block(title), *(table(rows) if columns else [])]


def _owner(element: Element) -> str:
    parent = element.getparent()
    return "" if parent is None else local(parent)


def _points(element: Element | None) -> dict[int, str]:
    """Index -> cached value; a multi-level category takes its innermost level."""
    points: dict[int, str] = {}
    for point in () if element is None else element.iter():
        if local(point) == "pt":
            text = child(point, "v")
            points.setdefault(int(point.get("idx", "0")), "" if text is None else text.text or "")
    return points


def diagram(root: Element) -> list[Block]:
    """The texts of a SmartArt picture, one block a shape."""
    texts = []
    for shape in root.iter():
        if local(shape) == "pt" and shape.get("type", "node") in ("node", "asst"):
            texts.append(Block(paragraphs(shape)))
    return texts


def paragraphs(element: Element) -> str:
    """The text of all DrawingML paragraphs below, one a line."""
    lines = []
    for paragraph in element.iter():
        if local(paragraph) == "p" and "drawingml" in str(paragraph.tag):
            lines.append(
                "".join(
                    "\n" if local(e) == "br" else e.text or ""
                    for e in paragraph.iter()
                    if local(e) in ("t", "br")
                )
            )
    return "\n".join(line for line in lines if line.strip())
