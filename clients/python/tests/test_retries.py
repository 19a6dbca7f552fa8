"""Tests which failures are repeated, and when."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from process_document_service import ApiConnectionError, ApiTimeoutError, ProblemError
from process_document_service._retries import decide_retry, parse_retry_after


def problem(status: int, code: str, retry_after: float | None = None) -> ProblemError:
    return ProblemError(status=status, code=code, title="", detail="", retry_after=retry_after)


def decide(
    error: Exception, is_repeatable: bool = False, attempt: int = 0, random: float = 1, retries: int = 3
) -> float | None:
    return decide_retry(
        error, attempt=attempt, is_repeatable=is_repeatable, random=random, retries=retries, max_delay=30
    )


@pytest.mark.parametrize(
    ("status", "code"), [(429, "too_many_requests"), (503, "unavailable"), (409, "idempotency_key_in_flight")]
)
def test_every_request_is_repeated_if_the_service_executed_nothing(status: int, code: str) -> None:
    assert decide(problem(status, code, 3)) == 3


@pytest.mark.parametrize(
    "error",
    [ApiConnectionError("reset"), ApiTimeoutError("late")]
    + [problem(status, "unexpected_response") for status in (502, 503, 504)]
    + [problem(503, "outcome_unknown")],
)
def test_only_repeatable_requests_are_repeated_if_the_outcome_is_unknown(error: Exception) -> None:
    assert decide(error, is_repeatable=False) is None
    assert decide(error, is_repeatable=True) == 0.25


@pytest.mark.parametrize(
    "error",
    [
        problem(400, "invalid_request"),
        problem(409, "slug_taken", 1),
        problem(500, "internal"),
        problem(200, "unexpected_response"),
        ValueError("doc_id is missing."),
    ],
)
def test_an_error_that_would_occur_again_is_not_repeated(error: Exception) -> None:
    assert decide(error, is_repeatable=True) is None


def test_the_number_of_repetitions_is_limited() -> None:
    assert decide(problem(429, "too_many_requests", 1), attempt=2) == 1
    assert decide(problem(429, "too_many_requests", 1), attempt=3) is None


def test_a_wait_longer_than_the_limit_fails_at_once() -> None:
    assert decide(problem(429, "too_many_requests", 30)) == 30
    assert decide(problem(429, "too_many_requests", 31)) is None


def test_a_wait_that_the_service_did_not_ask_for_is_shortened_to_the_limit() -> None:
    error = ApiConnectionError("reset")
    assert decide_retry(error, attempt=0, is_repeatable=True, random=1, retries=3, max_delay=0.1) == 0.1


def test_waits_double_up_to_a_limit_and_vary_by_half() -> None:
    def delay(attempt: int, random: float = 1) -> float | None:
        return decide(ApiConnectionError("reset"), True, attempt, random, retries=99)

    assert [delay(attempt) for attempt in (0, 1, 2, 20)] == [0.25, 0.5, 1, 8]
    assert delay(0, random=0) == 0.125


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("Sat, 21 Nov 2026 09:30:05 GMT", 5),
        ("Sat, 21 Nov 2026 09:29:00 GMT", 0),
        ("Sat, 21 Nov 2026 09:30:05", None),
        (None, None),
        ("", None),
        ("soon", None),
        ("1.5", None),
        ("-1", None),
        ("1234567890", None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, datetime(2026, 11, 21, 9, 30, tzinfo=timezone.utc)) == seconds
