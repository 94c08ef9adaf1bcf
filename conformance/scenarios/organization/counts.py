"""Counts of the organization beside the lists, before and after changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CheckOutcome
from conformance.running.scenarios import scenario
from conformance.scenarios.basics import create_engagements
from conformance.scenarios.lists.finding import ids_on, latest
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request


ROUNDS: Final = 3
"""Rounds of reads, if others keep a count from settling."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The keys that read the organization and its lists; None for the main key."""

    organization: Credential | None = None
    lists: Credential | None = None


_MAIN: Final = Reader()


@dataclass(frozen=True, slots=True)
class Counts:
    """The organization before and after its lists.

    Attributes:
        before: The organization.
        engagements: A list of engagements.
        members: A list of members.
        after: The organization again; the same response if its counts are the totals of the lists.
        contents: The first hundred of both lists, which show other users' changes; None in the first snapshot.
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
    def counted(self) -> int:
        """The engagementCount of the organization."""
        return read.integer(read.data(self.organization), "engagementCount", self.organization)

    @property
    def total(self) -> int:
        """The total of the list."""
        return read.number(self.listed, "total")


@dataclass(frozen=True, slots=True)
class Counting:
    """An engagement that is created and deleted, with counts before, in between and after.

    Attributes:
        identifier: The identifier of the engagement.
        name: The engagement's name, which is unique.
        deletion: The response to its deletion.
    """

    identifier: str
    name: object
    before: Count
    between: Count
    deletion: Exchange
    after: Count

    def beside(self, count: Count) -> frozenset[str]:
        """Return the other engagements in the list."""
        return ids_on(count.listed) - {self.identifier}

    def others(self) -> object:
        """Return the other engagements in the lists, if they stayed the same; else a value that equals no other.

        The new engagement pushes the last of a hundred from the page.
        """
        seen = {self._first_beside(count) for count in (self.before, self.between, self.after)}
        return seen.pop() if len(seen) == 1 else object()

    def _first_beside(self, count: Count) -> frozenset[str | None]:
        ids = [read.id_of(item) for item in read.items(count.listed)]
        return frozenset([identifier for identifier in ids if identifier != self.identifier][: MAX_PER_PAGE - 1])


@scenario(alone=True)
def counts(run: Run) -> Counts:
    """Read the organization and both lists, and the organization again if they disagree."""
    return counts_of(run, _MAIN)


def counts_of(run: Run, reader: Reader) -> Counts:
    """Read the organization and both lists with some keys, and the organization again if they disagree."""
    organization = replace(requests.get_organization(), credential=reader.organization)
    lists = (requests.list_engagements(perPage=1), requests.list_members(perPage=1))
    before = run.send(organization)
    listed, people = (run.send(replace(request, credential=reader.lists)) for request in lists)
    agrees = _counted(before, "engagementCount", listed) and _counted(before, "memberCount", people)
    return Counts(before, listed, people, before if agrees else run.send(organization))


def _counted(organization: Exchange, name: str, listed: Exchange) -> bool:
    """Whether a count of the organization is the total of a list."""
    try:
        return read.integer(read.data(organization), name, organization) == read.number(listed, "total")
    except (CheckOutcome, NoResponse):
        return False


def _counts_again(run: Run, reader: Reader) -> Counts:
    """Read the organization and both lists again, and the first page of both lists."""
    lists = (latest(run), requests.list_members(perPage=MAX_PER_PAGE))
    newest, first = (run.send(replace(listing, credential=reader.lists)) for listing in lists)
    return replace(counts_of(run, reader), contents=(ids_on(newest), ids_on(first)))


@scenario(alone=True)
def counting(run: Run, pauses: Sequence[float] = ()) -> Counting:
    """Count the engagements before a creation, after it, and after the deletion.

    Args:
        run: The run.
        pauses: Seconds before each further count if a count has not followed: that may take a moment.
    """
    organization, listing = requests.get_organization(), latest(run, sort="name", order="asc")
    before = Count(listed=run.send(listing), organization=run.send(organization))
    (subject,) = create_engagements(run, "count")
    between = _count(run, listing, (before, 1), pauses)
    deletion = run.send(requests.delete_engagement(subject["id"]))
    after = _count(run, listing, (between, -1), pauses)
    return Counting(subject["id"], subject.get("name"), before, between, deletion, after)


def _count(run: Run, listing: Request, change: tuple[Count, int], pauses: Sequence[float]) -> Count:
    """Count the engagements, and again after each pause until both counts have changed as expected."""
    earlier, by = change

    def count_now() -> Count:
        return Count(organization=run.send(requests.get_organization()), listed=run.send(listing))

    count = count_now()
    for pause in pauses:
        if (count.counted - earlier.counted, count.total - earlier.total) == (by, by):
            break
        run.sleep(pause)
        count = count_now()
    return count


def expect_agreement(
    run: Run, first: Counts, name: str, listed: Callable[[Counts], Exchange], reader: Reader = _MAIN
) -> None:
    """Expect that a count of the organization is the total of a list, at some moment around the list's response.

    Args:
        run: The run.
        first: The first reads.
        name: The count.
        listed: Returns the list.
        reader: The keys of the reads.
    """

    def stated(seen: Counts) -> list[int]:
        return [read.integer(read.data(exchange), name, exchange) for exchange in (seen.before, seen.after)]

    def judge(seen: Counts) -> None:
        total, exchanges = read.number(listed(seen), "total"), (seen.before, listed(seen), seen.after)
        expected, actual = f"{total}, the total of the list", " then ".join(map(str, stated(seen)))
        expect.holds(
            min(stated(seen)) <= total <= max(stated(seen)),
            f"{name} is not the total of the list",
            *exchanges,
            expected=expected,
            actual=actual,
        )

    def at_rest(seen: Counts) -> object:
        numbers = stated(seen)
        total = read.number(listed(seen), "total")
        return (*numbers, total, seen.contents) if numbers[0] == numbers[1] else object()

    confirm.stable(run, first, judge, lambda: _counts_again(run, reader), same=at_rest, rounds=ROUNDS)
