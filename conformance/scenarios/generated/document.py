"""Faults of responses against the OpenAPI document, each with the requirement that states what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import httpx
import schemathesis
from schemathesis.openapi.checks import JsonSchemaError, MissingHeaders, UndefinedStatusCode
from schemathesis.specs.openapi.checks import (
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from conformance.oracle.laws.responses import STATED
from conformance.oracle.laws.shapes import PROMISES
from conformance.oracle.rendering import render
from conformance.scenarios.generated.document_rules import rule_of_meta
from conformance.scenarios.generated.schemathesis_cases import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.wire.exchange import Exchange

_CHECKS: Final = [status_code_conformance, response_headers_conformance, response_schema_conformance]
"""The media type is left to a law of the suite: Schemathesis would refuse what the interface leaves open."""

_DECODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-type"})
_REQUIRED: Final = re.compile(r'"(.*)" is a required property')
_FORMS: Final = frozenset({"pattern", "format", "maxLength", "anyOf"})
"""Keywords that only timestamps have in responses."""

_HEADER_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "X-RateLimit-Limit": "rate-limit-limit-positive",
        "X-RateLimit-Remaining": "rate-limit-remaining-in-range",
        "X-RateLimit-Reset": "rate-limit-reset-is-time",
    }
)
_ERROR_FIELDS: Final[Mapping[str, tuple[type, str]]] = MappingProxyType(
    {"code": (str, "error-code-{status}"), "statusCode": (int, "error-status-code-agrees")}
)
"""Requirement by field of an error, for a value of the right type that is wrong for the status."""

_VALUES: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("listMembers", "role"): "member-roles-known",
        ("updateMemberRole", "role"): "update-role-answers-what-was-sent",
        ("inviteMember", "role"): "invite-answers-what-was-sent",
        ("removeMember", "removed"): "remove-member-answers-true",
        ("deleteEngagement", "deleted"): "delete-engagement-answers-true",
    }
)
"""Requirement by field, for a value of the right type that is not in the closed list."""


@dataclass(frozen=True, slots=True)
class DocumentFault:
    """A part of a response that the document does not allow.

    Attributes:
        requirement: The requirement that states what is wrong.
        message: The fault, as a clause that names the place.
        expected: What the document allows there.
        actual: The value there.
        pointer: The place in the body (RFC 6901), if it exists.
    """

    requirement: str
    message: str
    expected: str
    actual: str
    pointer: str | None = None


def document_faults(exchange: Exchange) -> list[DocumentFault]:
    """Return the faults of a response against the document; empty if there are none."""
    operation = exchange.request.operation
    parameters = {} if operation.parameter is None else {operation.parameter: "any"}
    described = schema()[operation.path][operation.method]
    try:
        described.Case(path_parameters=parameters).validate_response(_response(exchange), checks=_CHECKS)
    except BaseExceptionGroup as found:
        responses = described.responses.find_by_status_code(exchange.status)
        headers = {} if responses is None else {name: header.schema for name, header in responses.headers.items()}
        return [fault for failure in found.exceptions for fault in _faults(exchange, failure, headers)]
    return []


def _response(exchange: Exchange) -> schemathesis.Response:
    response = exchange.response
    headers = [(name, value) for name, value in response.headers if name.lower() not in _DECODED]
    return schemathesis.Response(
        status_code=response.status,
        headers=_grouped(headers),
        content=response.body,
        request=httpx.Request(exchange.sent_request.method, exchange.sent_request.url),  # type: ignore[arg-type]  # any serves
        elapsed=exchange.seconds,
        verify=True,
        http_version=response.http_version.removeprefix("HTTP/"),
    )


def _grouped(headers: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Group headers for Schemathesis; the media type is set to JSON, since other checks judge it."""
    grouped: dict[str, list[str]] = {"content-type": ["application/json"]}
    for name, value in headers:
        grouped.setdefault(name.lower(), []).append(value)
    return grouped


def _faults(exchange: Exchange, failure: BaseException, headers: Mapping[str, Any]) -> Iterator[DocumentFault]:
    """Translate a failure of Schemathesis into faults."""
    match failure:
        case MissingHeaders():
            for name in failure.missing_headers:
                message = f"the header {name} is missing"
                yield DocumentFault("rate-limit-headers-present", message, f"the header {name}", "no such header")
        case UndefinedStatusCode():
            status, stated = str(exchange.status), exchange.request.operation.status
            rule, allowed = "no-redirect", "a 2xx or an error"
            if exchange.accepted and stated is not None:
                rule, allowed = STATED[exchange.operation_id], str(stated)
            yield DocumentFault(rule, f"the status is {status}", allowed, status)
        case JsonSchemaError() if failure.title.startswith("Response header"):
            yield _of_header(failure, headers)
        case JsonSchemaError():
            yield _of_body(exchange, failure)
        case _:
            raise failure


def _of_header(failure: JsonSchemaError, headers: Mapping[str, Any]) -> DocumentFault:
    name = next(name for name, allowed in headers.items() if allowed == failure.schema)
    expected = ", ".join(f"{keyword} {value}" for keyword, value in sorted(failure.schema.items()))
    return DocumentFault(_HEADER_RULES[name], f"the header {name} is wrong", expected, render(failure.instance))


def _of_body(exchange: Exchange, failure: JsonSchemaError) -> DocumentFault:
    place, actual = list(failure.instance_path), render(failure.instance)
    message = failure.validation_message.partition("\n")[0]
    if missing := _REQUIRED.fullmatch(message):
        place, actual = [*place, missing[1]], "absent"
    keyword = "required" if missing else str(list(failure.schema_path)[-1])
    pointer = "".join(f"/{part}" for part in place)
    rule, named = _rule(exchange, place, keyword, failure.instance), pointer or "the body"
    allowed = "present" if missing else f"{keyword} {render(failure.schema.get(keyword))}"
    return DocumentFault(rule, f"{named} is not as described", allowed, actual, pointer)


def _rule(exchange: Exchange, place: list[Any], keyword: str, value: object) -> str:
    """Return the requirement that states the value at a place of a body."""
    if not exchange.accepted:
        return _of_error(exchange, place, keyword, value)
    operation = exchange.request.operation
    if place[:1] == ["meta"]:
        return rule_of_meta(operation.id, place, keyword)
    promise = PROMISES.get(operation.id)
    if not place[1:] or promise is None:  # a field is inside another value
        return "list-data-array" if operation.response == "list" else "success-data-object"
    if keyword in _FORMS and isinstance(value, str):
        return "timestamp-format"
    if keyword in {"enum", "not"}:
        known = "engagement-status-known" if place[-1] == "status" else promise
        return _VALUES.get((operation.id, str(place[-1])), known) if isinstance(value, str | bool) else promise
    return promise


def _of_error(exchange: Exchange, place: list[Any], keyword: str, value: object) -> str:
    kind, rule = _ERROR_FIELDS.get(str(place[-1]) if place else "", (type(None), "error-envelope"))
    fitting = keyword == "enum" and isinstance(value, kind) and not isinstance(value, bool)
    return rule.format(status=exchange.status) if fitting else "error-envelope"
