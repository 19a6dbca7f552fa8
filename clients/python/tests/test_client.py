"""Tests the client against an HTTP server that fails in the ways of networks, proxies and the service."""

from __future__ import annotations

import base64
import threading
import time

import httpx
import pytest
from fake_service import Answer, FakeService, Handler, json_answer, problem
from process_document_service import ApiConnectionError, ApiTimeoutError, Client, ProblemError


def break_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"id":')
    handler.drop()


def drop(handler: Handler) -> None:
    handler.drop()


def test_a_call_returns_the_data_and_with_response_also_the_headers(service: FakeService) -> None:
    headers = {"etag": '"7"', "x-request-id": "r1", "idempotency-replayed": "true"}
    service.answers = [json_answer(200, {"id": "x"}, headers)]
    with service.client() as client:
        assert client.get_document("x")["id"] == "x"
        response = client.with_response.get_document("x")
    assert (response.data["id"], response.status, response.etag) == ("x", 200, '"7"')
    assert (response.request_id, response.is_replayed, response.headers["ETag"]) == ("r1", True, '"7"')
    assert service.received[0].headers["authorization"] == "Bearer pds_key"
    assert service.received[0].headers["user-agent"].startswith("process-document-service-python/")


def test_a_public_operation_sends_no_credentials(service: FakeService) -> None:
    service.answers = [json_answer(200, {})]
    with service.client() as client:
        client.get_embedded_document("acme", "t")
    assert service.received[0].path == "/embed/acme/t"
    assert "authorization" not in service.received[0].headers


def test_the_password_of_a_public_link_is_sent_as_basic_authentication(service: FakeService) -> None:
    service.answers = [json_answer(200, {})]
    with service.client() as client:
        client.get_embedded_document("acme", "t", password="Zürich 😀")
    expected = base64.b64encode(":Zürich 😀".encode()).decode()
    assert service.received[0].headers["authorization"] == f"Basic {expected}"


def test_a_function_provides_the_key_of_each_call(service: FakeService) -> None:
    service.answers = [json_answer(200, [])]
    tokens = iter(["token-1", "token-2"])
    with Client(service.url, key=lambda: next(tokens)) as client:
        client.list_roles()
        client.list_roles()
    assert [one.headers["authorization"] for one in service.received] == ["Bearer token-1", "Bearer token-2"]


def test_304_says_that_what_you_have_is_current(service: FakeService) -> None:
    service.answers = [lambda handler: handler.respond(304, b"", {"etag": '"7"'})]
    with service.client() as client:
        response = client.with_response.get_document("x", if_none_match='"7"')
    assert (response.is_modified, response.data, response.etag) == (False, None, '"7"')
    assert service.received[0].headers["if-none-match"] == '"7"'


def test_a_list_is_read_page_by_page_and_only_as_far_as_needed(service: FakeService) -> None:
    link = {"link": '<https://other.example/documents?cursor=c2>; rel="next"'}
    service.answers = [json_answer(200, [{"id": "1"}, {"id": "2"}], link), json_answer(200, [{"id": "3"}])]
    with service.client() as client:
        assert [item["id"] for item in client.iterate.list_documents(q="till")] == ["1", "2", "3"]
        assert [one.path for one in service.received] == [
            "/api/v1/documents?q=till",
            "/api/v1/documents?cursor=c2&q=till",
        ]
        service.answers, service.received = [json_answer(200, [{"id": "1"}], link)], []
        assert [item["id"] for item in next(client.pages.list_documents())] == ["1"]
    assert len(service.received) == 1


def test_a_problem_becomes_an_error_with_all_its_fields(service: FakeService) -> None:
    errors = [{"path": "body/title", "message": "Required"}] * 12
    service.answers = [problem(400, "invalid_request", errors=errors, limit=3)]
    with service.client() as client, pytest.raises(ProblemError) as caught:
        client.create_document(body={"title": ""})
    error = caught.value
    assert (error.status, error.code, error.title, error.detail) == (400, "invalid_request", "Title.", "Detail.")
    assert (error.errors, error.request_id, error.members["limit"]) == (errors, "r1", 3)
    assert str(error) == "\n".join(["Detail."] + ["body/title: Required"] * 10)
    assert len(service.received) == 1


@pytest.mark.parametrize(
    ("status", "media_type", "text"),
    [
        (200, "text/html", "<html>"),
        (200, "application/json", '{"id":'),
        (400, "text/html", "<html>"),
        (404, "application/json", '{"error":"no route"}'),
        (500, "application/json", "[" * 100_000),
    ],
)
def test_a_response_of_something_else_is_unexpected(
    service: FakeService, status: int, media_type: str, text: str
) -> None:
    service.answers = [lambda handler: handler.respond(status, text.encode(), {"content-type": media_type})]
    with service.client() as client, pytest.raises(ProblemError) as caught:
        client.get_me()
    assert (caught.value.status, caught.value.code) == (status, "unexpected_response")
    assert text[:200] in caught.value.detail


def test_a_page_instead_of_a_file_or_nothing_is_unexpected(service: FakeService) -> None:
    headers = {"content-type": "text/html; charset=utf-8"}
    service.answers = [lambda handler: handler.respond(200, b"<p>Log in</p>", headers)]
    with service.client() as client:
        for call in (client.export_markdown, client.delete_document, lambda id: client.list_people(id, format="csv")):
            with pytest.raises(ProblemError, match="<p>Log in</p>") as caught:
                call("x")
            assert caught.value.code == "unexpected_response"
        assert client.export_html("x").text() == "<p>Log in</p>"


