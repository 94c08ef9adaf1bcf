"""The matrix of permissions and operations."""

from __future__ import annotations

import pytest

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle import permissions
from conformance.oracle.permissions import MATRIX, Permission

READS_ORGANIZATION = ("getCurrentOrganization", "listMembers")
WRITES_ORGANIZATION = ("updateCurrentOrganization", "inviteMember", "updateMemberRole", "removeMember")
WRITES_ENGAGEMENTS = ("createEngagement", "updateEngagement", "archiveEngagement")
ORGANIZATION = READS_ORGANIZATION + WRITES_ORGANIZATION
ENGAGEMENTS = ("getEngagement", *WRITES_ENGAGEMENTS, "deleteEngagement")
UNTOLD = ("listEngagements", "unarchiveEngagement")

ALLOWED = {
    "organizations:read": READS_ORGANIZATION,
    "organizations:write": WRITES_ORGANIZATION,
    "engagements:read": ("getEngagement",),
    "engagements:write": WRITES_ENGAGEMENTS,
    "engagements:delete": ("deleteEngagement",),
}
REFUSED = {
    "organizations:read": WRITES_ORGANIZATION + ENGAGEMENTS,
    "organizations:write": ENGAGEMENTS,
    "engagements:read": (*ORGANIZATION, *WRITES_ENGAGEMENTS, "deleteEngagement"),
    "engagements:write": ORGANIZATION,
    "engagements:delete": ORGANIZATION,
}


def expected(scope: str, operation: str) -> Permission:
    """Return the interface's rule for a permission and an operation."""
    if operation in ALLOWED[scope]:
        return Permission.ALLOWED
    return Permission.REFUSED if operation in REFUSED[scope] else Permission.OPEN


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("scope", SCOPES)
def test_the_matrix(scope: str, operation: str) -> None:
    """A permission allows its own operations and none of the other family; a read permission allows no write."""
    assert permissions._permission(scope, OPERATIONS[operation]) is expected(scope, operation)
    assert MATRIX[scope, operation] is expected(scope, operation)


@pytest.mark.parametrize("operation", UNTOLD)
@pytest.mark.parametrize("scope", SCOPES)
def test_an_unstated_permission_is_open(scope: str, operation: str) -> None:
    """The interface does not say which permission, of either family, listing and unarchiving need."""
    assert MATRIX[scope, operation] is Permission.OPEN


@pytest.mark.parametrize(
    ("operation", "permission", "scopes"),
    [
        ("getEngagement", Permission.ALLOWED, ("engagements:read",)),
        ("getEngagement", Permission.OPEN, ("engagements:write", "engagements:delete")),
        ("getEngagement", Permission.REFUSED, ("organizations:read", "organizations:write")),
        ("inviteMember", Permission.OPEN, ()),
        ("listEngagements", Permission.OPEN, SCOPES),
        ("listEngagements", Permission.ALLOWED, ()),
    ],
)
def test_permissions_by_rule(operation: str, permission: Permission, scopes: tuple[str, ...]) -> None:
    """They come in the order of the interface."""
    found = permissions.keys_with(permission, operation)
    assert tuple(key for key in found if key in SCOPES) == scopes


@pytest.mark.parametrize(
    ("operation", "of_four", "of_reads", "of_none"),
    [
        ("getCurrentOrganization", Permission.ALLOWED, Permission.ALLOWED, Permission.REFUSED),
        ("createEngagement", Permission.ALLOWED, Permission.REFUSED, Permission.REFUSED),
        ("inviteMember", Permission.REFUSED, Permission.REFUSED, Permission.REFUSED),
        ("deleteEngagement", Permission.ALLOWED, Permission.REFUSED, Permission.REFUSED),
        ("listEngagements", Permission.OPEN, Permission.OPEN, Permission.OPEN),
        ("unarchiveEngagement", Permission.OPEN, Permission.OPEN, Permission.OPEN),
    ],
)
def test_several_permissions_and_none(
    operation: str, of_four: Permission, of_reads: Permission, of_none: Permission
) -> None:
    """A key with several permissions may do what each allows; one without any must be refused what needs one."""
    found = [MATRIX[key, operation] for key in ("four permissions", "both read permissions", "no permission")]
    assert found == [of_four, of_reads, of_none]
