"""HTML -> blocks, read as a stream of tags: no tree, so no depth or size makes it fail.

What a browser does not show is left out: scripts, styles, comments, templates, navigation, form
controls, image descriptions, and elements hidden by an attribute, by their inline style, or by a
plain class or id rule of a style sheet in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from rag.parse.charset import decode
from rag.parse.sections import Block, Reading, compose, sections, table
from rag.types import Warning

_VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
}  # fmt: skip
_SKIPPED = {
    "script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "canvas",
    "audio", "video", "map", "button", "select", "textarea", "datalist", "title", "rt", "rp",
    "annotation", "annotation-xml", "dialog",
}  # fmt: skip
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "head",
    "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "ol", "option", "p", "pre",
    "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    *_HEADINGS,
}  # fmt: skip
_NOT_P = _BLOCKS - {"p"}
_CLOSED_BY = {
    "li": ({"li"}, {"ul", "ol", "menu", "dir"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "td": ({"td", "th"}, {"table", "tr"}),
    "th": ({"td", "th"}, {"table", "tr"}),
    "tr": ({"tr"}, {"table"}),
    "tbody": ({"tbody", "thead", "tfoot"}, {"table"}),
    "tfoot": ({"tbody", "thead", "tfoot"}, {"table"}),
}
"""Tag -> (the open elements that its start ends, the elements beyond which it has no effect)."""
_SEARCH = 200
"""Open elements looked at for an implied end; a bound, so that no nesting takes quadratic time."""
_SPACE = re.compile(r"[ \t\n\r\f]+")
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?![.\d]*[1-9])|color\s*:\s*transparent",
    re.I,
)
_HTML_COMMENT = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))", re.S)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_SIMPLE = re.compile(r"\w*([.#][\w-]+)")


@dataclass
class _Open:
    tag: str
    hidden: bool
    concealed: bool
    """Hidden by the page's author, not because of its tag."""


@dataclass
class _Cell:
    blocks: list[Block] = field(default_factory=list)
    columns: int = 1
    rows: int = 1


@dataclass
class _Table:
    rows: list[list[_Cell]] = field(default_factory=list)
    nested: bool = False


def read(path: Path, name: str) -> Reading:
    data = path.read_bytes()
    text, warnings = decode(data, declared_charset(data))
    converter = convert(text)
    body, marks = compose(converter.blocks)
    return Reading("section", sections(body, marks), warnings + hidden_warning(converter.hidden))


def hidden_warning(count: int) -> tuple[Warning, ...]:
    if not count:
        return ()
    passages = "1 passage" if count == 1 else f"{count:,} passages"
    return (Warning("hidden_text", f"{passages} of hidden text left out."),)


