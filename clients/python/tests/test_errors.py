"""Tests that errors survive pickle, as in a pool of processes."""

from __future__ import annotations

import pickle

import pytest
from process_document_service import AuditLogVerificationError, ProblemError, WebhookVerificationError

ERRORS = [
    ProblemError(status=429, code="rate_limited", title="Too many requests", detail="Wait", retry_after=2.5),
    WebhookVerificationError("old_timestamp", "The time of the request is too old."),
    AuditLogVerificationError("gap", 3, "5 follows 3"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_pickle(error: Exception) -> None:
    restored = pickle.loads(pickle.dumps(error))
    assert (type(restored), str(restored), vars(restored)) == (type(error), str(error), vars(error))
