"""The errors that the client raises: problems that the service reports, and requests without a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._contract import KnownProblemCode
from .models import InputError


class RestorableError(Exception):
    """An error that pickle can restore, for example from another process, although it has more arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__


class ProblemError(RestorableError):
    """The service responded with an error (RFC 9457), or something else responded in its place."""

    status: int
    """HTTP status."""
    code: KnownProblemCode | str
    """
    Stable name of the problem, for programs. `unexpected_response` means that the response does not come from the
    service. Later versions of the service may report further codes.
    """
    title: str
    """What is wrong."""
    detail: str
    """What to do."""
    errors: Sequence[InputError]
    """The mistakes of an invalid request; empty for other problems."""
    request_id: str | None
    """Names the request in the log of the service. Include it when you report a problem."""
    retry_after: float | None
    """After how many seconds the request may be repeated, if the response has `Retry-After`."""
    members: Mapping[str, Any]
    """All members of the problem, also those that only some problems have."""

    def __init__(
        self,
        *,
        status: int,
        code: str,
        title: str,
        detail: str,
        errors: Sequence[InputError] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        mistakes = [f"{error['path']}: {error['message']}" for error in errors[:10]]
        super().__init__("\n".join([detail, *mistakes]))
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after
        self.members = members or {}


class ApiConnectionError(Exception):
    """No complete response arrived. The service may have done what was requested."""


class ApiTimeoutError(ApiConnectionError):
    """No complete response arrived in time."""
