"""Tolerant readers of responses, as a service under test may be faulty."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.fields import SETTINGS
from conformance.json_text import Malformed, Parsed, integer_or_none, read_json, text_or_none
from conformance.oracle.laws.rate_limits import service_time
from conformance.targets.journal_entries import Person
from conformance.targets.lenient_reading import read_leniently
from conformance.wire.exchange import SUCCESSES, Exchange, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

GONE: Final = frozenset({404, 410})
"""Statuses of resources that no longer exist."""

_MILLISECONDS: Final = 1e11
"""From here on a time as a number is in milliseconds."""

_LONGEST_TEXT: Final = 500
"""The most characters of a person's texts that are kept."""


def value_of(response: Response) -> tuple[object, bool]:
    """Return the value of a response's body, and whether it is complete."""
    reading = response.reading
    if isinstance(reading, Parsed):
        return reading.value, True
    if isinstance(reading, Malformed):
        with suppress(ValueError, RecursionError):  # a byte order mark or a NaN is a fault, and leaves nothing out
            text = response.body.decode(json.detect_encoding(response.body), "replace")
            return json.loads(text.removeprefix("\ufeff")), True
    return read_leniently(response.body), False


def member_of(response: Response, name: str) -> object:
    """Return a member of the response's JSON object; None if there is none."""
    value, _ = value_of(response)
    return value.get(name) if isinstance(value, dict) else None


def data_of(response: Response | str | None) -> Mapping[str, Any]:
    """Return the ``data`` of a success; an empty object if there is none, or no response."""
    data = member_of(response, "data") if isinstance(response, Response) and response.status in SUCCESSES else None
    return data if isinstance(data, dict) else {}


def object_in(body: bytes | None) -> Mapping[str, Any]:
    """Return the JSON object of a body; an empty object for anything else."""
    reading = read_json(body or b"")
    return reading.value if isinstance(reading, Parsed) and isinstance(reading.value, dict) else {}


def identifier_of(data: Mapping[str, Any]) -> str | None:
    """Return the id of a resource as a text, or None; a faulty service may return a number."""
    number = integer_or_none(data.get("id"))
    return (text_or_none(data.get("id")) or None) if number is None else str(number)


def fixed_fields(organization: Mapping[str, Any]) -> dict[str, Any]:
    """Return the slug, the plan and each setting of an organization, those that are there.

    An update may have settings beside its other fields.
    """
    inner = organization.get("settings")
    flat = {**organization, **(inner if isinstance(inner, dict) else {})}
    return {name: flat[name] for name in ("slug", "plan", *SETTINGS) if isinstance(flat.get(name), str | bool)}


def listed_members(response: Response) -> dict[str, Mapping[str, Any]]:
    """Return the members on a page, by id."""
    listed = member_of(response, "data")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {found: item for item in items if (found := identifier_of(item)) is not None}


def roles_of(members: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the roles of members by id; an unreadable role is empty."""
    roles = {user_id: member.get("role") for user_id, member in members.items()}
    return {user_id: role if isinstance(role, str) else "" for user_id, role in roles.items()}


def person_in(member: Mapping[str, Any]) -> Person:
    """Return the join time and the address of a member; an unreadable one is empty."""
    shown = (member.get("joinedAt"), member.get("email"))
    return Person(*(text[:_LONGEST_TEXT].casefold() if isinstance(text, str) else "" for text in shown))


def is_another(member: Mapping[str, Any], person: Person | None) -> bool:
    """Whether a member is not the person that a list showed earlier under the id: both texts differ."""
    pairs = zip(person or (), person_in(member), strict=False)
    known = [(then, now) for then, now in pairs if then and now]
    return bool(known) and all(then != now for then, now in known)


def moment_of(exchange: Exchange) -> float | None:
    """Return the time of a response by the service's Date, or else by our clock, in seconds of the epoch."""
    return None if exchange.received is None else service_time(exchange)


def time_of(created_at: object) -> float | None:
    """Return a time of a service in seconds of the epoch; None if it is unreadable."""
    if isinstance(created_at, bool) or not isinstance(created_at, str | int | float):
        return None
    try:
        if isinstance(created_at, str):
            moment = datetime.fromisoformat(created_at)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        seconds = float(created_at)
    except (ValueError, OverflowError):
        return None
    return seconds / 1000 if seconds > _MILLISECONDS else seconds


def describe_result(response: Response | str) -> str:
    """Return the result of a request as a clause."""
    return response if isinstance(response, str) else f"status {response.status}"


def is_gone(response: Response | str) -> bool:
    """Whether a response shows that a resource no longer exists."""
    return not isinstance(response, str) and response.status in GONE


def is_done(response: Response | str) -> bool:
    """Whether a deletion, a removal or a change succeeded, or its object was gone."""
    return is_gone(response) or (not isinstance(response, str) and response.status in SUCCESSES)
