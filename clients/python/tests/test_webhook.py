"""Tests webhook verification with the published test vectors."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from process_document_service import WebhookVerificationError, verify_webhook

VECTORS = json.loads((Path(__file__).parents[3] / "docs/webhook-test-vectors.json").read_text("utf-8"))["vectors"]
HEADERS = ("webhook-signature", "x-service-signature")


def to_request(vector: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The request of a vector, at the time of its timestamp."""
    facts = {name: vector[name] for name in ("body", "headers")}
    return {"secret": vector["secrets"][0], "now": vector["webhook_timestamp"], **facts, **changes}


def find_rejection(request: dict[str, Any]) -> str:
    with pytest.raises(WebhookVerificationError) as caught:
        verify_webhook(**request)
    return caught.value.reason


def test_there_are_vectors() -> None:
    assert len(VECTORS) >= 3


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
@pytest.mark.parametrize("header", HEADERS)
def test_each_vector_is_accepted_with_each_secret_and_rejected_if_changed(vector: dict[str, Any], header: str) -> None:
    for secret in vector["secrets"]:
        payload = verify_webhook(**to_request(vector, secret=secret, header=header))
        assert payload == json.loads(vector["body"])
    changed = vector["body"].replace('"id"', '"ID"')
    assert find_rejection(to_request(vector, body=changed, header=header)) == "wrong_signature"
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    assert find_rejection(to_request(vector, secret=other, header=header)) == "wrong_signature"


def test_bytes_several_secrets_and_any_case_of_headers_are_accepted() -> None:
    vector = VECTORS[0]
    headers = {name.upper(): value for name, value in vector["headers"].items()}
    secret = ["whsec_b2xk", vector["secrets"][0]]
    request = to_request(vector, headers=headers, secret=secret, body=vector["body"].encode())
    assert verify_webhook(**request)["event_type"] == "document.published"


def test_the_headers_of_http_server_are_accepted() -> None:
    vector = VECTORS[0]
    headers = Message()
    for name, value in vector["headers"].items():
        headers[name] = value
    now, secret = vector["webhook_timestamp"], vector["secrets"][0]
    assert verify_webhook(secret=secret, headers=headers, body=vector["body"], now=now)["id"] == vector["webhook_id"]


@pytest.mark.parametrize(("seconds", "is_accepted"), [(301, False), (-301, False), (299, True), (-299, True)])
def test_the_time_of_the_request_is_within_the_tolerance(seconds: int, is_accepted: bool) -> None:
    request = to_request(VECTORS[0], now=VECTORS[0]["webhook_timestamp"] + seconds)
    if is_accepted:
        verify_webhook(**request)
    else:
        assert find_rejection(request) == "old_timestamp"


def test_a_tolerance_that_is_not_a_number_accepts_no_time() -> None:
    assert find_rejection(to_request(VECTORS[0], tolerance=math.nan)) == "old_timestamp"


def test_the_current_time_is_the_default() -> None:
    request = to_request(VECTORS[0])
    del request["now"]
    assert find_rejection({**request, "headers": {**request["headers"], "webhook-timestamp": "1"}}) == "old_timestamp"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("webhook-timestamp", str(VECTORS[0]["webhook_timestamp"] + 1), "wrong_signature"),
        ("webhook-timestamp", "now", "old_timestamp"),
        ("webhook-id", "other", "wrong_signature"),
        ("webhook-id", "\udcff", "wrong_signature"),
        ("webhook-id", "", "missing_header"),
        ("webhook-signature", "", "missing_header"),
        ("webhook-signature", "v1,", "wrong_signature"),
        ("webhook-signature", "v1,%%%", "wrong_signature"),
        ("webhook-signature", "sha256=00", "wrong_signature"),
        ("webhook-signature", "v2,abc", "wrong_signature"),
        ("webhook-signature", "v1,Größe", "wrong_signature"),
    ],
)
def test_a_changed_header_is_rejected(name: str, value: str, reason: str) -> None:
    headers = {**VECTORS[0]["headers"], name: value}
    assert find_rejection(to_request(VECTORS[0], headers=headers)) == reason


def test_the_service_signature_alone_is_only_accepted_on_request() -> None:
    headers = {"x-service-signature": VECTORS[0]["headers"]["X-Service-Signature"]}
    assert find_rejection(to_request(VECTORS[0], headers=headers)) == "missing_header"
    verify_webhook(**to_request(VECTORS[0], headers=headers, header="x-service-signature"))


def test_a_parsed_body_and_a_value_that_is_not_a_secret_are_explained() -> None:
    with pytest.raises(TypeError, match="is not the raw body"):
        verify_webhook(**to_request(VECTORS[0], body=json.loads(VECTORS[0]["body"])))
    with pytest.raises(ValueError, match="begins with whsec_"):
        verify_webhook(**to_request(VECTORS[0], secret="whsec_ä"))


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("secret", [None, [], [None], b"whsec_b2xk", "", ["whsec_b2xk", ""], "whsec_"])
def test_a_missing_or_empty_secret_is_an_error_for_both_headers(secret: Any, header: str) -> None:
    # everyone can make this signature
    mac = hmac.new(b"", VECTORS[0]["body"].encode(), hashlib.sha256).hexdigest()
    headers = {**VECTORS[0]["headers"], "X-Service-Signature": f"sha256={mac}"}
    with pytest.raises((TypeError, ValueError), match="begins with whsec_"):
        verify_webhook(**to_request(VECTORS[0], headers=headers, secret=secret, header=header))
