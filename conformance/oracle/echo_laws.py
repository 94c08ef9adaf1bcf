"""Laws of what the answer to a change repeats of the request, whoever sent it and when.

Each is a law as those of every answer: it returns False where it does not apply, for instance because the field is
missing; other laws judge that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import expect
from conformance.oracle.effects import TEXTS, Interval, is_ordinary, is_unremarkable, refused, sent_object
from conformance.oracle.laws import readable_resources
from conformance.oracle.no_ops import invitations_again

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange

_LIFE: Final = timedelta(days=7)
_TOLERANCE: Final = timedelta(seconds=1)
_GIVEN: Final = ("member", "admin")
"""The roles that may be given."""
_ADDRESS: Final = re.compile(r"[A-Za-z0-9.+-]+@[A-Za-z0-9.-]+")


def renaming_repeats_name(exchange: Exchange) -> bool:
    """The answer to a renaming of the organization carries the name that was sent, where that is an ordinary one."""
    sent = _body_of(exchange, "updateCurrentOrganization")
    name = {"name": sent["name"]} if is_ordinary(sent.get("name")) else {}
    return _same(exchange, _resource_of(exchange, "updateCurrentOrganization"), name)


def creation_repeats_texts(exchange: Exchange) -> bool:
    """The answer to a creation carries the name and the description that were sent, where these are ordinary words."""
    sent, resource = _body_of(exchange, "createEngagement"), _resource_of(exchange, "createEngagement")
    texts = [name for name in TEXTS if is_unremarkable(sent.get(name)) and isinstance(resource.get(name), str)]
    return _same(exchange, resource, {name: sent[name] for name in texts})


def creation_is_active(exchange: Exchange) -> bool:
    """The answer to a creation that says nothing else says that the engagement is active."""
    if not _body_of(exchange, "createEngagement").keys() <= set(TEXTS):
        return False
    return _same(exchange, _resource_of(exchange, "createEngagement"), {"status": "active"})


def archiving_names_its_engagement(exchange: Exchange) -> bool:
    """The answer to an archive carries the identifier of the engagement."""
    return _same(exchange, _resource_of(exchange, "archiveEngagement"), {"id": exchange.request.identifier})


def archiving_tells_archived(exchange: Exchange) -> bool:
    """The answer to an archive says that the engagement is archived."""
    return _same(exchange, _resource_of(exchange, "archiveEngagement"), {"status": "archived"})


def role_change_repeats(exchange: Exchange) -> bool:
    """The answer to a role change carries the member's id and the role that was sent."""
    sent = _body_of(exchange, "updateMemberRole")
    if sent.get("role") not in _GIVEN:
        return False
    resource = _resource_of(exchange, "updateMemberRole")
    return _same(exchange, resource, {"id": exchange.request.identifier, "role": sent["role"]})


def removal_tells_who_was_removed(exchange: Exchange) -> bool:
    """The answer to a removal says that the member asked for was removed."""
    resource = _resource_of(exchange, "removeMember")
    return _same(exchange, resource, {"removed": True, "userId": exchange.request.identifier})


def invitation_repeats(exchange: Exchange) -> bool:
    """An invitation carries the address, in whatever letter case, and the role that were sent."""
    sent = _body_of(exchange, "inviteMember")
    email, role = sent.get("email"), sent.get("role")
    if role not in _GIVEN or not isinstance(email, str) or not _ADDRESS.fullmatch(email):
        return False
    resource = _resource_of(exchange, "inviteMember")
    if isinstance(address := resource.get("email"), str):
        resource["email"] = address.casefold()
    return _same(exchange, resource, {"email": email.casefold(), "role": role})


def invitation_is_pending(exchange: Exchange) -> bool:
    """A new invitation is pending."""
    return _same(exchange, _resource_of(exchange, "inviteMember"), {"status": "pending"})


def invitation_expires_in_seven_days(exchange: Exchange) -> bool:
    """An invitation expires seven days after its creation, within a second."""
    resource = _resource_of(exchange, "inviteMember")
    if not isinstance(resource.get("createdAt"), str) or not isinstance(resource.get("expiresAt"), str):
        return False
    life = expect.moment(resource["expiresAt"], exchange) - expect.moment(resource["createdAt"], exchange)
    expect.holds(
        abs(life - _LIFE) <= _TOLERANCE,
        "the invitation does not expire seven days after its creation",
        exchange,
        expected="createdAt and 7 days, within a second",
        actual=f"createdAt and {life}",
        pointer="/data/expiresAt",
    )
    return True


def open_responses(exchanges: Iterable[Exchange]) -> frozenset[int]:
    """The numbers of the changes whose answers need not repeat the request.

    These are changes of an engagement, a member or an organization while something else was being done to it;
    archivings of what was archived or unarchived before, whatever its state is now; and invitations of someone who is a
    member or was invited before.
    """
    exchanges = list(exchanges)
    return frozenset(_disturbed(exchanges) | _archived_before(exchanges)) | invitations_again(exchanges)


def _disturbed(exchanges: list[Exchange]) -> set[int]:
    at_once: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        changed = exchange.request.identifier
        if exchange.request.operation.id == "updateCurrentOrganization":
            changed = exchange.request.operation.id
        if changed is not None and exchange.request.method != "GET" and not refused(exchange):
            at_once[changed].append(exchange)
    pairs = (pair for several in at_once.values() for pair in combinations(several, 2))
    return {change.number for pair in pairs if Interval.of(pair[0]).meets(Interval.of(pair[1])) for change in pair}


def _archived_before(exchanges: list[Exchange]) -> set[int]:
    touched: set[str | None] = set()
    again: set[int] = set()
    for exchange in exchanges:
        if exchange.request.operation.id in {"archiveEngagement", "unarchiveEngagement"} and not refused(exchange):
            if exchange.request.identifier in touched:
                again.add(exchange.number)
            touched.add(exchange.request.identifier)
    return again


def _body_of(exchange: Exchange, operation: str) -> dict[str, Any]:
    """The object that a request of this operation carried; an empty one where that is not beyond doubt."""
    is_of_it = exchange.request.operation.id == operation and exchange.request.is_proper
    return (sent_object(exchange) or {}) if is_of_it else {}


def _resource_of(exchange: Exchange, operation: str) -> dict[str, Any]:
    """The resource in a success of this operation; an empty one where there is none to be read."""
    is_of_it = exchange.request.operation.id == operation and exchange.request.is_proper
    resources = readable_resources(exchange) if is_of_it else []
    return dict(resources[0]) if resources else {}


def _same(exchange: Exchange, resource: dict[str, Any], right: dict[str, Any]) -> bool:
    """Compare the fields that are there with the right type; False where there is none.

    Raises:
        NonConformity: One of them has another value.
    """
    given = [name for name, value in right.items() if name in resource and type(resource[name]) is type(value)]
    for name in given:
        expect.equal(name, resource[name], right[name], exchange, pointer=f"/data/{name}")
    return bool(given)
