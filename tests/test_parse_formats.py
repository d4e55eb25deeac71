from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import FileError
from rag.parse import open_file
from rag.parse.charset import clean, decode
from tests.documents import codes, epub, opened, text_of


@pytest.fixture
def save(tmp_path: Path):
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# Text and its character set


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe: 5 m²; Temperatur 20 °C", "cp1252"),
        ("Le café était déjà fermé à Noël.", "latin-1"),
        ("Total: 5 €", "cp1252"),
        ("The fee is £5 – not “six”.", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
        ("Русский текст в кодировке Windows, довольно короткий.", "cp1251"),
        ("Однажды, в студеную зимнюю пору, я из лесу вышел.", "cp866"),
        ("東京都は日本の首都である。会議は三月に開かれた。", "shift_jis"),
        ("这是一个简体中文的测试文件，用于检测编码。", "gb18030"),
        ("這是一個繁體中文的測試文件，用於檢測編碼。", "big5"),
        ("한국어 텍스트 파일입니다. 회의는 삼월에 열렸다.", "euc-kr"),
        ("Hamburgers are delicious", "utf-16-le"),
        ("Hamburgers are delicious", "utf-16-be"),
        ("会議は三月に開かれた。\n料金は五百円です。 ok", "utf-16-le"),
        ("I love fuzzy blankets — ½", "utf-32-le"),
        ("I love fuzzy blankets — ½", "utf-32-be"),
        ("mit Marke: größer", "utf-8-sig"),
        ("mit Marke: größer", "utf-16"),
        ("mit Marke: größer", "utf-32"),
    ],
)
def test_the_character_set_is_found_without_a_warning(text: str, encoding: str):
    assert decode(text.encode(encoding)) == (text, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("会議", "shift_jis"), ("Тут текст в кои восемь", "koi8-r"), ("שלום עולם", "cp1255")],
)
def test_a_text_with_several_readings_is_flagged(text: str, encoding: str):
    _, (warning,) = decode(text.encode(encoding))
    assert warning.code == "encoding_uncertain"


def test_damaged_utf_8_stays_utf_8_and_is_flagged():
    text, (warning,) = decode("Grüße ".encode() * 20 + b"\xff end")
    assert text == "Grüße " * 20 + "\ufffd end"
    assert "at 1 of its characters" in warning.message


def test_a_declared_character_set_is_used_only_if_it_fits():
    assert decode("ż".encode("iso8859-2"), "ISO-8859-2") == ("ż", ())
    assert decode("ü".encode(), "ascii")[0] == "ü"
    assert decode("fünf Äpfel".encode("cp1252"), "no-such-codec")[0] == "fünf Äpfel"
    assert decode(b"plain", "base64")[0] == "plain"


def test_line_ends_become_one_kind_and_invisible_characters_go():
    raw = "\ufeffa\r\nb\rc\u0085d\u2028e\x0cf\0\x07 \x1b[31mred\x1b[0m sof\u00adt\U000e0041"
    assert clean(raw) == "a\nb\nc\nd\ne\nf red soft"


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_nothing_but_white_space_is_lost_between_sections(save, name: str):
    paragraphs = [f"Paragraph {n} " + "with some words. " * (n % 40) for n in range(300)]
    text = "\n\n".join(paragraphs) + "\n\n    indented code\n\n# Last\n\nEnd"
    _, pages = opened(save(name, text.replace("\n", "\r\n")))
    position = 0
    for page in pages:
        start = text.index(page.text, position)
        assert not text[position:start].strip()
        assert len(page.text) <= 4000
        position = start + len(page.text)
    assert not text[position:].strip()
    assert len(pages) > 10


def test_sections_of_a_long_text_end_at_paragraphs(save):
    text = "\n\n".join(f"{n} " + "word " * 100 + "." for n in range(50))
    _, pages = opened(save("a.txt", text))
    assert all(page.text.endswith(".") for page in pages)
    assert min(len(page.text) for page in pages) > 1000


def test_a_line_without_any_border_is_cut_but_kept(save):
    run = "".join(chr(97 + n % 26) for n in range(100_000))
    _, pages = opened(save("a.txt", "Some words. " * 2000 + run))
    assert "".join(page.text for page in pages).endswith(run)


# Markdown


