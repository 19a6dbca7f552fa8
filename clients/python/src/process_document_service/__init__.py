"""Client for the Process Document Service."""

from . import models
from ._audit_log import AuditLogFault, AuditLogVerificationError, VerifiedAuditLog, verify_audit_log
from ._client import Client
from ._contract import API_VERSION, KnownProblemCode
from ._download import Download
from ._errors import ApiConnectionError, ApiTimeoutError, ProblemError
from ._requests import FileContent
from ._responses import ApiResponse, NotModified
from ._webhook import (
    WebhookPayload,
    WebhookRejection,
    WebhookTestPayload,
    WebhookVerificationError,
    verify_webhook,
)

__version__ = API_VERSION

__all__ = [
    "API_VERSION",
    "ApiConnectionError",
    "ApiResponse",
    "ApiTimeoutError",
    "AuditLogFault",
    "AuditLogVerificationError",
    "Client",
    "Download",
    "FileContent",
    "KnownProblemCode",
    "NotModified",
    "ProblemError",
    "VerifiedAuditLog",
    "WebhookPayload",
    "WebhookRejection",
    "WebhookTestPayload",
    "WebhookVerificationError",
    "models",
    "verify_audit_log",
    "verify_webhook",
]
