"""What requests that are to be refused are aimed at, and how it is found again."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.finding import PER_PAGE, latest
from conformance.operations import OPERATIONS
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome, Untested
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_PAGES: Final = 3
_MEMBER_PAGES: Final = 20
_TAIL: Final = 16
_ENOUGH: Final = 10
_PAUSES: Final = (0.3, 0.7, 1.5)
"""Seconds after which a key that was made a moment ago is tried again."""


@dataclass(frozen=True, slots=True)
class OperationInputs:
    """What a call of each operation is about.

    Attributes:
        engagement: The identifier of an engagement.
        user: The identifier of a user.
        role: The role to give.
        organization: The name to give to the organization; None sends none, so that nothing is changed.
        address: The address to invite.
        name: The name of a new engagement.
        description: The description to give to an engagement.
        renamed: The name to give to an engagement beside the description; None sends none.
        archived: The identifier of the engagement to unarchive; None for the same one.
        promoted: The identifier of the user to give the role to; None for the same one.
    """

    engagement: str
    user: str
    role: str
    organization: str | None
    address: str
    name: str
    description: str
    renamed: str | None = None
    archived: str | None = None
    promoted: str | None = None

    def batch(self) -> dict[str, Request]:
        """A proper call of every operation, by its operationId and in the order of the interface."""
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
            requests.unarchive_engagement(self.archived or self.engagement),
        )
        return dict(zip(OPERATIONS, batch, strict=True))


class RetryNewKeys:
    """Sends calls with keys that the service may have to hear of first.

    What is answered 401 the first time that a key is used is sent again after pauses, since a 401 has done nothing;
    from then on whatever comes is the answer.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._used: set[str] = set()

    def send(self, asked: Request) -> Exchange:
        """Send a call."""
        return self.send_all([asked])[0]

    def send_all(self, batch: Sequence[Request]) -> list[Exchange]:
        """Send independent calls; the answers are in the order of the calls."""
        exchanges = self._run.send_all(batch)
        for pause in _PAUSES:
            again = [place for place, one in enumerate(exchanges) if self._is_too_early(one)]
            if not again:
                break
            self._run.sleep(pause)
            responses = self._run.send_all([batch[place] for place in again])
            for place, response in zip(again, responses, strict=True):
                exchanges[place] = response
        self._used |= {one.credential.name for one in batch if one.credential is not None}
        return exchanges

    def _is_too_early(self, exchange: Exchange) -> bool:
        key = exchange.request.credential
        is_new = key is not None and key.name not in self._used
        return is_new and exchange.received is not None and exchange.received.status == HTTPStatus.UNAUTHORIZED


def label(run: Run, word: str) -> str:
    """A name like no other, of which none is the beginning of another either."""
    return f"{run.name(word)}-x"


def identifier(exchange: Exchange) -> str | None:
    """The id that an answer gives, or that of the first item; None where it gives none."""
    try:
        response = read.success(exchange)
        found = read.items(response)[:1] if exchange.request.operation.response == "list" else [read.data(response)]
        return read.text(found[0], "id", response) if found else None
    except CheckOutcome:
        return None


def unknown_like(identifier: str | None, random: Random) -> str:
    """An identifier of the same shape that surely nothing has; a UUID where no shape is known.

    Characters near its end are replaced by others of their kind that it has too, so that whatever alphabet it is
    written in is kept. One that is too short for that becomes longer, lest the new one be anybody's.
    """
    if not identifier or not re.search(r"[A-Za-z0-9]", identifier):
        return str(uuid.UUID(int=random.getrandbits(128), version=4))
    if re.fullmatch(r"[^0-9]*[0-9]{1,9}", identifier):
        return re.sub(r"[0-9]+$", lambda _: f"9{random.randrange(10**7, 10**8)}", identifier)
    head, tail, last = identifier[:-_TAIL], identifier[-_TAIL:-1], identifier[-1]
    if sum(map(_is_plain, tail)) < _ENOUGH:
        head, tail, last = identifier, "".join(filter(_is_plain, identifier))[-1] * _TAIL, ""
    made = tail
    while made == tail:
        made = "".join(_like(sign, identifier, random) for sign in tail)
    return head + made + last


def _is_plain(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _like(sign: str, identifier: str, random: Random) -> str:
    """A character of the same kind: any digit, or a letter of the same case that the identifier has."""
    if not _is_plain(sign):
        return sign
    if sign.isdigit():
        return random.choice("0123456789")
    same_case = {
        other for other in identifier if _is_plain(other) and other.isalpha() and other.islower() is sign.islower()
    }
    usual = "abcdef" if sign.islower() else "ABCDEF"
    return random.choice(sorted(same_case) if len(same_case) >= len(usual) else usual)


def latest_engagements(run: Run, **asked: str) -> list[Exchange]:
    """The pages of the list that hold the engagements created last, a few hundred at most; see ``latest``."""
    return _pages(run, lambda page: latest(run, page=page, **asked))


def latest_of_other(run: Run, key: Credential) -> list[Exchange]:
    """The pages of another organization's list that hold what was changed last."""
    asked = {"perPage": PER_PAGE, "sort": "updatedAt", "order": "desc"}
    return _pages(run, lambda page: requests.list_engagements(page=page, **asked).with_key(key))


def _pages(run: Run, asked: Callable[[int], Request]) -> list[Exchange]:
    pages: list[Exchange] = []
    for page in range(1, _PAGES + 1):
        pages.append(run.send(asked(page)))
        if not _is_full(pages[-1]):
            break
    return pages


def member_pages(run: Run, credential: Credential | None = None) -> list[Exchange]:
    """The pages of the list of members, two thousand members at most."""
    pages: list[Exchange] = []
    for page in range(1, _MEMBER_PAGES + 1):
        asked = requests.list_members(page=page, perPage=PER_PAGE)
        pages.append(run.send(asked if credential is None else asked.with_key(credential)))
        if not _is_full(pages[-1]):
            break
    return pages


def _is_full(page: Exchange) -> bool:
    """Whether another page follows; one that cannot be read is for whoever judges it."""
    try:
        return len(read.items(page)) >= PER_PAGE and read.number(page, "page") < read.number(page, "totalPages")
    except CheckOutcome:
        return False


def member_of(pages: Iterable[Exchange], user_id: str) -> dict[str, Any] | None:
    """A member as the list shows it; None where it is not there."""
    return next((item for page in pages for item in read.items(page) if item.get("id") == user_id), None)


def spare_owner(role: object) -> None:
    """Leave a member alone that has this role, if it is an owner's.

    Raises:
        Untested: It is.
    """
    if role == "owner":
        raise Untested("a member that may be changed is an owner; name another one under members")


def untouchable_member(run: Run) -> Member:
    """A member whom only requests that must be refused are aimed at; the whole run shares one."""
    return run.fixtures.member()
