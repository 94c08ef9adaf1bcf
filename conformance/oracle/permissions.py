"""Permissions of keys: allowed, refused, or left open for each operation."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.operations import OPERATIONS, SCOPES
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.operations import Operation
    from conformance.wire.requests import Request


class Permission(StrEnum):
    """Rule of the interface for a permission and an operation."""

    ALLOWED = "allowed"
    """The operation is listed with this permission."""
    REFUSED = "refused"
    """The permission is of the other family, or is a read permission for a write or a delete."""
    OPEN = "open"
    """The permission may imply the one needed, or the interface does not say which one is needed."""


def _permission(scope: str, operation: Operation) -> Permission:
    if operation.scope is None:
        return Permission.OPEN
    if operation.scope == scope:
        return Permission.ALLOWED
    family, action = scope.split(":")
    if family != operation.family or action == "read":
        return Permission.REFUSED
    return Permission.OPEN


MATRIX: Final[Mapping[tuple[str, str], Permission]] = MappingProxyType(
    {(scope, name): _permission(scope, operation) for scope in SCOPES for name, operation in OPERATIONS.items()}
)
"""Every permission with every operationId."""


def scopes(operation: str, permission: Permission) -> tuple[str, ...]:
    """Return the permissions with this rule for an operation."""
    return tuple(scope for scope in SCOPES if MATRIX[scope, operation] is permission)


def permission_of(request: Request) -> Permission:
    """Return the rule for the key of a request on a resource of the main key's organization.

    It is open for a key whose scopes are unknown, such as that of a member.
    """
    key = request.credential
    if key is None or (key.name == MAIN_KEY and not key.invalid):
        return Permission.ALLOWED
    if key.invalid or key.name == OTHER_KEY:
        return Permission.REFUSED
    return MATRIX.get((key.name, request.operation.id), Permission.OPEN)
