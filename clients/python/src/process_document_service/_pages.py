"""Reads lists page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ._calls import Call
from ._requests import CallOptions
from ._responses import ApiResponse


def list_pages(call: Call, operation_id: str, options: CallOptions) -> Iterator[list[Any]]:
    """Yield the pages of a list, until no page has a link to a next one."""
    while True:
        response: ApiResponse[list[Any]] = call(operation_id, options)
        yield response.data
        cursor = find_next_cursor(response.headers.get("link"))
        if cursor is None:
            return
        options = replace(options, parameters={**options.parameters, "cursor": cursor})


def list_items(call: Call, operation_id: str, options: CallOptions) -> Iterator[Any]:
    """Yield the items of all pages."""
    for page in list_pages(call, operation_id, options):
        yield from page


def find_next_cursor(header: str | None) -> str | None:
    """
    Return the cursor in the `Link` header (RFC 8288) with `rel="next"`.

    Only the cursor is used, because the credential must not be sent to another address.
    """
    for target, attributes in re.findall(r"<([^>]*)>([^<]*)", header or ""):
        if re.search(r';\s*rel="?next"?(\s|;|,|$)', attributes, re.IGNORECASE):
            cursors = parse_qs(urlsplit(target).query).get("cursor")
            return cursors[0] if cursors else None
    return None
