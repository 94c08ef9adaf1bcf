"""Section 2, the counts of the organization: they are those of the lists, and follow every creation and deletion."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.checks.engagements import create_engagements
from conformance.checks.finding import PER_PAGE, ids_on, latest
from conformance.checks.markers import requirement, scenario
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.steady import Disturbed, steadily
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

L = TypeVar("L")

_PAUSES: Final = (0.4, 1.0)
_ROUNDS: Final = 2
"""Rounds of looks before the last one, where others keep a count from settling."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The organization before and after its lists.

    Attributes:
        before: The organization.
        engagements: A list of engagements.
        members: A list of members.
        after: The organization again.
        contents: The first hundred of both lists, by which it shows whether others come and go; None in the first look.
    """

    before: Exchange
    engagements: Exchange
    members: Exchange
    after: Exchange
    contents: tuple[frozenset[str], frozenset[str]] | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """The number of engagements by the organization and, at about that time, by the list."""

    organization: Exchange
    listed: Exchange

    @property
    def told(self) -> int:
        """The engagementCount."""
        return read.integer(read.data(self.organization), "engagementCount", self.organization)

    @property
    def total(self) -> int:
        """The total of the list."""
        return read.number(self.listed, "total")


@dataclass(frozen=True, slots=True)
class Counting:
    """An engagement is created and deleted, and the engagements are counted before, in between and after.

    Attributes:
        identifier: The engagement's.
        name: The engagement's, which no other one has.
        deletion: The answer to its deletion.
    """

    identifier: str
    name: object
    before: Count
    between: Count
    deletion: Exchange
    after: Count

    def beside(self, count: Count) -> frozenset[str]:
        """The other engagements that the list showed."""
        return ids_on(count.listed) - {self.identifier}

    def others(self) -> object:
        """The other engagements that were listed, if always the same; else something unlike all else."""
        seen = {self.beside(count) for count in (self.before, self.between, self.after)}
        return seen.pop() if len(seen) == 1 else object()


def counts(run: Run) -> Counts:
    """The organization is read, both lists are, and the organization once more."""
    engagements, members = requests.list_engagements(perPage=1), requests.list_members(perPage=1)
    organization = requests.get_organization()
    before, listed, people, after = (run.send(one) for one in (organization, engagements, members, organization))
    return Counts(before, listed, people, after)


def _counts_again(run: Run) -> Counts:
    """The same once more, and what is in both lists, as far as one answer shows it."""
    newest, first = run.send(latest(run)), run.send(requests.list_members(perPage=PER_PAGE))
    return replace(counts(run), contents=(ids_on(newest), ids_on(first)))


def counting(run: Run, pauses: Sequence[float] = ()) -> Counting:
    """The engagements are counted, one is created, they are counted, it is deleted, and they are counted again.

    Args:
        run: The run.
        pauses: Seconds before they are counted once more where a count has not followed: it may take a moment.
    """
    organization = requests.get_organization()
    before = Count(listed=run.send(latest(run, sort="name", order="asc")), organization=run.send(organization))
    (subject,) = create_engagements(run, "count")
    between = _count(run, latest(run, sort="updatedAt", order="desc"), (before, 1), pauses)
    deletion = run.send(requests.delete_engagement(subject["id"]))
    after = _count(run, latest(run, sort="name"), (between, -1), pauses)
    return Counting(subject["id"], subject.get("name"), before, between, deletion, after)


def _count(run: Run, listing: Request, change: tuple[Count, int], pauses: Sequence[float]) -> Count:
    """The engagements are counted, and once more after each pause until both counts have changed by so many."""
    earlier, by = change

    def look() -> Count:
        return Count(organization=run.send(requests.get_organization()), listed=run.send(listing))

    count = look()
    for pause in pauses:
        if (count.told - earlier.told, count.total - earlier.total) == (by, by):
            break
        run.sleep(pause)
        count = look()
    return count


counts_scenario = scenario(counts, alone=True)
counting_scenario = scenario(counting, alone=True)


@requirement("member-count-agrees")
def test_member_count_agrees_with_the_list(run: Run, counts: Counts) -> None:
    """The memberCount of the organization is the number of members that the list counts."""
    expect_agreement(run, counts, "memberCount", lambda seen: seen.members)


@requirement("engagement-count-agrees")
def test_engagement_count_agrees_with_the_list(run: Run, counts: Counts) -> None:
    """The engagementCount of the organization is the number of engagements that the unfiltered list counts."""
    expect_agreement(run, counts, "engagementCount", lambda seen: seen.engagements)


@requirement("create-engagement-counted")
def test_created_engagement_is_counted(run: Run, counting: Counting) -> None:
    """A created engagement is counted, by the organization and by the list."""
    _created_once(counting)
    _steadily_counted(run, counting, _judge_creation)


@requirement("deleted-uncounted")
def test_deleted_engagement_is_no_longer_counted(run: Run, counting: Counting) -> None:
    """A deleted engagement is no longer counted, by the organization or by the list."""
    try:
        counted = _steadily_counted(run, counting, _judge_creation)
    except NonConformity as fault:
        raise CantTell(f"{fault.message} its creation either", *fault.exchanges) from None
    _steadily_counted(run, counted, _judge_deletion)


def _judge_creation(seen: Counting) -> None:
    if seen.identifier not in ids_on(seen.between.listed):
        raise CantTell("the new engagement is not listed", seen.between.listed)
    _follows(seen, seen.before, seen.between, 1)


def _judge_deletion(seen: Counting) -> None:
    read.success(seen.deletion)
    if seen.identifier in ids_on(seen.after.listed):
        raise CantTell("the deleted engagement is still listed", seen.after.listed)
    _follows(seen, seen.between, seen.after, -1)


def expect_agreement(run: Run, first: Counts, name: str, listed: Callable[[Counts], Exchange]) -> None:
    """A count of the organization is the total of a list, at some moment around the answer of the list."""

    def told(seen: Counts) -> list[int]:
        return [read.integer(read.data(exchange), name, exchange) for exchange in (seen.before, seen.after)]

    def judge(seen: Counts) -> None:
        total, exchanges = read.number(listed(seen), "total"), (seen.before, listed(seen), seen.after)
        expected, actual = f"{total}, the total of the list", " then ".join(map(str, told(seen)))
        expect.holds(
            min(told(seen)) <= total <= max(told(seen)),
            f"{name} is not what the list counts",
            *exchanges,
            expected=expected,
            actual=actual,
        )

    def at_rest(seen: Counts) -> object:
        numbers = told(seen)
        total = read.number(listed(seen), "total")
        return (*numbers, total, seen.contents) if numbers[0] == numbers[1] else object()

    looks = _first_then(first, lambda: _counts_again(run))
    _in_rounds(lambda: steadily(looks, judge, at_rest=at_rest, sleep=run.sleep))


def _steadily_counted(run: Run, first: Counting, judge: Callable[[Counting], None]) -> Counting:
    """Judge a change of both counts, with other engagements where others may have been at work; gives the last look."""
    looks = _first_then(first, lambda: counting(run, _PAUSES))
    return _in_rounds(lambda: steadily(looks, judge, at_rest=Counting.others, sleep=run.sleep))


def _in_rounds(looking: Callable[[], L]) -> L:
    """Look anew where others were changing the organization, a few times."""
    for _ in range(_ROUNDS):
        with suppress(Disturbed):
            return looking()
    return looking()


def _follows(seen: Counting, before: Count, after: Count, by: int) -> None:
    """Both counts have changed by one engagement, and by what others are seen to have done meanwhile."""
    exchanges = (before.organization, before.listed, after.organization, after.listed)
    total, counts = before.total + by, set[int]()
    if max(before.total, after.total) <= PER_PAGE:
        ones, others, own = seen.beside(before), seen.beside(after), int(by > 0)
        total += len(others) - len(ones)
        # Whatever the others did meanwhile, the least that there was is what both lists show.
        counts |= {*range(own + len(ones & others), own + len(ones | others) + 1)}
    expect.holds(
        after.total in counts | {total},
        "the total of the list has not followed",
        *exchanges,
        expected=f"a total changed by {total - before.total}",
        actual=f"changed by {after.total - before.total}",
        pointer="/meta/total",
    )
    # Others may come between the organization and its list: right is what follows its own count, or the list's.
    expect.holds(
        after.told in counts | {before.told + by, after.total},
        "engagementCount has not followed",
        *exchanges,
        expected=f"a count changed by {by}",
        actual=f"changed by {after.told - before.told}",
        pointer="/data/engagementCount",
    )


def _created_once(seen: Counting) -> None:
    """No other engagement has come into being with the name of the one that was created."""
    twins = [item.get("id") for item in read.items(seen.between.listed) if item.get("name") == seen.name]
    expect.holds(
        len(twins) <= 1,
        "one creation has created more than one engagement",
        seen.between.listed,
        expected="one engagement of that name",
        actual=f"{len(twins)} of them",
        pointer="/data",
    )


def _first_then(first: L, again: Callable[[], L]) -> Callable[[], L]:
    """A look that is there already, and new ones after it."""
    looks = iter([first])
    return lambda: next(looks, None) or again()
