"""Builds the request of an operation from its parameters and body."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias
from urllib.parse import quote

import httpx

FileContent: TypeAlias = bytes | os.PathLike[str] | IO[bytes] | tuple[str, bytes]
"""
The content of a file for an upload: the bytes, a path, a file that is open for reading bytes, or a name and the bytes.

An import reads the format from the name, which bytes alone do not have.
"""


@dataclass(frozen=True)
class Operation:
    """How to send an operation."""

    method: str
    path: str
    """With `{name}` for its parameters."""
    body: Literal["json", "form", "none"] = "none"
    returns: Literal["json", "file", "nothing"] = "nothing"
    takes_idempotency_key: bool = False
    has_csv: bool = False
    """Whether it returns a file for the parameter `format` with the value `csv`."""
    is_html: bool = False
    """Whether the file that it returns is a page."""
    is_public: bool = False
    """Whether it takes no key."""
    takes_password: bool = False
    """Whether it takes the password of a public link."""


@dataclass(frozen=True)
class CallOptions:
    """The parameters, the body and the options of a call."""

    parameters: Mapping[str, object]
    body: object = None
    idempotency_key: str | None = None
    if_match: str | None = None
    if_none_match: str | None = None
    password: str | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class BuiltRequest:
    """A request that can be sent more than once."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: Mapping[str, Any]
    """The body, as arguments of httpx."""
    is_repeatable: bool
    """Whether the request has the same effect if it is sent twice, so that it can be repeated without a response."""


def to_base(url: str) -> str:
    """
    Return the address without a trailing `/` and without `/api/v1`.

    Raises a `ValueError` unless it is an http or https URL without a user name.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    is_host = re.fullmatch(rb"[0-9A-Za-z._:-]+", parsed.raw_host)
    if parsed.scheme not in ("http", "https") or not is_host or parsed.userinfo:
        # without a user name and password, also those of a text that is no URL
        shown = re.sub(r"^(\w+://)?.*@", r"\1", url, flags=re.DOTALL)
        raise ValueError(f'"{shown}" is not the URL of a service. Use one such as https://sop.example.com.')
    address = str(parsed.copy_with(query=None, fragment=None))
    return address.rstrip("/").removesuffix("/api/v1")


def build_request(base: str, operation: Operation, options: CallOptions, key: str | None) -> BuiltRequest:
    """Build a request. Raises a `ValueError` if a parameter of the path is missing or a header is not valid."""
    path, names = _fill_path(operation.path, options.parameters)
    query = [
        (name, _to_text(one))
        for name, value in options.parameters.items()
        if name not in names
        for one in (value if isinstance(value, (list, tuple, set, frozenset)) else [value])
        if one is not None
    ]
    headers = {"accept": "*/*" if operation.returns == "file" else "application/json"}
    _set_header(headers, "authorization", None if key is None else f"Bearer {key}")
    if operation.takes_password and options.password is not None:
        # Basic authentication without a user name (RFC 7617)
        _set_header(headers, "authorization", "Basic " + base64.b64encode(f":{options.password}".encode()).decode())
    _set_header(headers, "if-match", options.if_match)
    _set_header(headers, "if-none-match", options.if_none_match)
    if operation.takes_idempotency_key:
        chosen = options.idempotency_key
        _set_header(headers, "idempotency-key", secrets.token_hex(16) if chosen is None else chosen)
    content: dict[str, Any] = {}
    if operation.body == "json" and options.body is not None:
        headers["content-type"] = "application/json"
        text = json.dumps(options.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = {"content": text.encode()}
    elif operation.body == "form":
        # with a boundary of its own, httpx would send a different body in each attempt
        headers["content-type"] = f"multipart/form-data; boundary={secrets.token_hex(16)}"
        content = _to_form(options.body)
    return BuiltRequest(
        method=operation.method,
        url=str(httpx.URL(base + path, params=query) if query else base + path),
        headers=headers,
        content=content,
        is_repeatable=operation.method == "GET"
        or operation.takes_idempotency_key
        # a repeated request would fail with 412, although the first one may have worked
        or (operation.method in ("PUT", "DELETE") and options.if_match is None),
    )


def _fill_path(path: str, parameters: Mapping[str, object]) -> tuple[str, set[str]]:
    names = set(re.findall(r"\{(\w+)\}", path))
    for name in names:
        value = parameters.get(name)
        # without this check, an empty id would address the list
        if value is None or value == "":
            raise ValueError(f"{name} is missing.")
        # a server or proxy would resolve these as folders, also if they are encoded
        if value in (".", ".."):
            raise ValueError(f'{name} must not be "{value}".')
        path = path.replace(f"{{{name}}}", quote(_to_text(value), safe=""))
    return path, names


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone. Use datetime.now(timezone.utc), for example.")
        return value.isoformat()
    return str(value)


def _set_header(headers: dict[str, str], name: str, value: str | None) -> None:
    if value is None:
        return
    # httpx reports a space at the end as a failed connection
    if not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", value):
        message = "is empty, begins or ends with a space or has characters that a header cannot have."
        raise ValueError(f"The value of the header {name} {message}")
    headers[name] = value


def _to_form(fields: object) -> dict[str, Any]:
    """Files become parts with a name, other values parts with their text."""
    if not isinstance(fields, Mapping):
        raise TypeError("`body` is not a dictionary with the fields of the form.")
    data: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for name, value in fields.items():
        if isinstance(value, (bytes, bytearray, memoryview)):
            files[name] = ("file", bytes(value))
        elif isinstance(value, os.PathLike):
            path = Path(value)
            files[name] = (path.name, path.read_bytes())
        elif hasattr(value, "read"):
            files[name] = (_get_name(value), _read_file(value))
        elif isinstance(value, tuple):
            file_name, file_bytes = value
            files[name] = (str(file_name), bytes(file_bytes))
        elif value is not None:
            data[name] = _to_text(value)
    return {"data": data, "files": files}


def _get_name(file: IO[bytes]) -> str:
    # a file that was opened by its descriptor has a number instead
    name = getattr(file, "name", None)
    return (Path(name).name if isinstance(name, str) else "") or "file"


def _read_file(file: IO[bytes]) -> bytes:
    content = file.read()
    # a file that is open for text returns `str`, whatever its type says
    if not isinstance(content, bytes):
        raise TypeError('The file is not open for reading bytes. Use open(path, "rb").')
    return content
