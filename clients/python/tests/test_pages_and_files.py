"""Tests the link to the next page, and the names and files of downloads."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_service import FakeService, Handler
from process_document_service import ApiConnectionError
from process_document_service._download import parse_file_name
from process_document_service._pages import find_next_cursor


@pytest.mark.parametrize(
    ("header", "cursor"),
    [
        ('</api/v1/documents?limit=2&cursor=a%2Bb>; rel="next"', "a+b"),
        ("<https://other.example/x?cursor=abc>; rel=next", "abc"),
        ('</x?cursor=p>; rel="prev", </x?cursor=n>; rel="next"', "n"),
        ('</x?cursor=p>; rel="prev"', None),
        ('</x>; rel="next"', None),
        ("", None),
        (None, None),
    ],
)
def test_the_next_cursor_is_that_of_the_link_next(header: str | None, cursor: str | None) -> None:
    assert find_next_cursor(header) == cursor


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="SOP.docx"', "SOP.docx"),
        ("attachment; filename=SOP.docx", "SOP.docx"),
        ("attachment; filename=\"?.docx\"; filename*=UTF-8''%E2%82%AC%20rates.docx", "€ rates.docx"),
        ('attachment; filename="say \\"hi\\".md"', 'say "hi".md'),
        ("attachment; filename*=UTF-8''%E0; filename=\"plain.md\"", "plain.md"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename*=UTF-8''..%5C..%5Cboot.ini", "boot.ini"),
        ('attachment; filename=".."', None),
        ("attachment; filename*=utf-8''a%0A%2F..%2F..%2Fx", "x"),
        ("attachment; filename=a/.", None),
        ("attachment; filename*=UTF-8''a%00b", None),
        ("attachment; filename*=UTF-8''a%0Ab", None),
        ("attachment; filename*=UTF-8''a%C2%9Bb", None),
        ("attachment", None),
        ("", None),
    ],
)
def test_the_file_name_has_no_folders(header: str, name: str | None) -> None:
    assert parse_file_name(header) == name


def send_file(handler: Handler) -> None:
    headers = {"content-type": "text/markdown", "content-disposition": 'attachment; filename="../Till.md"'}
    handler.respond(200, b"# Till\n", headers)


def break_file(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.wfile.write(b"# T")
    handler.drop()


def test_a_download_is_saved_in_a_folder_or_under_another_name(service: FakeService, tmp_path: Path) -> None:
    service.answers = [send_file]
    with service.client() as client:
        assert client.export_markdown("x").save(tmp_path) == tmp_path / "Till.md"
        client.export_markdown("x").save(tmp_path / "other.md")
        file = client.export_markdown("x")
        assert (file.media_type, b"".join(file.stream())) == ("text/markdown", b"# Till\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Till.md", "other.md"]
    assert (tmp_path / "Till.md").read_bytes() == b"# Till\n"


def test_a_download_that_is_read_again_says_so(service: FakeService) -> None:
    service.answers = [send_file]
    with service.client() as client:
        file = client.export_markdown("x")
        assert file.text() == "# Till\n"
        with pytest.raises(RuntimeError, match="can be read once"):
            file.read()


def test_a_download_that_breaks_off_changes_no_file(service: FakeService, tmp_path: Path) -> None:
    service.answers = [break_file]
    target = tmp_path / "Till.md"
    target.write_text("before")
    with service.client() as client, pytest.raises(ApiConnectionError, match="Request it again"):
        client.export_markdown("x").save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["Till.md"]
    assert target.read_text() == "before"


def send_csv(handler: Handler) -> None:
    handler.respond(200, b"id,name\r\n", {"content-type": "text/csv"})


def send_no_people(handler: Handler) -> None:
    handler.respond(200, b"[]", {"content-type": "application/json"})


def test_a_list_of_people_is_json_and_a_file_for_the_format_csv(service: FakeService) -> None:
    service.answers = [send_csv, send_csv, send_no_people]
    with service.client() as client:
        assert client.list_people("x", format="csv").read() == b"id,name\r\n"
        assert client.with_response.list_people("x", format="csv").data.read() == b"id,name\r\n"
        assert client.list_people("x") == []
