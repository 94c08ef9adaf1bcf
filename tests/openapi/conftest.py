"""Shared fixtures of the tests of openapi.yaml: the document, its operations, and Schemathesis' checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import schemathesis
import yaml
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from schemathesis.specs.openapi.schemas import OpenApiSchema

DOCUMENT = Path(__file__).parents[2] / "openapi.yaml"
RESPONSES = yaml.safe_load(Path(__file__).with_name("responses.yaml").read_text(encoding="utf-8"))
RATE_LIMIT = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "59", "X-RateLimit-Reset": "1740913560"}
# An operation's own `validate_response` checks only the body, so the other three checks are needed too.
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

Judge = Callable[..., set[str]]


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """Return the parsed document."""
    loaded: dict[str, Any] = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="session")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the operation objects by operationId, each with its method and path added."""
    return {
        operation["operationId"]: {**operation, "method": method.upper(), "path": path}
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }


@pytest.fixture(scope="session")
def schema() -> OpenApiSchema:
    """Return the document as Schemathesis loads it, without any configuration file."""
    return schemathesis.openapi.from_path(DOCUMENT, config=SchemathesisConfig())


@pytest.fixture(scope="session")
def response() -> Callable[..., httpx.Response]:
    """Return a maker of responses in the form of httpx."""
    return _response


@pytest.fixture(scope="session")
def judge(schema: OpenApiSchema) -> Judge:
    """Return a function that returns the kinds of failure in a response of an operation."""

    def kinds(operation_id: str, status: int, body: object, **deviations: Any) -> set[str]:
        right = RESPONSES[operation_id]
        operation = schema[right["path"]][right["method"]]
        case = operation.Case(path_parameters={"id": "e_1", "userId": "u_2"})
        try:
            case.validate_response(_response(status, body, **deviations), checks=CHECKS)
        except BaseExceptionGroup as found:
            return {type(failure).__name__ for failure in found.exceptions}
        return set()

    return kinds


def _response(
    status: int,
    body: object,
    media_type: str | None = "application/json",
    headers: Mapping[str, str | None] | None = None,
) -> httpx.Response:
    """Return a response; a header with the value None is omitted, and bytes are used unchanged."""
    merged = {**RATE_LIMIT, "Content-Type": media_type, **(headers or {})}
    made = httpx.Response(
        status,
        headers={name: value for name, value in merged.items() if value is not None},
        content=body if isinstance(body, bytes) else json.dumps(body).encode(),
        request=httpx.Request("GET", "http://service.test/"),
    )
    made.elapsed = timedelta(milliseconds=1)
    return made
