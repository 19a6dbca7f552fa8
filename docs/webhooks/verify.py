"""Verifies that a delivery comes from the service. Python 3.9 or later, without packages."""
import base64
import hashlib
import hmac
import time

TOLERANCE_SECONDS = 300


def is_genuine(secret, id, timestamp, signature, raw_body, now=None):
    """Verifies the Standard Webhooks headers: the signature, and the timestamp to prevent replay attacks."""
    now = time.time() if now is None else now
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        return False
    signed = f"{id}.{timestamp}.".encode() + raw_body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(one.encode(), expected) for one in signature.split(" "))


def is_signed(secret, header, raw_body):
    """Verifies X-Service-Signature only. This signature does not cover a timestamp."""
    if not secret:
        return False
    expected = b"sha256=" + hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest().encode()
    return any(hmac.compare_digest(one.strip().encode(), expected) for one in header.split(","))
