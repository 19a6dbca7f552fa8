"""Verifies that a webhook request comes from the service."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, TypedDict, cast

from ._contract import WebhookEventPayload
from ._errors import RestorableError

WebhookRejection: TypeAlias = Literal["missing_header", "old_timestamp", "wrong_signature", "invalid_body"]
"""Why a request was rejected."""

SignatureHeader: TypeAlias = Literal["webhook-signature", "x-service-signature"]


class WebhookTestData(TypedDict):
    """The data of a test request."""

    message: str


class WebhookTestPayload(TypedDict):
    """The body of a test request."""

    id: str
    event_type: Literal["webhook.test"]
    timestamp: str
    organization_id: str
    data: WebhookTestData


WebhookPayload: TypeAlias = WebhookEventPayload | WebhookTestPayload
"""The body of a webhook request. Its `event_type` says which one it is."""


class HeaderItems(Protocol):
    """Headers as web frameworks and `http.server` have them; a dictionary is one too."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return the names and values."""
        ...


class WebhookVerificationError(RestorableError):
    """The request does not come from the service, or it is a repetition of an old one. Respond with 401."""

    reason: WebhookRejection

    def __init__(self, reason: WebhookRejection, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def verify_webhook(
    *,
    secret: str | Sequence[str],
    headers: HeaderItems,
    body: bytes | str,
    header: SignatureHeader = "webhook-signature",
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookPayload:
    """
    Verify a request and return its body. Raises a `WebhookVerificationError`.

    Args:
        secret: The secret of the webhook, or several while you change it.
        headers: The headers of the request. Upper and lower case make no difference.
        body: The raw body, before any parser has changed it.
        header: The header to verify. `webhook-signature` also covers the time and so prevents that somebody sends an
            old request again. Use `x-service-signature` only if a proxy removes the other headers.
        tolerance: How far the time of the request may be from now, in seconds.
        now: Unix time in seconds. Default: the current time.
    """
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise TypeError("`body` is not the raw body. Read the bytes of the request before a parser does.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    if not secrets or not all(isinstance(one, str) for one in secrets):
        raise TypeError("`secret` is missing, or is not text. It begins with whsec_.")
    # also for the other header: everyone can sign with an empty secret
    keys = [_to_standard_key(one) for one in secrets]
    values = {name.lower(): value for name, value in headers.items()}
    signature = _require_header(values, header)
    if header == "webhook-signature":
        signed = _to_signed_bytes(values, content, tolerance, time.time() if now is None else now)
        is_genuine = _any_matches(_read_standard_macs(signature), keys, signed)
    else:
        is_genuine = _any_matches(_read_service_macs(signature), [one.encode() for one in secrets], content)
    if not is_genuine:
        message = f"No signature in {header} matches. Check the secret, and that the body is the raw body."
        raise WebhookVerificationError("wrong_signature", message)
    try:
        # the signature proves that the service has written it
        return cast(WebhookPayload, json.loads(content))
    except ValueError:
        raise WebhookVerificationError("invalid_body", "The body is not JSON.") from None


def _to_signed_bytes(headers: Mapping[str, str], body: bytes, tolerance: float, now: float) -> bytes:
    """What Standard Webhooks sign: `id.timestamp.body`. Raises if the time is too far from now."""
    message_id = _require_header(headers, "webhook-id")
    timestamp = _require_header(headers, "webhook-timestamp")
    # also rejects if the tolerance is not a number
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or not abs(now - int(timestamp)) <= tolerance:
        message = f"The time of the request is more than {tolerance:g} seconds from now."
        raise WebhookVerificationError("old_timestamp", message)
    # some servers decode bytes that are not UTF-8 as surrogates
    return f"{message_id}.{timestamp}.".encode(errors="surrogatepass") + body


def _read_standard_macs(signature: str) -> list[bytes]:
    """The `v1,<base64>` entries, separated by spaces."""
    macs = [_decode_base64(entry[3:]) for entry in signature.split(" ") if entry.startswith("v1,")]
    return [mac for mac in macs if mac]


def _read_service_macs(signature: str) -> list[bytes]:
    """The `sha256=<hex>` entries, separated by commas."""
    matches = [re.fullmatch(r"sha256=([0-9a-f]{64})", entry.strip()) for entry in signature.split(",")]
    return [bytes.fromhex(match[1]) for match in matches if match]


def _any_matches(macs: Iterable[bytes], keys: Iterable[bytes], signed: bytes) -> bool:
    """`compare_digest` compares in constant time."""
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    return any(hmac.compare_digest(mac, one) for mac in macs for one in expected)


def _to_standard_key(secret: str) -> bytes:
    key = _decode_base64(secret.removeprefix("whsec_"))
    if not key:
        raise ValueError("The secret of a webhook begins with whsec_. Check `secret`.")
    return key


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _require_header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookVerificationError("missing_header", f"The request has no header {name}.")
    return value
