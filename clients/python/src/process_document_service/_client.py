"""The client of the API: one method for each operation of the contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

import httpx

from ._contract import API_VERSION, OPERATIONS
from ._methods import DataMethods, ItemMethods, PageMethods, ResponseMethods
from ._requests import CallOptions, build_request, to_base
from ._responses import ApiResponse, NotModified
from ._send import SendOptions, send

_HEADERS = {"user-agent": f"process-document-service-python/{API_VERSION}"}


class Client(DataMethods):
    """
    A client. Its methods are named after the operations and return their data.

    Threads can share it. Close it with `close()` or `with`.
    """

    with_response: ResponseMethods
    """The same methods; they return the data with the ETag, the request id and the headers."""
    iterate: ItemMethods
    """Iterates over all items of a list. Reads each page when it is needed."""
    pages: PageMethods
    """Iterates over the pages of a list."""

    def __init__(
        self,
        url: str,
        *,
        key: str | Callable[[], str] | None = None,
        timeout: float = 60,
        retries: int = 3,
        max_retry_delay: float = 30,
        http: httpx.Client | None = None,
    ) -> None:
        """
        Create a client. Sends nothing. Raises a `ValueError` if the URL is not valid.

        Args:
            url: The address of the service, such as `https://sop.example.com`, with or without `/api/v1`.
            key: The API key or access token, or a function that returns the current one before each call.
            timeout: The longest time of one attempt, in seconds. For a download, until the file begins.
            retries: The most repetitions of a request.
            max_retry_delay: The longest wait before a repetition, in seconds. If the service asks for more, the call
                fails.
            http: Sends the requests, for example through a proxy or with other certificates. The client does not
                close it.
        """
        super().__init__(self._send)
        self._base = to_base(url)
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._max_retry_delay = max_retry_delay
        self._http = httpx.Client(headers=_HEADERS) if http is None else http
        self._closes_http = http is None
        self.with_response = ResponseMethods(self._send)
        self.iterate = ItemMethods(self._send)
        self.pages = PageMethods(self._send)

    def close(self) -> None:
        """Close the connections."""
        if self._closes_http:
            self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, operation_id: str, options: CallOptions) -> ApiResponse[Any] | NotModified:
        operation = OPERATIONS[operation_id]
        if operation.has_csv and options.parameters.get("format") == "csv":
            operation = replace(operation, returns="file")
        key = None if operation.is_public else self._key() if callable(self._key) else self._key
        request = build_request(self._base, operation, options, key)
        limits = SendOptions(
            http=self._http,
            timeout=self._timeout if options.timeout is None else options.timeout,
            retries=self._retries,
            max_retry_delay=self._max_retry_delay,
        )
        return send(request, operation, limits)
