"""The members of the organization as the list shows them, and those that a run may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.aims import spare_member
from conformance.oracle import read
from conformance.oracle.judgement import Undecided
from conformance.target.capabilities import Unavailable
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.target.fixtures import Member
    from conformance.target.provisioner import MemberRole
    from conformance.wire.exchange import Exchange

_PER_PAGE: Final = 100
_MOST_PAGES: Final = 20


@dataclass(frozen=True, slots=True)
class Roster:
    """All members at one time, or all of one role.

    Attributes:
        pages: The answers that they were read in.
        members: Every member, by id.
        total: What the list says their number is.
    """

    pages: tuple[Exchange, ...]
    members: dict[str, dict[str, Any]]
    total: int

    @property
    def ids(self) -> frozenset[str]:
        """The identifiers of all members."""
        return frozenset(self.members)

    def role(self, user_id: str) -> str | None:
        """The role that a member has; None for who is not there."""
        role = self.members.get(user_id, {}).get("role")
        return role if isinstance(role, str) else None

    def has_address(self, email: str) -> bool:
        """Whether a member has this address, in any letter case."""
        return any(str(member.get("email")).casefold() == email.casefold() for member in self.members.values())


@dataclass(frozen=True, slots=True)
class Headcount:
    """How many members there are, as the organization and the list tell it one after the other."""

    organization: Exchange
    count: int
    roster: Roster

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The answers that it was read in."""
        return (self.organization, *self.roster.pages)


def roster(run: Run, role: str | None = None) -> Roster:
    """Read the whole list of members, or of those of one role.

    Raises:
        Undecided: It cannot be read, or is too long to be read again and again.
    """
    pages: list[Exchange] = []
    while len(pages) < _MOST_PAGES:
        pages.append(run.send(call.list_members(role=role, page=len(pages) + 1, perPage=_PER_PAGE)))
        if len(read.items(pages[-1])) < _PER_PAGE:
            members = {read.text(item, "id", page): item for page in pages for item in read.items(page)}
            return Roster(tuple(pages), members, read.number(pages[0], "total"))
    raise Undecided(f"there are more than {_MOST_PAGES * _PER_PAGE} members, too many to look at them all", *pages[:1])


def headcount(run: Run) -> Headcount:
    """Count the members by both ways of the interface."""
    organization = run.send(call.get_organization())
    count = read.integer(read.data(organization), "memberCount", organization)
    return Headcount(organization, count, roster(run))


def member_to_change(run: Run, role: MemberRole) -> Member:
    """A member to change and remove, with a key where one can be had.

    Where the target names too few, it is the one whom other journeys only send requests about that must be refused;
    whoever asks for it must wait until those have ended.

    Raises:
        Unavailable: There is none.
    """
    try:
        return run.fixtures.member(role, with_key=True)
    except Unavailable:
        spare = run.journeys.result(spare_member)
    if spare.credential is not None:
        return spare
    try:
        return run.fixtures.member(role)
    except Unavailable:
        return spare


def another_member(run: Run, *, with_key: bool = False) -> Member | None:
    """One more member to change and remove; None where there is none."""
    try:
        return run.fixtures.member("member", with_key=with_key)
    except Unavailable:
        return another_member(run) if with_key else None
