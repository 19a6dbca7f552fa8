"""
A client with the key of a new organization. `PDS_URL` is the address of a running service, `PDS_RECEIVER` a URL that
accepts webhooks.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest
from process_document_service import Client

URL = os.environ["PDS_URL"]


def create_key() -> str:
    """Register an organization and return an API key of its admin."""
    name = secrets.token_hex(8)
    with Client(URL) as visitor:
        session = visitor.register_organization(
            body={
                "organization_name": f"Acme {name}",
                "name": "Ada Example",
                "email": f"ada-{name}@acme.example",
                "password": secrets.token_hex(16),
            }
        )
    with Client(URL, key=session["access_token"]) as ada:
        return ada.create_api_key(body={"name": "Tests", "role": "admin"})["key"] or ""


@pytest.fixture(scope="module")
def key() -> str:
    """The key of an organization of all tests of a file."""
    return create_key()


@pytest.fixture
def client() -> Iterator[Client]:
    """A client of a new organization."""
    with Client(URL, key=create_key()) as client:
        yield client
