"""The members of the organization in the list, and the members that a run may change."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.operations import SCOPES
from conformance.json_text import text_or_none
from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.access.every_operation import is_followed, member_pages, untouchable_member
from conformance.scenarios.access.single_scope import single_permissions
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.targets.provisioner import MemberRole
    from conformance.wire.exchange import Exchange

_PAUSE: Final = 1.0
"""Seconds between reads for a member that was just made."""


@dataclass(frozen=True, slots=True)
class MemberList:
    """All members at one time, or all of one role.

    Attributes:
        pages: The responses with them.
        members: Every member, by id.
        total: The total that the list states.
        whole: Whether all of them were read.
    """

    pages: tuple[Exchange, ...]
    members: dict[str, dict[str, Any]]
    total: int
    whole: bool = True

    @property
    def ids(self) -> frozenset[str]:
        """The identifiers of all members."""
        return frozenset(self.members)

    @property
    def owners(self) -> frozenset[str]:
        """The identifiers of all owners."""
        return frozenset(user_id for user_id in self.members if self.role(user_id) == "owner")

    def role(self, user_id: str) -> str | None:
        """Return the role of a member; None if it is not listed."""
        return text_or_none(self.members.get(user_id, {}).get("role"))

    def ensure_whole(self) -> None:
        """Ensure that all members were read.

        Raises:
            CantTell: There are too many members for repeated reads.
        """
        if not self.whole:
            seen = len(self.members)
            raise CantTell(f"there are more than {seen} members, too many to read them all", *self.pages[:1])


@dataclass(frozen=True, slots=True)
class MemberCount:
    """The number of members by the organization and by the list, read in a row."""

    organization: Exchange
    count: int
    listed: MemberList

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The responses with both numbers."""
        return (self.organization, *self.listed.pages)


def read_members(run: Run, role: str | None = None) -> MemberList:
    """Read the whole list of members, or of those of one role.

    Raises:
        CantTell: The list cannot be read, or is too long for repeated reads.
    """
    members = read_members_so_far(run, role)
    members.ensure_whole()
    return members


def read_members_with(run: Run, *user_ids: str) -> MemberList:
    """Read the whole list of members until it shows some that were just made.

    The interface does not make members, so it does not promise that they are listed at once.

    Raises:
        CantTell: The list cannot be read, or is too long for repeated reads.
    """
    reads = [read_members(run)]

    def is_complete() -> bool:
        if not reads[-1].ids.issuperset(user_ids):
            reads.append(read_members(run))
        return reads[-1].ids.issuperset(user_ids)

    run.wait_until(is_complete, pause=_PAUSE)
    return reads[-1]


def read_members_so_far(run: Run, role: str | None = None) -> MemberList:
    """Read the list of members, or of those of a role; of a very long list only the beginning.

    Raises:
        CantTell: The list cannot be read.
    """
    return _member_list(member_pages(run, role=role))


def _member_list(pages: Sequence[Exchange]) -> MemberList:
    members = {read.text(item, "id", page): item for page in pages for item in read.items(page)}
    return MemberList(tuple(pages), members, read.number(pages[0], "total"), whole=not is_followed(pages[-1]))


def count_members(run: Run) -> MemberCount:
    """Count the members by the organization and by the list."""
    organization = run.send(requests.get_organization())
    counted = read.integer(read.data(organization), "memberCount", organization)
    return MemberCount(organization, counted, read_members(run))


def member_to_change(run: Run) -> Member:
    """Return a member to change and remove, an admin and with a key if possible.

    If the target names too few members, it is the member of ``untouchable_member``. A scenario that uses it must wait
    for the requests that other scenarios send about it, and keys with one permission are tried on it first.

    Raises:
        MissingMeans: There is no such member.
    """
    roles: tuple[MemberRole, ...] = ("admin", "member")
    for role in roles:
        with suppress(MissingMeans):
            return run.fixtures.member(role, with_key=True)
    member = run.scenarios.result(untouchable_member)
    if member.credential is None:
        with suppress(MissingMeans):
            return run.fixtures.member("admin")
    if not run.profile.keys.keys().isdisjoint(SCOPES):
        run.scenarios.result(single_permissions)
    return member


def another_member(run: Run, *, with_key: bool = False) -> Member | None:
    """Return another member to change and remove; None if there is none."""
    try:
        return run.fixtures.member("member", with_key=with_key)
    except MissingMeans:
        return another_member(run) if with_key else None


def removed_members(run: Run) -> frozenset[str | None]:
    """Return the ids of the members that requests of the run have removed."""
    removals = of_operation(run.wire.exchanges, "removeMember")
    return frozenset(removal.request.identifier for removal in removals if removal.accepted)


def roles_last_listed(run: Run) -> dict[str, str]:
    """Return the roles of members by id, as lists of the main key have shown them last."""
    pages = [page for page in of_operation(run.wire.exchanges, "listMembers") if page.by_main_key and page.accepted]
    return {str(item.get("id")): str(item.get("role")) for page in pages for item in readable_resources(page)}


def address_of(member: Member, listed: Mapping[str, Any]) -> str | None:
    """Return the address of a member that was created for the run, if the list shows it; None for another person's.

    A provisioner may name a real person's address, to whom an invitation would be sent.
    """
    shown = str(listed.get("email"))
    return None if member.email is None or shown.casefold() != member.email.casefold() else member.email
