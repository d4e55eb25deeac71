from rag.stop_words import content_words, spoken


def test_content_words_leave_out_the_stop_words_of_the_questions_language():
    assert content_words("What does the plan cover?") == content_words("plan cover")
    assert content_words("Que couvre le régime ?", "fr") == content_words("couvre régime", "fr")
    assert "plus" in content_words("What does Northwind Plus cover?")


def test_the_language_of_a_question_is_told_by_its_stop_words():
    assert spoken("Wie viele Tage Urlaub gibt es?", "en") == "de"
    assert spoken("How many days are there?", "de") == "en"
    assert spoken("Northwind Plus", "fr") == "fr"
