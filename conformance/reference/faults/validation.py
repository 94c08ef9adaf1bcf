"""Faults of validation: each kind of certainly invalid input let through by each operation that may be sent it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

    Mend = Callable[[dict[str, Any]], dict[str, Any]]
    Lenient = Callable[[bytes], dict[str, Any]]

_BODIES = {
    "createEngagement": ("create-engagement", {"name": "Untitled"}),
    "updateEngagement": ("update-engagement", {}),
    "updateCurrentOrganization": ("update-organization", {}),
    "inviteMember": ("invite", {"email": "somebody@example.com", "role": "member"}),
    "updateMemberRole": ("update-role", {"role": "member"}),
}
"""How the requirements call each operation with a body, and what stands in for what is missing."""

# Bodies


def _body(operation: str, label: str, title: str, read: Lenient) -> Fault:
    """An operation that reads a body which is none; ``read`` makes an object of it or raises ValueError."""

    def readable(content: bytes) -> bytes:
        try:
            return content if isinstance(_parsed(content), dict) else json.dumps(read(content)).encode()
        except ValueError:
            return content

    return _receiving(operation, label, title, readable)


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _receiving(operation: str, label: str, title: str, change: Callable[[bytes], bytes]) -> Fault:
    """An operation that goes by something else than the body that it got."""
    name = _BODIES[operation][0]

    async def receive(self: Service, context: RequestContext) -> bytes:
        content = await Service.receive(self, context)
        return change(content) if context.operation.id == operation else content

    return made(f"{name}-takes-{label}", title, f"{name}-refuses-invalid", receive=receive)


def _mended(content: bytes) -> dict[str, Any]:
    """Read JSON with single quotes."""
    value = json.loads(content.decode().replace("'", '"'))
    return _an_object(value)


def _uncommented(content: bytes) -> dict[str, Any]:
    """Read JSON with comments."""
    return _an_object(json.loads(re.sub(r"\s//.*", "", content.decode())))


def _without_comma(content: bytes) -> dict[str, Any]:
    """Read JSON whose last member has a comma behind it."""
    return _an_object(json.loads(re.sub(r",\s*}$", "}", content.decode())))


def _quoted(content: bytes) -> dict[str, Any]:
    """Read JSON whose names have no quotes."""
    return _an_object(json.loads(re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', content.decode())))


def _an_object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - as of any other text that cannot be read
    return value


def _first_object(content: bytes) -> dict[str, Any]:
    """Read what begins with an object, whatever follows."""
    return _an_object(json.JSONDecoder().raw_decode(content.decode())[0])


def _completed(content: bytes) -> dict[str, Any]:
    """Close what was cut short."""
    return _an_object(json.loads(content + b"}"))


def _first_of_array(content: bytes) -> dict[str, Any]:
    """Take the first item of an array."""
    value = json.loads(content)
    return _an_object(value[0] if isinstance(value, list) and value else value)


def _anything(operation: str) -> Lenient:
    """Take whatever is sent for an object without fields, and put in what is missing."""
    return lambda _: dict(_BODIES[operation][1])


BODIES = tuple(
    fault
    for operation in _BODIES
    for fault in (
        _body(operation, "text-behind", f"{operation} takes JSON with text behind it.", _first_object),
        _body(operation, "cut-json", f"{operation} takes JSON that is cut short.", _completed),
        _body(operation, "array", f"{operation} takes an array and reads its first item.", _first_of_array),
        _body(
            operation, "anything", f"{operation} takes whatever is no object for an empty one.", _anything(operation)
        ),
    )
)

LENIENT = (
    *(
        _body(operation, "single-quotes", f"{operation} takes JSON in single quotes.", _mended)
        for operation in ("createEngagement", "updateCurrentOrganization", "inviteMember")
    ),
    *(
        _body(operation, "comments", f"{operation} takes JSON with comments.", _uncommented)
        for operation in ("createEngagement", "updateEngagement", "inviteMember")
    ),
    _body("updateEngagement", "last-comma", "updateEngagement takes JSON with a comma too many.", _without_comma),
    _body("updateMemberRole", "bare-names", "updateMemberRole takes JSON with names without quotes.", _quoted),
)

# Fields


def _fields(operation: str, label: str, title: str, mend: Mend) -> Fault:
    """An operation that makes something valid of an object that is not; ``mend`` changes the object."""

    def mended(content: bytes) -> bytes:
        value = _parsed(content)
        return json.dumps(mend(value)).encode() if isinstance(value, dict) else content

    return _receiving(operation, label, title, mended)


def _default(field: str, value: str) -> Mend:
    """Put something in for a field that is missing."""
    return lambda body: body if field in body else {**body, field: value}


def _not_null(field: str, value: str) -> Mend:
    """Put something in for null."""
    return lambda body: {**body, field: value} if body.get(field, value) is None else body


def _as_text(field: str, kinds: type | tuple[type, ...]) -> Mend:
    """Write a value of another type as text."""
    return lambda body: {**body, field: str(body[field])} if isinstance(body.get(field), kinds) else body


def _unless(field: str, right: Callable[[str], bool], value: Callable[[str], str]) -> Mend:
    """Put something in for a text that is wrong."""

    def mend(body: dict[str, Any]) -> dict[str, Any]:
        text = body.get(field)
        return {**body, field: value(text)} if isinstance(text, str) and not right(text) else body

    return mend


_ANY_TYPE = (bool, int, float, list, dict)

FIELDS = (
    _fields("createEngagement", "nameless", "A creation without a name is taken.", _default("name", "Untitled")),
    _fields(
        "createEngagement", "null-named", "A creation with null for the name is taken.", _not_null("name", "Untitled")
    ),
    _fields(
        "createEngagement", "name-number", "A creation takes a number for the name.", _as_text("name", (int, float))
    ),
    _fields("createEngagement", "name-boolean", "A creation takes a boolean for the name.", _as_text("name", bool)),
    _fields("createEngagement", "name-array", "A creation takes an array for the name.", _as_text("name", list)),
    _fields("createEngagement", "name-object", "A creation takes an object for the name.", _as_text("name", dict)),
    _fields(
        "createEngagement",
        "description-number",
        "A creation takes a number for the description.",
        _as_text("description", (int, float)),
    ),
    _fields(
        "createEngagement",
        "description-anything",
        "A creation takes any type for the description.",
        _as_text("description", _ANY_TYPE),
    ),
    _fields("updateEngagement", "name-number", "An edit takes a number for the name.", _as_text("name", (int, float))),
    _fields("updateEngagement", "name-anything", "An edit takes any type for the name.", _as_text("name", _ANY_TYPE)),
    _fields(
        "updateEngagement",
        "description-boolean",
        "An edit takes a boolean for the description.",
        _as_text("description", bool),
    ),
    _fields(
        "updateEngagement",
        "description-array",
        "An edit takes an array for the description.",
        _as_text("description", list),
    ),
    _fields(
        "updateCurrentOrganization",
        "name-number",
        "A renaming takes a number for the name.",
        _as_text("name", (int, float)),
    ),
    _fields(
        "updateCurrentOrganization", "name-object", "A renaming takes an object for the name.", _as_text("name", dict)
    ),
    _fields(
        "updateCurrentOrganization", "name-array", "A renaming takes an array for the name.", _as_text("name", list)
    ),
    _fields("inviteMember", "roleless", "An invitation without a role is taken.", _default("role", "member")),
    _fields(
        "inviteMember",
        "addressless",
        "An invitation without an address is taken.",
        _default("email", "somebody@example.com"),
    ),
    _fields("inviteMember", "null-role", "An invitation with null for the role is taken.", _not_null("role", "member")),
    _fields(
        "inviteMember",
        "null-address",
        "An invitation with null for the address is taken.",
        _not_null("email", "somebody@example.com"),
    ),
    _fields(
        "inviteMember",
        "no-at",
        "An invitation takes an address without @.",
        _unless("email", lambda text: "@" in text, lambda text: f"{text}@example.com"),
    ),
    _fields(
        "inviteMember",
        "owner",
        "An invitation takes the role owner.",
        _unless("role", lambda text: text != "owner", lambda _: "admin"),
    ),
    _fields(
        "inviteMember",
        "unknown-role",
        "An invitation takes an unknown role.",
        _unless("role", lambda text: text in {"admin", "member", "owner"}, lambda _: "member"),
    ),
    _fields(
        "inviteMember",
        "role-anything",
        "An invitation takes any type for the role.",
        lambda body: {**body, "role": "member"} if isinstance(body.get("role"), _ANY_TYPE) else body,
    ),
    _fields(
        "inviteMember",
        "empty-role",
        "An invitation takes an empty role.",
        _unless("role", bool, lambda _: "member"),
    ),
    _fields(
        "updateMemberRole",
        "empty-role",
        "A change of role takes an empty role.",
        _unless("role", bool, lambda _: "member"),
    ),
    _fields("updateMemberRole", "roleless", "A change of role without a role is taken.", _default("role", "member")),
    _fields(
        "updateMemberRole",
        "null-role",
        "A change of role with null for the role is taken.",
        _not_null("role", "member"),
    ),
    _fields(
        "updateMemberRole",
        "unknown-role",
        "A change of role takes an unknown role.",
        _unless("role", lambda text: text in {"admin", "member", "owner"}, lambda _: "member"),
    ),
    _fields(
        "updateMemberRole",
        "role-anything",
        "A change of role takes any type for the role.",
        lambda body: {**body, "role": "member"} if isinstance(body.get("role"), _ANY_TYPE) else body,
    ),
)
