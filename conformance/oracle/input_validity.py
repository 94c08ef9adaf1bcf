"""Validity of a request's wire form: invalid, valid, or left open by the interface.

A generated request is judged by the bytes that are sent, not by its generator's intention: in a query string
``null`` is a text like any other.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import (
    ASSIGNABLE_ROLES,
    MAX_PER_PAGE,
    ORDERS,
    PARAMETERS,
    ROLES,
    SORTS,
    STATUSES,
)
from conformance.json_text import Malformed, Parsed, read_json
from conformance.oracle.effects import must_be_accepted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.wire.requests import Request


class Validity(StrEnum):
    """Certain validity of a request."""

    INVALID = "invalid"
    VALID = "valid"
    OPEN = "open"


_PLAIN_ADDRESS: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?@[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,2}")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {"role": ROLES, "status": STATUSES, "sort": SORTS, "order": ORDERS}


def validity(request: Request) -> Validity:
    """Return the validity of a request for an operation; total over all bodies and queries."""
    if request.operation.response == "list":
        return _of_query(request)
    if not request.operation.takes_body or request.query:
        return Validity.OPEN
    return _of_body(request.operation.id, request.body or b"")


def _of_body(operation: str, text: bytes) -> Validity:
    if not text.strip():
        return _of_object(operation, {})  # some services treat a missing body as an empty object
    reading = read_json(text)
    if isinstance(reading, Malformed):
        return Validity.INVALID if _is_no_json_anywhere(text) else Validity.OPEN
    if not isinstance(reading, Parsed) or reading.duplicates:
        return Validity.OPEN
    if not isinstance(reading.value, dict):
        return Validity.INVALID
    return _of_object(operation, reading.value)


def _is_no_json_anywhere(text: bytes) -> bool:
    """Whether lenient readers find no JSON either, though they accept NaN, a byte order mark or another encoding."""
    return re.search(rb"NaN|Infinity|[^\x00-\x7f]|\x00", text) is None


def _of_object(operation: str, body: dict[str, Any]) -> Validity:
    verdicts = [_of_field(operation, name, body) for name in _fields(operation)]
    if Validity.INVALID in verdicts:
        return Validity.INVALID
    if Validity.OPEN in verdicts or not body or set(body) - set(_fields(operation)):
        return Validity.OPEN
    return Validity.VALID


def _fields(operation: str) -> tuple[str, ...]:
    return {
        "createEngagement": ("name", "description"),
        "updateEngagement": ("name", "description"),
        "updateCurrentOrganization": ("name",),
        "inviteMember": ("email", "role"),
        "updateMemberRole": ("role",),
    }[operation]


def _of_field(operation: str, name: str, body: dict[str, Any]) -> Validity:
    required = name in {"email", "role"} or (name == "name" and operation == "createEngagement")
    if body.get(name) is None:
        if required:
            return Validity.INVALID
        return Validity.OPEN if name in body else Validity.VALID
    value = body[name]
    if not isinstance(value, str):
        return Validity.INVALID
    if name == "email":
        return _of_address(value)
    if name == "role":
        return _of_new_role(operation, value)
    return Validity.VALID if must_be_accepted(value) else Validity.OPEN


def _of_address(value: str) -> Validity:
    if "@" not in value:
        return Validity.INVALID
    return Validity.VALID if _PLAIN_ADDRESS.fullmatch(value) else Validity.OPEN


def _of_new_role(operation: str, value: str) -> Validity:
    if value in ASSIGNABLE_ROLES:
        return Validity.VALID
    if value == "owner":
        return Validity.INVALID if operation == "inviteMember" else Validity.OPEN
    return Validity.INVALID if _is_nonsense(value) else Validity.OPEN


def _of_query(request: Request) -> Validity:
    names = [name for name, _ in request.query]
    if len(names) != len(set(names)):
        return Validity.OPEN
    verdicts = [_of_parameter(name, value) for name, value in request.query if name in PARAMETERS[request.operation.id]]
    if Validity.INVALID in verdicts:
        return Validity.INVALID
    if Validity.OPEN in verdicts or set(names) - PARAMETERS[request.operation.id]:
        return Validity.OPEN
    return Validity.VALID


def _of_parameter(name: str, value: str) -> Validity:
    if name in _WORDS:
        if value in _WORDS[name]:
            return Validity.VALID
        return Validity.INVALID if _is_nonsense(value) else Validity.OPEN
    if not value.strip():
        return Validity.OPEN
    if not any(character.isnumeric() for character in value):
        return Validity.INVALID
    return _of_number(name, value)


def _of_number(name: str, value: str) -> Validity:
    """Return the validity of a number; a page after the first may be past the end, which the interface leaves open."""
    if not _NUMBER.fullmatch(value):
        return Validity.OPEN
    return Validity.VALID if int(value) <= (1 if name == "page" else MAX_PER_PAGE) else Validity.OPEN


def _is_nonsense(value: str) -> bool:
    """Whether a value cannot be a member of any closed list, present or future."""
    return re.search(r"[^A-Za-z0-9\s_.,:;+|/-]", value) is not None
