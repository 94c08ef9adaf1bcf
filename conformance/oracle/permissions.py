"""Permissions of keys: allowed, refused, or left open for each operation."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.interface.operations import Operation
    from conformance.wire.requests import Request


class Rule(StrEnum):
    """Rule of the interface for a permission and an operation."""

    ALLOWED = "allowed"
    """The operation is listed with this permission."""
    REFUSED = "refused"
    """The permission is of the other family, or is a read permission for a write or a delete."""
    OPEN = "open"
    """The permission may imply the one needed, or the interface does not say which one is needed."""


def _rule(scope: str, operation: Operation) -> Rule:
    if operation.scope is None:
        return Rule.OPEN
    if operation.scope == scope:
        return Rule.ALLOWED
    family, action = scope.split(":")
    if family != operation.family or action == "read":
        return Rule.REFUSED
    return Rule.OPEN


KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{scope: (scope,) for scope in SCOPES},
        "four permissions": tuple(scope for scope in SCOPES if scope != "organizations:write"),
        "both read permissions": ("organizations:read", "engagements:read"),
        "no permission": (),
    }
)
"""The keys with few permissions, by name: each permission alone, all but one, two, and none."""


def _of_all(permissions: Iterable[str], operation: Operation) -> Rule:
    """Return the rule for a key that may do what each of its permissions may."""
    rules = {_rule(scope, operation) for scope in permissions}
    if Rule.ALLOWED in rules or operation.scope is None:
        return Rule.ALLOWED if Rule.ALLOWED in rules else Rule.OPEN
    return Rule.OPEN if Rule.OPEN in rules else Rule.REFUSED


MATRIX: Final[Mapping[tuple[str, str], Rule]] = MappingProxyType(
    {
        (key, name): _of_all(permissions, operation)
        for key, permissions in KEYS.items()
        for name, operation in OPERATIONS.items()
    }
)
"""The rule for each of these keys and every operationId."""


def keys_with(rule: Rule, operation: str) -> tuple[str, ...]:
    """Return the names of the keys with this rule for an operation."""
    return tuple(key for key in KEYS if MATRIX[key, operation] is rule)


def rule_of(request: Request) -> Rule:
    """Return the rule for the key of a request on a resource of the main key's organization.

    It is open for a key whose permissions are unknown, such as that of a member.
    """
    key = request.credential
    if key is None or (key.name == MAIN_KEY and not key.invalid):
        return Rule.ALLOWED
    if key.invalid or key.name == OTHER_KEY:
        return Rule.REFUSED
    return MATRIX.get((key.name, request.operation.id), Rule.OPEN)
