"""Faults of permissions: each operation opened to each key that must be refused, and closed to the one that may."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.records import SCOPES
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.records import Key
    from conformance.reference.request_context import Reply, RequestContext

_FORBIDDEN = 403

_OPERATIONS = {
    "getCurrentOrganization": ("get-organization", "organizations:read"),
    "updateCurrentOrganization": ("update-organization", "organizations:write"),
    "listMembers": ("list-members", "organizations:read"),
    "inviteMember": ("invite", "organizations:write"),
    "updateMemberRole": ("update-role", "organizations:write"),
    "removeMember": ("remove-member", "organizations:write"),
    "createEngagement": ("create-engagement", "engagements:write"),
    "getEngagement": ("get-engagement", "engagements:read"),
    "updateEngagement": ("update-engagement", "engagements:write"),
    "deleteEngagement": ("delete-engagement", "engagements:delete"),
    "archiveEngagement": ("archive-engagement", "engagements:write"),
}
"""How the requirements call each operation, and the permission that it needs."""


def _refused(operation: str) -> tuple[str, ...]:
    """Give the permissions that surely do not allow an operation: another family's, and reading for the rest."""
    family, _, action = _OPERATIONS[operation][1].partition(":")
    return tuple(
        scope for scope in SCOPES if not scope.startswith(family) or (scope.endswith(":read") and action != "read")
    )


def _hole(operation: str, scope: str) -> Fault:
    """An operation that a key with a permission for something else is allowed."""

    def effective_scopes(self: Service, key: Key) -> set[str]:
        scopes = Service.effective_scopes(self, key)
        return scopes | {f"only {operation}"} if scope in key.scopes else scopes

    def required_scope(self: Service, context: RequestContext) -> str:
        needed = Service.required_scope(self, context)
        opened = context.operation.id == operation and scope in context.key.scopes
        return f"only {operation}" if opened else needed

    name = _OPERATIONS[operation][0]
    return made(
        f"scope-{scope.replace(':', '-')}-opens-{name}",
        f"A key with {scope} alone is allowed {operation}.",
        f"scope-refuses-{name}",
        effective_scopes=effective_scopes,
        required_scope=required_scope,
    )


HOLES = tuple(_hole(operation, scope) for operation in _OPERATIONS for scope in _refused(operation))


def _shut(operation: str) -> Fault:
    """An operation that wants another permission than its own alone."""
    name, own = _OPERATIONS[operation]

    def authorize(self: Service, context: RequestContext) -> None:
        Service.authorize(self, context)
        if context.operation.id == operation and context.key.scopes == {own}:
            raise Refusal(_FORBIDDEN, "The API key lacks a permission.")

    title = f"A key with {own} alone is refused for {operation}."
    return made(f"scope-shuts-{name}", title, f"scope-allows-{name}", authorize=authorize)


SHUT = tuple(_shut(operation) for operation in _OPERATIONS)


def _refused_with(status: int) -> Fault:
    """A service that refuses want of permission with another status."""

    def authorize(self: Service, context: RequestContext) -> None:
        try:
            Service.authorize(self, context)
        except Refusal:
            raise Refusal(status, "The API key lacks a permission.") from None

    title = f"Want of permission is refused with {status} instead of 403."
    requirements = [f"scope-refuses-{name}" for name, _ in _OPERATIONS.values()]
    return made(f"scope-refused-with-{status}", title, *requirements, authorize=authorize)


STATUSES = tuple(_refused_with(status) for status in (401, 404, 409))


def _applied(operation: str) -> Fault:
    """An operation that is refused for want of permission, and done."""

    async def perform(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.perform(self, context)
        except Refusal as refusal:
            if refusal.status == _FORBIDDEN and context.operation.id == operation and len(context.key.scopes) == 1:
                with suppress(Refusal):
                    self.check(context)
                    self.find(context)
                    self._actions[operation](context)
            raise

    name = _OPERATIONS[operation][0]
    title = f"The operation {operation} is refused for want of permission, and done."
    return made(f"scope-applied-{name}", title, "scope-refused-changes-nothing", perform=perform)


APPLIED = tuple(
    _applied(operation)
    for operation in (
        "updateCurrentOrganization",
        "createEngagement",
        "updateEngagement",
        "deleteEngagement",
        "archiveEngagement",
    )
)
