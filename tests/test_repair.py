from rag.repair import nearest, outcomes, request
from rag.types import QuoteCheck

TEXT = "The boiler runs at a pressure of 15 bar. It holds 80 litres.\nThe pump weighs 12 kg."


def check(quote, outcome="verified", reason=""):
    return QuoteCheck(quote, "S1", outcome, reason)


def test_the_nearest_sentence_is_found():
    assert nearest("the pump weighs 15 kilos", TEXT) == "The pump weighs 12 kg."


def test_a_quote_over_two_sentences_is_near_both():
    assert nearest("runs at a pressure of 16 bar. It holds 90 litres", TEXT) == (
        "The boiler runs at a pressure of 15 bar. It holds 80 litres."
    )


def test_nothing_is_near_what_the_page_does_not_say():
    assert nearest("zzz qqq", TEXT) == ""


def test_a_repaired_quote_keeps_the_reason_why_it_failed():
    first = [check("15 bars of pressure", "rejected", "not there"), check("80 litres of it")]
    second = [check("a pressure of 15 bar"), check("80 litres of it")]
    assert outcomes(first, second) == (
        QuoteCheck("a pressure of 15 bar", "S1", "repaired", "not there"),
        check("80 litres of it"),
    )


def test_what_fails_twice_or_is_dropped_is_rejected_once():
    first = [check("made up", "rejected", "a"), check("other", "rejected", "b")]
    second = [check("made up", "rejected", "a")]
    assert outcomes(first, second) == (
        check("made up", "rejected", "a"),
        check("other", "rejected", "b"),
    )


def test_more_quotes_than_failed_are_just_verified():
    first = [check("one", "rejected", "a")]
    assert [c.outcome for c in outcomes(first, [check("one!"), check("two")])] == [
        "repaired",
        "verified",
    ]


def test_the_model_is_told_which_quote_failed_why_and_what_stands_nearby():
    failed = [check("the boiler is red", "rejected", "The quote is not in the text.")]
    told = request(failed, lambda c: "<s>The boiler runs</s>", nothing=False, language="")
    assert "S1, 'the boiler is red': The quote is not in the text." in told
    assert "<s>The boiler runs</s>" in told
    assert "None of these" not in told


def test_a_wrong_language_is_named():
    told = request([], lambda c: "", nothing=False, language="fr")
    assert "The question is in French" in told
    assert "Copy each quote" not in told
