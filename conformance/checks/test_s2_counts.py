"""Section 2, the counts of the organization: they equal those of the lists, and follow creations and deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance import confirm
from conformance.checks.markers import requirement
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.lists.finding import ids_on
from conformance.scenarios.organization.counts import ROUNDS, Count, Counting, counting
from conformance.scenarios.organization.counts_of_run import expect_right_counts
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run


_PAUSES: Final = (0.4, 1.0)


@pytest.mark.stage(Stage.WHOLE_RUN)
@pytest.mark.usefixtures("counts")
@requirement("engagement-count-agrees")
def test_engagement_count_agreed_all_along(run: Run) -> None:
    """Every engagementCount is the total of the lists before and after it, but for what the run created and deleted."""
    expect_right_counts(run, "engagementCount")


@requirement("create-engagement-counted")
def test_created_engagement_is_counted(run: Run, counting: Counting) -> None:
    """The organization and the list count a created engagement."""
    _expect_created_once(counting)
    _confirm_counts(run, counting, _judge_creation)


@requirement("deleted-uncounted")
def test_deleted_engagement_is_no_longer_counted(run: Run, counting: Counting) -> None:
    """The organization and the list no longer count a deleted engagement."""
    try:
        counted = _confirm_counts(run, counting, _judge_creation)
    except NonConformity as fault:
        raise CantTell(f"{fault.message} its creation either", *fault.exchanges) from None
    _confirm_counts(run, counted, _judge_deletion)


def _judge_creation(seen: Counting) -> None:
    if seen.identifier not in ids_on(seen.between.listed):
        raise CantTell("the new engagement is not listed", seen.between.listed)
    _expect_both_changed(seen, seen.before, seen.between, 1)


def _judge_deletion(seen: Counting) -> None:
    read.success(seen.deletion)
    if seen.identifier in ids_on(seen.after.listed):
        raise CantTell("the deleted engagement is still listed", seen.after.listed)
    _expect_both_changed(seen, seen.between, seen.after, -1)


def _confirm_counts(run: Run, first: Counting, judge: Callable[[Counting], None]) -> Counting:
    """Judge a change of both counts, with a new engagement if others may have interfered; return the last result."""
    return confirm.stable(run, first, judge, lambda: counting(run, _PAUSES), same=Counting.others, rounds=ROUNDS)


def _expect_both_changed(seen: Counting, before: Count, after: Count, by: int) -> None:
    """Expect that both counts changed by one engagement, and by the changes of others in the meantime."""
    exchanges = (before.organization, before.listed, after.organization, after.listed)
    total, counts = before.total + by, set[int]()
    if max(before.total, after.total) <= MAX_PER_PAGE:
        earlier, later, own = seen.beside(before), seen.beside(after), int(by > 0)
        total += len(later) - len(earlier)
        # Despite other users' changes, the items that both lists show are the least number.
        counts |= {*range(own + len(earlier & later), own + len(earlier | later) + 1)}
    expect.holds(
        after.total in counts | {total},
        "the total of the list has not followed",
        *exchanges,
        expected=f"a total changed by {total - before.total}",
        actual=f"changed by {after.total - before.total}",
        pointer="/meta/total",
    )
    # Others may act between the organization and its list: a change from its own count, or the list's, is right.
    expect.holds(
        after.counted in counts | {before.counted + by, after.total},
        "engagementCount has not followed",
        *exchanges,
        expected=f"a count changed by {by}",
        actual=f"changed by {after.counted - before.counted}",
        pointer="/data/engagementCount",
    )


def _expect_created_once(seen: Counting) -> None:
    """Expect no other engagement with the name of the created one."""
    duplicates = [item.get("id") for item in read.items(seen.between.listed) if item.get("name") == seen.name]
    expect.holds(
        len(duplicates) <= 1,
        "a single creation has created several engagements",
        seen.between.listed,
        expected="one engagement of that name",
        actual=f"{len(duplicates)} engagements",
        pointer="/data",
    )
