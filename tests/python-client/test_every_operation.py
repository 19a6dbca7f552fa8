"""Calls every operation with the examples of the contract, and compares what arrives at a running service."""

from __future__ import annotations

import inspect
import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from process_document_service import API_VERSION, Client, ProblemError

ROOT = Path(__file__).parents[2]
CONTRACT = json.loads((ROOT / "docs/contracts/openapi.json").read_text("utf-8"))
TEMPLATE = ROOT / "tests/fixtures/corporate-template.docx"
PICTURE = ROOT / "tests/fixtures/pictures/rgb.png"


def resolve(value: dict[str, Any]) -> dict[str, Any]:
    found: Any = value
    if "$ref" in value:
        found = CONTRACT
        for name in value["$ref"].removeprefix("#/").split("/"):
            found = found[name]
    return dict(found)


def list_operations() -> list[tuple[str, str, dict[str, Any]]]:
    methods = ("get", "put", "post", "patch", "delete")
    operations = [
        (method.upper(), path, operation)
        for path, item in CONTRACT["paths"].items()
        for method, operation in item.items()
        # the target of a form redirects a browser, with a cookie
        if method in methods and "303" not in operation["responses"]
    ]
    # after this one, the key is revoked
    return sorted(operations, key=lambda entry: entry[2]["operationId"] == "deleteOwnApiKeys")


OPERATIONS = list_operations()


def to_snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def get_parameters(operation: dict[str, Any], place: str) -> list[dict[str, Any]]:
    return [one for one in map(resolve, operation.get("parameters", [])) if one["in"] == place]


def get_example(parameter: dict[str, Any]) -> Any:
    schema = resolve(parameter["schema"])
    return parameter.get("example") or [*schema.get("examples", []), *schema.get("enum", [])][0]


def get_body(operation: dict[str, Any]) -> Any:
    content = resolve(operation["requestBody"])["content"]
    if "multipart/form-data" in content:
        is_picture = operation["operationId"] == "createAsset"
        return {"file": PICTURE} if is_picture else {"name": "Corporate", "file": TEMPLATE}
    return content["application/json"]["example"]


def test_the_client_has_the_version_of_the_contract() -> None:
    assert CONTRACT["info"]["version"] == API_VERSION
    assert len(OPERATIONS) > 70


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=lambda value: str(value)[:80])
def test_an_operation_takes_all_parameters_and_arrives(
    key: str, method: str, path: str, operation: dict[str, Any]
) -> None:
    arrived: list[httpx.Response] = []
    http = httpx.Client(event_hooks={"response": [arrived.append]})
    client = Client(os.environ["PDS_URL"], key=key, http=http)
    name = to_snake_case(operation["operationId"])
    in_path, in_query = get_parameters(operation, "path"), get_parameters(operation, "query")
    headers = {one["name"] for one in get_parameters(operation, "header")}
    expected = {one["name"] for one in in_path + in_query} | {"timeout"}
    expected |= {"body"} if "requestBody" in operation else set()
    expected |= {"idempotency_key"} if "Idempotency-Key" in headers else set()
    expected |= {"if_match"} if "If-Match" in headers else set()
    expected |= {"password"} if {"password": []} in operation.get("security", []) else set()
    assert set(inspect.signature(getattr(client, name)).parameters) == expected
    is_paged = any(one["name"] == "cursor" for one in in_query)
    assert [hasattr(kind, name) for kind in (client.iterate, client.pages)] == [is_paged, is_paged]
    expected |= {"if_none_match"} if "If-None-Match" in headers else set()
    assert set(inspect.signature(getattr(client.with_response, name)).parameters) == expected

    places = {one["name"]: get_example(one) for one in in_path}
    arguments = {one["name"]: get_example(one) for one in in_query if one.get("required")}
    if "requestBody" in operation:
        arguments["body"] = get_body(operation)
    with http:
        check_outcome(operation, lambda: getattr(client, name)(*places.values(), **arguments))
    request = arrived[0].request
    for place, value in places.items():
        path = path.replace(f"{{{place}}}", value)
    assert (request.method, request.url.path) == (method, path)
    assert ("authorization" in request.headers) == ("security" not in operation)
    assert ("idempotency-key" in request.headers) == ("Idempotency-Key" in headers)


def check_outcome(operation: dict[str, Any], call: Any) -> None:
    """Expect a success, or a problem that only says that the ids and tokens of the examples do not exist here."""
    try:
        call()
    except ProblemError as problem:
        response = resolve(operation["responses"][str(problem.status)])
        assert problem.code in response["x-problem-codes"], problem
        # an id in a body that does not exist here is the only mistake
        assert all(error["message"].endswith("does not exist") for error in problem.errors), problem
        assert bool(problem.errors) == (problem.code == "invalid_request"), problem
        # the request was complete, and the credentials were sent
        assert problem.code not in ("malformed_json", "unauthenticated", "forbidden"), problem
