"""What a provider's error means: whether to ask again, how long to wait first, and what to tell the user."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from amem.errors import BadReply, ModelRefused, ModelRejected, ModelUnavailable
from amem.tokens import encodable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.errors import AmemError, LLMError

_TRACEBACK = "Traceback (most recent call last)"
_LABELS = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?: Error)?(?:: | - ))+")
_TAGS = re.compile(r"<[^>]*>")
_KEYS = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{8,}")
_CONTEXT = re.compile(r"context.?(?:length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)
_POLICY = re.compile(r"content.?policy|content.management.policy|content.filter|safety system", re.IGNORECASE)

_OF_ONE_REQUEST = frozenset({400, 413, 422})
"""Statuses that turn one request down (too long, not understood), and say nothing about the account."""
_ADVICE = {
    400: "Nothing was stored from this call; check the model's name and parameters",
    401: "Nothing was stored from this call; set the provider's API key (or `api_key`)",
    402: "Nothing was stored from this call; check the provider's billing",
    403: "Nothing was stored from this call; check what this API key may use",
    404: "Nothing was stored from this call; check the model's name and `api_base`",
    429: "Nothing was stored from this call; the account's quota is used up",
}


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status behind an error of litellm's; it gives one to transport faults as well."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_transient(error: BaseException) -> bool:
    """Say whether the same request may succeed later: 408, 429, 5xx, a timeout, a broken connection."""
    if isinstance(error, TimeoutError):
        return True
    status = status_of(error)
    if status is None or (status == 429 and "insufficient_quota" in str(error)):
        return False
    return status in {408, 429} or status >= 500


def is_about_its_texts(error: AmemError | None) -> bool:
    """Say whether a call failed for the texts it was about, so that it may succeed with others, or with fewer."""
    if isinstance(error, ModelRejected):
        return error.status in _OF_ONE_REQUEST
    return isinstance(error, (BadReply, ModelRefused))


def retry_after(error: BaseException | None) -> float | None:
    """Return the seconds the server asked to wait, from a number or a date; None where it did not ask."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    wanted = headers.get("retry-after")
    if wanted is None:
        return None
    try:
        return max(0.0, float(wanted))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(wanted)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def summary(error: BaseException, secret: str | None = None) -> str:
    """Return one short line of what the provider said, without its page markup and without any key."""
    text = _TAGS.sub(" ", _LABELS.sub("", encodable(str(error)).partition(_TRACEBACK)[0]))
    if secret:
        text = text.replace(secret, "***")
    text = " ".join(_KEYS.sub("***", text).split())
    return f"{text[:300]}…" if len(text) > 300 else text or type(error).__name__


def unavailable(model: str, error: BaseException, *, attempts: int, seconds: float, said: str) -> ModelUnavailable:
    """Build the error for a model that kept failing."""
    what = "no answer in time" if isinstance(error, TimeoutError) else said
    wait = retry_after(error)
    advice = f"The server asks to wait {wait:.0f} s." if wait else "Try again later."
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    message = f"{model} could not be reached in {tries} and {seconds:.1f} s: {what.removesuffix('.')}. {advice}"
    return ModelUnavailable(message, attempts=attempts)


def refusal(model: str, error: BaseException, *, said: str) -> LLMError:
    """Build the error for a request that was turned down, which asking again would not change."""
    status = status_of(error)
    if status == 400 and _POLICY.search(str(error)):
        return ModelRefused(f"{model}'s provider refused the text by its content policy: {said}")
    if _CONTEXT.search(str(error)):
        advice = "Nothing was stored from this call; send less at once (a smaller window or budget)"
    else:
        advice = _ADVICE.get(status or 400, _ADVICE[400])
    return ModelRejected(f"{model} rejected the request ({status}): {said}. {advice}.", status=status)
