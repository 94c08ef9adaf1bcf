"""Bounds of counts while other users change the organization."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.test_s2_counts import (
    test_created_engagement_is_counted,
    test_deleted_engagement_is_no_longer_counted,
)
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.organization.counts import Count, Counting, Counts, expect_agreement
from tests.fakes.exchanges import make_exchange, page
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

# Renamed so that pytest does not collect these checks here.
created_is_counted, deleted_is_not = test_created_engagement_is_counted, test_deleted_engagement_is_no_longer_counted
del test_created_engagement_is_counted, test_deleted_engagement_is_no_longer_counted


class LookedAgain(Exception):
    """Raised if the counts looked wrong, so that another request was sent."""


def agrees(run: FakeRun, seen: Counts) -> None:
    """Require that engagementCount is the total of the list."""
    expect_agreement(run, seen, "engagementCount", lambda counts: counts.engagements)


def again(_: object) -> Exchange:
    """Send no further request."""
    raise LookedAgain


RUN = FakeRun(again, names=SimpleNamespace(name=str))


def organization(count: int) -> Exchange:
    """Return the organization with an engagementCount."""
    return make_exchange("getCurrentOrganization", body={"data": {"engagementCount": count, "memberCount": 1}})


def listed(ids: str, total: int | None = None) -> Exchange:
    """Return the list; each letter is an engagement, ``S`` the one that is created and deleted."""
    items = [{"id": identifier, "name": identifier} for identifier in ids]
    return page(items, total=len(ids) if total is None else total)


def counting(before: tuple[str, int], between: tuple[str, int], after: tuple[str, int]) -> Counting:
    """Return three pairs of a list and a count."""
    first, second, third = (Count(organization(count), listed(ids)) for ids, count in (before, between, after))
    deletion = make_exchange("deleteEngagement", 200, {"data": {"deleted": True, "id": "S"}})
    return Counting("S", "S", first, second, deletion, third)


def is_right(seen: Counting) -> bool:
    """Whether both checks pass with the first counts."""
    try:
        created_is_counted(RUN, seen)
        deleted_is_not(RUN, seen)
    except LookedAgain:
        return False
    return True


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (counting(("ab", 2), ("abS", 3), ("ab", 2)), True),
        (counting(("ab", 2), ("abxyS", 3), ("abxy", 4)), True),
        (counting(("ab", 2), ("abxyS", 4), ("abxy", 4)), True),
        (counting(("abx", 3), ("abyS", 5), ("ab", 3)), True),
        (counting(("abx", 3), ("abyS", 3), ("abz", 4)), True),
        (counting(("ab", 2), ("abS", 2), ("ab", 2)), False),
        (counting(("ab", 2), ("abS", 3), ("ab", 3)), False),
        (counting(("ab", 2), ("abS", 4), ("ab", 2)), False),
        (counting(("ab", 2), ("abxS", 3), ("ab", 4)), False),
        (counting(("abx", 3), ("abyS", 6), ("ab", 3)), False),
    ],
)
def test_a_count_lies_between_what_both_lists_show_and_what_either_shows(seen: Counting, *, expected: bool) -> None:
    """A count may lie between the items in both lists and those in either: others may change it around the read."""
    assert is_right(seen) is expected


def test_a_total_may_be_older_than_the_items_beside_others() -> None:
    """A count may be older than the items, since a service may count before it reads."""
    seen = counting(("ab", 2), ("abxS", 3), ("abx", 3))

    assert is_right(
        Counting("S", "S", seen.before, Count(organization(3), listed("abxS", 3)), seen.deletion, seen.after)
    )
    assert not is_right(
        Counting("S", "S", seen.before, Count(organization(3), listed("abxS", 2)), seen.deletion, seen.after)
    )


def test_a_new_engagement_pushes_the_last_of_a_hundred_from_the_page() -> None:
    """The others are the same if only the new engagement moved them; not if another user created one."""
    page, own = [chr(0x4E00 + number) for number in range(101)], "S"
    lists = ["".join(page[:100]), own + "".join(page[:99]), "".join(page[:100])]
    moved = [lists[0], own + "x" + "".join(page[:98]), lists[2]]

    same, other = (
        counting((first, 100), (second, 101), (third, 100)).others() for first, second, third in (lists, moved)
    )

    assert same == frozenset(page[:99])
    assert other != frozenset(page[:99])


@pytest.mark.parametrize(
    ("before", "total", "after", "expected"), [(4, 4, 4, True), (5, 4, 3, True), (3, 5, 3, False), (3, 2, 5, False)]
)
def test_a_total_lies_between_the_counts_around_it(before: int, total: int, after: int, *, expected: bool) -> None:
    """A total may lie between the counts around it: others may change it on either side of the list."""
    seen = Counts(organization(before), listed("", total), listed("", 1), organization(after))
    if expected:
        agrees(RUN, seen)
    else:
        with pytest.raises(LookedAgain):
            agrees(RUN, seen)


@pytest.mark.parametrize(("right", "passes"), [(3, True), (8, True), (10, False)])
def test_a_count_beside_others_is_looked_at_in_rounds(right: int, *, passes: bool) -> None:
    """A count that others move is read in rounds; it passes if any read is right, and is undecided otherwise."""

    def respond(sent: Request) -> Exchange:
        if sent.operation.id == "getCurrentOrganization":
            asked = [request.operation.id for request in run.sent]
            return organization(5 + asked.count(sent.operation.id) % 2)
        round_number = 2 + (len(run.sent) - 1) // 6
        return listed("", 1000 if round_number < right else 5)

    run = FakeRun(respond)
    first = Counts(organization(5), listed("", 1000), listed("", 1), organization(6))
    if passes:
        agrees(run, first)
    else:
        with pytest.raises(CantTell, match="other users were changing"):
            agrees(run, first)
