"""Scenarios with the keys of two organizations, and the counts of one while the other creates engagements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import CantTell, Untested
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import (
    ON_ENGAGEMENT,
    OTHER_ROLE,
    OperationInputs,
    label,
    latest_engagements,
    latest_of_other,
    member_of,
    member_pages,
    untouchable_member,
)
from conformance.scenarios.access.invalid_requests import invalid_role_changes
from conformance.scenarios.access.reserved_engagements import engagements_in_every_state
from conformance.scenarios.access.unauthenticated import wrong_keys
from conformance.scenarios.basics import or_with_plain_texts
from conformance.scenarios.keys_in_turn import RetryNewKeys, key_made_for_run
from conformance.scenarios.lists.finding import NEWEST
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

_TIMES: Final = {Effort.QUICK: 3, Effort.STANDARD: 7, Effort.DEEP: 7}
"""Engagements in other states that each operation is tried on."""

_KEPT: Final = ("name", "description", "createdAt")
"""Fields that the run never changes, in engagements with the same identifier."""

CREATED: Final = 2
"""Engagements that an organization creates while the other's are counted: more than others would by chance."""


@dataclass(frozen=True, slots=True)
class TwoOrganizations:
    """The results of another organization's key.

    Attributes:
        own: The id of the main key's organization, and the exchange that showed it.
        other: The same for the other key.
        created: The creation of an engagement of the main key.
        attempts: The other key's attempts on engagements of the main key in many states, by operationId.
        own_list: The newest engagements in the main key's list.
        other_list: The same with the other key, and the archived ones.
        made_by_other: An engagement created with the other key, from that response; None if there is none.
        edited: The id of another engagement of the other key, which edited it; None if there is none.
    """

    own: tuple[str, Exchange]
    other: tuple[str, Exchange]
    created: Exchange
    attempts: Mapping[str, Sequence[Exchange]]
    own_list: tuple[Exchange, ...]
    other_list: tuple[Exchange, ...]
    made_by_other: dict[str, Any] | None
    edited: str | None

    def ensure_two(self) -> None:
        """Ensure that the keys read different organizations; otherwise isolation cannot be judged.

        Raises:
            CantTell: They read the same organization.
        """
        if self.own[0] == self.other[0]:
            raise CantTell("both keys read the same organization", self.own[1], self.other[1])


@dataclass(frozen=True, slots=True)
class MemberOfOne:
    """Attempts of another organization's key on a member of the main key's organization alone.

    Attributes:
        user_id: The member.
        before: The members of the main key's organization.
        attempts: The other key's attempts, by operationId.
        listed: The members that the other key lists.
    """

    user_id: str
    before: tuple[Exchange, ...]
    attempts: Mapping[str, Sequence[Exchange]]
    listed: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class CrossCount:
    """The engagements of an organization before and after another organization created some.

    Attributes:
        number: The number of the count, from 1.
        first: The counts of the organization and the list before.
        then: The counts afterwards.
        exchanges: The exchanges with both.
    """

    number: int
    first: tuple[int, int]
    then: tuple[int, int]
    exchanges: tuple[Exchange, ...]

    @property
    def rise(self) -> tuple[int, int]:
        """By how much the organization's count and the list's total rose."""
        return self.then[0] - self.first[0], self.then[1] - self.first[1]

    @property
    def at_rest(self) -> tuple[int, int]:
        """The first counts, less what this many earlier counts would have added, if nothing else changed them."""
        earlier = self.number - 1
        return self.first[0] - earlier * self.rise[0], self.first[1] - earlier * self.rise[1]


def count_across(run: Run, number: int, *, counted: Credential, maker: Credential) -> CrossCount:
    """Count the engagements of a key's organization while another key creates some."""
    first, before = _counts(run, counted, perPage=1)
    run.send_all([requests.create_engagement({"name": run.name("counted")}).with_key(maker) for _ in range(CREATED)])
    # Sorted this time: resources of another organization would show in this order, too.
    then, after = _counts(run, counted, perPage=MAX_PER_PAGE, sort="name", order="asc")
    return CrossCount(number, first, then, (*before, *after))


