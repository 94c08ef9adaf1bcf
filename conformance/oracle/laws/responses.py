"""Laws of every response: rules for each exchange by itself, whichever request it belongs to.

A law reads one exchange. It returns False if it does not apply and True if it holds; else it raises
``NonConformity`` or ``CantTell``. Checks apply each law to all exchanges of a run.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import ROLES, STATUSES
from conformance.json_text import Malformed, Parsed, TooDeep
from conformance.oracle.laws import shapes
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.rendering import kind_of, one_of, render
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire.exchange import SUCCESSES, NoResponse
from conformance.wire.statuses import ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.wire.exchange import Exchange

    LawFunction = Callable[[Exchange], bool]

STATED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "getCurrentOrganization": "get-organization-succeeds",
        "updateCurrentOrganization": "update-organization-succeeds",
        "listMembers": "list-members-succeeds",
        "updateMemberRole": "update-role-succeeds",
        "removeMember": "remove-member-succeeds",
        "listEngagements": "list-engagements-succeeds",
        "getEngagement": "get-engagement-succeeds",
        "deleteEngagement": "delete-engagement-succeeds",
    }
)
"""The requirements for the exact status of a success, by operation."""


# --- bodies


def json_well_formed(exchange: Exchange) -> bool:
    """Require that a body is JSON that a strict reader accepts."""
    response = exchange.response
    if not response.body:
        return False
    match response.reading:
        case Malformed(reason):
            message = f"the body is not JSON: {response.outline}"
            raise NonConformity(message, exchange, expected="a JSON text (RFC 8259)", actual=reason)
        case TooDeep(reason):
            raise CantTell(f"the body cannot be judged: {reason}", exchange)
    return True


def json_media_type(exchange: Exchange) -> bool:
    """Require a JSON media type of a body; other names of JSON media types are open."""
    if not exchange.response.body:
        return False
    announced = exchange.response.header("Content-Type")
    essence = (announced or "").partition(";")[0].strip().lower()
    if essence not in {"application/json", "text/json"} and not re.fullmatch(r"application/[^\s/]+\+json", essence):
        raise NonConformity(
            "the Content-Type of the body is not JSON",
            exchange,
            expected="Content-Type: application/json",
            actual="no Content-Type" if announced is None else f"Content-Type: {announced}",
        )
    return True


def success_data_object(exchange: Exchange) -> bool:
    """Require an object data in a success for one resource."""
    return _is_success(exchange, "resource") and _has(exchange, "data", "object")


def list_data_array(exchange: Exchange) -> bool:
    """Require an array data of objects in a successful list."""
    return _is_success(exchange, "list") and _has(exchange, "data", "array")


def list_meta_object(exchange: Exchange) -> bool:
    """Require an object meta in a successful list."""
    return _is_success(exchange, "list") and _has(exchange, "meta", "object")


def fields(exchange: Exchange) -> bool:
    """Require the promised fields of the resource, or of every item of the list."""
    shape = shapes.SHAPES.get(exchange.operation_id)
    resources = _resources(exchange)
    if shape is None or not resources:
        return False
    for pointer, resource in resources:
        if not isinstance(resource, dict):
            raise NonConformity(
                "an item of the list is not an object",
                exchange,
                expected="an object",
                actual=kind_of(resource),
                pointer=pointer,
            )
        for fault in shapes.field_errors(resource, shape, pointer):
            message = f"{fault.pointer} is not as promised"
            raise NonConformity(message, exchange, expected=fault.expected, actual=fault.actual, pointer=fault.pointer)
    return True


def timestamp_format(exchange: Exchange) -> bool:
    """Require the interface's format and a real date of every timestamp of a success."""
    shape = shapes.SHAPES.get(exchange.operation_id, ())
    seen = False
    for pointer, resource in _resources(exchange):
        for place, text in shapes.times(resource, shape) if isinstance(resource, dict) else ():
            seen = True
            if parse_timestamp(text) is None:
                raise NonConformity(
                    "a timestamp is not of the interface's format",
                    exchange,
                    expected="YYYY-MM-DDTHH:MM:SS.mmmZ, a real date",
                    actual=render(text),
                    pointer=pointer + place,
                )
    return seen


