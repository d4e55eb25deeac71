from rag.pack import GAP, Block, Part, around, pack


def count(text):
    return len(text.split())


def part(role, *blocks):
    return Part(role, list(blocks))


def source(number, words, rank):
    return Block(f"{number} " + "x " * (words - 1), number, rank, f"{number} of d")


def test_everything_is_sent_when_it_fits():
    parts = [part("user", source("S1", 5, 0), Block("Question?"))]
    (message,) = pack(parts, 5, count)
    assert message.text == "S1 x x x x \n\nQuestion?"


def test_the_least_relevant_go_first_and_of_equals_the_oldest():
    parts = [
        part("user", source("S1", 5, 0), source("S2", 5, 1), source("S3", 5, 2)),
        part("tool", source("S4", 5, 0), source("S5", 5, 1)),
    ]
    user, tool = pack(parts, 15, count)
    assert "S1 x" in user.text
    assert "S2 of d; S3 of d" in user.text
    assert "S2 x" not in user.text
    assert "S5 x" in tool.text
    user, tool = pack(parts, 5, count)
    assert "S4 x" in tool.text
    assert "S1 of d" in user.text


def test_what_was_just_asked_for_is_sent_even_if_it_is_too_long():
    parts = [part("user", source("S1", 9, 0)), part("tool", source("S2", 9, 0))]
    user, tool = pack(parts, 4, count)
    assert "S1 of d" in user.text
    assert "S2 x" in tool.text


def test_our_own_words_and_the_calls_are_never_left_out():
    parts = [part("user", Block("Rules " * 50), source("S1", 9, 1))]
    (message,) = pack(parts, 1, count)
    assert message.text.startswith("Rules")


def test_a_short_page_is_shown_whole():
    assert around("a b c", [(0, 1)], 3, count) == ("a b c", False)


def test_a_long_page_is_cut_around_the_evidence():
    text = " ".join(f"w{n}" for n in range(1000))
    start = text.index("w500 ")
    shown, cut = around(text, [(start, start + 4)], 20, count)
    assert cut
    assert "w500" in shown
    assert "w0 " not in shown
    assert shown.startswith(GAP.strip())
    assert shown.endswith(GAP.strip())
    assert count(shown) <= 24


def test_two_places_on_a_page_are_shown_with_a_gap_between_them():
    text = " ".join(f"w{n}" for n in range(1000))
    places = [(text.index(w), text.index(w) + 4) for w in ("w900 ", "w100 ")]
    shown, _ = around(text, places, 30, count)
    assert shown.index("w100") < shown.index(GAP, 4) < shown.index("w900")


def test_places_next_to_each_other_are_one():
    text = " ".join(f"w{n}" for n in range(1000))
    places = [(text.index(w), text.index(w) + 4) for w in ("w500 ", "w502 ")]
    shown, _ = around(text, places, 30, count)
    assert shown.strip("[…]\n").count("[…]") == 0
    assert "w501" in shown


def test_without_a_place_the_beginning_is_shown():
    text = " ".join(f"w{n}" for n in range(1000))
    shown, cut = around(text, (), 20, count)
    assert cut
    assert shown.startswith("w0 w1")
