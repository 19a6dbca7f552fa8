"""Reads responses: the data of a success, or the problem."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Generic, Literal, TypeVar

import httpx

from ._download import Download
from ._errors import ProblemError
from ._requests import Operation
from ._retries import parse_retry_after

Data = TypeVar("Data")


@dataclass(frozen=True)
class ApiResponse(Generic[Data]):
    """A response with its data and what its headers say."""

    data: Data
    status: int
    etag: str | None
    """The version of the document, for `if_match` and `if_none_match`."""
    request_id: str | None
    is_replayed: bool
    """Whether this is the stored response of an earlier request with the same key. Its secrets are `None`."""
    headers: Mapping[str, str]
    is_modified: Literal[True] = True


@dataclass(frozen=True)
class NotModified:
    """The response if what you have is current."""

    etag: str | None
    request_id: str | None
    headers: Mapping[str, str]
    status: int = 304
    data: None = None
    is_modified: Literal[False] = False


def read_response(response: httpx.Response, content: bytes, operation: Operation) -> ApiResponse[Any] | NotModified:
    """
    Read a response. `content` is its content; a download reads its own.

    Raises a `ProblemError`.
    """
    status, headers = response.status_code, response.headers
    etag, request_id = headers.get("etag"), headers.get("x-request-id")
    if status == 304:
        return NotModified(etag=etag, request_id=request_id, headers=headers)
    if not response.is_success:
        raise _read_problem(response, content)
    data: object = None
    if is_download(response, operation):
        data = Download(response)
    elif operation.returns == "file" or status != 204:
        is_valid, data = _read_json(response, content)
        if operation.returns != "json" or not is_valid:
            raise _to_unexpected(response, content)
    return ApiResponse(
        data=data,
        status=status,
        etag=etag,
        request_id=request_id,
        is_replayed=headers.get("idempotency-replayed") == "true",
        headers=headers,
    )


def is_download(response: httpx.Response, operation: Operation) -> bool:
    """Whether the content is the file of the operation, and not a page of, for example, a proxy."""
    is_page = re.match(r"\s*text/html\b", response.headers.get("content-type", ""), re.IGNORECASE) is not None
    return operation.returns == "file" and response.is_success and (operation.is_html or not is_page)


def _read_problem(response: httpx.Response, content: bytes) -> ProblemError:
    _, body = _read_json(response, content)
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        return _to_unexpected(response, content)
    code, title, detail = body["code"], body.get("title"), body.get("detail")
    errors, request_id = body.get("errors"), body.get("request_id")
    return ProblemError(
        status=response.status_code,
        code=code,
        title=title if isinstance(title, str) else code,
        detail=detail if isinstance(detail, str) else code,
        errors=[error for error in errors if _is_input_error(error)] if isinstance(errors, list) else [],
        request_id=request_id if isinstance(request_id, str) else response.headers.get("x-request-id"),
        retry_after=_read_retry_after(response),
        members=body,
    )


def _to_unexpected(response: httpx.Response, content: bytes) -> ProblemError:
    """The problem of a response that the service does not send, but for example a proxy or another server."""
    status, target = response.status_code, response.headers.get("location")
    if 300 <= status < 400:
        location = f" to {target}" if target else ""
        detail = f"The server redirects{location}. Use the final address of the service as the URL."
    else:
        start = content.decode(errors="replace").strip()[:200]
        detail = (
            f"The server responded with status {status} and {response.headers.get('content-type', 'no content')}, "
            "not as the service does. Check the URL and the proxies."
        ) + (f" The response begins with: {start}" if start else "")
    return ProblemError(
        status=status,
        code="unexpected_response",
        title="The response does not come from the service.",
        detail=detail,
        request_id=response.headers.get("x-request-id"),
        retry_after=_read_retry_after(response),
    )


def _read_json(response: httpx.Response, content: bytes) -> tuple[bool, Any]:
    """Whether the content is JSON, and its value."""
    if not re.search(r"[/+]json\b", response.headers.get("content-type", "")):
        return False, None
    try:
        return True, json.loads(content)
    except (ValueError, RecursionError):
        return False, None


def _read_retry_after(response: httpx.Response) -> float | None:
    return parse_retry_after(response.headers.get("retry-after"), datetime.now(timezone.utc))


def _is_input_error(value: object) -> bool:
    return isinstance(value, dict) and "path" in value and "message" in value
