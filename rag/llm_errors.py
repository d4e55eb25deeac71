"""Why a model call failed, said to the user: an exception of any library in, one message out.

Exceptions are told apart by class name, so that litellm (4 s) need not be imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

CAUSE_CHARACTERS = 240

_RETRIED_STATUS = {429, 500, 502, 503, 504, 529}
_PREFIX = re.compile(r"^(?:(?:litellm|openai)\.)?\w*(?:Error|Exception|Timeout)(?:: | - )")
_WRAPPED = re.compile(r"\.? (?:Original exception: |Traceback \(most recent call last\)).*")
_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|hf)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}|(?<=key=)[^&\s\"']+")
_TOOLS = re.compile(
    r"(?:tool|function).{0,60}(?:support|enable|require)|support.{0,60}(?:tool|function)"
)
_CONTEXT = re.compile(r"context (?:length|size|window)|prompt is too long|too many tokens")
_SETTING = {
    "temperature": "LLM_TEMPERATURE",
    "reasoning": "LLM_REASONING",
    "max_tokens": "LLM_MAX_TOKENS",
    "max_completion_tokens": "LLM_MAX_TOKENS",
}


def explain(
    error: Exception,
    *,
    model: str,
    base_url: str | None,
    timeout_s: float,
    started: bool,
    secrets: Sequence[str],
) -> str:
    """The model, the cause, what to do. `started`: a part of the reply had already arrived."""
    kinds = _kinds(error)
    status = getattr(error, "status_code", None)
    cause = _cause(error, secrets)

    if kinds & {"Timeout", "APITimeoutError", "TimeoutException"}:
        return (
            f"The model {model} did not answer within {max(1, round(timeout_s))} s. "
            "Try again, choose a faster model, or raise LLM_SECONDS."
        )
    if started:
        return f"The answer of the model {model} broke off: {cause} Ask again."
    if _unreachable(error):
        hint = (
            "Is the server running (for Ollama: `ollama serve`), and is LLM_BASE_URL right?"
            if base_url or "ollama" in model
            else "Check your internet connection."
        )
        place = re.sub(r"//[^/@]*@", "//", base_url) if base_url else "its provider"
        return f"The model {model} cannot be reached at {place}: {cause} {hint}"
    if "AuthenticationError" in kinds or status in (401, 403):
        return f"The provider refused the API key for {model}: {cause} Check LLM_API_KEY."
    if refuses_tools(error):
        return f"The model {model} does not accept tool calls: {cause}"
    if too_long(error):
        return (
            f"The question and its passages are too long for {model}: {cause} "
            "Lower FOOTNOTE_TOP_K or choose a model with a larger context window."
        )
    if status == 404:
        return (
            f"The provider has no model {model}: {cause} Check LLM_MODEL"
            + (" and LLM_BASE_URL." if base_url else ".")
            + (" `ollama pull` fetches a model." if "ollama" in model else "")
        )
    if status in (402, 429):
        return (
            f"The provider limits the use of {model}: {cause} "
            "Wait a minute and ask again, or check your plan and its quota."
        )
    if "provider not provided" in cause.lower():
        return (
            f"The model name {model!r} names no known provider. Write provider/model "
            "in LLM_MODEL, such as openai/gpt-5-mini or ollama_chat/qwen3."
        )
    if status in (400, 422):
        name = next((name for word, name in _SETTING.items() if word in cause.lower()), "LLM_MODEL")
        return f"The provider refused the request to {model}: {cause} Check {name}."
    return (
        f"The provider of {model} failed{f' ({status})' if status else ''}: {cause} "
        "Try again in a moment or choose another model."
    )


def refuses_tools(error: Exception) -> bool:
    """The model, or the server that runs it, takes no tool calls."""
    return getattr(error, "status_code", None) in (400, 404, 422, 500, 501) and bool(
        _TOOLS.search(str(error).lower())
    )


def too_long(error: Exception) -> bool:
    """The model's context does not hold the prompt."""
    return "ContextWindowExceededError" in _kinds(error) or (
        getattr(error, "status_code", None) in (400, 413, 422, 500)
        and _CONTEXT.search(str(error).lower()) is not None
    )


def may_retry(error: Exception) -> bool:
    """A rate limit or a server error. Not a used-up quota, a dead server or a time-out."""
    return (
        getattr(error, "status_code", None) in _RETRIED_STATUS
        and not _unreachable(error)
        and not refuses_tools(error)
        and not too_long(error)
        and "insufficient_quota" not in str(error)
    )


def retry_after_s(error: Exception) -> float:
    """Seconds that the provider asks to wait; 0 when it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except ValueError:  # the header may hold a date
        return 0.0


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _unreachable(error: Exception) -> bool:
    """litellm reports a refused connection as a server error 500; only its cause tells."""
    reached = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError"}
    return any(_kinds(link) & reached for link in _chain(error))


def _cause(error: Exception, secrets: Sequence[str]) -> str:
    """The provider's own words on one line, without library prefixes and keys, as a sentence."""
    text = " ".join(str(error).split())
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    text = _WRAPPED.sub("", text)
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _KEY.sub("***", text)
    if len(text) > CAUSE_CHARACTERS:
        text = text[: CAUSE_CHARACTERS - 1].rstrip() + "…"
    text = text or type(error).__name__
    return text if text.endswith((".", "!", "?", "…")) else text + "."
