from __future__ import annotations

import lzma
from collections.abc import Callable

import pytest

from rag.events import Finished
from rag.gloss import DICTIONARIES, LANGUAGES, Gloss, gloss
from rag.ingest import Upload
from rag.keyword import tokens
from rag.reader import Reader
from rag.workspace import Workspace
from tests.fakes import WordEmbedder


def holding(text: str, language: str = "en") -> Callable[[str], bool]:
    there = set(tokens(text, language))
    return lambda words: there.issuperset(tokens(words, language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_dictionary_has_words_with_translations(language: str):
    packed = (DICTIONARIES / f"{language}.tsv.xz").read_bytes()
    entries = [line.split("\t") for line in lzma.decompress(packed).decode().split("\n")]
    assert len(entries) > 10_000
    assert all(len(e) == 2 and e[0] and all(e[1].split("|")) for e in entries)


@pytest.mark.parametrize(("held", "chosen"), [("battery", "battery"), ("power pack", "power pack")])
def test_the_documents_choose_among_the_translations(held: str, chosen: str):
    found = gloss("Wie voll ist der Akku?", "en", holding(f"The {held} is full."))
    assert found is not None
    assert found.text == f"how full {chosen}"


def test_what_asks_for_an_answer_stays_and_other_small_words_go():
    found = gloss("¿Cuántos hoteles hay en la isla?", "en", holding("hotels island"))
    assert found is not None
    assert found.text == "how many hotel island"


def test_a_word_that_the_documents_hold_is_searched_for_as_it_is_too():
    found = gloss("Where is the price of the bolt?", "de", holding("Preis price", "de"))
    assert found is not None
    assert found.text.split()[0] == "preis"
    assert "price" in found.others.split()


def test_a_question_of_small_words_is_left():
    assert gloss("What is it about?", "de", lambda _: True) is None


def test_names_numbers_and_unknown_words_stay():
    found = gloss("Was kostet der Zorbler 4711 bei Allen?", "en", holding("Allen cost"))
    assert found is not None
    assert found.text.split() == ["what", "cost", "Zorbler", "4711", "Allen"]


def test_joined_words_are_parted():
    found = gloss("Wo ist der Regenmesser und wo das Regenbrot?", "en", holding("rain bread"))
    assert found is not None
    assert "rain bread" in found.text


@pytest.mark.parametrize(
    ("question", "held", "said"),
    [
        ("Πού είναι το ξενοδοχείο;", "hotel", "hotel"),
        ("أين الفندق؟", "hotel", "hotel"),
        ("होटल कहाँ है?", "hotel", "hotel"),
        ("Где находится гостиница?", "hotel", "hotel"),
    ],
)
def test_other_scripts_are_told_by_their_letters(question: str, held: str, said: str):
    found = gloss(question, "en", holding(held))
    assert found is not None
    assert said in found.text.split()


def test_a_second_translation_is_searched_for_too():
    found = gloss("Wo ist der Akku?", "en", holding("battery power pack"))
    assert found == Gloss("where battery", "power pack", "de")


def test_an_english_question_is_put_into_the_language_of_the_documents():
    held = "Le tournoi a lieu dans un hôtel."
    found = gloss("Where is the hotel of the tournament?", "fr", holding(held, "fr"))
    assert found is not None
    assert found.text == "hôtel tournoi"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Where is the hotel?", "en"),
        ("Où est l'hôtel ?", "fr"),
        ("Where is the hotel?", "ja"),
        ("Where is the hotel?", ""),
        ("Hotel a Roma", "en"),  # one small word, of several languages
        ("Cine a fost ales președinte al comisiei de la București după vot?", "en"),
        ("ホテルはどこですか", "en"),
    ],
)
def test_what_need_not_or_can_not_be_translated_is_left(question: str, language: str):
    assert gloss(question, language, lambda _: True) is None


LEAVE = b"# Leave\n\nEvery employee has twenty-eight days of annual leave a year.\n"
TRAVEL = b"# Travel\n\nThe first ferry of the morning sails at six to the islands.\n"
BIKE = (
    "# Fahrrad\n\nDer Akku des Fahrrads wird in vier Stunden geladen. Die Bremsen sollen jedes "
    "Jahr gewartet werden, und das Licht ist vor jeder Fahrt zu prüfen.\n"
).encode()


@pytest.fixture
def library(workspace: Workspace) -> Workspace:
    uploads = [Upload("leave.md", LEAVE), Upload("travel.md", TRAVEL), Upload("rad.md", BIKE)]
    assert workspace.add_files(uploads).wait(60)
    assert workspace.catalog.find("rad.md").language == "de"
    return workspace


def test_a_german_question_finds_the_words_of_an_english_document(library: Workspace):
    found = library.search("Wann fährt am Morgen die erste Fähre zu den Inseln?")
    assert found.hits[0].name == "travel.md"
    assert found.hits[0].keyword_rank == 1
    assert found.glosses.keys() == {"en"}
    assert "ferry" in found.glosses["en"]
    assert found.asked_in("de") == found.query


def test_an_english_question_finds_the_words_of_a_german_document(library: Workspace):
    found = library.search("How long does it take to charge the battery of the bicycle?")
    assert found.hits[0].name == "rad.md"
    assert found.hits[0].keyword_rank == 1
    assert "Akku".lower() in found.glosses["de"].lower()


@pytest.mark.parametrize("multilingual", [True, False])
def test_an_embedder_that_reads_the_question_gets_it_as_it_is(
    library: Workspace, monkeypatch: pytest.MonkeyPatch, multilingual: bool
):
    asked: list[str] = []
    embed = WordEmbedder.embed_query
    monkeypatch.setattr(WordEmbedder, "reads", lambda self, code: multilingual or code == "en")
    monkeypatch.setattr(
        WordEmbedder, "embed_query", lambda self, text: asked.append(text) or embed(self, text)
    )
    english = library.catalog.find("travel.md").id
    found = library.search("Wann fährt die erste Fähre?", [english])
    assert asked == [found.query if multilingual else found.glosses["en"]]


def test_the_scope_tells_which_languages_matter(library: Workspace):
    german = library.catalog.find("rad.md").id
    assert library.search("Wann sind die Bremsen zu warten?", [german]).glosses == {}


def test_the_reader_quotes_an_english_document_to_a_german_question(library: Workspace):
    reader = Reader(library.engines().retriever, library.engines().embedder, library.catalog)
    *_, last = reader.answer("Wann fährt am Morgen die erste Fähre zu den Inseln?")
    assert isinstance(last, Finished)
    assert [c.quote for c in last.answer.citations] == [
        "The first ferry of the morning sails at six to the islands."
    ]
