"""Inputs of requests that must be refused, and helpers to find their effects."""

from __future__ import annotations

import re
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.interface.operations import OPERATIONS
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome, Untested
from conformance.scenarios.lists.finding import latest
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

OTHER_ROLE: Final = {"admin": "member", "member": "admin"}
"""The role to change each changeable role to."""

ON_ENGAGEMENT: Final = (
    "getEngagement", "updateEngagement", "archiveEngagement", "unarchiveEngagement", "deleteEngagement"
)  # fmt: skip
"""The operations on an engagement, in an order in which each can succeed."""

_PAGES: Final = 3
_MEMBER_PAGES: Final = 20
_TAIL: Final = 16
_ENOUGH: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationInputs:
    """Inputs for a request of each operation.

    Attributes:
        engagement: The identifier of an engagement.
        user: The identifier of a user.
        role: The role to set.
        organization: The name for the organization; None sends none, so that nothing changes.
        address: The address to invite.
        name: The name of a new engagement.
        description: The description for an engagement.
        renamed: The name for an engagement beside the description; None sends none.
        promoted: The identifier of the user who gets the role; None for the same one.
    """

    engagement: str = ""
    user: str = ""
    role: str = ""
    organization: str | None = None
    address: str = ""
    name: str = ""
    description: str = ""
    renamed: str | None = None
    promoted: str | None = None

    def batch(self) -> dict[str, Request]:
        """Return a valid request of each operation, by its operationId and in the order of the interface."""
        rename = {} if self.organization is None else {"name": self.organization}
        edit = {"description": self.description} | ({} if self.renamed is None else {"name": self.renamed})
        batch = (
            requests.get_organization(),
            requests.update_organization(rename),
            requests.list_members(),
            requests.invite_member({"email": self.address, "role": "member"}),
            requests.update_member_role(self.promoted or self.user, {"role": self.role}),
            requests.remove_member(self.user),
            requests.list_engagements(),
            requests.create_engagement({"name": self.name}),
            requests.get_engagement(self.engagement),
            requests.update_engagement(self.engagement, edit),
            requests.delete_engagement(self.engagement),
            requests.archive_engagement(self.engagement),
            requests.unarchive_engagement(self.engagement),
        )
        return dict(zip(OPERATIONS, batch, strict=True))


def label(run: Run, word: str) -> str:
    """Return a unique name that is not a prefix of another name of this function."""
    return f"{run.name(word)}-x"


def unknown_like(identifier: str | None, random: Random) -> str:
    """Return an identifier of the same shape that no resource has; a UUID if no shape is known.

    Characters near the end are replaced by others of their kind that occur in the identifier, so that the alphabet
    stays the same. An identifier that is too short for that becomes longer, so that it cannot exist.
    """
    if not identifier or not re.search(r"[A-Za-z0-9]", identifier):
        return str(uuid.UUID(int=random.getrandbits(128), version=4))
    if re.fullmatch(r"[^0-9]*[0-9]{1,9}", identifier):
        return re.sub(r"[0-9]+$", lambda _: f"9{random.randrange(10**7, 10**8)}", identifier)
    head, tail, last = identifier[:-_TAIL], identifier[-_TAIL:-1], identifier[-1]
    if sum(map(_is_alphanumeric, tail)) < _ENOUGH:
        head, tail, last = identifier, "".join(filter(_is_alphanumeric, identifier))[-1] * _TAIL, ""
    made = tail
    while made == tail:
        made = "".join(_like(character, identifier, random) for character in tail)
    return head + made + last


def _is_alphanumeric(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _like(character: str, identifier: str, random: Random) -> str:
    """Return a character of the same kind: any digit, or a letter of the same case from the identifier."""
    if not _is_alphanumeric(character):
        return character
    if character.isdigit():
        return random.choice("0123456789")
    same_case = {
        other for other in identifier if other.isascii() and other.isalpha() and other.islower() is character.islower()
    }
    usual = "abcdef" if character.islower() else "ABCDEF"
    return random.choice(sorted(same_case) if len(same_case) >= len(usual) else usual)


def latest_engagements(run: Run, **asked: str) -> list[Exchange]:
    """Read the pages of the list with the engagements created last, a few hundred at most; see ``latest``."""
    return _pages(run, lambda page: latest(run, page=page, **asked))


def latest_of_other(run: Run, key: Credential) -> list[Exchange]:
    """Read the pages of another organization's list with the engagements changed last."""
    asked = {"perPage": MAX_PER_PAGE, "sort": "updatedAt", "order": "desc"}
    return _pages(run, lambda page: requests.list_engagements(page=page, **asked).with_key(key))


def member_pages(run: Run, key: Credential | None = None, role: str | None = None) -> list[Exchange]:
    """Read the pages of the list of members, or of those of a role, two thousand members at most."""

    def asked(page: int) -> Request:
        return replace(requests.list_members(role=role, page=page, perPage=MAX_PER_PAGE), credential=key)

    return _pages(run, asked, _MEMBER_PAGES)


def _pages(run: Run, asked: Callable[[int], Request], most: int = _PAGES) -> list[Exchange]:
    pages: list[Exchange] = []
    for page in range(1, most + 1):
        pages.append(run.send(asked(page)))
        with suppress(CheckOutcome):  # a page that cannot be read is judged elsewhere
            if is_followed(pages[-1]):
                continue
        break
    return pages


def is_followed(page: Exchange) -> bool:
    """Whether another page follows: a service may refuse pages past the last one."""
    return len(read.items(page)) >= MAX_PER_PAGE and read.number(page, "page") < read.number(page, "totalPages")


def member_of(pages: Iterable[Exchange], user_id: str) -> dict[str, Any] | None:
    """Return a member as the list shows it; None if it is not listed."""
    return next((item for page in pages for item in read.items(page) if item.get("id") == user_id), None)


def ensure_not_owner(role: object) -> None:
    """Leave a member alone whose role is owner.

    Raises:
        Untested: The role is owner.
    """
    if role == "owner":
        raise Untested("a member that may be changed is an owner; name another member under members")


def untouchable_member(run: Run) -> Member:
    """Return the member for requests that must be refused; the whole run uses the same one."""
    return run.fixtures.member()


def by_untouchable_member(run: Run) -> list[Request]:
    """Return a read with the key of that member, which the ledger judges; none if the run has no such key."""
    member = run.scenarios.result_if_any(untouchable_member)
    return (
        [] if member is None or member.credential is None else [requests.get_organization().with_key(member.credential)]
    )
