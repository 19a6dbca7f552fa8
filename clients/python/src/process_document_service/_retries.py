"""Decides whether a failed request is sent again, and when."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

from ._errors import ApiConnectionError, ProblemError

_FIRST_DELAY = 0.25
_MAX_BACKOFF = 8.0


def decide_retry(
    error: Exception, *, attempt: int, is_repeatable: bool, random: float, retries: int, max_delay: float
) -> float | None:
    """
    Return the seconds before the next attempt, or None if the request must not be sent again.

    `attempt` counts from 0, `random` is between 0 and 1.
    """
    if attempt >= retries:
        return None
    if not was_not_executed(error) and not (is_repeatable and _is_outcome_unknown(error)):
        return None
    backoff = min(_FIRST_DELAY * 2.0**attempt, _MAX_BACKOFF)
    requested = error.retry_after if isinstance(error, ProblemError) else None
    # only the service can ask for too long a wait
    if requested is None:
        return min(backoff * (0.5 + random / 2), max_delay)
    return requested if requested <= max_delay else None


def was_not_executed(error: Exception) -> bool:
    """Whether the service reported that it has changed nothing, and that the same request can work later."""
    if not isinstance(error, ProblemError):
        return False
    if error.status == 429 or error.code == "idempotency_key_in_flight":
        return True
    return error.status == 503 and error.code not in ("unexpected_response", "outcome_unknown")


def _is_outcome_unknown(error: Exception) -> bool:
    """Whether the service may or may not have executed the request."""
    if isinstance(error, ApiConnectionError):
        return True
    # a proxy sends these if it gets no response from the service, and the service 503 `outcome_unknown`
    return isinstance(error, ProblemError) and error.status in (502, 503, 504)


def parse_retry_after(header: str | None, now: datetime) -> float | None:
    """Return the seconds of a `Retry-After` header, which is a number or a date."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except (TypeError, ValueError):
        return None
