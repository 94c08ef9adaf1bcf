"""Probes that show a choice of a service in its responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.reference.latitude.point import Point
    from tests.reference.conftest import Visitor

ORGANIZATION: Final = "/api/v1/organizations/current"
MEMBERS: Final = f"{ORGANIZATION}/members"
INVITE: Final = f"{MEMBERS}/invite"
ENGAGEMENTS: Final = "/api/v1/engagements"
NONE: Final = f"{ENGAGEMENTS}/eng_0123456789012345678901"
GUEST: Final = {"email": "Guest@Example.com", "role": "member"}

Probe = Callable[["Visitor"], object]


def created(body: object = None, **more: object) -> Probe:
    """Return a probe for the status of a creation."""
    return lambda visitor: visitor.post(ENGAGEMENTS, {"name": "n"} if body is None else body, **more).status_code


def listed(query: str, path: str = ENGAGEMENTS) -> Callable[[Visitor], tuple[int, object]]:
    """Return a probe for status and meta of a list."""

    def probe(visitor: Visitor) -> tuple[int, object]:
        response = visitor.get(f"{path}?{query}")
        return response.status_code, response.json().get("meta")

    return probe


def edited(body: object) -> Probe:
    """Return a probe for the status of an edit."""
    return lambda visitor: visitor.patch(visitor.at(visitor.engagement()["id"]), body).status_code


def raw(content: bytes, headers: dict[str, str] | None = None) -> Probe:
    """Return a probe for status and name of a creation with raw bytes as its body."""
    declared = {"Content-Type": "application/json"} if headers is None else headers

    def probe(visitor: Visitor) -> object:
        response = visitor.send("POST", ENGAGEMENTS, content=content, headers=declared)
        return response.status_code, response.json().get("data", {}).get("name")

    return probe


def invited(*bodies: dict[str, str]) -> Probe:
    """Return a probe for the status of the last of some invitations, and its address."""

    def probe(visitor: Visitor) -> object:
        responses = [visitor.post(INVITE, body) for body in bodies]
        return responses[-1].status_code, responses[-1].json().get("data", {}).get("email")

    return probe


def headers(name: str) -> Probe:
    """Return a probe for a header of a success and of an error."""
    return lambda visitor: [visitor.get(path).headers.get(name) for path in (ORGANIZATION, NONE)]


def expect_every_value_to_show(visit: Callable[..., Visitor], point: Point, probe: Probe) -> None:
    """Expect different results of a probe for all values of a point."""
    shown = [probe(visit(**{point.name: value})) for value in point.values]

    assert all(shown.count(result) == 1 for result in shown), dict(zip(point.values, shown, strict=True))


def unarchive(visitor: Visitor) -> object:
    """Unarchive an archived engagement and return the effects."""
    path = visitor.archived()
    before = visitor.get(path).json()["data"]
    response = visitor.post(f"{path}/unarchive")
    after = visitor.get(path).json()["data"]
    return (
        response.status_code,
        set(response.json().get("data", {})),
        after["status"],
        after["updatedAt"] > before["updatedAt"],
    )