def declared_charset(data: bytes) -> str:
    """What the page's <meta> or <?xml ?> says, "" when nothing."""
    found = re.search(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", data[:4096], re.I)
    return found.group(1).decode("ascii", "replace") if found else ""


def convert(text: str) -> Converter:
    """The page's blocks; its <title> is the first heading when it has no <h1>."""
    # Comments and a last tag without its end, which show nothing, take html.parser quadratic
    # time: 170 s for 100,000 times "<!--".
    text = _HTML_COMMENT.sub("", text)
    end = text.rfind(">") + 1
    converter = Converter()
    converter.feed(text[:end] + text[end:].partition("<")[0])
    converter.close()
    converter.finish()
    return converter


class Converter(HTMLParser):
    """Feed once, `finish`, then read `blocks` and `hidden`, the number of passages left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.hidden = 0
        self._stack: list[_Open] = []
        self._counts: Counter[str] = Counter()
        self._skip = 0
        self._concealed = 0
        self._unseen = True
        self._inline: list[str] = []
        self._level = 0
        self._prefix = ""
        self._lists: list[int | None] = []
        self._tables: list[_Table] = []
        self._cells: list[_Cell] = []
        self._main: list[Block] = []
        self._main_from = 0
        self._title: list[str] = []
        self._style: list[str] = []
        self._hiding: set[str] = set()

    # HTMLParser's callbacks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._imply_end(tag)
        if tag in _BLOCKS:
            self._break(tag)
        if tag == "br":
            self._inline.append("\n" if not self._skip else "")
        if tag in _VOID:
            return
        given = {key: value or "" for key, value in attrs}
        concealed = tag not in _SKIPPED and self._is_hidden(given)
        hidden = concealed or tag in _SKIPPED
        self._stack.append(_Open(tag, hidden, concealed))
        self._counts[tag] += 1
        self._skip += hidden
        self._concealed += concealed
        if not self._skip:
            self._enter(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break(tag)
        if not self._counts[tag]:
            return
        if tag not in _BLOCKS and not self._near(tag):
            return  # a stray </b> does not end the paragraphs inside it
        while self._pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._skip:
            tag = self._stack[-1].tag
            if tag == "title" and not self._counts["svg"]:
                self._title.append(data)
            elif tag == "style":
                self._style.append(data)
            elif self._concealed and tag not in _SKIPPED and data.strip():
                self.hidden += self._unseen
                self._unseen = False
            return
        self._inline.append(data if self._counts["pre"] else _SPACE.sub(" ", data))

    def finish(self) -> None:
        while self._stack:
            self._pop()
        self._flush()
        if _size(self._main) * 2 > _size(self.blocks):
            self.blocks = self._main  # around it are menus, banners and legal notes
        title = " ".join("".join(self._title).split())
        if title and not any(block.level == 1 for block in self.blocks) and self.blocks:
            self.blocks.insert(0, Block(title, 1))

    # The stack of open elements

    def _pop(self) -> str:
        top = self._stack.pop()
        if top.tag == "style":
            self._learn("".join(self._style))
            self._style.clear()
        if top.tag in _BLOCKS:
            self._break(top.tag)
        if not self._skip:
            self._leave(top.tag)
        self._counts[top.tag] -= 1
        self._skip -= top.hidden
        self._concealed -= top.concealed
        self._unseen = self._unseen or not self._concealed
        return top.tag

    def _near(self, tag: str) -> bool:
        for element in self._stack[: -_SEARCH - 1 : -1]:
            if element.tag == tag:
                return True
            if element.tag in _BLOCKS:
                return False
        return False

    def _imply_end(self, tag: str) -> None:
        if tag in _CLOSED_BY:
            ended, limit = _CLOSED_BY[tag]
        elif tag in _BLOCKS and self._counts["p"]:
            ended, limit = {"p"}, _NOT_P
        else:
            return
        for element in self._stack[: -_SEARCH - 1 : -1]:
            if element.tag in ended:
                while self._pop() != element.tag:
                    pass
                return
            if element.tag in limit:
                return

    # What is shown

    def _is_hidden(self, attrs: dict[str, str]) -> bool:
        if "hidden" in attrs or attrs.get("role") == "navigation":
            return True
        if _HIDING.search(attrs.get("style", "")):
            return True
        if not self._hiding:
            return False
        names = {"." + word for word in attrs.get("class", "").split()} | {
            "#" + attrs.get("id", "")
        }
        return not names.isdisjoint(self._hiding)

    def _learn(self, css: str) -> None:
        """Classes and ids that a page hides for good: not by media, not shown by another rule."""
        shown: set[str] = set()
        for selectors, declarations in _rules(_COMMENT.sub("", css)):
            if _HIDING.search(declarations):
                for selector in selectors.split(","):
                    simple = _SIMPLE.fullmatch(selector.strip())
                    if simple:
                        self._hiding.add(simple.group(1))
            elif "display" in declarations or "visibility" in declarations:
                shown.update(re.findall(r"[.#][\w-]+", selectors))
        self._hiding -= shown

    def _enter(self, tag: str, attrs: dict[str, str]) -> None:
        if tag in _HEADINGS:
            self._level = _HEADINGS[tag]
        elif tag in ("ul", "menu", "dir"):
            self._lists.append(None)
        elif tag == "ol":
            self._lists.append(_number(attrs.get("start", ""), 1))
        elif tag == "li":
            self._prefix = self._marker()
        elif tag == "main":
            self._main_from = len(self.blocks)
        elif tag == "table":
            if self._tables:
                self._tables[-1].nested = True
            self._tables.append(_Table())
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag in ("td", "th") and self._tables:
            current = self._tables[-1]
            if not current.rows:
                current.rows.append([])
            cell = _Cell([], _number(attrs.get("colspan", "")), _number(attrs.get("rowspan", "")))
            current.rows[-1].append(cell)
            self._cells.append(cell)

    def _leave(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._level = 0
        elif tag in ("ul", "menu", "dir", "ol") and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._prefix = ""
        elif tag == "main":
            self._main.extend(self.blocks[self._main_from :])
        elif tag in ("td", "th") and self._cells:
            self._cells.pop()
        elif tag == "table" and self._tables:
            blocks = _table_blocks(self._tables.pop())
            self._sink().extend(blocks)

    def _marker(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        if not self._lists or self._lists[-1] is None:
            return indent + "- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _sink(self) -> list[Block]:
        return self._cells[-1].blocks if self._cells else self.blocks

    def _break(self, tag: str) -> None:
        """A block begins or ends; inside <pre> that is only a new line."""
        if tag == "pre" or not self._counts["pre"]:
            self._flush()
        elif self._inline and not self._inline[-1].endswith("\n"):
            self._inline.append("\n")

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        if not text.strip():
            return
        if self._counts["pre"]:
            text = text.strip("\n").rstrip()
            fenced = "\n" in text and not self._cells
            self._sink().append(Block(f"```\n{text}\n```" if fenced else text))
            return
        text = "\n".join(line.strip() for line in text.split("\n")).strip()
        if self._lists and not self._level:
            indent = self._prefix or "  " * len(self._lists)
            self._sink().append(Block(indent + text, tight=True))
            self._prefix = ""
        else:
            # Documentation tools end headings with a link to themselves.
            self._sink().append(Block(text.rstrip("¶ ") if self._level else text, self._level))


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of a style sheet's rules, without what is inside @ rules."""
    depth = start = inside = 0
    selectors = ""
    for found in re.finditer(r"[{};]", css):
        if found.group() == "{":
            if not depth:
                selectors, inside = css[start : found.start()].strip(), found.end()
            depth += 1
        elif found.group() == "}":
            depth = max(depth - 1, 0)
            if not depth and not selectors.startswith("@"):
                yield selectors, css[inside : found.start()]
        if not depth:
            start = found.end()


def _size(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _number(value: str, default: int = 1) -> int:
    """A colspan, rowspan or list start; a hostile one cannot make a table of 10^9 columns."""
    value = value.strip()
    return min(int(value), 1000) if value.isascii() and value.isdigit() else default


def _table_blocks(source: _Table) -> list[Block]:
    """A Markdown table; one that only lays out the page becomes its cells' blocks in order."""
    cells = [cell for row in source.rows for cell in row]
    titled = any(block.level for cell in cells for block in cell.blocks)
    if source.nested or titled or max((len(row) for row in source.rows), default=0) < 2:
        return [block for cell in cells for block in cell.blocks]
    rows: list[list[str]] = []
    spanned: dict[int, int] = {}  # column -> rows that a cell above still covers
    for row in source.rows:
        texts: list[str] = []
        for cell in row:
            while spanned.get(len(texts), 0):
                spanned[len(texts)] -= 1
                texts.append("")
            if cell.rows > 1:
                for column in range(len(texts), len(texts) + cell.columns):
                    spanned[column] = cell.rows - 1
            texts.append(" ".join(block.text for block in cell.blocks))
            texts.extend([""] * (cell.columns - 1))
        for column in [c for c in spanned if c >= len(texts) and spanned[c]]:
            spanned[column] -= 1
        rows.append(texts)
    return table(rows)