def slug_url_safe(exchange: Exchange) -> bool:
    """Require a slug that is valid in a path segment unescaped (RFC 3986, pchar)."""
    return _each(
        exchange,
        ("getCurrentOrganization", "updateCurrentOrganization"),
        "slug",
        lambda slug: re.fullmatch(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*", slug),
        "characters that are valid in a URL path",
    )


def member_roles_known(exchange: Exchange) -> bool:
    """Require a role of the closed list."""
    return _each(exchange, ("listMembers", "updateMemberRole"), "role", lambda role: role in ROLES, one_of(*ROLES))


def member_email_is_address(exchange: Exchange) -> bool:
    """Require an @ in every e-mail address of a member, no mailto: link and no angle brackets."""
    return _each(exchange, ("listMembers",), "email", _is_address, "an e-mail address")


def engagement_status_known(exchange: Exchange) -> bool:
    """Require a status of the closed list of every engagement."""
    operations = ("listEngagements", "createEngagement", "getEngagement", "archiveEngagement")
    return _each(exchange, operations, "status", lambda status: status in STATUSES, one_of(*STATUSES))


def no_redirect(exchange: Exchange) -> bool:
    """Require a success or an error as the response of an operation."""
    if not exchange.request.is_proper:
        return False
    status = exchange.status
    if not (status in SUCCESSES or status >= ERRORS_FROM):
        raise NonConformity(
            f"the response has the status {status}", exchange, expected="a 2xx or an error", actual=str(status)
        )
    return True


def stated_status(exchange: Exchange) -> bool:
    """Require the stated status of a success, if the interface states one for the operation."""
    stated = exchange.request.operation.status
    if stated is None or not exchange.request.is_proper or not exchange.succeeded:
        return False
    if exchange.status != stated:
        raise NonConformity(
            f"a success of {exchange.operation_id} has the status {exchange.status}",
            exchange,
            expected=str(stated),
            actual=str(exchange.status),
        )
    return True


# --- reading a response


def readable_resources(exchange: Exchange) -> list[dict[str, Any]]:
    """Return the resources of a success that are objects; none without a response, or if none can be read."""
    try:
        return [resource for _, resource in _resources(exchange) if isinstance(resource, dict)]
    except NoResponse:
        return []


def first_resource(exchange: Exchange) -> dict[str, Any] | None:
    """Return the first readable resource of a success; None if there is none."""
    return next(iter(readable_resources(exchange)), None)


def _is_address(email: str) -> bool:
    """Whether a text may be a bare address: unquoted addresses have no colons and no angle brackets (RFC 5322)."""
    return "@" in email and not re.match(r"(?i)mailto:", email) and not re.search(r"<[^<>\"]*@[^<>\"]*>$", email)


def _is_success(exchange: Exchange, response: str) -> bool:
    """Whether this is a success of an operation of that kind, with a readable body or none."""
    operation = exchange.request.operation
    readable = not exchange.response.body or isinstance(exchange.response.reading, Parsed)
    return exchange.succeeded and operation.response == response and exchange.request.is_proper and readable


def _has(exchange: Exchange, name: str, kind: str) -> bool:
    reading = exchange.response.reading
    body = reading.value if isinstance(reading, Parsed) else None
    if not isinstance(body, dict) or kind_of(body.get(name)) != kind:
        actual = render(body) if isinstance(reading, Parsed) else "no body"
        raise NonConformity(
            f"a success has no {kind} {name}",
            exchange,
            expected=f"an object with the {kind} {name}",
            actual=actual,
            pointer=f"/{name}",
        )
    return True


def _resources(exchange: Exchange) -> list[tuple[str, Any]]:
    """Return the resources of a success, each with its JSON pointer; none if the envelope is broken."""
    reading = exchange.response.reading
    if not (
        exchange.succeeded
        and exchange.request.is_proper
        and isinstance(reading, Parsed)
        and isinstance(reading.value, dict)
    ):
        return []
    data = reading.value.get("data")
    if exchange.request.operation.response == "list":
        return [(f"/data/{place}", item) for place, item in enumerate(data)] if isinstance(data, list) else []
    return [("/data", data)] if isinstance(data, dict) else []


def _each(
    exchange: Exchange, operations: tuple[str, ...], name: str, right: Callable[[str], object], expected: str
) -> bool:
    """Whether a string field was there to judge; raise if it is wrong."""
    if exchange.operation_id not in operations:
        return False
    seen = False
    for pointer, resource in _resources(exchange):
        value = resource.get(name) if isinstance(resource, dict) else None
        if isinstance(value, str):
            seen = True
            if not right(value):
                raise NonConformity(
                    f"{name} is {render(value)}",
                    exchange,
                    expected=expected,
                    actual=render(value),
                    pointer=f"{pointer}/{name}",
                )
    return seen
