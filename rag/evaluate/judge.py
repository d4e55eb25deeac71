"""Optional: a language model's opinion of an answer. Its raw replies are kept with the run.

Groundedness, relevance and correctness each get a question of their own, after Zheng et al. 2023
("Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena") with a yes-or-no verdict, which agrees
better with people than a scale does. The model's name is kept with the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from rag.evaluate.cases import Case
from rag.evaluate.metrics.text import without_markers
from rag.evaluate.stats import Ratio
from rag.llm import LLM, Message, TextPiece
from rag.types import Answer

Aspect = Literal["grounded", "relevant", "correct"]
_PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
_VERDICT = re.compile(r"^\W*verdict\W+(yes|no)\b", re.IGNORECASE | re.MULTILINE)


class Judge:
    def __init__(self, llm: LLM) -> None:
        """`llm` is best set to temperature 0, so that a run can be repeated."""
        self._llm = llm
        self._prompts = {
            aspect: (_PROMPTS / f"judge_{aspect}.md").read_text(encoding="utf-8")
            for aspect in ("grounded", "relevant", "correct")
        }

    @property
    def model(self) -> str:
        return self._llm.model

    def judge(self, case: Case, answer: Answer) -> tuple[dict[str, str], dict[str, Ratio]]:
        """(raw replies by aspect, scores). A reply without a verdict gives no score.

        Correctness is judged only where the case has a reference. Raises LLMError.
        """
        replies: dict[str, str] = {}
        scores: dict[str, Ratio] = {}
        for aspect, parts in self._questions(case, answer).items():
            reply = self._reply(self._prompts[aspect], parts)
            replies[aspect] = reply
            verdicts = _VERDICT.findall(reply)
            if verdicts:
                scores[f"judge_{aspect}"] = (float(verdicts[-1].lower() == "yes"), 1.0)
        return replies, scores

    def _questions(self, case: Case, answer: Answer) -> dict[Aspect, Mapping[str, str]]:
        text = without_markers(answer.text)
        quotes = "\n".join(f"[{n}] {c.quote}" for n, c in enumerate(answer.citations, 1))
        found: dict[Aspect, Mapping[str, str]] = {
            "grounded": {"sources": quotes or "(none)", "answer": answer.text},
            "relevant": {"question": case.question, "answer": text},
        }
        if case.answers:
            found["correct"] = {
                "question": case.question,
                "expected": "\nor: ".join(case.answers),
                "answer": text,
            }
        return found

    def _reply(self, prompt: str, parts: Mapping[str, str]) -> str:
        content = "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in parts.items())
        messages = [Message("system", prompt), Message("user", content)]
        pieces = self._llm.stream(messages)
        return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