def _counts(run: Run, key: Credential, **asked: object) -> tuple[tuple[int, int], tuple[Exchange, Exchange]]:
    organization = run.send(requests.get_organization().with_key(key))
    listed = run.send(requests.list_engagements(**asked).with_key(key))
    totals = read.integer(read.data(organization), "engagementCount", organization), read.number(listed, "total")
    return totals, (organization, listed)


def other_organization(run: Run) -> Exchange:
    """Read the other organization with its own key, before the main key's is renamed."""
    return RetryNewKeys(run).send(requests.get_organization().with_key(run.fixtures.other_organization()))


@scenario(alone=True)
def two_organizations(run: Run) -> TwoOrganizations:
    """Try to read, change and delete an engagement of an organization with the key of another."""
    key, other = run.fixtures.other_organization(), run.scenarios.result(other_organization)
    asked = requests.get_organization()
    own, _ = run.send_all([asked, asked.with_key(key)])  # at once, for the ledger
    if run.mode is Mode.DISPOSABLE and key_made_for_run(run) is None:  # another scenario renames it otherwise
        run.send(requests.update_organization({}).with_key(key))
    name = run.name("isolated")
    body = {"name": name, "description": "It stays in this organization"}
    created = or_with_plain_texts(run, run.send(requests.create_engagement(body)))
    engagement_id = read.identifier(created)
    own_id = read.identifier(own)
    # An organization that was made for the run has no engagement yet: an empty list.
    empty = latest_of_other(run, key)
    made_by_other = _made_by_other(run, key, name, own_id)
    run.send(requests.archive_engagement(engagement_id))
    archived = run.send(requests.list_engagements(status="archived", **NEWEST).with_key(key))
    attempts = _attempts(run, key)
    edited = _edit_and_delete(run, key)
    return TwoOrganizations(
        own=(own_id, own),
        other=(read.identifier(other), other),
        created=created,
        attempts=attempts,
        own_list=tuple(latest_engagements(run, sort="updatedAt", order="desc")),  # requested like the other one
        other_list=(*empty, *latest_of_other(run, key), archived),
        made_by_other=made_by_other,
        edited=edited,
    )


def _edit_and_delete(run: Run, key: Credential) -> str | None:
    """Edit an engagement of the other organization, and archive and delete another, with reads for the ledger.

    The one that was created last is changed first, so that the order of a list by updatedAt shows. The deleted one has
    the name of engagements of the main key's organization, if the service permits that. No engagement stays archived,
    so that a list of archived ones is empty again.
    """
    reserved = run.scenarios.result(engagements_in_every_state)
    words = {"name": run.name("theirs"), "description": "It belongs to the others"}
    identifier = _made(run, key, words)
    deleted = _made(run, key, words | {"name": reserved.name}) if reserved.name else None
    deleted = deleted or _made(run, key, words | {"name": run.name("theirs")})
    if identifier is None or deleted is None or deleted == identifier:
        return None
    steps = (
        requests.archive_engagement(deleted),
        requests.update_engagement(deleted, {"description": "Edited in the archive"}),
        requests.update_engagement(identifier, words | {"name": f"{words['name'][:-3]}{words['name'][-3:].upper()}"}),
        requests.list_engagements(sort="updatedAt", order="desc", perPage=MAX_PER_PAGE),
        requests.delete_engagement(deleted),
        requests.get_engagement(deleted),
    )
    for step in steps:
        run.send_permitted([step.with_key(key)])
    return identifier


def _made(run: Run, key: Credential, words: Mapping[str, str]) -> str | None:
    return read.identifier_or_none(run.send(requests.create_engagement(words).with_key(key)))


def _ensure_not_of_other(own: Exchange, by_other: Exchange) -> None:
    """Ensure that no engagement of the other organization has the identifier of the run's engagement.

    Raises:
        CantTell: It has one, as when each organization numbers its own.
    """
    ours, found = readable_resources(own), readable_resources(by_other)
    if ours and found and found[0].get("id") == ours[0].get("id") and not is_alike(ours[0], found[0]):
        raise CantTell("the other organization has an engagement of its own with that identifier", own, by_other)


def is_alike(first: Mapping[str, Any], other: Mapping[str, Any], fields: Iterable[str] = _KEPT) -> bool:
    """Whether two resources with the same identifier can be the same, judged by the fields that both show."""
    return all((first[name] or "") == (other[name] or "") for name in fields if name in first and name in other)


