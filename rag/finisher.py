"""The model's calls of `finish` -> the answer, or what it has to mend of it: once."""

from __future__ import annotations

from collections import Counter

from rag import repair, tongue
from rag.draft import Draft, draft, quotes
from rag.settings import Settings
from rag.sources import Sources
from rag.types import QuoteCheck


class Finisher:
    """The state of one answer's ending."""

    def __init__(self, question: str, sources: Sources, settings: Settings) -> None:
        self.checks: tuple[QuoteCheck, ...] = ()
        """What became of the quotes of the answer so far."""
        self.unrepaired: Draft | None = None
        """The answer before its repair round."""
        self._question = question
        self._sources = sources
        self._settings = settings

    @property
    def fallback(self) -> Draft | None:
        """The answer to show when the repair round comes to nothing."""
        return self.unrepaired if self.unrepaired and self.unrepaired.grounded else None

    @property
    def summary(self) -> str:
        """In the trace: what became of the quotes so far."""
        outcomes = Counter(check.outcome for check in self.checks)
        return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())

    def judge(self, arguments: str, *, last: bool) -> Draft | str:
        """The answer, or what is wrong with it, for the model. `last`: no call is left to mend."""
        made = self._draft(arguments)
        checks = self._checked(arguments)
        if self.unrepaired is not None:
            if self.fallback is not None and not made.grounded:
                return self.fallback
            self.checks = repair.outcomes(self.checks, checks)
            return made
        self.checks = checks
        failed = [check for check in checks if check.outcome == "rejected"]
        language = tongue.wrong(self._question, made.text)
        nothing = made.unsupported > 0 and not made.grounded
        if last or not (failed or nothing or language):
            return made
        self.unrepaired = made
        return repair.request(failed, self._near, nothing=nothing, language=language)

    def cut_off(self, arguments: str) -> Draft:
        """What was complete of an answer when a bound cut it off; "" when there was none."""
        whole = self._draft(arguments, whole=True)
        if not whole.grounded and self.fallback is not None:
            return self.fallback
        self.checks = repair.outcomes(self.checks, self._checked(arguments, whole=True))
        return whole

    def _checked(self, arguments: str, *, whole: bool = False) -> tuple[QuoteCheck, ...]:
        claimed = dict.fromkeys(quotes(arguments, whole=whole))
        return tuple(self._sources.check(source, quote) for source, quote in claimed)

    def _draft(self, arguments: str, *, whole: bool = False) -> Draft:
        verify = self._sources.verify
        made = draft(arguments, verify, whole=whole, unsupported=self._settings.llm_unsupported)
        if made.grounded or self._settings.llm_ungrounded == "refuse":
            return made
        return draft(arguments, verify, whole=whole)  # to be shown as it is, every claim marked

    def _near(self, check: QuoteCheck) -> str:
        text = self._sources.near(check.source, check.quote)
        return self._sources.delimited("source", {}, text) if text else ""
