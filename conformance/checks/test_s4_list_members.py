"""Section 4: the list of members, its filter, and its total beside the memberCount."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.interface.list_parameters import ROLES
from conformance.oracle import read
from conformance.oracle.lists import filters
from conformance.oracle.lists.listing import Listing, cant_tell_unless, expect_all, expect_count, expect_once
from conformance.oracle.outcomes import Inapplicable
from conformance.scenarios.organization.counts_of_run import expect_right_counts
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.oracle.lists.listing import Snapshot
    from conformance.running.run import Run


@requirement("list-members-role-filter")
def test_role_filter_finds_all(run: Run, members_by_role: Snapshot) -> None:
    """With a role, the list holds all members of that role and no others, and its total is their number."""

    def judge(snapshot: Snapshot) -> None:
        everything = Listing(snapshot[:1])
        by_role = {role: Listing((response,)) for role, response in zip(ROLES, snapshot[1:], strict=True)}
        cant_tell_unless(lambda: expect_count(everything), "without a role the total is wrong", snapshot[0])
        filters.expect_same_as_all("role", by_role, everything)
        filters.expect_counts("role", by_role, everything, {})

    confirm.stable_list(run, members_by_role, judge)


@requirement("list-members-role-filter")
def test_pages_of_a_role(run: Run, members_by_role: Snapshot, pages_of_role: tuple[Snapshot, ...]) -> None:
    """With a role, pages hold different members, as many as belong on them, and together all members of the role."""
    if not pages_of_role:
        raise Inapplicable("only the role of the first member has members")
    for pages in pages_of_role:
        role = dict(pages[0].request.query)["role"]
        whole = members_by_role[1 + ROLES.index(role)]
        confirm.stable_list(run, (whole, *pages), partial(_expect_of_role, role))


def _expect_of_role(role: str, snapshot: Snapshot) -> None:
    whole, pages = snapshot[0], Listing(snapshot[1:])
    expect_once(pages)
    filters.expect_full_pages(snapshot)
    if read.number(whole, "total") == len(pages.items):
        expect_all(pages, Listing((whole,)).identifiers, f"a member of role {role}", whole)


@pytest.mark.stage(Stage.WHOLE_RUN)
@pytest.mark.usefixtures("counts")
@requirement("member-count-agrees")
def test_member_count_agreed_all_along(run: Run) -> None:
    """Every memberCount is the total of the lists of members before and after it, but for the run's removals."""
    expect_right_counts(run, "memberCount")