def _made_by_other(run: Run, key: Credential, name: str, own_id: str) -> dict[str, Any] | None:
    """Create an engagement with the other organization's key.

    It has a name from the main key's organization, and claims to belong to that. If that is refused, it has a new name
    and no claim.
    """
    belongs = {"organizationId": own_id, "organization_id": own_id, "organization": own_id}
    made = run.send(requests.create_engagement({"name": name, **belongs}).with_key(key))
    if read.identifier_or_none(made) is None:
        made = run.send(requests.create_engagement({"name": run.name("other")}).with_key(key))
    return None if read.identifier_or_none(made) is None else read.data(made)


@scenario(alone=True)
def member_of_one(run: Run) -> MemberOfOne:
    """Try to change and to remove a member of an organization with the key of another.

    Raises:
        CantTell: The other key may belong to the same organization, so it is not used on the member.
        Untested: The member of the target file belongs to both.
    """
    key = run.fixtures.other_organization()
    run.scenarios.result(two_organizations).ensure_two()
    member = run.scenarios.result(untouchable_member)
    for same in (wrong_keys, invalid_role_changes):  # they send another role for the same member
        run.scenarios.wait_for(same)
    user_id, before, listed = member.user_id, member_pages(run), tuple(member_pages(run, key))
    if not member.is_new and member_of(listed, user_id) is not None:
        raise Untested("the member that may be removed belongs to both organizations; name another under members")
    own, others = member_of(before, user_id) or {}, member_of(listed, user_id) or {}
    if others and not is_same_person(own, others):
        raise CantTell("the other organization has a member of its own with that identifier", *before, *listed)
    role = own.get("role")
    if member.is_new:  # any other member keeps its role, even with a faulty service
        role = OTHER_ROLE.get(str(role), role)
    kept, change = (requests.update_member_role(user_id, {"role": each}) for each in (own.get("role"), role))
    removal = requests.remove_member(user_id)
    attempts: dict[str, list[Exchange]] = {}
    for request in (kept, change, removal, change):  # a service may refuse only the first one
        sent = run.send(replace(request.with_key(key), repeatable=True))
        attempts.setdefault(request.operation.id, []).append(sent)
    member_pages(run)  # the ledger judges whether the member is still there
    return MemberOfOne(user_id, tuple(before), attempts, listed)


def is_same_person(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether members of two organizations with the same identifier are the same person, by a name or an address."""
    shown = [name for name in ("name", "email") if name in first and name in other]
    return bool(shown) and is_alike(first, other, shown)


def _attempts(run: Run, key: Credential) -> dict[str, list[Exchange]]:
    """Send operations on engagements with a key that must not reach them, so that retries are harmless.

    Raises:
        CantTell: The other organization has an engagement of its own with one of the identifiers.
    """
    run.scenarios.wait_for(wrong_keys)  # its list shows the reserved engagements before these requests
    reserved, changed = run.scenarios.result(engagements_in_every_state), label(run, "trespass")
    run.send_all([known.request for known in [*reserved.reads.values()][:1]])  # which a service may keep for all keys
    reads = {
        identifier: run.send(replace(known.request.with_key(key), repeatable=True))
        for identifier, known in reserved.reads.items()
    }
    for identifier, response in reads.items():
        _ensure_not_of_other(reserved.reads[identifier], response)
    again = run.send_all([response.request for response in reads.values()][:1])  # it may refuse only the first one
    attempts = {"getEngagement": [*reads.values(), *again]}
    for place, name in enumerate(ON_ENGAGEMENT[1:]):
        turns = dict.fromkeys(reserved.turn(place * 2 + number) for number in range(_TIMES[run.effort]))
        batch = [
            OperationInputs(engagement=identifier, description=changed, renamed=changed).batch()[name]
            for identifier in turns
            if identifier is not None
        ]
        if name == "updateEngagement" and reserved.active is not None:  # to the name that it has
            batch += [requests.update_engagement(reserved.active, {"name": reserved.name})]
        sent = run.send_permitted([replace(request.with_key(key), repeatable=True) for request in batch])
        attempts[name] = [or_with_plain_texts(run, exchange) for exchange in sent if exchange is not None]
    return attempts