def test_markdown_sections_carry_the_path_of_their_headings(save):
    path = save(
        "a.md", "Intro\n\n# Guide\n\n## Setup\n\nPlug in.\n\n### Power\n\n230 V\n\n## Use\n\nGo."
    )
    _, pages = opened(path)
    assert [(page.label, page.text) for page in pages] == [
        ("", "Intro"),
        ("Guide › Setup", "# Guide\n\n## Setup\n\nPlug in."),
        ("Guide › Setup › Power", "### Power\n\n230 V"),
        ("Guide › Use", "## Use\n\nGo."),
    ]
    assert [(h.start, h.level, h.title) for h in pages[1].headings] == [
        (0, 1, "Guide"),
        (9, 2, "Setup"),
    ]


def titles(path: Path) -> list[tuple[int, str]]:
    return [(h.level, h.title) for page in opened(path)[1] for h in page.headings]


def test_headings_are_told_from_what_looks_like_them(save):
    path = save(
        "a.md",
        "# Pump\n\n```bash\n# a comment\n```\n\n    # indented\n\n- # in a list\n\n"
        "> # in a quote\n\n#hashtag\n\n####### seven\n\nSetext *one*\n===\n\nSetext two\n---\n\n"
        "## Closed `code` and [link](http://x) ##\n\n#\n\n~~~\n# never closed\n",
    )
    assert titles(path) == [
        (1, "Pump"),
        (1, "Setext one"),
        (2, "Setext two"),
        (2, "Closed code and link"),
    ]


def test_front_matter_is_text_but_no_heading(save):
    path = save("a.md", '---\ntitle: "Pump"\nnote: 5512\n---\n\n# Manual\n\nText')
    _, pages = opened(path)
    assert titles(path) == [(1, "Manual")]
    assert "note: 5512" in pages[0].text


def test_a_rule_on_top_is_no_front_matter(save):
    assert titles(save("a.md", "---\n\n# First\n\nText\n\n---\n\nMore")) == [(1, "First")]


def test_tags_in_code_stay(save):
    assert "<title>Hi</title>" in text_of(save("a.md", "```html\n<title>Hi</title>\n```\n"))


# HTML


def test_html_becomes_headings_paragraphs_lists_and_tables(save):
    path = save(
        "a.html",
        "<html><head><title>Site</title></head><body><h1>Ferry <i>times</i></h1><p>First\n  boat"
        "<br>06:15</p><ul><li>red<ul><li>dark</ul><li>blue</ul><ol start=3><li>three<li>four</ol>"
        "<table><tr><th>Day<th>Fare<tr><td>Mon<td>3|50</table><pre>a\n  b</pre>"
        "<p>x<sup>2</sup> &amp; more</body></html>",
    )
    assert text_of(path) == (
        "# Ferry times\n\nFirst boat\n06:15\n\n- red\n  - dark\n- blue\n3. three\n4. four\n\n"
        "| Day | Fare |\n| --- | --- |\n| Mon | 3\\|50 |\n\n```\na\n  b\n```\n\nx2 & more"
    )


def test_html_without_h1_is_headed_by_its_title(save):
    _, (page,) = opened(save("a.html", "<title>Opening  hours</title><p>Nine to five"))
    assert (page.label, page.text) == ("Opening hours", "# Opening hours\n\nNine to five")


def test_what_a_browser_does_not_show_is_left_out_and_counted(save):
    path = save(
        "a.html",
        "<style>.x{display:none} #y{visibility:hidden} @media print{.z{display:none}} .w{display:"
        "none} .open .w{display:block}</style><script>bad1</script><p>Seen</p><p class=x>bad2</p>"
        "<p id=y>bad3</p><p class=z>print</p><p class=w>later</p><p hidden>bad4<p>after</p>"
        "<div style='font-size: 0px'><p>bad5</div><p style='font-size:0.8em'>small</p>"
        "<!-- bad6 --><template>bad7</template><noscript>bad8</noscript><nav>bad9</nav>"
        "<img alt='bad10'><button>bad11</button><svg><title>bad12</title></svg>",
    )
    parsed, (page,) = opened(path)
    assert page.text.split("\n\n") == ["Seen", "print", "later", "after", "small"]
    assert codes(parsed) == ["hidden_text"]
    assert "4 passages" in parsed.warnings[0].message


