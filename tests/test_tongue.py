import pytest

from rag.excuse import excuse
from rag.settings import Settings
from rag.stop_words import clearly_in
from rag.tongue import name, spoken_by, wrong
from rag.types import Document

QUESTIONS = {
    "en": "What is the pressure of the boiler?",
    "fr": "Quelle est la pression dans la chaudière ?",
    "de": "Was ist der Druck in dem Kessel?",
    "nl": "Wat is de druk van het water in de ketel?",
}


def document(language):
    return Document("d", "d.pdf", "application/pdf", 1, "", language=language)


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_is_clearly_in_its_language(language):
    assert clearly_in(QUESTIONS[language]) == language


@pytest.mark.parametrize("text", ["", "Boiler pressure?", "15 bar", "锅炉的压力是多少", "is in"])
def test_a_few_words_are_clearly_in_none(text):
    assert clearly_in(text) == ""


def test_an_answer_in_another_language_is_wrong_unless_it_was_asked_for():
    german = "Der Kessel läuft mit 15 bar und das ist viel."
    assert wrong(QUESTIONS["en"], german) == "en"
    assert wrong(QUESTIONS["de"], german) == ""
    assert wrong(QUESTIONS["en"] + " In German, please.", german) == ""
    assert wrong(QUESTIONS["en"], "15 bar.") == ""
    assert wrong("Boiler?", german) == ""


def test_the_languages_of_the_documents_are_named_most_of_them_first():
    documents = [document("fr"), document("de"), document("fr"), document("")]
    assert spoken_by(documents) == " They are in French, German: search in these languages."
    assert spoken_by([document("")]) == ""
    many = spoken_by([document(code) for code in ("en", "fr", "de", "es", "it", "pt", "nl")])
    assert "and others" in many
    assert "Dutch" not in many


def test_an_unknown_code_stands_for_itself():
    assert name("xx") == "xx"


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.parametrize("bound", ["", "rounds", "tokens", "seconds", "cost"])
def test_there_is_an_excuse_for_every_bound_in_the_language_of_the_question(
    language, bound, tmp_path
):
    said = excuse(QUESTIONS[language], bound, Settings(tmp_path, llm_cost=0.05))
    assert clearly_in(said) in (language, "")
    assert ("LLM_" in said) == bool(bound)
    assert f"LLM_{bound.upper()}" in said or not bound
