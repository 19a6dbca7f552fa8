"""Sends requests, with a time limit for each attempt and with retries."""

from __future__ import annotations

import random
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import httpx

from ._errors import ApiConnectionError, ApiTimeoutError, ProblemError
from ._requests import BuiltRequest, Operation
from ._responses import ApiResponse, NotModified, is_download, read_response
from ._retries import decide_retry, was_not_executed


@dataclass(frozen=True)
class SendOptions:
    """How requests are sent."""

    http: httpx.Client
    timeout: float
    retries: int
    max_retry_delay: float


def send(request: BuiltRequest, operation: Operation, options: SendOptions) -> ApiResponse[Any] | NotModified:
    """
    Send a request until it succeeds or must not be repeated.

    Raises a `ProblemError` or an `ApiConnectionError`.
    """
    was_lost = False
    attempt = 0
    while True:
        try:
            return _send_once(request, operation, options)
        except (ProblemError, ApiConnectionError) as error:
            if was_lost and request.method == "DELETE" and isinstance(error, ProblemError) and error.status == 404:
                return _to_gone(error)
            delay = decide_retry(
                error,
                attempt=attempt,
                is_repeatable=request.is_repeatable,
                random=random.random(),
                retries=options.retries,
                max_delay=options.max_retry_delay,
            )
            if delay is None:
                raise
            was_lost = was_lost or not was_not_executed(error)
        time.sleep(delay)
        attempt += 1


def _send_once(request: BuiltRequest, operation: Operation, options: SendOptions) -> ApiResponse[Any] | NotModified:
    http, timeout = options.http, options.timeout
    deadline = time.monotonic() + timeout
    built = http.build_request(request.method, request.url, headers=request.headers, timeout=timeout, **request.content)
    address = f"{request.method} {built.url.path}"
    origin = f"{built.url.scheme}://{built.url.netloc.decode()}"
    try:
        # a redirect would turn POST into GET, and could send the key to another server
        response = http.send(built, stream=True, follow_redirects=False, auth=None)
        content = b"" if is_download(response, operation) else _read_content(response, deadline)
        return read_response(response, content, operation)
    except httpx.TimeoutException as error:
        message = f"{address}: no complete response from {origin} within {timeout:g} seconds."
        raise ApiTimeoutError(message) from error
    except httpx.RequestError as error:
        reason = str(error) or type(error).__name__
        raise ApiConnectionError(f"{address}: no response from {origin} ({reason}).") from error


def _read_content(response: httpx.Response, deadline: float) -> bytes:
    """Read the content. The limits of httpx are for each part, so many slow parts could take any time."""
    parts = []
    with closing(response):
        for part in response.iter_bytes():
            parts.append(part)
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("The response was not complete in time.", request=response.request)
    return b"".join(parts)


def _to_gone(error: ProblemError) -> ApiResponse[None]:
    """The result of a repeated DELETE that found nothing: an attempt with an unknown outcome has deleted it."""
    return ApiResponse(
        data=None, status=204, etag=None, request_id=error.request_id, is_replayed=False, headers=httpx.Headers()
    )
