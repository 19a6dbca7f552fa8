"""How the generated methods call the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ._requests import CallOptions

Call: TypeAlias = Callable[[str, CallOptions], Any]
"""Calls the operation with an id. Returns an `ApiResponse` or `NotModified`."""


class Methods:
    """Methods for operations, which only differ in what they return."""

    def __init__(self, call: Call) -> None:
        self._call = call
