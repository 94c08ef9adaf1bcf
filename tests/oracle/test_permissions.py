"""The matrix of permissions and operations."""

from __future__ import annotations

import pytest

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle import permissions
from conformance.oracle.permissions import MATRIX, Rule

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


def expected(scope: str, operation: str) -> Rule:
    """Return the interface's rule for a permission and an operation."""
    if operation in ALLOWED[scope]:
        return Rule.ALLOWED
    return Rule.REFUSED if operation in REFUSED[scope] else Rule.OPEN


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("scope", SCOPES)
def test_the_matrix(scope: str, operation: str) -> None:
    """A permission allows its own operations and none of the other family; a read permission allows no write."""
    assert permissions._rule(scope, OPERATIONS[operation]) is expected(scope, operation)
    assert MATRIX[scope, operation] is expected(scope, operation)


@pytest.mark.parametrize("operation", UNTOLD)
@pytest.mark.parametrize("scope", SCOPES)
def test_an_unstated_permission_is_open(scope: str, operation: str) -> None:
    """The interface does not say which permission, of either family, listing and unarchiving need."""
    assert MATRIX[scope, operation] is Rule.OPEN


@pytest.mark.parametrize(
    ("operation", "rule", "scopes"),
    [
        ("getEngagement", Rule.ALLOWED, ("engagements:read",)),
        ("getEngagement", Rule.OPEN, ("engagements:write", "engagements:delete")),
        ("getEngagement", Rule.REFUSED, ("organizations:read", "organizations:write")),
        ("inviteMember", Rule.OPEN, ()),
        ("listEngagements", Rule.OPEN, SCOPES),
        ("listEngagements", Rule.ALLOWED, ()),
    ],
)
def test_permissions_by_rule(operation: str, rule: Rule, scopes: tuple[str, ...]) -> None:
    """They come in the order of the interface."""
    found = permissions.keys_with(rule, operation)
    assert tuple(key for key in found if key in SCOPES) == scopes


@pytest.mark.parametrize(
    ("operation", "of_four", "of_reads", "of_none"),
    [
        ("getCurrentOrganization", Rule.ALLOWED, Rule.ALLOWED, Rule.REFUSED),
        ("createEngagement", Rule.ALLOWED, Rule.REFUSED, Rule.REFUSED),
        ("inviteMember", Rule.REFUSED, Rule.REFUSED, Rule.REFUSED),
        ("deleteEngagement", Rule.ALLOWED, Rule.REFUSED, Rule.REFUSED),
        ("listEngagements", Rule.OPEN, Rule.OPEN, Rule.OPEN),
        ("unarchiveEngagement", Rule.OPEN, Rule.OPEN, Rule.OPEN),
    ],
)
def test_several_permissions_and_none(operation: str, of_four: Rule, of_reads: Rule, of_none: Rule) -> None:
    """A key with several permissions may do what each allows; one without any must be refused what needs one."""
    found = [MATRIX[key, operation] for key in ("four permissions", "both read permissions", "no permission")]
    assert found == [of_four, of_reads, of_none]
