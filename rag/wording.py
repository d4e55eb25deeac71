"""Chosen sentences -> the Markdown of an answer or a refusal. Pure.

Document text is data: it shows as it is written, and no character of it is a mark of ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.candidates import Candidate
from rag.stop_words import spoken
from rag.types import Document


def marked(text: str, number: int) -> str:
    """The text with its marker before the closing punctuation: "It ends at 26 [1]."."""
    body = text.rstrip(".!?。！？")
    return f"{body} [{number}]{text[len(body) :]}"


def plain(text: str) -> str:
    """Document text on one line that Markdown shows as it is written.

    "[12]" in a document is no marker of ours: a word joiner, which is invisible, parts it.
    """
    text = re.sub(r"\[(?=\d+\])", "[\u2060", " ".join(text.split()))
    text = re.sub(r"[\\`*\[\]<$~|]|(?<!\w)_|_(?!\w)|:(?=[\w+-]+[:\[])", r"\\\g<0>", text)
    return re.sub(r"^(\d{1,9})(?=[.)]\s)|^(?=[#>+=-])", r"\1\\", text)


def markdown(run: Sequence[Candidate]) -> str:
    """The run as Markdown: sentences in a row, list items and table rows on lines of their own."""
    text = ""
    for candidate in run:
        piece = "\n- ".join(plain(line) for line in candidate.shown.split("\n- "))
        if candidate.is_row:
            piece = "- " + piece
        in_list = text.rpartition("\n")[2].startswith("- ")
        if in_list and candidate.is_row:
            text += "\n" + piece
        elif in_list or (text and candidate.is_row):
            text += "\n\n" + piece
        else:
            text += " " * bool(text) + piece
    return text


COMPUTED = "The documents do not seem to state this. It is computed from figures like these:"

_REFUSALS = {
    "en": (
        "“{name}” does not seem to answer this.",
        "None of the {count} documents searched seems to answer this.",
        "The closest passages are listed below; other words may find more.",
        "No passage shares a word with the question; try other words.",
        "No passage found has “{word}”.",
    ),
    "fr": (
        "« {name} » ne semble pas répondre à cette question.",
        "Aucun des {count} documents consultés ne semble répondre à cette question.",
        "Les passages les plus proches sont ci-dessous ; d'autres mots peuvent en trouver plus.",
        "Aucun passage n'a de mot en commun avec la question ; essayez d'autres mots.",
        "Aucun passage trouvé ne contient « {word} ».",
    ),
    "de": (
        "„{name}“ scheint das nicht zu beantworten.",
        "Keines der {count} durchsuchten Dokumente scheint das zu beantworten.",
        "Die nächsten Stellen stehen unten; andere Wörter finden vielleicht mehr.",
        "Keine Stelle hat ein Wort mit der Frage gemeinsam; versuchen Sie andere Wörter.",
        "Keine gefundene Passage enthält „{word}“.",
    ),
    "es": (
        "«{name}» no parece responder a esto.",
        "Ninguno de los {count} documentos consultados parece responder a esto.",
        "Abajo están los pasajes más cercanos; otras palabras pueden encontrar más.",
        "Ningún pasaje tiene una palabra en común con la pregunta; pruebe con otras palabras.",
        "Ningún pasaje encontrado contiene «{word}».",
    ),
    "it": (
        "«{name}» non sembra rispondere a questa domanda.",
        "Nessuno dei {count} documenti consultati sembra rispondere a questa domanda.",
        "I passi più vicini sono qui sotto; altre parole possono trovare di più.",
        "Nessun passo ha una parola in comune con la domanda; provi con altre parole.",
        "Nessun passaggio trovato contiene «{word}».",
    ),
    "pt": (
        "“{name}” não parece responder a isto.",
        "Nenhum dos {count} documentos consultados parece responder a isto.",
        "As passagens mais próximas estão abaixo; outras palavras podem encontrar mais.",
        "Nenhuma passagem tem uma palavra em comum com a pergunta; tente outras palavras.",
        "Nenhum trecho encontrado contém “{word}”.",
    ),
    "nl": (
        "“{name}” lijkt dit niet te beantwoorden.",
        "Geen van de {count} doorzochte documenten lijkt dit te beantwoorden.",
        "De dichtstbijzijnde passages staan hieronder; andere woorden vinden misschien meer.",
        "Geen passage deelt een woord met de vraag; probeer andere woorden.",
        "Geen gevonden passage bevat “{word}”.",
    ),
}
"""For one document, for several; with passages below, without; a word that none has."""


def refusal(question: str, searched: Sequence[Document], passages: bool, lacking: str = "") -> str:
    """In the question's language. `passages`: some are shown with it; `lacking`: a word of the
    question that none of them has, which is why it is refused."""
    one, several, below, none, without = _REFUSALS[spoken(question, "en")]
    if len(searched) == 1:
        scope = one.format(name=plain(searched[0].name))
    else:
        scope = several.format(count=len(searched))
    why = f"{without.format(word=plain(lacking))} " if lacking else ""
    return f"{scope} {why}{below if passages else none}"
