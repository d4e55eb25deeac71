"""What is said when the model gave no refusal of its own, in the language of the question. Pure."""

from __future__ import annotations

from rag.settings import Settings
from rag.stop_words import spoken

_UNVERIFIED = {
    "en": "The model's answer is not shown: none of its quotes was found in your documents.",
    "fr": "La réponse du modèle n'est pas affichée : aucune de ses citations ne se trouve dans vos "
    "documents.",
    "de": "Die Antwort des Modells wird nicht gezeigt: Keines seiner Zitate steht in Ihren "
    "Dokumenten.",
    "es": "La respuesta del modelo no se muestra: ninguna de sus citas está en sus documentos.",
    "it": "La risposta del modello non viene mostrata: nessuna delle sue citazioni si trova nei "
    "documenti.",
    "pt": "A resposta do modelo não é mostrada: nenhuma das suas citações está nos seus "
    "documentos.",
    "nl": "Het antwoord van het model wordt niet getoond: geen van de citaten staat in uw "
    "documenten.",
}
_STOPPED = {
    "en": "No answer that your documents support was found within {limit}.",
    "fr": "Aucune réponse appuyée par vos documents n'a été trouvée dans la limite de {limit}.",
    "de": "Innerhalb von {limit} wurde keine Antwort gefunden, die Ihre Dokumente belegen.",
    "es": "No se encontró ninguna respuesta respaldada por sus documentos dentro de {limit}.",
    "it": "Entro {limit} non è stata trovata alcuna risposta sostenuta dai documenti.",
    "pt": "Nenhuma resposta apoiada pelos seus documentos foi encontrada dentro de {limit}.",
    "nl": "Binnen {limit} is geen antwoord gevonden dat uw documenten ondersteunen.",
}
_LIMITS = {
    "en": ("model calls", "tokens", "seconds"),
    "fr": ("appels au modèle", "tokens", "secondes"),
    "de": ("Modellaufrufen", "Tokens", "Sekunden"),
    "es": ("llamadas al modelo", "tokens", "segundos"),
    "it": ("chiamate al modello", "token", "secondi"),
    "pt": ("chamadas ao modelo", "tokens", "segundos"),
    "nl": ("modelaanroepen", "tokens", "seconden"),
}


def excuse(question: str, bound: str, settings: Settings) -> str:
    """`bound` is the one that stopped the search for an answer, or "" when no quote was found."""
    language = spoken(question, "en")
    assert language in _LIMITS, "every language with stop words has its sentences"
    if not bound:
        return _UNVERIFIED[language]
    calls, tokens, seconds = _LIMITS[language]
    limits = {
        "rounds": f"{settings.llm_rounds} {calls} (LLM_ROUNDS)",
        "tokens": f"{settings.llm_tokens:,} {tokens} (LLM_TOKENS)",
        "seconds": f"{settings.llm_seconds} {seconds} (LLM_SECONDS)",
        "cost": f"${settings.llm_cost} (LLM_COST)",
    }
    return _STOPPED[language].format(limit=limits[bound])
