from __future__ import annotations

import pytest

from rag.parse.mend import SOFT_HYPHEN, clean, decode, is_garbled, is_noisy


@pytest.mark.parametrize(
    ("word", "mended"),
    [
        ("ﬂag", "flag"),
        ("e\ufb03cient", "efficient"),
        ("di↵erent", "different"),
        ("↵", "↵"),
        (f"optional{SOFT_HYPHEN}hyphen", "optionalhyphen"),
        (f"hyph{SOFT_HYPHEN}", f"hyph{SOFT_HYPHEN}"),
        ("a\x03b\u200b", "ab"),
        ("\ufef9\ufea9", "لإد"),
        ("⽇本", "日本"),
        ("10²", "10²"),
        ("\uf0b7", "•"),
        ("●Wake", "● Wake"),
    ],
)
def test_a_word_is_mended_letter_by_letter(word: str, mended: str):
    assert clean(word) == mended


def test_letters_in_the_private_area_of_a_font_are_decoded():
    assert decode(["\uf054\uf068\uf065"]) == ["The"]


@pytest.mark.parametrize("words", [["plain"], ["中文", "日本語"], ["Ünïcode"], []])
def test_right_text_is_not_decoded(words: list[str]):
    assert decode(words) is None


@pytest.mark.parametrize(
    "words",
    [
        ["\ufffd\ufffd", "a"],
        ['"7+%-'],
        ["\ue001\ue002", "\ue003"],
        ["Xlmw", "mw", "rs", "xibx", "fyx", "gmtliv"] * 4,
    ],
)
def test_garbled_pages_are_found(words: list[str]):
    assert is_garbled(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["12"],
        ["Total", "$", "348", "371", "+5", "%"],
        ["日本語", "の", "本文"],
        ["بلاد"],
        ["Przykład", "źdźbło", "trawy", "w", "polskim", "tekście"],
        ["x=1;", "y=2;", "print(x+y)"],
    ],
)
def test_odd_but_right_pages_are_not_garbled(words: list[str]):
    assert not is_garbled(words)


def test_noise_of_text_recognition_is_found():
    letter = "the letter from O'Neill & Co. (1943) cost $5.50, see www.example.com/a?b=1"
    good = letter.split(" ")
    assert not is_noisy(good * 3)
    assert is_noisy([*good * 3, "Calif&rr-.la.", "s*r;tiiR»", "3s«»teership"])