def test_around_the_main_part_only_menus_are_expected(save):
    path = save(
        "a.html", "<div>Menu</div><main><h1>T</h1><p>Long enough text</main><div>Legal</div>"
    )
    assert text_of(path) == "# T\n\nLong enough text"


def test_spanning_cells_keep_the_columns_in_place(save):
    path = save(
        "a.html",
        "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>d<td colspan=2>e<tr><td>f<td>g</table>",
    )
    assert text_of(path).split("\n")[2:] == ["| d | e |  |", "|  | f | g |"]


def test_a_table_that_lays_out_the_page_is_not_a_table(save):
    path = save(
        "a.html", "<table><tr><td><h2>Left</h2>one<td><table><tr><td>a<td>b</table></table>"
    )
    assert text_of(path) == "## Left\n\none\n\n| a | b |\n| --- | --- |"


def test_deep_nesting_is_no_problem(save):
    depth = 20_000
    path = save("a.html", "<p>Start" + "<div>" * depth + "deep" + "</div>" * depth + "<p>End")
    assert text_of(path) == "Start\n\ndeep\n\nEnd"


def test_html_in_an_old_character_set_is_read_as_declared(save):
    path = save("a.html", '<meta charset="iso-8859-2"><p>Zażółć'.encode("iso-8859-2"))
    assert text_of(path) == "Zażółć"


def test_ruby_readings_do_not_split_a_word(save):
    assert text_of(save("a.html", "<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>へ")) == "東京へ"


# Tables in text


def test_a_second_table_on_a_sheet_has_its_own_header(save):
    text = "City,People\nBonn,3\n\nKöln,9\n\nProducts\nName,Price\nPump,5\n"
    assert text_of(save("a.csv", text)).split("\n\n") == [
        "| City | People |\n| --- | --- |\n| Bonn | 3 |\n| Köln | 9 |",
        "Products",
        "| Name | Price |\n| --- | --- |\n| Pump | 5 |",
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_is_found(save, delimiter: str):
    rows = [["Name", "Note"], ["Pump", '"a, b; ""c"" \n d"'], ["Oil", "1,5"]]
    if delimiter == ",":
        rows[2][1] = "15"
    text = "\n".join(delimiter.join(row) for row in rows)
    lines = text_of(save("a.csv", text)).split("\n")
    assert lines[0] == "| Name | Note |"
    assert lines[2] == '| Pump | a, b; "c" d |'


def test_a_tsv_splits_at_tabs_only(save):
    assert text_of(save("a.tsv", "a,b\tc\n1,2\t3")).startswith("| a,b | c |")


# E-books and e-mails


def test_an_epub_is_read_in_the_order_of_its_spine(tmp_path: Path):
    path = epub(
        tmp_path / "a.epub",
        {
            "z.xhtml": '<?xml version="1.0"?><html><head><title/><script src="x"/></head>'
            "<body><h1>One</h1><p>Début</p></body></html>",
            "text/a b.xhtml": "<html><body><h1>Two</h1><p>End</p></body></html>",
        },
        encryption="<e><CipherReference URI='OEBPS/font.otf'/></e>",
    )
    _, pages = opened(path)
    assert [(page.label, page.text) for page in pages] == [
        ("One", "# One\n\nDébut"),
        ("Two", "# Two\n\nEnd"),
    ]


def test_a_copy_protected_epub_says_so(tmp_path: Path):
    path = epub(
        tmp_path / "a.epub",
        {"1.xhtml": "garbage"},
        encryption="<e><CipherReference URI='OEBPS/1.xhtml'/></e>",
    )
    with pytest.raises(FileError) as caught:
        open_file(path, "a.epub", "d")
    assert caught.value.code == "password_required"


def test_an_email_has_subject_sender_and_text(save):
    message = """\
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
From: Ann <ann@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Caf=C3=A9 at nine</p>
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="menu.pdf"

x
--b--
"""
    path = save("a.eml", message.replace("\n", "\r\n"))
    parsed, (page,) = opened(path)
    assert page.text == "# Grüße\n\nFrom: Ann <ann@example.org>\n\nCafé at nine"
    assert "menu.pdf" in parsed.warnings[0].message
