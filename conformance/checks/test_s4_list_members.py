"""Section 4: reading the organization and listing its members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.filtered_lists import members_by_role, neighbours_of_role
from conformance.checks.laws_over_run import expect_law, expect_law_steadily
from conformance.checks.looks import expect_steadily
from conformance.checks.marks import journey, requirement
from conformance.oracle import filters, list_laws, plain_reads
from conformance.oracle.judgement import Inapplicable
from conformance.oracle.laws import ROLES
from conformance.oracle.listing import Listing, expect_count, expect_once, holds

if TYPE_CHECKING:
    from conformance.checks.looks import Look
    from conformance.running.run import Run

members_by_role_journey = journey(members_by_role, alone=True)
neighbours_of_role_journey = journey(neighbours_of_role, alone=True)


@pytest.mark.stage(2)
@requirement("get-organization-succeeds")
def test_reading_the_organization_succeeds(run: Run) -> None:
    """Reading the organization gives 200."""
    expect_law(run, plain_reads.organization_read, "getCurrentOrganization")


@pytest.mark.stage(2)
@requirement("list-members-succeeds")
def test_listing_members_succeeds(run: Run) -> None:
    """Listing members with valid parameters gives 200."""
    expect_law(run, plain_reads.members_listed, "listMembers")


@requirement("list-members-role-filter")
def test_role_filter_finds_all(run: Run, members_by_role: Look) -> None:
    """With a role, the list holds the members of that role, all of them and no others, and counts them."""

    def judge(look: Look) -> None:
        everything = Listing(look[:1])
        by_role = {role: Listing((answer,)) for role, answer in zip(ROLES, look[1:], strict=True)}
        holds(lambda: expect_count(everything), "without a role the total is wrong", look[0])
        filters.expect_same_as_all("role", by_role, everything)
        filters.expect_counts("role", by_role, everything, {})

    expect_steadily(run, members_by_role, judge)


@requirement("list-members-role-filter")
def test_pages_of_a_role_differ(run: Run, neighbours_of_role: Look) -> None:
    """With a role, the second of two pages holds another member than the first one."""
    if not neighbours_of_role:
        raise Inapplicable("No role has two members")

    expect_steadily(run, neighbours_of_role, lambda look: expect_once(Listing(look)))


@pytest.mark.stage(2)
@requirement("list-members-role-filter")
@pytest.mark.usefixtures("members_by_role", "neighbours_of_role")
def test_every_filtered_list_of_members(run: Run) -> None:
    """No list of the run that was asked for one role holds another one."""
    expect_law_steadily(run, list_laws.role_filter, "listMembers")
