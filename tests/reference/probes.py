"""Probes that show a choice of a service in its responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
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


def headers(name: str) -> Probe:
    """Return a probe for a header of a success and of an error."""
    return lambda visitor: [visitor.get(path).headers.get(name) for path in (ORGANIZATION, NONE)]


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
