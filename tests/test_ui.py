"""The plain functions behind the screens."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from pages.ui import marked
from pages.ui.connection import key_for
from pages.ui.markup import TAGS, tree
from pages.ui.progress import activity, fraction, problems, skipped, tally
from pages.ui.repairs import progress, unread
from pages.ui.report import headline, ranges, rows
from pages.ui.sidebar import reading, working
from pages.ui.watched import told
from pages.ui.words import (
    about,
    cost,
    plain,
    preview,
    quotes,
    shorten,
    size,
    source_label,
    streaming,
    summary,
)
from rag.followed import Problem
from rag.job import FileProgress, Progress, Repair
from rag.place import place
from rag.settings import Settings
from rag.types import Citation, Document, PageKind, PageReport, Receipt, Rejection, Search, Warning

ROOT = Path(__file__).parents[1]


def citation(**changes):
    values = {
        "document_id": "d",
        "name": "report.pdf",
        "page": 3,
        "label": "iii",
        "unit": "page",
        "start": 0,
        "end": 5,
        "quote": "quote",
    }
    return Citation(**values | changes)


# Markup


def elements(nodes):
    for node in nodes:
        if isinstance(node, dict) and "tag" in node:
            yield node["tag"]
            yield from elements(node["children"])


def markers(nodes):
    for node in nodes:
        if isinstance(node, dict):
            if "number" in node:
                yield node["number"], node["label"]
            else:
                yield from markers(node["children"])


def text(nodes):
    return "".join(
        n if isinstance(n, str) else text(n["children"]) if "children" in n else f"<{n['number']}>"
        for n in nodes
    )


def test_markers_become_buttons_where_they_stand_also_in_lists_tables_and_bold():
    nodes = tree(
        "Fell [1], **rose [2]**.\n\n- one [2]\n\n| a |\n|---|\n| b [1] |", (citation(), citation())
    )
    assert [number for number, _ in markers(nodes)] == [1, 2, 2, 1]
    assert text(nodes[:1]) == "Fell <1>, rose <2>."


def test_a_marker_names_its_source():
    ((_, label),) = markers(tree("Fell [1].", (citation(),)))
    assert label == "report.pdf, p. iii · file page 3"


@pytest.mark.parametrize("written", ["[3]", "[0]", "[x]", "[1234]", "`[1]`"])
def test_what_points_to_no_source_stays_text(written):
    nodes = tree(f"See {written}.", (citation(),))
    assert not list(markers(nodes))
    assert text(nodes) == f"See {written.strip('`')}."


@pytest.mark.parametrize(
    "written",
    [
        "<script>alert(1)</script>",
        "<img src=http://example.com/x onerror=alert(1)>",
        "![x](http://example.com/secret.png)",
        "[x](javascript:alert(1))",
        "<http://example.com>",
        "&lt;b&gt;",
    ],
)
def test_nothing_written_in_an_answer_becomes_a_link_an_image_or_html(written):
    nodes = tree(written, ())
    assert set(elements(nodes)) <= {"p"}
    assert text(nodes) == written


def test_only_known_elements_come_out_and_the_browser_knows_the_same_ones():
    nodes = tree("# A\n\n> q\n\n1. a\n   - b\n\n```js\nx\n```\n\n---\n\n*e* **s** `c`\\\nz", ())
    assert set(elements(nodes)) <= TAGS
    script = (ROOT / "pages" / "ui" / "answer.js").read_text("utf-8")
    listed = script.split("new Set([")[1].split("])")[0]
    assert {name.strip(' "\n') for name in listed.split(",")} - {""} == TAGS


# Text of documents as HTML


def test_document_text_is_escaped():
    hostile = "<script>alert(1)</script> & <mark>"
    for html in (marked.whole(hostile), marked.quote(hostile), marked.around(hostile, 0, 8)):
        assert "<script" not in html
        assert "&amp;" in html


def test_a_quote_is_marked_exactly():
    html = marked.around("Costs < 5 and > 3 rise.", 6, 9)
    assert ">&lt; 5</mark> and &gt; 3 rise.</div>" in html


def test_only_what_surrounds_a_quote_is_shown_in_whole_paragraphs():
    page = "first\n\n" + "a " * 200 + "\n\n" + "b " * 100 + "QUOTE" + " c" * 400 + "\n\nlast"
    start = page.index("QUOTE")
    html = marked.around(page, start, start + 5)
    assert "first" not in html
    assert "last" not in html
    assert html.split(">")[1].startswith("… b b")
    assert html.endswith(" …</div>")


# Words


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("page", 3, "iii"), "p. iii · file page 3"),
        (("page", 3, "3"), "p. 3"),
        (("page", 3), "p. 3"),
        (("slide", 2, "Costs"), "slide 2 · Costs"),
        (("slide", 2), "slide 2"),
        (("sheet", 1, "Budget, rows 101-200"), "sheet Budget, rows 101-200"),
        (("section", 4, "Plan", "Plan › Pay"), "Plan › Pay"),
        (("section", 4, "Plan › Pay", "Plan"), "Plan › Pay"),
        (("section", 4, "Plan"), "Plan"),
        (("section", 4), "section 4"),
    ],
)
def test_a_place_is_named_as_a_reader_would_look_it_up(arguments, expected):
    assert place(*arguments) == expected


def test_plain_text_shows_no_markdown():
    assert plain("a_b*c [x](y) :red[z] $1") == r"a\_b\*c \[x\]\(y\) \:red\[z\] \$1"


def test_streamed_text_keeps_emphasis_but_loads_nothing():
    shown = streaming("**b** ![i](http://e/x) <b>").replace("\u2060", "")
    assert shown == r"**b** !\[i\](http\://e/x) \<b>"


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 KB"), (2_000_000, "2.0 MB"), (5e9, "5.0 GB")],
)
def test_sizes_are_written_as_people_write_them(count, expected):
    assert size(count) == expected


def test_a_long_name_keeps_its_beginning_and_its_ending():
    name = "Annual report of the northern cooperative 2021, appendices and tables.pdf"
    assert shorten(name) == "Annual report of the north…nd tables.pdf"
    assert shorten("short.pdf") == "short.pdf"
    assert source_label(2, citation(name="short.pdf")) == "[2] short.pdf · p. iii · file page 3"


def test_a_preview_is_one_line_cut_at_a_word():
    assert preview("one\n two three", 9) == "one two …"


def test_a_preview_of_a_table_shows_its_words_not_its_marks():
    table = "## Rates\n\n| Who | What |\n| --- | --- |\n| Hal | Forms |"
    assert preview(table) == "Rates Who · What Hal · Forms"


def test_a_document_is_described_in_one_line():
    document = Document(
        "d", "n.md", "text/markdown", 2_000, "2026-01-02T10:00:00+00:00", "ready", "section", 1, 12
    )
    assert about(document) == "1 section · 12 passages · 2.0 KB · added 02 Jan 2026"


def test_the_receipt_says_plainly_when_no_model_answered():
    receipt = Receipt(
        "reader",
        searches=(Search("q", ()),),
        seconds={"total": 0.42},
        quotes_verified=2,
        rejections=(Rejection("x", "not there"),),
    )
    assert summary(receipt) == (
        "Reader, no language model · 2 of 3 quotes found in your files · 1 search · 0.4 s"
    )


def test_the_receipt_of_a_model_names_it_and_its_price():
    receipt = Receipt("agent", "openai/x", quotes_verified=1, seconds={"total": 3.0}, cost=0.0012)
    assert summary(receipt) == (
        "openai/x · 1 of 1 quotes found in your files · 0 searches · 3.0 s · $0.0012"
    )
    assert cost(Receipt("agent")) == "price not known"
    assert cost(Receipt("agent", cost=0.0)) == "free"
    assert quotes(Receipt("reader")) == "no quotes"


# The language model


@pytest.mark.parametrize(
    ("model", "base_url", "typed", "expected"),
    [
        ("openai/b", None, "", "sk-1"),
        ("openai/b", None, "sk-2", "sk-2"),
        ("anthropic/c", None, "", None),
        ("openai/a", "http://elsewhere/v1", "", None),
        ("", None, "", None),
    ],
)
def test_a_key_is_never_sent_to_another_receiver(tmp_path, model, base_url, typed, expected):
    settings = Settings(data=tmp_path, llm_model="openai/a", llm_api_key="sk-1")
    assert key_for(settings, model, base_url, typed) == expected


# Progress


def test_progress_of_a_file_grows_from_nothing_to_all():
    steps = [
        FileProgress("a"),
        FileProgress("a", "reading", 5, 10),
        FileProgress("a", "embedding", 10, 10, 5, 10),
        FileProgress("a", "indexed", 10, 10, 10, 10),
    ]
    shares = [fraction(step) for step in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_activity_leaves_out_totals_that_are_not_known():
    assert activity(FileProgress("a.PDF", "reading", 3, 0)) == "3 pages read"
    assert (
        activity(FileProgress("a.md", "embedding", 10, 10, 12, 40))
        == "10 of 10 sections read, 12 of 40 passages indexed"
    )


def test_the_tally_counts_every_file_once():
    progress = Progress(
        (
            FileProgress("a", "indexed"),
            FileProgress("b", "replaced"),
            FileProgress("c", "duplicate"),
            FileProgress("d", "failed"),
            FileProgress("e", "waiting"),
        )
    )
    assert tally(progress) == "5 files: 2 added, 1 already there, 1 failed, 1 to go"


def test_every_file_that_did_not_simply_go_in_gets_one_line():
    progress = Progress(
        (
            FileProgress("fine.pdf", "indexed"),
            FileProgress("odd.pdf", "indexed", warnings=(Warning("no_text", "Page 2."),)),
            FileProgress("old.pdf", "duplicate", message="Already in the library."),
            FileProgress("bad.pdf", "failed", message="'bad.pdf' is empty (0 bytes)."),
        )
    )
    assert problems(progress) == [
        r"'bad\.pdf' is empty \(0 bytes\)\.",
        r"**odd\.pdf**: added, with 1 note on how it was read",
        r"**old\.pdf**: Already in the library\.",
    ]


def test_a_folder_of_pictures_is_one_line():
    progress = Progress(
        tuple(
            FileProgress(name, "failed", message=f"{name!r} is", error_code="unsupported_type")
            for name in ("1.jpg", "2.JPG", "3.jpg", "film", "5.png")
        )
    )
    assert problems(progress) == [
        r"5 files of kinds that cannot be read: \.jpg (3), no ending (1), \.png (1)"
    ]
    assert len(problems(Progress(progress.files[:3]))) == 3


def test_what_was_left_out_is_counted_and_named():
    assert skipped(["a/.git", "a/.env", "b/Thumbs.db", "c"]) == (
        r"Left out 4 hidden or system files: a/\.git, a/\.env, b/Thumbs\.db, …"
    )


def test_a_followed_file_that_was_given_its_password_is_no_longer_a_problem():
    found = [Problem(name, f"{name!r} is", "password_required") for name in ("a.pdf", "b.pdf")]
    opened = Document("d", "a.pdf", "application/pdf", 1, "", "ready")
    assert told(found, [opened]) == [r"'b\.pdf' is"]


def test_the_sidebar_tells_what_is_at_work_and_nothing_when_all_is_done():
    going = Progress((FileProgress("a", "indexed"), FileProgress("b", "reading")))
    ended = Progress((FileProgress("c", "failed"),))
    assert reading([ended, going, going]) == "Adding documents: 2 of 4"
    assert reading([ended]) == ""
    repairs = [Repair("d", "a", "running", 1, 4), Repair("e", "b", "done", 9, 9)]
    assert working(repairs) == "Reading pictures: 1 of 4 pages"
    assert working(repairs[1:]) == ""


# The report on how a document was read

REPORT = PageReport(
    {"text": (1, 2, 4), "ocr": (3,), "empty": (5, 7, 8, 9)}, tables=(2,), repairs={"done": (3,)}
)


def test_the_report_is_one_line():
    assert headline(REPORT, "page") == (
        "**8 pages** · text 3 · from its picture 1 · no text 4 · with a table 1"
    )


def test_the_report_says_which_pages_are_meant():
    table = {row["Kind"]: row["Pages"] for row in rows(REPORT, "page")}
    assert table == {
        "Text": "1–2, 4",
        "From its picture": "3",
        "No text": "5, 7–9",
        "With a table": "2",
    }
    assert all(row["Meaning"] for row in rows(REPORT, "page"))


def test_every_kind_of_page_has_a_name_and_a_meaning():
    kinds = dict.fromkeys(get_args(PageKind), (1,))
    assert len(rows(PageReport(kinds, (), {}), "page")) == len(kinds)


@pytest.mark.parametrize(
    ("repairs", "off", "told"),
    [
        ({"done": (1,)}, False, ""),
        ({"due": (1, 2)}, False, "2 pages will be read"),
        ({"due": (1,), "declined": (2,)}, True, "2 pages could be read by text recognition"),
        ({"declined": (1,), "failed": (2,)}, False, "was stopped, or failed, on 2 pages"),
    ],
)
def test_pages_that_text_recognition_left_are_told(repairs, off, told):
    said = unread(PageReport({"empty": (1, 2)}, (), repairs), off=off)
    assert told in said
    assert bool(told) == bool(said)


def test_the_progress_of_text_recognition_counts_pages():
    assert progress(Repair("d", "a.pdf", "running", 3, 12)) == "3 of 12 pages re-read"


def test_many_ranges_are_counted():
    assert ranges(range(1, 2_001)) == "1–2,000"
    assert ranges(range(1, 100, 2), most=2) == "1, 3 and 48 more"


# The server


def test_the_server_listens_to_this_computer_only_and_reports_to_nobody():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["address"] == "localhost"
    assert config["browser"]["gatherUsageStats"] is False
