import pytest

from rag.web import CHARACTERS, Tavily, WebError, is_web_address
from tests.stub_web import StubTavily

PAGE = {
    "url": "https://example.org/boilers",
    "title": "All  about\nboilers",
    "content": "A boiler heats water.",
    "raw_content": "Boilers. A boiler heats water. " + "x" * CHARACTERS,
}


def test_a_search_brings_pages_with_the_part_that_answers_first():
    with StubTavily([PAGE]) as stub:
        (page,) = Tavily("tvly-key", stub.url).search("boilers")
    assert stub.keys == ["Bearer tvly-key"]
    assert stub.requests[0]["query"] == "boilers"
    assert (page.url, page.title) == ("https://example.org/boilers", "All about boilers")
    assert page.text.startswith("A boiler heats water.\n\nBoilers.")
    assert len(page.text) == CHARACTERS
    assert page.fetched.endswith("+00:00")


def test_results_that_cannot_be_cited_are_left_out():
    results = [
        {"url": "javascript:alert(1)", "content": "x"},
        {"url": "https://user:secret@example.org/", "content": "x"},
        {"url": "https://example.org/empty", "content": " "},
        {"url": 7, "content": "x"},
        PAGE | {"raw_content": None, "title": ""},
    ]
    with StubTavily(results) as stub:
        (page,) = Tavily("tvly-key", stub.url).search("boilers")
    assert (page.title, page.text) == (page.url, "A boiler heats water.")


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, "", "refused the key"),
        (429, "", "limit is reached"),
        (500, "", "failed with status 500"),
        (200, "<html>", "not JSON"),
    ],
)
def test_a_failure_says_what_to_do_and_does_not_hold_the_key(status, body, words):
    with StubTavily(status=status, body=body) as stub, pytest.raises(WebError, match=words) as e:
        Tavily("tvly-key", stub.url).search("boilers")
    assert "tvly-key" not in str(e.value)


def test_an_address_that_nobody_listens_at_is_an_error():
    with pytest.raises(WebError, match="cannot be reached: ConnectError"):
        Tavily("tvly-key", "http://127.0.0.1:9/search").search("boilers")


def test_a_reply_of_another_shape_has_no_pages():
    with StubTavily(body="[1]") as stub:
        assert Tavily("tvly-key", stub.url).search("boilers") == []


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://example.org/a?b=c", True),
        ("ftp://example.org", False),
        ("https://", False),
        ("https://exa mple.org", False),
        ("https://[::1", False),
    ],
)
def test_only_plain_web_addresses_are_taken(url, good):
    assert is_web_address(url) == good
