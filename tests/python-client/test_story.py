"""Uses the installed client as a program does: documents, lists, links, exports and webhooks of a running service."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from process_document_service import Client, NotModified, ProblemError, models

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "tests/fixtures/pictures/rgb.png"
TEMPLATE = ROOT / "tests/fixtures/corporate-template.docx"
BODY: models.CreateDocument = {
    "title": "Opening the shop",
    "version": "1",
    "nodes": [{"node_type": "section", "title": "Morning", "children": [{"node_type": "step", "title": "Unlock"}]}],
}


def test_a_call_with_the_same_idempotency_key_is_replayed(client: Client) -> None:
    first = client.with_response.create_document(body=BODY, idempotency_key="opening-1")
    repeated = client.with_response.create_document(body=BODY, idempotency_key="opening-1")
    assert (first.is_replayed, repeated.is_replayed) == (False, True)
    assert repeated.data["id"] == first.data["id"]


def test_an_etag_protects_a_change_and_saves_a_read(client: Client) -> None:
    first = client.with_response.create_document(body=BODY)
    doc_id = first.data["id"]
    changed = client.with_response.update_document(doc_id, body={"version": "2"}, if_match=first.etag)
    assert changed.data["version"] == "2"
    with pytest.raises(ProblemError) as stale:
        client.update_document(doc_id, body={"version": "3"}, if_match=first.etag)
    assert (stale.value.status, stale.value.code) == (412, "precondition_failed")
    assert stale.value.request_id
    current = client.with_response.get_document(doc_id, if_none_match=changed.etag or "")
    assert isinstance(current, NotModified)


def test_mistakes_are_listed(client: Client) -> None:
    with pytest.raises(ProblemError) as invalid:
        client.create_document(body={"title": ""})
    assert invalid.value.errors == [{"path": "body/title", "message": "A title is required"}]


def test_lists_are_read_item_by_item_and_page_by_page(client: Client) -> None:
    names = {f"Department {number}" for number in range(3)}
    for name in names:
        client.create_department(body={"name": name})
    assert {one["name"] for one in client.iterate.list_departments(limit=1)} == names
    assert [len(page) for page in client.pages.list_departments(limit=2)] == [2, 1]


def test_a_published_document_is_read_through_its_public_link(client: Client) -> None:
    doc_id = client.create_document(body=BODY)["id"]
    assert client.get_share_token(doc_id) is None
    client.publish_document(doc_id)
    link = client.create_share_token(doc_id)
    with Client(os.environ["PDS_URL"]) as reader:
        client.update_share_token(doc_id, body={"password": "the vault at noon"})
        shared = reader.get_embedded_document(link["org_slug"], link["token"], password="the vault at noon")
    assert (shared["title"], [node["title"] for node in shared["nodes"]]) == ("Opening the shop", ["Morning"])


def test_a_word_file_is_exported_with_an_uploaded_template(client: Client, tmp_path: Path) -> None:
    doc_id = client.create_document(body=BODY)["id"]
    with TEMPLATE.open("rb") as file:
        uploads: list[models.CreateTemplate] = [
            {"name": "From a path", "file": TEMPLATE, "indent_inches": 0.7},
            {"name": "From bytes", "file": TEMPLATE.read_bytes(), "indent_inches": 0.7},
            {"name": "From an open file", "file": file, "indent_inches": 0.7},
        ]
        templates = [client.create_template(body=body) for body in uploads]
    assert {one["size_bytes"] for one in templates} == {TEMPLATE.stat().st_size}
    assert {one["indent_inches"] for one in templates} == {0.7}
    word = client.export_word(doc_id, template_id=templates[0]["id"])
    path = word.save(tmp_path)
    assert (path.name, path.read_bytes()[:2]) == ("Opening the shop.docx", b"PK")
    markdown = client.export_markdown(doc_id, flavor="gfm")
    assert markdown.name == "Opening the shop.md"
    assert "## Morning\n\n### Unlock" in markdown.text()


def test_a_picture_is_uploaded_and_downloaded(client: Client, tmp_path: Path) -> None:
    asset = client.create_asset(body={"file": PICTURE})
    assert (asset["src"], asset["width"]) == (f"asset:{asset['id']}", 24)
    path = client.get_asset(asset["id"]).save(tmp_path)
    assert (path.name, hashlib.sha256(path.read_bytes()).hexdigest()) == (f"{asset['id'][:12]}.png", asset["id"])


def test_a_webhook_is_created_and_tested(client: Client) -> None:
    event_types: list[models.EventType] = ["document.published"]
    body: models.CreateWebhook = {"name": "Hook", "url": os.environ["PDS_RECEIVER"], "event_types": event_types}
    webhook = client.create_webhook(body=body)
    assert (webhook["secret"] or "").startswith("whsec_")
    assert client.test_webhook(webhook["id"])["status"] == "delivered"


def test_a_revoked_key_is_reported(client: Client) -> None:
    created = client.create_api_key(body={"name": "Short-lived"})
    with Client(os.environ["PDS_URL"] + "/api/v1/", key=created["key"]) as other:
        assert other.get_me()["user"]["id"] == client.get_me()["user"]["id"]
        client.delete_api_key(created["id"])
        with pytest.raises(ProblemError) as caught:
            other.get_me()
    assert caught.value.status == 401
