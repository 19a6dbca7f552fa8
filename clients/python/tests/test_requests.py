"""Tests how requests are built from operations."""

from __future__ import annotations

import io
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from process_document_service._contract import OPERATIONS
from process_document_service._requests import BuiltRequest, CallOptions, build_request, to_base

BASE = "https://sop.example.com"


def build(operation_id: str, parameters: dict[str, object] | None = None, **options: Any) -> BuiltRequest:
    return build_request(BASE, OPERATIONS[operation_id], CallOptions(parameters or {}, **options), None)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://sop.example.com", "https://sop.example.com"),
        ("https://sop.example.com/", "https://sop.example.com"),
        ("https://sop.example.com/api/v1", "https://sop.example.com"),
        ("https://example.com/sop/api/v1/", "https://example.com/sop"),
        ("http://127.0.0.1:8080?x#y", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_the_url_is_accepted_with_and_without_the_prefix(url: str, base: str) -> None:
    assert to_base(url) == base


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sop.example.com",
        "ftp://sop.example.com",
        "https://ada:secret@sop.example.com",
        "https://",
        "http://[",
        "http://a b",
    ],
)
def test_a_url_of_no_service_is_rejected(url: str) -> None:
    with pytest.raises(ValueError, match="is not the URL of a service"):
        to_base(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:secret@sop.example.com", "https://sop.example.com"),
        ("https://ada:se/cr@et@sop.example.com", "https://sop.example.com"),
        ("ada:secret@sop.example.com", "sop.example.com"),
    ],
)
def test_the_error_of_a_url_does_not_show_the_password(url: str, shown: str) -> None:
    with pytest.raises(ValueError, match=f'^"{shown}" is not'):
        to_base(url)


def test_parameters_are_put_into_the_path_and_the_query_and_encoded() -> None:
    request = build("exportWord", {"doc_id": "a/b", "template_id": "ä &", "versioned": True})
    assert request.url == f"{BASE}/api/v1/documents/a%2Fb/export/word?template_id=%C3%A4+%26&versioned=true"
    plain = build("getDocument", {"doc_id": UUID(int=1)})
    assert plain.url == f"{BASE}/api/v1/documents/00000000-0000-0000-0000-000000000001"


def test_a_list_is_repeated_in_the_query_and_none_is_left_out() -> None:
    since = datetime(2026, 11, 21, 9, 30, tzinfo=timezone.utc)
    request = build("listDocuments", {"status": ["draft", "archived"], "q": None, "updated_since": since})
    query = "status=draft&status=archived&updated_since=2026-11-21T09%3A30%3A00%2B00%3A00"
    assert request.url == f"{BASE}/api/v1/documents?{query}"


def test_a_time_without_a_time_zone_is_rejected() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        build("listDocuments", {"updated_since": datetime(2026, 11, 21)})


@pytest.mark.parametrize("doc_id", [None, "", ".", ".."])
def test_an_id_that_would_address_another_path_is_rejected(doc_id: str | None) -> None:
    with pytest.raises(ValueError, match="doc_id"):
        build("deleteDocument", {"doc_id": doc_id})


def test_each_post_has_a_new_idempotency_key_unless_the_caller_chooses_one() -> None:
    keys = [build("createDocument", body={}).headers["idempotency-key"] for _ in range(2)]
    assert len(keys[0]) == 32 and int(keys[0], 16) >= 0
    assert keys[0] != keys[1]
    assert build("createDocument", body={}, idempotency_key="mine").headers["idempotency-key"] == "mine"
    assert "idempotency-key" not in build("logIn", body={}).headers


@pytest.mark.parametrize("value", ["", "a\nb", "ä"])
def test_a_value_that_a_header_cannot_have_is_rejected(value: str) -> None:
    with pytest.raises(ValueError, match="idempotency-key"):
        build("createDocument", body={}, idempotency_key=value)


@pytest.mark.parametrize("key", ["", "pds_x ", "pds_x\n"])
def test_a_key_that_a_header_cannot_have_is_rejected_before_a_request(key: str) -> None:
    with pytest.raises(ValueError, match="authorization"):
        build_request(BASE, OPERATIONS["listDocuments"], CallOptions({}), key)


def test_a_body_is_sent_as_json_and_no_body_has_no_media_type() -> None:
    request = build("createDocument", body={"title": "ä"})
    assert request.content == {"content": '{"title":"ä"}'.encode()}
    assert request.headers["content-type"] == "application/json"
    without = build("createShareToken", {"doc_id": "x"})
    assert (without.content, without.headers.get("content-type")) == ({}, None)


def test_bytes_paths_and_files_become_files_of_a_form(tmp_path: Path) -> None:
    path = tmp_path / "corporate.docx"
    path.write_bytes(b"PK")
    with path.open("rb") as opened, open(os.open(path, os.O_RDONLY), "rb") as without_name:
        contents: list[tuple[object, str]] = [
            (b"PK", "file"),
            (path, "corporate.docx"),
            (opened, "corporate.docx"),
            (("other.docx", b"PK"), "other.docx"),
            (without_name, "file"),
            (io.BytesIO(b"PK"), "file"),
        ]
        requests = [
            (name, build("createTemplate", body={"name": "Corporate", "file": file, "indent_inches": 0.7}))
            for file, name in contents
        ]
    for name, request in requests:
        form = {"data": {"name": "Corporate", "indent_inches": "0.7"}, "files": {"file": (name, b"PK")}}
        assert request.content == form
    with pytest.raises(TypeError, match="not open for reading bytes"):
        build("createTemplate", body={"name": "Corporate", "file": io.StringIO("PK")})


def test_reads_posts_with_a_key_put_and_delete_can_be_repeated() -> None:
    ids: dict[str, object] = {"doc_id": "x", "node_id": "y"}
    repeatable = ("getDocument", "publishDocument", "replaceTree", "deleteNode")
    assert [build(name, ids).is_repeatable for name in repeatable] == [True] * 4
    assert build("publishDocument", ids, if_match='"7"').is_repeatable
    assert [build(name, ids).is_repeatable for name in ("updateDocument", "logIn")] == [False, False]
    assert [build(name, ids, if_match='"7"').is_repeatable for name in ("replaceTree", "deleteNode")] == [False, False]
