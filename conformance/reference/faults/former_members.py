"""Faults of keys: that of a removed member still opens something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.records import Key
    from conformance.reference.request_context import RequestContext

_ORGANIZATION = "removed-member-loses-organization"
_ENGAGEMENTS = "removed-member-loses-engagements"
_OPERATIONS = {
    "getCurrentOrganization": _ORGANIZATION,
    "updateCurrentOrganization": _ORGANIZATION,
    "listMembers": _ORGANIZATION,
    "inviteMember": _ORGANIZATION,
    "updateMemberRole": _ORGANIZATION,
    "listEngagements": _ENGAGEMENTS,
    "createEngagement": _ENGAGEMENTS,
    "getEngagement": _ENGAGEMENTS,
    "updateEngagement": _ENGAGEMENTS,
    "deleteEngagement": _ENGAGEMENTS,
    "archiveEngagement": _ENGAGEMENTS,
}


def _keeping(identifier: str, title: str, keeps: Callable[[Service, RequestContext], bool], *breaks: str) -> Fault:
    """A service that still serves some requests with the key of a removed member."""

    def authenticate(self: Service, context: RequestContext) -> Key:
        key = self.find_key(self.bearer_token(context))
        if key is not None and key.revoked and keeps(self, context):
            return replace(key, revoked=False)
        return Service.authenticate(self, context)

    return made(identifier, title, *breaks, authenticate=authenticate)


def _reads(_: Service, context: RequestContext) -> bool:
    return context.request.method == "GET"


def _writes(_: Service, context: RequestContext) -> bool:
    return context.request.method != "GET"


def _once(requirement: str) -> Callable[[Service, RequestContext], bool]:
    """Serve one more request of a family of operations."""

    def keeps(service: Service, context: RequestContext) -> bool:
        if _OPERATIONS.get(service.find_operation(context).id) != requirement or service.memory.get("served", False):
            return False
        service.memory["served"] = True
        return True

    return keeps


KEPT = (
    _keeping(
        "removed-member-reads",
        "The key of a removed member can still read.",
        _reads,
        _ORGANIZATION,
        _ENGAGEMENTS,
    ),
    _keeping(
        "removed-member-writes",
        "The key of a removed member can still write.",
        _writes,
        _ORGANIZATION,
        _ENGAGEMENTS,
    ),
    _keeping(
        "removed-member-everything",
        "The key of a removed member works as before.",
        lambda _, __: True,
        _ORGANIZATION,
        _ENGAGEMENTS,
    ),
)

ONCE = tuple(
    _keeping(
        f"removed-member-once-{family}",
        f"The key of a removed member is served once more for {family}.",
        _once(requirement),
        requirement,
    )
    for family, requirement in (("organization", _ORGANIZATION), ("engagements", _ENGAGEMENTS))
)

SINGLE = tuple(
    _keeping(
        f"removed-member-{operation}".lower(),
        f"The key of a removed member still serves for {operation}.",
        lambda self, context, operation=operation: self.find_operation(context).id == operation,  # type: ignore[misc]  # a default that binds
        requirement,
    )
    for operation, requirement in _OPERATIONS.items()
)
