"""What a key with one permission alone may do: allowed, refused, or left open."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.operations import OPERATIONS, SCOPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.operations import Operation


class Permission(StrEnum):
    """What the interface says about a permission and an operation."""

    ALLOWED = "allowed"
    """It is the permission that the operation is listed with."""
    REFUSED = "refused"
    """It is one of the other family, or a read where something is written or deleted."""
    OPEN = "open"
    """It may imply the one needed, or the one needed is not told."""


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
    """The permissions that stand so to an operation."""
    return tuple(scope for scope in SCOPES if MATRIX[scope, operation] is permission)