def test_a_redirect_is_reported_with_its_target_and_not_followed(service: FakeService) -> None:
    service.answers = [lambda handler: handler.respond(301, b"", {"location": "https://new.example/"})]
    with httpx.Client(follow_redirects=True) as http, pytest.raises(ProblemError, match="to https://new.example/"):
        service.client(http=http).create_document(body={"title": "x"})
    assert len(service.received) == 1


def test_an_unreachable_service_is_reported_with_its_address_and_the_reason() -> None:
    with Client("http://127.0.0.1:9", retries=0) as client, pytest.raises(ApiConnectionError) as caught:
        client.get_me()
    assert str(caught.value).startswith("GET /api/v1/me: no response from http://127.0.0.1:9 (")
    assert "refused" in str(caught.value)


def test_a_key_with_a_line_break_is_rejected_before_a_request(service: FakeService) -> None:
    with Client(service.url, key="pds\nkey") as client, pytest.raises(ValueError, match="authorization") as caught:
        client.get_me()
    assert "pds" not in str(caught.value)
    assert service.received == []


def test_a_request_over_the_limit_is_repeated_with_the_same_key(service: FakeService) -> None:
    wait = {"retry-after": "0"}
    service.answers = [
        problem(429, "too_many_requests", wait),
        problem(503, "unavailable", wait),
        json_answer(201, {"id": "x"}),
    ]
    with service.client() as client:
        assert client.create_document(body={"title": "x"})["id"] == "x"
    assert len({one.headers["idempotency-key"] for one in service.received}) == 1
    assert [one.body for one in service.received] == [b'{"title":"x"}'] * 3


def test_an_upload_is_repeated_in_full(service: FakeService) -> None:
    service.answers = [problem(503, "unavailable", {"retry-after": "0"}), json_answer(201, {"id": "x"})]
    with service.client() as client:
        client.create_template(body={"name": "Corporate", "file": b"PK\x03\x04"})
    assert b"PK\x03\x04" in service.received[0].body
    assert service.received[1].body == service.received[0].body


@pytest.mark.parametrize("failure", [drop, break_body, lambda handler: handler.respond(502, b"<html>", {})])
def test_a_post_is_repeated_if_its_outcome_is_unknown(service: FakeService, failure: Answer) -> None:
    service.answers = [failure, json_answer(201, {"id": "x"})]
    with service.client() as client:
        assert client.create_document(body={"title": "x"})["id"] == "x"
    assert len({one.headers["idempotency-key"] for one in service.received}) == 1
    assert len(service.received) == 2


def test_a_patch_is_not_repeated_after_a_lost_connection(service: FakeService) -> None:
    service.answers = [drop]
    with service.client() as client, pytest.raises(ApiConnectionError):
        client.update_document("x", body={"title": "y"})
    assert len(service.received) == 1


def test_a_repeated_delete_that_finds_nothing_has_worked(service: FakeService) -> None:
    wait = {"retry-after": "0"}
    not_found = problem(404, "not_found")
    with service.client() as client:
        for failure in (drop, json_answer(504, {}, wait)):
            service.answers, service.received = [failure, not_found], []
            assert client.with_response.delete_document("x").status == 204
            assert len(service.received) == 2
        # without the first answer, or if the service has executed nothing, there was no such document
        for first in ([], [problem(503, "unavailable", wait)]):
            service.answers = [*first, not_found]
            with pytest.raises(ProblemError):
                client.delete_document("x")


def test_the_last_error_is_reported_when_the_repetitions_are_used_up(service: FakeService) -> None:
    service.answers = [problem(503, "unavailable", {"retry-after": "0"})]
    with service.client(retries=2) as client, pytest.raises(ProblemError) as caught:
        client.list_roles()
    assert (caught.value.code, caught.value.retry_after, len(service.received)) == ("unavailable", 0, 3)


def test_an_attempt_without_a_response_fails_after_its_time_limit(service: FakeService) -> None:
    release = threading.Event()

    def stay_idle(_: Handler) -> None:
        release.wait()

    service.answers = [stay_idle]
    with service.client(timeout=60) as client, pytest.raises(ApiTimeoutError, match="PATCH /api/v1/members/x: no "):
        client.update_member("x", body={}, timeout=0.05)
    release.set()


def test_a_response_that_arrives_too_slowly_fails_after_the_time_limit(service: FakeService) -> None:
    has_failed = threading.Event()

    def drip(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        # each pause is shorter than the time limit, and all of them together are longer
        for _ in range(250):
            if has_failed.wait(0.02):
                break
            handler.wfile.write(b" ")
        handler.close_connection = True

    service.answers = [drip]
    with service.client(retries=0) as client, pytest.raises(ApiTimeoutError):
        client.get_document("x", timeout=0.2)
    has_failed.set()


def test_a_download_may_take_longer_than_the_time_limit(service: FakeService) -> None:
    timeout = 1.0
    may_finish = threading.Event()

    def send_slowly(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("connection", "close")
        handler.end_headers()
        for _ in range(3_000):
            handler.wfile.write(b".")
            if may_finish.wait(0.02):
                break
        handler.wfile.write(b"end")

    service.answers = [send_slowly]
    late = time.monotonic() + 2 * timeout
    content = b""
    with service.client(retries=0) as client:
        for part in client.export_markdown("x", timeout=timeout).stream():
            content += part
            if time.monotonic() > late:
                may_finish.set()
    assert may_finish.is_set()
    assert content.startswith(b".") and content.endswith(b"end")
